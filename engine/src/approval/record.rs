//! What is asked, how it stands, and what of it outlives the process.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{ApprovalId, ApprovalOutcome};
use crate::call::{BatchId, CallId, SessionKey, ToolExecutionContext, TurnId};
use crate::gate::AskReason;
use crate::json::JsonText;
use crate::policy::ApprovalMode;
use crate::tool::{Effect, ToolId};

/// A call that a person has to agree to: what they are shown is what runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Which approval.
    pub id: ApprovalId,
    /// The session of the call, if it had one.
    pub session: Option<SessionKey>,
    /// The turn of the call.
    pub turn: Option<TurnId>,
    /// The batch of the call.
    pub batch_id: BatchId,
    /// Id of the call, as the model's vendor gave it.
    pub call_id: CallId,
    /// The name by which the model called the tool.
    pub tool: Arc<str>,
    /// The name under which the tool was listed.
    pub model_name: Arc<str>,
    /// Which tool. Only this very one runs, whatever its name leads to by then.
    pub tool_id: ToolId,
    /// Name of the tool's provider.
    pub provider: Arc<str>,
    /// The tool's title in the language of the context; never its description, which is written for the model.
    pub title: String,
    /// What the tool does to the world.
    pub effect: Option<Effect>,
    /// Why a person has to agree.
    pub reason: AskReason,
    /// The arguments, exactly as they will run.
    pub arguments: JsonText,
    /// The context of the call, in which it will run.
    pub context: Arc<ToolExecutionContext>,
    /// What the vendor wants back with the result, byte for byte.
    pub opaque: Option<JsonText>,
    /// Whether the call waits inside its batch.
    pub mode: ApprovalMode,
    /// When it was asked for, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// Until when it can be decided, in milliseconds since 1970.
    pub expires_at_ms: u64,
}

/// How an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody has decided.
    Pending,
    /// Somebody has agreed; the call is about to run.
    Approved,
    /// The call runs. What a crash leaves in this state is never run again.
    Started,
    /// The call has run, or was refused when it was about to.
    Settled,
    /// Somebody has declined.
    Denied,
    /// Nobody decided in time.
    Expired,
    /// There is nothing to decide any more: the batch or the session was cancelled, or the tool is gone.
    Withdrawn,
}

/// What somebody has decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    /// Who, as the backend names them.
    pub by: String,
    /// Why, when they declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What they agreed to.
    pub scope: ApprovalScope,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// What somebody agrees to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// This call.
    #[default]
    Call,
    /// This call and later ones of its tool in its session, except in tainted turns.
    Session,
}

/// An approval, as a store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// What is asked.
    pub request: Arc<ApprovalRequest>,
    /// How it stands. Never [`ApprovalState::Approved`]: a call that is about to run is kept as started.
    pub state: ApprovalState,
    /// What was decided.
    pub decision: Option<ApprovalDecision>,
    /// What came of it.
    pub outcome: Option<Arc<ApprovalOutcome>>,
    /// When it was over, in milliseconds since 1970.
    pub over_at_ms: Option<u64>,
}

// === impl ApprovalState ===

impl ApprovalState {
    /// The name in documents and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Started => "started",
            Self::Settled => "settled",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Whether nothing more will come of it.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Settled | Self::Denied | Self::Expired | Self::Withdrawn)
    }
}

// === impl ApprovalRequest ===

impl ApprovalRequest {
    /// Bytes that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        let context = serde_json::to_vec(&self.context).map_or(0, |text| text.len());
        self.arguments.as_str().len() + self.title.len() + context
    }

    /// The tenant: of the session, else of the context.
    pub fn tenant(&self) -> &str {
        self.session.as_ref().map_or(&self.context.tenant, |key| &key.tenant)
    }
}

/// Milliseconds since 1970, for what outlives tokio's clock.
pub(crate) fn unix_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
