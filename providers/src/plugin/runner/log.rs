//! The plugin's own log lines, in the daemon's log.

use crate::plugin::wire::LogFrame;

/// Passes one line on.
pub(super) fn forward(provider: &str, line: &LogFrame) {
    let LogFrame { level, logger, message, dropped } = line;
    if *dropped > 0 {
        tracing::warn!(provider, dropped, "the plugin logs too fast; lines are left out");
    }
    match level.as_str() {
        "critical" | "error" => tracing::error!(provider, logger, "{message}"),
        "warning" => tracing::warn!(provider, logger, "{message}"),
        "debug" => tracing::debug!(provider, logger, "{message}"),
        _ => tracing::info!(provider, logger, "{message}"),
    }
}
