//! How approvals are shown: the whole to whoever decides, a notice in the result of the call.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::{ApprovalDecision, ApprovalId, ApprovalOutcome, ApprovalRequest, ApprovalState};
use crate::call::{BatchId, CallId, SessionKey, ToolExecutionContext};
use crate::gate::AskReason;
use crate::json::JsonText;
use crate::policy::ApprovalMode;
use crate::tool::{Effect, ToolId};

/// An approval, as whoever decides sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Approval {
    /// Which approval.
    pub id: ApprovalId,
    /// How it stands.
    pub state: ApprovalState,
    /// The tool's title, in the language of the context.
    pub title: String,
    /// What the tool does to the world; absent where it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Why a person has to agree.
    pub reason: AskReason,
    /// The arguments, exactly as they run.
    pub arguments: JsonText,
    /// Which tool.
    pub tool_id: ToolId,
    /// Name of its provider.
    pub provider: Arc<str>,
    /// The tenant.
    pub tenant: String,
    /// The session, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Arc<str>>,
    /// The user for whom the bot acts.
    pub user: String,
    /// Where the call was made.
    pub place: ApprovalPlace,
    /// The batch of the call.
    pub batch_id: BatchId,
    /// Id of the call.
    pub call_id: CallId,
    /// Whether the call waits in its batch or runs outside of it.
    pub mode: ApprovalMode,
    /// When it was asked for, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// How long it can still be decided, in milliseconds; 0 once it is decided.
    pub expires_in_ms: u64,
    /// What was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<ApprovalDecision>,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Arc<ApprovalOutcome>>,
    /// The whole context of the call, for embedders.
    #[serde(skip)]
    pub context: Arc<ToolExecutionContext>,
}

/// Where a call was made, as far as whoever decides needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ApprovalPlace {
    /// Platform, such as `qq`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub platform: String,
    /// Chat stream id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stream_id: String,
    /// Group id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group_id: String,
    /// Message channel.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub channel: String,
    /// Chat id within the channel.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub chat_id: String,
}

/// What the result of a call says of the approval that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ApprovalNotice {
    /// Which approval.
    pub id: ApprovalId,
    /// The tool's title, in the language of the context.
    pub title: String,
    /// What the tool does to the world; absent where it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Why a person has to agree.
    pub reason: AskReason,
    /// How long it can be decided, in milliseconds.
    pub expires_in_ms: u64,
}

// === impl Approval ===

impl Approval {
    pub(super) fn new(
        request: &ApprovalRequest,
        state: ApprovalState,
        left: Duration,
        decision: Option<ApprovalDecision>,
        outcome: Option<Arc<ApprovalOutcome>>,
    ) -> Self {
        Self {
            id: request.id.clone(),
            state,
            title: request.title.clone(),
            effect: request.effect,
            reason: request.reason,
            arguments: request.arguments.clone(),
            tool_id: request.tool_id.clone(),
            provider: Arc::clone(&request.provider),
            tenant: request.tenant().to_owned(),
            session: request.session.as_ref().map(|SessionKey { session, .. }| Arc::clone(session)),
            user: request.context.user_id.clone(),
            place: ApprovalPlace::of(&request.context),
            batch_id: request.batch_id.clone(),
            call_id: request.call_id.clone(),
            mode: request.mode,
            created_at_ms: request.created_at_ms,
            expires_in_ms: if state == ApprovalState::Pending { millis(left) } else { 0 },
            decision,
            outcome,
            context: Arc::clone(&request.context),
        }
    }
}

// === impl ApprovalPlace ===

impl ApprovalPlace {
    fn of(context: &ToolExecutionContext) -> Self {
        Self {
            platform: context.platform.clone(),
            stream_id: context.stream_id.clone(),
            group_id: context.group_id.clone(),
            channel: context.channel.clone(),
            chat_id: context.chat_id.clone(),
        }
    }
}

// === impl ApprovalNotice ===

impl ApprovalNotice {
    pub(crate) fn new(request: &ApprovalRequest, left: Duration) -> Self {
        Self {
            id: request.id.clone(),
            title: request.title.clone(),
            effect: request.effect,
            reason: request.reason,
            expires_in_ms: millis(left),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
