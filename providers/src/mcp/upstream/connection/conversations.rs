//! Conversations: for whom a server may still be at work although nobody waits for it any more.
//!
//! A server that does not say for which call it asks something can be answered only where there is no doubt.

use std::time::Duration;

use tokio::time::Instant;

use super::asker::{Asker, Conversation};

/// How long a server may go on asking for a call that was given up.
const MEMORY: Duration = Duration::from_secs(600);

/// Whose calls were given up of late.
#[derive(Debug, Default)]
pub(super) struct Conversations {
    last: Option<(Conversation, Instant)>,
    /// Until then calls of more than one conversation may be at work.
    several_until: Option<Instant>,
}

// === impl Conversations ===

impl Conversations {
    /// A call was given up, and the server may not know of it yet, or not care.
    pub(super) fn gave_up(&mut self, asker: &Asker) {
        let Some(conversation) = asker.conversation() else { return };
        let now = Instant::now();
        if self.last.as_ref().is_some_and(|(last, at)| *last != conversation && now < *at + MEMORY) {
            self.several_until = Some(now + MEMORY);
        }
        self.last = Some((conversation, now));
    }

    /// Whether what a server asks now can be meant for nobody's but this call.
    pub(super) fn is_sure_of(&self, asker: &Asker) -> bool {
        let now = Instant::now();
        let is_own = match &self.last {
            Some((last, at)) if now < *at + MEMORY => Some(last) == asker.conversation().as_ref(),
            _ => true,
        };
        is_own && self.several_until.is_none_or(|until| until <= now)
    }
}
