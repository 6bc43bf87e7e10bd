//! The outcome of a batch: one result per call, in call order, and the stop flag.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{CallError, CallStatus, Repair, ToolExecutionResult, history};
use crate::approval::ApprovalNotice;
use crate::call::{BatchId, CallId};
use crate::json::JsonText;
use crate::tool::{ToolId, model_name};

/// What a batch gave: exactly one result per call, in call order.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BatchOutcome {
    /// The batch.
    pub batch_id: BatchId,
    /// Whether a successful result asked to stop the run.
    pub stop: bool,
    /// The calls that asked.
    pub stop_requested_by: Vec<CallId>,
    /// The results, in call order.
    pub results: Vec<CallResult>,
}

/// What one call gave.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallResult {
    /// Place in the batch, from 0.
    pub index: usize,
    /// The call's id.
    pub call_id: CallId,
    /// The name under which the model called the tool.
    pub tool: Arc<str>,
    /// The name of the tool in the history: legal for every vendor, and the listed one where the call led to a tool.
    pub model_name: Arc<str>,
    /// What the vendor wants back with the call, byte for byte.
    pub opaque: Option<JsonText>,
    /// Where the call went, when the name is known.
    pub origin: Option<Arc<ToolOrigin>>,
    /// How it ended.
    pub status: CallStatus,
    /// What the tool gave back; without a run, a failure that carries the error's message.
    pub result: Box<ToolExecutionResult>,
    /// Why it did not succeed.
    pub error: Option<Box<CallError>>,
    /// The arguments as run, or as they would have been run.
    pub arguments: Option<JsonText>,
    /// What was mended in the arguments.
    pub repairs: Vec<Repair>,
    /// Whether the tool's body ran.
    pub executed: Executed,
    /// Whether the content was cut to the limit.
    pub truncated: bool,
    /// Where the whole of it can be read back for a while, see [`crate::ToolRegistry::kept_result`].
    pub reference: Option<Arc<str>>,
    /// The middleware that answered in the tool's place, which was not executed then.
    pub answered_by: Option<Arc<str>>,
    /// What is not as it should be with a result that counts all the same.
    pub warnings: Vec<String>,
    /// What a person has to agree to before the call runs, see [`crate::ToolRegistry::approvals`].
    pub approval: Option<Box<ApprovalNotice>>,
    /// From the start of the batch to the end of the call.
    pub duration: Duration,
}

/// A tool and its provider, as results and records name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOrigin {
    /// Id of the tool.
    pub tool_id: ToolId,
    /// Name of the provider.
    pub provider: Arc<str>,
}

/// Whether a tool's body ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executed {
    /// It ran to its end.
    Yes,
    /// It never started.
    No,
    /// It started, and nobody knows how far it came.
    Unknown,
}

// === impl CallResult ===

impl CallResult {
    /// Whether the tool ran and succeeded.
    pub fn is_success(&self) -> bool {
        self.status == CallStatus::Ok
    }

    /// The result of a call that no batch has run.
    pub(crate) fn without_batch(tool: &Arc<str>, origin: Option<Arc<ToolOrigin>>, error: CallError) -> Self {
        Self {
            index: 0,
            call_id: CallId::from("invoke"),
            tool: Arc::clone(tool),
            model_name: model_name(tool),
            opaque: None,
            origin,
            status: error.code.status(),
            result: Box::new(ToolExecutionResult::failure(error.message.clone())),
            error: Some(Box::new(error)),
            arguments: None,
            repairs: Vec::new(),
            executed: Executed::No,
            truncated: false,
            reference: None,
            answered_by: None,
            warnings: Vec::new(),
            approval: None,
            duration: Duration::ZERO,
        }
    }

    /// The text for the model's history; never empty.
    pub fn history_content(&self) -> String {
        self.history_text().into_owned()
    }

    /// The same, borrowed where it is one text of the result.
    pub(crate) fn history_text(&self) -> Cow<'_, str> {
        history::text(&self.result, self.call_id.as_str())
    }
}

impl Serialize for CallResult {
    /// The document of the daemon's answer: keys without a value are left out.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("index", &self.index)?;
        map.serialize_entry("call_id", &self.call_id)?;
        map.serialize_entry("tool", &self.tool)?;
        if let Some(origin) = &self.origin {
            map.serialize_entry("tool_id", &origin.tool_id)?;
            map.serialize_entry("provider", &origin.provider)?;
        }
        map.serialize_entry("status", &self.status)?;
        map.serialize_entry("success", &self.is_success())?;
        map.serialize_entry("executed", &self.executed)?;
        if !self.result.content.is_empty() {
            map.serialize_entry("content", &self.result.content)?;
        }
        if let Some(structured) = &self.result.structured_content {
            map.serialize_entry("structured_content", structured)?;
        }
        if !self.result.content_items.is_empty() {
            map.serialize_entry("content_items", &self.result.content_items)?;
        }
        if let Some(error) = &self.error {
            map.serialize_entry("error", error)?;
        }
        if let Some(arguments) = &self.arguments {
            map.serialize_entry("arguments", arguments)?;
        }
        if let Some(opaque) = &self.opaque {
            map.serialize_entry("opaque", opaque)?;
        }
        if !self.repairs.is_empty() {
            map.serialize_entry("repairs", &self.repairs)?;
        }
        if self.truncated {
            map.serialize_entry("truncated", &true)?;
        }
        if let Some(reference) = &self.reference {
            map.serialize_entry("reference", reference)?;
        }
        if let Some(middleware) = &self.answered_by {
            map.serialize_entry("answered_by", middleware)?;
        }
        if !self.warnings.is_empty() {
            map.serialize_entry("warnings", &self.warnings)?;
        }
        if let Some(approval) = &self.approval {
            map.serialize_entry("approval", approval)?;
        }
        map.serialize_entry("duration_ms", &milliseconds(self.duration))?;
        if !self.result.metadata.is_empty() {
            map.serialize_entry("metadata", &self.result.metadata)?;
        }
        map.end()
    }
}

impl Serialize for Executed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Yes => serializer.serialize_bool(true),
            Self::No => serializer.serialize_bool(false),
            Self::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

/// Milliseconds with three digits after the point.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
