//! The outcome document: what the command line prints and the API answers.

use serde::Serialize;
use toolyard::{AssistantTurn, BatchId, BatchOutcome, CallId, CallResult, Dialect, JsonText, MessageOptions};

/// The outcome of a batch with what goes into the model's history, in the reply's dialect.
#[derive(Debug, Serialize)]
pub(crate) struct OutcomeDocument {
    batch_id: BatchId,
    stop: bool,
    stop_requested_by: Vec<CallId>,
    results: Vec<CallResult>,
    /// The model's turn, with the ids, names and arguments that `messages` answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assistant: Vec<JsonText>,
    messages: Vec<JsonText>,
    /// What was odd about the reply and cost no call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

// === impl OutcomeDocument ===

impl OutcomeDocument {
    pub(crate) fn new(outcome: BatchOutcome, turn: &AssistantTurn, dialect: Dialect, options: MessageOptions) -> Self {
        let assistant = dialect.assistant(turn, &outcome, options);
        let messages = dialect.messages(&outcome, options);
        let BatchOutcome { batch_id, stop, stop_requested_by, results, .. } = outcome;
        Self { batch_id, stop, stop_requested_by, results, assistant, messages, warnings: Vec::new() }
    }

    pub(crate) fn with_warnings(mut self, warnings: Vec<String>) -> Self {
        self.warnings = warnings;
        self
    }
}
