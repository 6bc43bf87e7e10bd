//! MiddlewareCall: a call as middleware sees it.

use std::borrow::Cow;
use std::sync::Arc;

use tokio::time::Instant;

use crate::call::{ToolExecutionContext, ToolInvocation};
use crate::json::JsonText;
use crate::provider::InvokeResult;
use crate::result::{ErrorCode, ToolFailure};

/// A call as middleware sees it: its tool is known and its arguments are checked. Cloning copies nothing.
#[derive(Clone, Debug)]
pub struct MiddlewareCall {
    invocation: ToolInvocation,
    pub(super) rewritten: Option<JsonText>,
}

// === impl MiddlewareCall ===

impl MiddlewareCall {
    pub(super) fn new(invocation: ToolInvocation, rewritten: Option<JsonText>) -> Self {
        Self { invocation, rewritten }
    }

    /// The call as the model made it: its tool, its id, and the arguments as they were checked.
    pub fn invocation(&self) -> &ToolInvocation {
        &self.invocation
    }

    /// The arguments as they stand now.
    pub fn arguments(&self) -> &JsonText {
        self.rewritten.as_ref().unwrap_or_else(|| self.invocation.arguments().json())
    }

    /// The conversation.
    pub fn context(&self) -> &Arc<ToolExecutionContext> {
        self.invocation.execution()
    }

    /// When the engine gives the call up.
    pub fn deadline(&self) -> Instant {
        self.invocation.deadline()
    }

    /// Whether running the tool twice is the same as once: its effect is `read`, or its provider is trusted and declares
    /// it idempotent.
    pub fn is_repeatable(&self) -> bool {
        self.invocation.is_repeatable()
    }

    /// The same call with other arguments. They are checked by the tool's schema before the tool gets them; those that do
    /// not fit end the call as `invalid_arguments`.
    #[must_use]
    pub fn with_arguments(mut self, arguments: JsonText) -> Self {
        self.rewritten = Some(arguments);
        self
    }

    /// What a middleware returns to deny the call, with a reason that the model is told.
    ///
    /// # Errors
    /// Always.
    pub fn deny(&self, reason: impl Into<Cow<'static, str>>) -> InvokeResult {
        Err(ToolFailure::not_sent(ErrorCode::PolicyDenied, reason))
    }
}
