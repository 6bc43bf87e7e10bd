//! The plugin's own log lines, in the daemon's log.

use std::time::Duration;

use tokio::time::Instant;

use crate::plugin::wire::LogFrame;

/// Lines that may come at once, and in each second. The runner lets fewer through; only a plugin that writes to the
/// connection itself gets here with more.
const LINES: u32 = 400;
const PERIOD: Duration = Duration::from_secs(1);
/// Bytes of a line that are shown.
const SHOWN: usize = 8 << 10;
/// Bytes of the name of its logger.
const NAME: usize = 200;

/// Lets so many lines through in a period, and counts the others.
#[derive(Debug, Default)]
pub(super) struct Gate {
    begun: Option<Instant>,
    passed: u32,
    dropped: u64,
}

// === impl Gate ===

impl Gate {
    /// Passes one line on.
    pub(super) fn forward(&mut self, provider: &str, line: &LogFrame) {
        if !self.admits(provider, line.dropped) {
            return;
        }
        let (logger, message) = (cut(&line.logger, NAME), cut(&line.message, SHOWN));
        match line.level.as_str() {
            "critical" | "error" => tracing::error!(provider, logger, "{message}"),
            "warning" => tracing::warn!(provider, logger, "{message}"),
            "debug" => tracing::debug!(provider, logger, "{message}"),
            _ => tracing::info!(provider, logger, "{message}"),
        }
    }

    /// Whether one more line may be written now. Tells of those that were left out, here or by the runner.
    pub(super) fn admits(&mut self, provider: &str, dropped_before: u64) -> bool {
        self.dropped = self.dropped.saturating_add(dropped_before);
        let now = Instant::now();
        if self.begun.is_none_or(|begun| now.duration_since(begun) >= PERIOD) {
            self.begun = Some(now);
            self.passed = 0;
        }
        if self.passed == LINES {
            self.dropped = self.dropped.saturating_add(1);
            return false;
        }
        self.passed += 1;
        let dropped = std::mem::take(&mut self.dropped);
        if dropped > 0 {
            tracing::warn!(provider, dropped, "the plugin logs too fast; lines are left out");
        }
        true
    }
}

/// The first bytes of a text, to the end of a character.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rfind(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_passes_at_a_bounded_rate() {
        let mut gate = Gate::default();
        let passed = (0..10_000).filter(|_| gate.admits("p", 0)).count();
        assert_eq!(passed, 400);
        assert_eq!(gate.dropped, 9_600);
        tokio::time::advance(PERIOD).await;
        assert!(gate.admits("p", 0));
        assert_eq!(gate.dropped, 0, "it was told");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("天气", 4), "天");
        assert_eq!(cut("abc", 8), "abc");
    }
}
