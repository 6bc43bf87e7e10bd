//! Conversations: whether a connection serves one conversation or several.
//!
//! A server that does not say for which call it asks something can be answered only where there is no doubt.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;
use toolyard::HostPort;

use super::asker::Asker;

/// How long a server may go on asking for a call that has ended.
const MEMORY: Duration = Duration::from_secs(600);

/// Who used a connection of late.
#[derive(Debug, Default)]
pub(super) struct Conversations {
    last: Option<(Conversation, Instant)>,
    /// Until then somebody else may still be meant.
    several_until: Option<Instant>,
}

/// By its tenant, session and stream; by who answers for it where it has no session.
#[derive(Debug)]
enum Conversation {
    Named([String; 3]),
    Of(Weak<dyn HostPort>),
}

// === impl Conversations ===

impl Conversations {
    /// Somebody asks the server. Whoever cannot be asked in turn is no conversation.
    pub(super) fn heard(&mut self, asker: &Asker) {
        if !asker.listens() {
            return;
        }
        let (now, next) = (Instant::now(), Conversation::of(asker));
        if let Some((last, at)) = &self.last
            && *last != next
            && now < *at + MEMORY
        {
            self.several_until = Some(now + MEMORY);
        }
        self.last = Some((next, now));
    }

    /// Whether all that a server may ask belongs to one conversation.
    pub(super) fn is_one(&self) -> bool {
        self.several_until.is_none_or(|until| until <= Instant::now())
    }
}

// === impl Conversation ===

impl Conversation {
    fn of(asker: &Asker) -> Self {
        asker.conversation().map_or_else(|| Self::Of(Arc::downgrade(asker.host())), Self::Named)
    }
}

impl PartialEq for Conversation {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Named(a), Self::Named(b)) => a == b,
            (Self::Of(a), Self::Of(b)) => a.ptr_eq(b),
            _ => false,
        }
    }
}
