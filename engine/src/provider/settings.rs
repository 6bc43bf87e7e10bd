//! How the registry treats a provider.

use std::num::NonZeroUsize;
use std::time::Duration;

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
    /// Names of its tools that are neither listed nor callable.
    pub disabled_tools: Vec<String>,
    /// Whether a success whose structured content does not fit its tool's output schema fails its call; otherwise the
    /// result carries a warning. Default false.
    pub strict_output: bool,
}

/// Waiting between attempts: `first`, then twice as long each time, up to `max`; back to `first` after an incarnation
/// that lived longer than `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The first wait. Default 100 ms.
    pub first: Duration,
    /// The longest wait. Default 30 s.
    pub max: Duration,
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
            disabled_tools: Vec::new(),
            strict_output: false,
        }
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
