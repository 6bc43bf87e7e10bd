//! Every limit of the engine, with its unit and its default.

use std::time::Duration;

/// Limits of one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Calls in one batch; those beyond are `overloaded` with `limit.batch`. Default 128.
    pub max_batch_calls: usize,
    /// Bytes of one call's arguments. Default 1 MiB.
    pub max_argument_bytes: usize,
    /// Depth of one call's arguments. Default 64.
    pub max_argument_depth: usize,
    /// Characters of one call's text result for the model; longer text is cut in the middle and kept whole for a while,
    /// see [`crate::ToolRegistry::kept_result`]. A tool may have a limit of its own. 0 is no limit but the one in bytes.
    /// Default 65,536.
    pub max_result_chars: usize,
    /// Bytes of one call's text result, whatever its tool's limit in characters; longer text is cut in the middle, and
    /// longer structured content is left out. Default 256 KiB.
    pub max_result_text_bytes: usize,
    /// Bytes of all results that are kept whole because they were cut; the oldest go first. Default 64 MiB.
    pub max_kept_result_bytes: usize,
    /// How long a result that was cut is kept whole. 0 keeps none. Default 10 min.
    pub kept_result_ttl: Duration,
    /// Bytes of one call's whole result, media included; a larger one fails its call. Default 16 MiB.
    pub max_result_bytes: usize,
    /// Calls in flight in the whole engine; those beyond are `overloaded` with `limit.in_flight`. Default 65,536.
    pub max_in_flight: usize,
    /// Batches that [`crate::ToolRegistry::start`] may have in flight. Default 16,384.
    pub max_batches: usize,
    /// Deadline of a tool that has none of its own. Default 60 s.
    pub tool_timeout_default: Duration,
    /// Time that calls of one batch may take in place before the rest become tasks. Default 4 µs.
    pub in_place_budget: Duration,
    /// Tools of one provider; those beyond are left out, with a reason. Default 10,000.
    pub max_tools_per_provider: usize,
    /// Tools that have a label of their own in the metrics; those beyond share `_other`. Default 5,000.
    pub max_tool_labels: usize,
    /// Sessions in memory; when there are more, those that were idle longest go, into the store where there is one.
    /// Default 100,000.
    pub max_sessions: usize,
    /// How long a session that nobody uses stays in memory. Default 24 h.
    pub session_ttl: Duration,
    /// Approvals that are over and kept, with what came of them. Default 10,000.
    pub max_kept_approvals: usize,
    /// Bytes that they may take; the oldest go first. Default 64 MiB.
    pub max_kept_approval_bytes: usize,
    /// How long they are kept. Default 1 h.
    pub kept_approval_ttl: Duration,
    /// Counts that are kept for [`crate::Policy::usage`], one for each limit and each tenant, user, tool or provider that it
    /// tells apart. When there are more, those that were used least lately go, and what they counted with them: no call is
    /// refused for want of room. Default 100,000.
    pub max_usage_keys: usize,
    /// Results that [`crate::ToolRegistry::read_cached`] keeps; the oldest go first. Default 4,096.
    pub max_cached_reads: usize,
    /// Bytes of all of them; one of more than a sixteenth of that is not kept. Default 16 MiB.
    pub max_cached_read_bytes: usize,
    /// Messages that wait at a registry or provider actor. No mailbox holds calls. Default 256.
    pub mailbox_capacity: usize,
    /// Time for the registry to answer a control request. Default 5 s.
    pub control_timeout: Duration,
}

// === impl Limits ===

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_batch_calls: 128,
            max_argument_bytes: 1 << 20,
            max_argument_depth: 64,
            max_result_chars: 65_536,
            max_result_text_bytes: 256 << 10,
            max_kept_result_bytes: 64 << 20,
            kept_result_ttl: Duration::from_secs(600),
            max_result_bytes: 16 << 20,
            max_in_flight: 65_536,
            max_batches: 16_384,
            tool_timeout_default: Duration::from_secs(60),
            in_place_budget: Duration::from_micros(4),
            max_tools_per_provider: 10_000,
            max_tool_labels: 5_000,
            max_sessions: 100_000,
            session_ttl: Duration::from_secs(24 * 3600),
            max_kept_approvals: 10_000,
            max_kept_approval_bytes: 64 << 20,
            kept_approval_ttl: Duration::from_secs(3600),
            max_usage_keys: 100_000,
            max_cached_reads: 4_096,
            max_cached_read_bytes: 16 << 20,
            mailbox_capacity: 256,
            control_timeout: Duration::from_secs(5),
        }
    }
}
