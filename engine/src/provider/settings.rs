//! How the registry treats a provider.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::tool::{ExecutionClass, NameForm};

/// How the registry treats a provider. Start from [`ProviderSettings::default`] and change what differs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProviderSettings {
    /// How its tools are called by a model. Default bare.
    pub name_form: NameForm,
    /// How its tools run unless they say otherwise. Default [`ExecutionClass::Io`].
    pub execution: ExecutionClass,
    /// Deadline of its tools that have none of their own; the engine's default where absent.
    pub tool_timeout: Option<Duration>,
    /// Calls that may run at once, first come first served. Default no limit but the engine's.
    pub max_in_flight: Option<NonZeroUsize>,
    /// Calls that may wait for their turn under `max_in_flight`; those beyond are `overloaded`. Default 1,024.
    pub max_queued: usize,
    /// Time to connect and to list the tools. Default 30 s.
    pub start_timeout: Duration,
    /// Time for calls in flight to finish when the provider is replaced, reloaded or removed. Default 10 s.
    pub drain: Duration,
    /// Time to close. Default 5 s.
    pub close_timeout: Duration,
    /// Waiting between attempts to start again.
    pub backoff: Backoff,
    /// When the provider is left alone for a while because it broke too often. Where absent, providers that are launched
    /// have [`Breaker::default`] and those that are registered have none.
    pub breaker: Option<Breaker>,
    /// Names of its tools that are neither listed nor callable.
    pub disabled_tools: Vec<String>,
    /// Whether a success whose structured content does not fit its tool's output schema fails its call; otherwise the
    /// result carries a warning. Default false.
    pub strict_output: bool,
    /// Whether its word counts where its tools say that they are idempotent, so that [`crate::Retry`] may run them again.
    /// Default true.
    pub trusted: bool,
    /// Whether the names of its tools are theirs whatever the order of the providers: tools of others that want one of
    /// them are left out, with a warning. Default false; for the tools of the host.
    pub reserved_names: bool,
    /// When the model is told its guide. Default [`GuideRule::WhenUsable`].
    pub guide: GuideRule,
}

/// When the model is told the guide of a provider (see [`crate::ToolProvider::guide`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuideRule {
    /// As soon as one of its tools is listed.
    #[default]
    WhenUsable,
    /// As soon as one of its tools could be used, loaded or not.
    Always,
    /// Never.
    Never,
}

/// Waiting between attempts: `first`, then twice as long each time, up to `max`; back to `first` after an incarnation
/// that lived longer than `max`. Good calls do not shorten the waits: a provider that answers once and dies, over and over,
/// is slowed like one that answers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait. Default 100 ms.
    pub first: Duration,
    /// The longest wait. Default 30 s.
    pub max: Duration,
}

/// When a provider is left alone for a while. What counts are calls that found it broken ([`crate::ToolFailure`] with
/// `provider.crashed`, `provider.down` or `provider.protocol`) and incarnations that went away by themselves, in a row: a
/// call that went well in between starts the count anew, also one whose tool failed. Calls under way at the same time
/// count once. While the breaker is open, calls are `unavailable` at once; afterwards one call tries the provider, the
/// others go on being refused. When it goes well the breaker closes, else it opens for twice as long.
/// [`crate::ToolRegistry::reload`] closes it at once.
///
/// Incarnations that do not start, or that die, are tried again by [`Backoff`]. After `failures` of them in a row the
/// provider's state and what calls are told meanwhile say that it is no accident any more. A call that went well starts
/// this count anew too, as does an incarnation that lived longer than [`Backoff::max`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// Failures in a row that open it; 0 switches the breaker off. Default 3.
    pub failures: u32,
    /// How long it stays open for the first time. Default 60 s.
    pub open: Duration,
    /// The longest that it stays open. Default 300 s.
    pub max_open: Duration,
    /// A failure is forgotten after this time; closed for this long, the breaker opens for `open` again. Default 600 s.
    pub reset_after: Duration,
}

// === impl ProviderSettings ===

impl Default for ProviderSettings {
    fn default() -> Self {
        Self {
            name_form: NameForm::Bare,
            execution: ExecutionClass::Io,
            tool_timeout: None,
            max_in_flight: None,
            max_queued: 1024,
            start_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            close_timeout: Duration::from_secs(5),
            backoff: Backoff { first: Duration::from_millis(100), max: Duration::from_secs(30) },
            breaker: None,
            disabled_tools: Vec::new(),
            strict_output: false,
            reserved_names: false,
            guide: GuideRule::default(),
            trusted: true,
        }
    }
}

// === impl Breaker ===

impl Breaker {
    /// No breaker.
    pub const OFF: Self =
        Self { failures: 0, open: Duration::ZERO, max_open: Duration::ZERO, reset_after: Duration::ZERO };
}

impl Default for Breaker {
    fn default() -> Self {
        let [open, max_open, reset_after] = [60, 300, 600].map(Duration::from_secs);
        Self { failures: 3, open, max_open, reset_after }
    }
}

// === impl Backoff ===

impl Backoff {
    /// The wait before the attempt after `failures` failed ones (from 1).
    pub(crate) fn wait(self, failures: u32) -> Duration {
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        doubled.min(self.max)
    }
}
