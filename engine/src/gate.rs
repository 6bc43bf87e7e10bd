//! Admission: the gates that a call passes before it runs, in a fixed order. The first refusal wins and says why.
//!
//! provider up -> not withheld -> availability -> actor -> arguments. Listing uses the same gates but the last.

mod actor;
mod arguments;
mod availability;
mod provider;
mod withheld;

use std::sync::Arc;

use crate::call::{Arguments, CallPolicy, ToolCall, ToolExecutionContext};
use crate::limits::Limits;
use crate::registry::PreparedTool;
use crate::result::{CallError, Repair};

/// Why a call is refused: its error decides the status, its gate the metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) gate: Gate,
    pub(crate) error: CallError,
}

/// The gates, in their order; a label of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Batch,
    Name,
    Provider,
    Withheld,
    Availability,
    Actor,
    Arguments,
    InFlight,
}

/// Whether the tool can be shown to a model in this context.
pub(crate) fn may_list(tool: &PreparedTool, context: &ToolExecutionContext) -> Result<(), Refusal> {
    provider::check(tool, context.locale)?;
    withheld::check(tool, context.locale)?;
    availability::check(tool, context)?;
    actor::check(tool, context)
}

/// Whether the call may run, and with which arguments.
pub(crate) fn admit(
    tool: &Arc<PreparedTool>,
    call: &ToolCall,
    context: &ToolExecutionContext,
    policy: &CallPolicy,
    limits: &Limits,
) -> Result<(Arguments, Vec<Repair>), Refusal> {
    may_list(tool, context)?;
    arguments::check(tool, call, policy, limits)
}

// === impl Gate ===

impl Gate {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Name => "name",
            Self::Provider => "provider",
            Self::Withheld => "withheld",
            Self::Availability => "availability",
            Self::Actor => "actor",
            Self::Arguments => "arguments",
            Self::InFlight => "in_flight",
        }
    }

    pub(crate) fn refuse(self, error: CallError) -> Refusal {
        Refusal { gate: self, error }
    }
}
