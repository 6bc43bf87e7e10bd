//! ApprovalOutcome: what came of a call that a person was asked about.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ApprovalRequest;
use crate::json::JsonText;
use crate::result::{CallError, CallResult, CallStatus, Executed, ToolExecutionResult, ToolOrigin};

/// What came of a call that a person was asked about; there is one for every end, good or bad.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalOutcome {
    /// How the call ended.
    pub status: CallStatus,
    /// The text for the model's history; never empty.
    pub text: String,
    /// The result's document, as in the outcome of a batch.
    pub document: JsonText,
    /// The result itself; nothing once it has been read back from a store.
    #[serde(skip)]
    pub result: Option<Arc<CallResult>>,
}

// === impl ApprovalOutcome ===

impl ApprovalOutcome {
    pub(super) fn new(result: CallResult) -> Self {
        Self {
            status: result.status,
            text: result.history_content(),
            document: JsonText::from_serialize(&result).unwrap_or_else(|_unprintable| JsonText::null()),
            result: Some(Arc::new(result)),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        // The result is there once more beside its document.
        2 * (self.document.as_str().len() + self.text.len())
    }
}

impl PartialEq for ApprovalOutcome {
    fn eq(&self, other: &Self) -> bool {
        (self.status, &self.text, &self.document) == (other.status, &other.text, &other.document)
    }
}

// === impl ApprovalRequest ===

impl ApprovalRequest {
    /// The end of a call that did not run, or of which nobody knows.
    pub(crate) fn without_run(&self, error: CallError, executed: Executed) -> CallResult {
        let origin = ToolOrigin { tool_id: self.tool_id.clone(), provider: Arc::clone(&self.provider) };
        let mut failure = ToolExecutionResult::failure(error.message.clone());
        failure.tool_name = Some(Arc::clone(&self.tool));
        CallResult {
            index: 0,
            call_id: self.call_id.clone(),
            tool: Arc::clone(&self.tool),
            model_name: Arc::clone(&self.model_name),
            opaque: self.opaque.clone(),
            origin: Some(Arc::new(origin)),
            status: error.code.status(),
            result: Box::new(failure),
            error: Some(Box::new(error)),
            arguments: Some(self.arguments.clone()),
            repairs: Vec::new(),
            executed,
            truncated: false,
            reference: None,
            answered_by: None,
            warnings: Vec::new(),
            approval: None,
            duration: std::time::Duration::ZERO,
        }
    }
}
