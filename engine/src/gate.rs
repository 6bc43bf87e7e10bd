//! Admission: the gates that a call passes before it runs, in a fixed order. The first refusal wins and says why.
//!
//! provider up -> not withheld -> allowed (role, rules, scene, platform, stage) -> loaded -> availability -> actor ->
//! arguments -> source message -> effect and taint; then, once there is room for the call, usage. Listing uses the same
//! gates but those on arguments and usage.

mod actor;
mod allowed;
mod arguments;
mod availability;
mod caller;
mod effect;
mod loaded;
mod provider;
mod source_message;
mod usage;
mod withheld;

use std::sync::Arc;

use crate::call::{Arguments, CallPolicy, RawArguments};
use crate::limits::Limits;
use crate::registry::PreparedTool;
use crate::result::{CallError, Repair};

pub(crate) use caller::{Caller, Findable, InContext};
pub use effect::AskReason;
pub(crate) use loaded::{is_deferred, is_found};
pub(crate) use source_message::{Source, recheck as recheck_source};
pub(crate) use usage::{Charging, UsageGate, take_back};

/// Why a call is refused: its error decides the status, its gate the metric. The error is boxed, so that a gate that lets a
/// call pass answers in two registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) gate: Gate,
    pub(crate) error: Box<CallError>,
}

/// The gates, in their order; a label of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Batch,
    Turn,
    Name,
    Provider,
    Withheld,
    Allowed,
    Loaded,
    Availability,
    Actor,
    Arguments,
    SourceMessage,
    Effect,
    InFlight,
    Usage,
}

/// What the gates found out about a call that they let pass.
pub(crate) struct Admission {
    pub(crate) arguments: Arguments,
    /// The message that asked for the call, where the tool needs it.
    pub(crate) source: Option<Box<Source>>,
    /// Why a person has to agree first, if so.
    pub(crate) ask: Option<AskReason>,
}

/// Whether the tool can be shown to whoever calls.
pub(crate) fn may_list(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    before_arguments(tool, caller)?;
    loaded::may_list(tool, caller)?;
    effect::may_list(tool, caller)
}

/// Whether the tool could be shown to whoever calls, were it loaded.
pub(crate) fn may_find(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    before_loaded(tool, caller)?;
    behind_loaded(tool, caller)?;
    effect::may_list(tool, caller)
}

/// Whether the call may run, and with which arguments. What had to be mended in them is added to `repairs`.
#[inline]
pub(crate) fn admit(
    tool: &Arc<PreparedTool>,
    raw: RawArguments,
    caller: &Caller<'_>,
    policy: &CallPolicy,
    limits: &Limits,
    repairs: &mut Vec<Repair>,
) -> Result<Admission, Refusal> {
    before_arguments(tool, caller)?;
    let mut arguments = arguments::check(tool, raw, policy, limits, repairs)?;
    let source = source_message::check(tool, &mut arguments, caller)?;
    let ask = effect::check(tool, caller)?;
    Ok(Admission { arguments, source, ask })
}

#[inline]
fn before_arguments(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    before_loaded(tool, caller)?;
    loaded::check(tool, caller)?;
    behind_loaded(tool, caller)
}

#[inline]
fn before_loaded(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    let locale = caller.context.locale;
    provider::check(tool, locale)?;
    withheld::check(tool, locale)?;
    allowed::check(tool, caller)
}

#[inline]
fn behind_loaded(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    availability::check(tool, caller)?;
    actor::check(tool, &caller.context)
}

// === impl Gate ===

impl Gate {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Turn => "turn",
            Self::Name => "name",
            Self::Provider => "provider",
            Self::Withheld => "withheld",
            Self::Allowed => "allowed",
            Self::Loaded => "loaded",
            Self::Availability => "availability",
            Self::Actor => "actor",
            Self::Arguments => "arguments",
            Self::SourceMessage => "source_message",
            Self::Effect => "effect",
            Self::InFlight => "in_flight",
            Self::Usage => "usage",
        }
    }

    #[cold]
    pub(crate) fn refuse(self, error: CallError) -> Refusal {
        Refusal { gate: self, error: Box::new(error) }
    }
}
