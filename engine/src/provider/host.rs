//! The bot backend, as providers may ask it for something.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::call::{CallId, ToolExecutionContext};
use crate::json::JsonText;
use crate::result::{ErrorCode, ToolFailure};

/// Answers requests of providers: plugin capabilities, sampling, elicitation.
pub trait HostPort: Send + Sync + fmt::Debug + 'static {
    /// Answers one request. Dropping the future gives the request up, which callers do at its deadline.
    ///
    /// # Errors
    /// [`ErrorCode::ToolUnavailable`] when there is no backend or it does not know the capability; other codes as they
    /// fit. The message reaches the plugin that asked.
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>>;
}

/// One request of a provider to the bot backend.
#[derive(Clone, Debug)]
pub struct HostRequest {
    /// What is asked for, such as `send.text` or `sampling.create`.
    pub capability: String,
    /// The particulars.
    pub payload: JsonText,
    /// The provider that asks.
    pub provider: Arc<str>,
    /// The call on whose behalf it asks; absent when the provider asks by itself, as while it starts.
    pub caller: Option<HostCaller>,
    /// When the answer is of no use any more.
    pub deadline: Instant,
}

/// The call on whose behalf a provider asks.
#[derive(Clone, Debug)]
pub struct HostCaller {
    /// Id of the call.
    pub call_id: CallId,
    /// Name of its tool within its provider.
    pub tool: Arc<str>,
    /// The conversation.
    pub context: Arc<ToolExecutionContext>,
}

/// Stands where no bot backend is connected: every request is refused as unavailable.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

// === impl NoHost ===

impl HostPort for NoHost {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let message = format!("`{}` needs a bot backend, and none is connected", request.capability);
        Box::pin(std::future::ready(Err(ToolFailure::not_sent(ErrorCode::ToolUnavailable, message))))
    }
}
