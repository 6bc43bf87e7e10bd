//! Revisions of MCP, and what is remembered of which of them a server speaks.

use std::sync::{Mutex, PoisonError};

use super::upstream::{Era, McpEra};

/// The newest revision that opens with `initialize`.
pub(super) const LEGACY: &str = "2025-11-25";
/// The revision without `initialize`.
pub(super) const MODERN: &str = "2026-07-28";
/// Every revision that opens with `initialize`, the newest first.
const LEGACY_REVISIONS: [&str; 4] = [LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];

/// Which era a server speaks, kept across its incarnations.
#[derive(Debug)]
pub(super) struct EraMemory {
    configured: McpEra,
    known: Mutex<Option<Era>>,
}

/// How a handshake begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) first: Era,
    /// Whether the other era is tried when the first does not work.
    pub(super) may_change: bool,
    /// Whether nothing is known of the server yet.
    pub(super) is_guess: bool,
}

/// The legacy revision of this name.
pub(super) fn legacy_revision(name: &str) -> Option<&'static str> {
    LEGACY_REVISIONS.into_iter().find(|known| *known == name)
}

// === impl EraMemory ===

impl EraMemory {
    pub(super) fn new(configured: McpEra) -> Self {
        Self { configured, known: Mutex::default() }
    }

    pub(super) fn plan(&self) -> Plan {
        match self.configured {
            McpEra::Legacy => Plan { first: Era::Legacy, may_change: false, is_guess: false },
            McpEra::Modern => Plan { first: Era::Modern, may_change: false, is_guess: false },
            McpEra::Auto => match *self.known.lock().unwrap_or_else(PoisonError::into_inner) {
                Some(first) => Plan { first, may_change: true, is_guess: false },
                None => Plan { first: Era::Modern, may_change: true, is_guess: true },
            },
        }
    }

    /// The server speaks this era.
    pub(super) fn learn(&self, era: Era) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(era);
    }

    /// What was remembered did not work, or a first guess broke the server: the other era is next.
    pub(super) fn doubt(&self, plan: Plan) {
        let next = match plan {
            Plan { is_guess: true, .. } => Some(Era::Legacy),
            Plan { .. } => None,
        };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learnt_is_remembered_and_forgotten_when_it_fails() {
        let memory = EraMemory::new(McpEra::Auto);
        let first = memory.plan();
        assert_eq!((first.first, first.is_guess), (Era::Modern, true));
        memory.doubt(first);
        let second = memory.plan();
        assert_eq!(
            (second.first, second.is_guess),
            (Era::Legacy, false),
            "a guess that broke the server is not repeated"
        );
        memory.doubt(second);
        assert_eq!(memory.plan(), first);
        memory.learn(Era::Legacy);
        assert_eq!(memory.plan().first, Era::Legacy);
    }

    #[test]
    fn what_is_configured_is_not_changed() {
        let memory = EraMemory::new(McpEra::Modern);
        memory.learn(Era::Legacy);
        assert_eq!(memory.plan(), Plan { first: Era::Modern, may_change: false, is_guess: false });
    }
}
