//! The outcome document: what the command line prints and the API answers.

use serde::Serialize;
use serde_json::Value;
use toolyard::{BatchId, BatchOutcome, CallId, CallResult, Dialect};

/// The outcome of a batch with the history messages in the reply's dialect.
#[derive(Debug, Serialize)]
pub(crate) struct OutcomeDocument {
    batch_id: BatchId,
    stop: bool,
    stop_requested_by: Vec<CallId>,
    results: Vec<CallResult>,
    messages: Vec<Value>,
}

// === impl OutcomeDocument ===

impl OutcomeDocument {
    pub(crate) fn new(outcome: BatchOutcome, dialect: Dialect) -> Self {
        let messages = dialect.messages(&outcome);
        let BatchOutcome { batch_id, stop, stop_requested_by, results, .. } = outcome;
        Self { batch_id, stop, stop_requested_by, results, messages }
    }
}
