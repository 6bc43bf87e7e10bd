//! Caller: whoever asked, as an answer in the making sees them.

use futures::future::BoxFuture;
use serde_json::{Value, json};

/// Code of a request whose parameters are wrong.
const INVALID_PARAMS: i64 = -32602;
/// Code of a request that needs what its client did not say that it can do.
const MISSING_CAPABILITY: i64 = -32021;

/// Whoever asked.
pub trait Caller: Send + Sync {
    /// Asks them for something: `elicitation/create`, `sampling/createMessage`, `roots/list`. The key names the question
    /// within its request.
    fn ask<'a>(&'a self, key: &'a str, method: &'a str, params: Value) -> BoxFuture<'a, Result<Value, Unanswered>>;

    /// Tells them something on the way.
    fn tell(&self, said: Said) -> BoxFuture<'_, ()>;
}

/// What is told on the way.
#[derive(Clone, Debug)]
pub enum Said {
    /// How far a call has come, out of 100.
    Progress(u32),
    /// A line of the log.
    Log(&'static str),
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
}

/// Why a question has no answer.
#[derive(Clone, Debug)]
pub enum Unanswered {
    /// The answer comes with another request; this one is to give the question back.
    Later,
    /// The other side cannot or will not answer.
    Refused(String),
}

/// Why a request has no result.
#[derive(Clone, Debug)]
pub enum Fault {
    /// A question of it has no answer yet.
    Later,
    /// A JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data.
        data: Option<Value>,
    },
}

// === impl Fault ===

impl Fault {
    /// The parameters of the request are wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Error { code: INVALID_PARAMS, message: message.into(), data: None }
    }

    /// The fixture does not know the method.
    pub(super) fn unknown_method(method: &str) -> Self {
        Self::Error { code: -32601, message: format!("no method {method}"), data: None }
    }

    /// There is nothing at this address.
    pub(super) fn no_resource(uri: &str) -> Self {
        Self::Error { code: INVALID_PARAMS, message: "Resource not found".to_owned(), data: Some(json!({"uri": uri})) }
    }

    /// The client did not say that it can sample.
    pub(super) fn needs_sampling() -> Self {
        Self::Error {
            code: MISSING_CAPABILITY,
            message: "this tool needs a client that can sample".to_owned(),
            data: Some(json!({"requiredCapabilities": {"sampling": {}}})),
        }
    }
}

impl From<Unanswered> for Fault {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Later => Self::Later,
            Unanswered::Refused(reason) => Self::invalid(reason),
        }
    }
}
