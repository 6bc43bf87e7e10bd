//! Case: a random batch and what happens to it.

use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use toolyard::{CallStatus, ExecutionClass, FunctionProvider, FunctionTool, RawArguments, ToolBatch, ToolCall};
use toolyard::{InvokeResult, Limits, ToolExecutionResult, ToolRegistry, ToolSpec};

use super::crashable::{Crash, Crashable};
use crate::fixture::{HOUR, ms, settings};

/// All times are in milliseconds below this one.
const LONGEST: u64 = 20;

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) calls: Vec<Call>,
    pub(super) way: Way,
    deadline: Option<u64>,
    cancel: Option<(u64, Cancel)>,
    crash: Option<u64>,
    /// Whether the provider that crashes takes one call at a time.
    serial: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) act: Act,
    class: ExecutionClass,
    /// Whether its provider is the one that crashes.
    crashes: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Succeed,
    Stop,
    Fail,
    Panic,
    Hang,
    Yield(u8),
    Sleep(u64),
    Unknown,
    BadArguments,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    Started,
    Direct,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Cancel {
    Batch,
    Token,
    Call(usize),
}

/// How often each call's handler was entered.
#[derive(Clone)]
pub(super) struct Counters(Arc<[AtomicUsize]>);

/// Random cases. The blocking pool stops a paused clock, so it is used on many threads only.
pub(super) fn cases(blocking: bool) -> impl Strategy<Value = Case> {
    let cancel = prop_oneof![Just(Cancel::Batch), Just(Cancel::Token), (0..40_usize).prop_map(Cancel::Call)];
    let way = prop_oneof![Just(Way::Started), Just(Way::Direct)];
    let times = || option::weighted(0.3, 0..LONGEST);
    (vec(calls(blocking), 0..40), way, times(), option::weighted(0.4, (0..LONGEST, cancel)), times(), any::<bool>())
        .prop_map(|(calls, way, deadline, cancel, crash, serial)| Case { calls, way, deadline, cancel, crash, serial })
}

fn calls(blocking: bool) -> impl Strategy<Value = Call> {
    let act = prop_oneof![
        3 => Just(Act::Succeed),
        1 => Just(Act::Stop),
        1 => Just(Act::Fail),
        1 => Just(Act::Panic),
        1 => Just(Act::Hang),
        2 => (0..5_u8).prop_map(Act::Yield),
        3 => (0..LONGEST).prop_map(Act::Sleep),
        1 => Just(Act::Unknown),
        1 => Just(Act::BadArguments),
    ];
    let class = (0..if blocking { 4 } else { 3_usize })
        .prop_map(|n| [ExecutionClass::Io, ExecutionClass::Task, ExecutionClass::Inline, ExecutionClass::Blocking][n]);
    (act, class, any::<bool>()).prop_map(|(act, class, crashes)| Call { act, class, crashes })
}

// === impl Case ===

impl Case {
    pub(super) fn call_id(index: usize) -> String {
        format!("id-{index}")
    }

    pub(super) fn batch(&self) -> ToolBatch {
        let calls = self.calls.iter().enumerate().map(|(index, call)| {
            let name = if matches!(call.act, Act::Unknown) { format!("u{index}") } else { format!("t{index}") };
            let arguments = if matches!(call.act, Act::BadArguments) { "[" } else { "{}" };
            ToolCall::new(Self::call_id(index), name, RawArguments::text(arguments))
        });
        let batch = ToolBatch::new(calls.collect());
        match self.deadline {
            Some(time) => batch.with_deadline(ms(time)),
            None => batch,
        }
    }

    pub(super) async fn registry(&self, counters: &Counters, crash: &Crash) -> ToolRegistry {
        let (mut stable, mut crashing) = (FunctionProvider::new("stable"), FunctionProvider::new("crashing"));
        for (index, call) in self.calls.iter().enumerate() {
            let tool = call.tool(index, counters);
            if call.crashes {
                crashing = crashing.with_tool(tool);
            } else {
                stable = stable.with_tool(tool);
            }
        }
        let registry = ToolRegistry::new(Limits::default());
        registry.register(Arc::new(stable), settings(|_| ())).await.unwrap();
        let one = self.serial.then_some(NonZeroUsize::MIN);
        let crashing = Arc::new(Crashable::new(crashing, crash.clone()));
        registry.register(crashing, settings(|settings| settings.max_in_flight = one)).await.unwrap();
        registry
    }

    /// Does what happens to the batch from outside, at its time.
    pub(super) async fn disturb(&self, crash: &Crash, cancel: impl Fn(Cancel)) {
        let cancelling = async {
            if let Some((time, what)) = self.cancel {
                tokio::time::sleep(ms(time)).await;
                cancel(what);
            }
        };
        let crashing = async {
            if let Some(time) = self.crash {
                tokio::time::sleep(ms(time)).await;
                crash.now();
            }
        };
        tokio::join!(cancelling, crashing);
    }

    /// How a call must end, where that does not depend on time.
    pub(super) fn expected(&self, index: usize) -> Option<CallStatus> {
        let call = &self.calls[index];
        let disturbed = self.deadline.is_some() || self.cancel.is_some() || (call.crashes && self.crash.is_some());
        match call.act {
            Act::Unknown => Some(CallStatus::UnknownTool),
            Act::BadArguments => Some(CallStatus::Truncated),
            _ if disturbed => None,
            Act::Succeed | Act::Stop | Act::Yield(_) | Act::Sleep(_) => Some(CallStatus::Ok),
            Act::Fail | Act::Panic => Some(CallStatus::ToolError),
            Act::Hang => Some(CallStatus::Timeout),
        }
    }

    /// Whether something happened that lets a call end like this.
    pub(super) fn may_end_as(&self, index: usize, status: CallStatus) -> bool {
        let call = &self.calls[index];
        match status {
            CallStatus::Cancelled => self.cancel.is_some(),
            CallStatus::Unavailable => call.crashes && self.crash.is_some(),
            CallStatus::Timeout => matches!(call.act, Act::Hang) || self.deadline.is_some(),
            CallStatus::Ok => !matches!(call.act, Act::Fail | Act::Panic | Act::Hang),
            CallStatus::ToolError => matches!(call.act, Act::Fail | Act::Panic),
            _ => matches!(call.act, Act::Unknown | Act::BadArguments),
        }
    }
}

// === impl Call ===

impl Call {
    fn tool(&self, index: usize, counters: &Counters) -> FunctionTool {
        let (act, counters) = (self.act, counters.clone());
        let timeout = if matches!(act, Act::Hang) { ms(150) } else { HOUR };
        let spec = ToolSpec::new(format!("t{index}"), "").with_execution(self.class).with_timeout(timeout);
        FunctionTool::new(spec, move |_, _| {
            counters.0[index].fetch_add(1, Ordering::SeqCst);
            act.perform()
        })
    }
}

// === impl Act ===

impl Act {
    pub(super) fn asks_to_stop(self) -> bool {
        matches!(self, Self::Stop)
    }

    async fn perform(self) -> InvokeResult {
        match self {
            Self::Fail => return Ok(ToolExecutionResult::failure("no luck").stopping()),
            Self::Stop => return Ok(ToolExecutionResult::success("done").stopping()),
            Self::Panic => panic!("as told"),
            Self::Hang => pending().await,
            Self::Yield(times) => {
                for _ in 0..times {
                    tokio::task::yield_now().await;
                }
            }
            Self::Sleep(time) => tokio::time::sleep(ms(time)).await,
            Self::Succeed | Self::Unknown | Self::BadArguments => {}
        }
        Ok(ToolExecutionResult::success("done"))
    }
}

// === impl Counters ===

impl Counters {
    pub(super) fn new(calls: usize) -> Self {
        Self((0..calls).map(|_| AtomicUsize::new(0)).collect())
    }

    pub(super) fn entered(&self, index: usize) -> usize {
        self.0[index].load(Ordering::SeqCst)
    }
}
