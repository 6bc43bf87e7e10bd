//! The bot backend, as providers may ask it for something.

use std::fmt;

use futures::future::BoxFuture;

use crate::json::JsonText;
use crate::result::{ErrorCode, ToolFailure};

/// Answers requests of providers: plugin capabilities, sampling, elicitation.
pub trait HostPort: Send + Sync + fmt::Debug + 'static {
    /// Answers one request. Dropping the future gives the request up.
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>>;
}

/// One request of a provider to the bot backend.
#[derive(Clone, Debug)]
pub struct HostRequest {
    /// What is asked for, such as `send.text` or `sampling.create`.
    pub capability: String,
    /// The particulars.
    pub payload: JsonText,
}

/// Stands where no bot backend is connected.
#[derive(Debug)]
pub(crate) struct NoHost;

// === impl NoHost ===

impl HostPort for NoHost {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let message = format!("`{}` needs a bot backend, and none is connected", request.capability);
        Box::pin(std::future::ready(Err(ToolFailure::not_sent(ErrorCode::ToolUnavailable, message))))
    }
}
