//! Session: the living state of one conversation.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use super::{LoadedSet, Messages, ReceivedMessage, SessionProfile, SessionRecord, Sessions, Turn, TurnRecord};
use crate::call::{SessionKey, ToolExecutionContext, TurnId};

/// Turns before the present one that are remembered as over.
const PAST_TURNS: usize = 16;

/// The state of one conversation. Read without a lock by batches that start.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) key: SessionKey,
    profile: ArcSwap<SessionProfile>,
    loaded: ArcSwap<LoadedSet>,
    turn: ArcSwap<Turn>,
    /// Whatever changes seldom: taken to write, and to look for a source message.
    rest: Mutex<Rest>,
    /// Milliseconds of the table's clock.
    last_used: AtomicU64,
}

#[derive(Debug, Default)]
struct Rest {
    past: Vec<TurnId>,
    /// Ids of tools that a person has agreed to for the whole session.
    granted: BTreeSet<Arc<str>>,
    messages: Messages,
}

/// What a batch sees of its session, frozen when the batch starts.
#[derive(Clone, Debug)]
pub(crate) struct SessionView {
    /// Nothing where every tool counts as loaded.
    pub(crate) loaded: Option<Arc<LoadedSet>>,
    pub(crate) turn: Arc<Turn>,
    /// Whether the turn was tainted when the batch started.
    pub(crate) tainted: bool,
}

// === impl Session ===

impl Session {
    pub(crate) fn new(key: SessionKey, now: u64) -> Self {
        Self {
            key,
            profile: ArcSwap::default(),
            loaded: ArcSwap::default(),
            turn: ArcSwap::from_pointee(Turn::new(TurnId("".into()), false)),
            rest: Mutex::default(),
            last_used: AtomicU64::new(now),
        }
    }

    pub(crate) fn restored(record: SessionRecord, now: u64) -> Self {
        let TurnRecord { id, begun, tainted, stopped } = record.turn;
        let turn = Turn::new(id, begun);
        if tainted {
            turn.taint();
        }
        if stopped {
            turn.stop();
        }
        let mut messages = Messages::default();
        for (turn, message) in record.messages {
            messages.add(&turn, Arc::unwrap_or_clone(message));
        }
        Self {
            profile: ArcSwap::from_pointee(record.profile),
            loaded: ArcSwap::from_pointee(record.loaded),
            turn: ArcSwap::from_pointee(turn),
            rest: Mutex::new(Rest { past: record.past_turns, granted: record.granted, messages }),
            ..Self::new(record.key, now)
        }
    }

    pub(crate) fn record(&self) -> SessionRecord {
        let (rest, turn) = (self.rest(), self.turn.load());
        SessionRecord {
            key: self.key.clone(),
            profile: SessionProfile::clone(&self.profile.load()),
            loaded: LoadedSet::clone(&self.loaded.load()),
            turn: TurnRecord {
                id: turn.id.clone(),
                begun: turn.begun,
                tainted: turn.is_tainted(),
                stopped: turn.was_asked_to_stop(),
            },
            past_turns: rest.past.clone(),
            messages: rest.messages.all(),
            granted: rest.granted.clone(),
        }
    }

    pub(crate) fn last_used(&self) -> u64 {
        self.last_used.load(Ordering::Relaxed)
    }

    pub(crate) fn use_at(&self, now: u64) {
        self.last_used.store(now, Ordering::Relaxed);
    }

    pub(crate) fn profile(&self) -> Arc<SessionProfile> {
        self.profile.load_full()
    }

    /// Fills in what the context of a batch leaves empty.
    pub(crate) fn fill(&self, context: &mut Arc<ToolExecutionContext>) {
        if let Some(filled) = self.profile.load().fill(context) {
            *context = Arc::new(filled);
        }
    }

    pub(crate) fn set_profile(&self, profile: SessionProfile) {
        self.profile.store(Arc::new(profile));
    }

    pub(crate) fn loaded(&self) -> Arc<LoadedSet> {
        self.loaded.load_full()
    }

    pub(crate) fn turn(&self) -> Arc<Turn> {
        self.turn.load_full()
    }

    /// What a batch of this turn sees. One that names a turn that nobody has begun begins it; one of a turn that is over
    /// sees a turn in which nothing runs. Says too whether a turn began.
    pub(crate) fn view(&self, turn: Option<&TurnId>) -> (SessionView, bool) {
        let (turn, began) = match turn {
            Some(id) if self.turn.load().id != *id => self.begin_or_over(id),
            _ => (self.turn.load_full(), false),
        };
        (SessionView { loaded: Some(self.loaded.load_full()), tainted: turn.is_tainted(), turn }, began)
    }

    fn begin_or_over(&self, id: &TurnId) -> (Arc<Turn>, bool) {
        let mut rest = self.rest();
        let present = self.turn.load_full();
        if present.id == *id {
            return (present, false);
        }
        if rest.past.contains(id) {
            return (Arc::new(Turn::over(id.clone())), false);
        }
        (self.start(&mut rest, id), true)
    }

    /// Begins a turn: the one before is over, its taint with it. One that is under way goes on.
    /// Says whether it is not over already.
    pub(crate) fn begin_turn(&self, id: &TurnId, messages: impl IntoIterator<Item = ReceivedMessage>) -> bool {
        let mut rest = self.rest();
        let is_present = self.turn.load().id == *id;
        if !is_present && rest.past.contains(id) {
            return false;
        }
        if !is_present {
            self.start(&mut rest, id);
        }
        for message in messages {
            rest.messages.add(id, message);
        }
        true
    }

    fn start(&self, rest: &mut Rest, id: &TurnId) -> Arc<Turn> {
        let turn = Arc::new(Turn::new(id.clone(), true));
        let before = self.turn.swap(Arc::clone(&turn));
        rest.past.retain(|past| past != id);
        if before.begun {
            rest.past.push(before.id.clone());
        }
        let surplus = rest.past.len().saturating_sub(PAST_TURNS);
        rest.past.drain(..surplus);
        turn
    }

    /// Notes that a person has agreed to a tool for the whole session. Says whether that is new.
    pub(crate) fn grant(&self, tool_id: &str) -> bool {
        self.rest().granted.insert(tool_id.into())
    }

    /// Whether a person has agreed to a tool for the whole session.
    pub(crate) fn has_granted(&self, tool_id: &str) -> bool {
        self.rest().granted.contains(tool_id)
    }

    /// What an approved call sees: what the model had found is settled, and the result comes into the present turn.
    pub(crate) fn view_of_approved(&self) -> SessionView {
        let turn = self.turn.load_full();
        SessionView { loaded: None, tainted: turn.is_tainted(), turn }
    }

    /// Adds what was loaded. Says whether that was anything new.
    pub(crate) fn load(&self, more: &LoadedSet) -> bool {
        let _alone = self.rest();
        let mut loaded = LoadedSet::clone(&self.loaded.load());
        let is_new = loaded.add(more);
        if is_new {
            self.loaded.store(Arc::new(loaded));
        }
        is_new
    }

    /// Forgets what was loaded.
    pub(crate) fn unload_all(&self) {
        let _alone = self.rest();
        self.loaded.store(Arc::default());
    }

    /// The received message with this id, and its turn.
    pub(crate) fn message(&self, id: &str) -> Option<(TurnId, Arc<ReceivedMessage>)> {
        self.rest().messages.find(id)
    }

    /// Marks a message as taken back. Says whether it is known.
    pub(crate) fn recall(&self, id: &str) -> bool {
        self.rest().messages.recall(id)
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl SessionView ===

impl SessionView {
    /// A session as it is; an empty one where it is not in memory.
    pub(crate) fn of(sessions: &Sessions, key: &SessionKey) -> Self {
        match sessions.get(key) {
            Some(session) => session.view(None).0,
            None => Self {
                loaded: Some(Arc::default()),
                turn: Arc::new(Turn::new(TurnId("".into()), false)),
                tainted: false,
            },
        }
    }
}
