//! `[limits]`: the engine's limits.

use serde::Deserialize;
use toolyard::Limits;

use super::provider::set_millis;

/// Limits that differ from their defaults.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsConfig {
    max_batch_calls: Option<usize>,
    max_argument_bytes: Option<usize>,
    max_argument_depth: Option<usize>,
    max_result_chars: Option<usize>,
    max_result_text_bytes: Option<usize>,
    max_result_bytes: Option<usize>,
    max_kept_result_bytes: Option<usize>,
    kept_result_ttl_ms: Option<u64>,
    max_kept_approvals: Option<usize>,
    max_kept_approval_bytes: Option<usize>,
    kept_approval_ttl_ms: Option<u64>,
    max_in_flight: Option<usize>,
    max_batches: Option<usize>,
    tool_timeout_default_ms: Option<u64>,
    max_tools_per_provider: Option<usize>,
    max_sessions: Option<usize>,
    session_ttl_ms: Option<u64>,
}

// === impl LimitsConfig ===

impl LimitsConfig {
    pub(crate) fn engine(&self) -> Limits {
        let mut limits = Limits::default();
        let settings = [
            (&mut limits.max_batch_calls, self.max_batch_calls),
            (&mut limits.max_argument_bytes, self.max_argument_bytes),
            (&mut limits.max_argument_depth, self.max_argument_depth),
            (&mut limits.max_result_chars, self.max_result_chars),
            (&mut limits.max_result_text_bytes, self.max_result_text_bytes),
            (&mut limits.max_result_bytes, self.max_result_bytes),
            (&mut limits.max_kept_result_bytes, self.max_kept_result_bytes),
            (&mut limits.max_kept_approvals, self.max_kept_approvals),
            (&mut limits.max_kept_approval_bytes, self.max_kept_approval_bytes),
            (&mut limits.max_in_flight, self.max_in_flight),
            (&mut limits.max_batches, self.max_batches),
            (&mut limits.max_tools_per_provider, self.max_tools_per_provider),
            (&mut limits.max_sessions, self.max_sessions),
        ];
        for (limit, configured) in settings {
            if let Some(configured) = configured {
                *limit = configured;
            }
        }
        set_millis(&mut limits.kept_result_ttl, self.kept_result_ttl_ms);
        set_millis(&mut limits.kept_approval_ttl, self.kept_approval_ttl_ms);
        set_millis(&mut limits.session_ttl, self.session_ttl_ms);
        set_millis(&mut limits.tool_timeout_default, self.tool_timeout_default_ms);
        limits
    }
}
