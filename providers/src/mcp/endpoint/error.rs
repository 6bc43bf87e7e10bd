//! RpcError: why a request gets no result.

use std::borrow::Cow;

use toolyard::{JsonText, ToolFailure};

use crate::mcp::hub::McpRefusal;

/// Why a request gets no result, as JSON-RPC says it.
#[derive(Clone, Debug)]
pub(super) struct RpcError {
    pub(super) code: i64,
    message: Cow<'static, str>,
    data: Option<JsonText>,
    /// The whole error object as a server gave it, which is passed on as it is.
    whole: Option<JsonText>,
    /// The request itself is malformed, which HTTP says with its status.
    is_malformed: bool,
}

// === impl RpcError ===

impl RpcError {
    pub(super) const PARSE: i64 = -32700;
    pub(super) const INVALID_REQUEST: i64 = -32600;
    pub(super) const METHOD_NOT_FOUND: i64 = -32601;
    pub(super) const INVALID_PARAMS: i64 = -32602;
    pub(super) const INTERNAL: i64 = -32603;
    /// What is asked for cannot be had now; ask again later.
    pub(super) const UNAVAILABLE: i64 = -32000;
    pub(super) const RESOURCE_NOT_FOUND: i64 = -32002;
    pub(super) const HEADER_MISMATCH: i64 = -32020;
    pub(super) const MISSING_CAPABILITY: i64 = -32021;
    pub(super) const UNSUPPORTED_VERSION: i64 = -32022;

    pub(super) fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None, whole: None, is_malformed: false }
    }

    pub(super) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    pub(super) fn method_not_found(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("there is no method `{method}`"))
    }

    pub(super) fn header_mismatch(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Self::HEADER_MISMATCH, message)
    }

    /// The error object of a server, whole.
    pub(super) fn relayed(code: i64, error: JsonText) -> Self {
        Self { whole: Some(error), ..Self::new(code, "") }
    }

    #[must_use]
    pub(super) fn with_data(mut self, data: JsonText) -> Self {
        self.data = Some(data);
        self
    }

    #[must_use]
    pub(super) fn malformed(mut self) -> Self {
        self.is_malformed = true;
        self
    }

    pub(super) fn message(&self) -> String {
        let whole = self.whole.as_ref().and_then(|error| error.member("message")?.text());
        whole.unwrap_or_else(|| self.message.clone().into_owned())
    }

    /// The error object.
    pub(super) fn object(&self) -> JsonText {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let code = JsonText::from(serde_json::Value::from(self.code));
        let members = [("code", code), ("message", JsonText::string(&self.message))];
        JsonText::object(members.into_iter().chain(self.data.clone().map(|data| ("data", data))))
    }

    /// The status with which HTTP carries it in revision 2026-07-28. Before, every error came with 200.
    pub(super) const fn status(&self) -> u16 {
        match self.code {
            Self::UNSUPPORTED_VERSION | Self::MISSING_CAPABILITY | Self::HEADER_MISMATCH => 400,
            Self::METHOD_NOT_FOUND => 404,
            _ if self.is_malformed => 400,
            _ => 200,
        }
    }
}

impl From<McpRefusal> for RpcError {
    fn from(refusal: McpRefusal) -> Self {
        match refusal {
            McpRefusal::Error { code, message, data } => Self { data, ..Self::new(code, message) },
            McpRefusal::Failed(failure) => Self::from(failure),
        }
    }
}

impl From<ToolFailure> for RpcError {
    fn from(failure: ToolFailure) -> Self {
        let code = JsonText::string(failure.code.as_str());
        Self::new(Self::UNAVAILABLE, failure.message).with_data(JsonText::object([("code", code)]))
    }
}
