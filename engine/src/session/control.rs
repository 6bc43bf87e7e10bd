//! SessionControl: sessions, as the backend opens, feeds and ends them.

use std::sync::Arc;

use serde::Serialize;
use tokio::time::Instant;

use super::{LoadedSet, ReceivedMessage, Session, SessionProfile, StoreError, TurnRecord};
use crate::call::{SessionKey, TurnId};
use crate::engine::Engine;

/// The sessions of an engine, by [`crate::ToolRegistry::sessions`].
///
/// A batch opens its session by itself; what is here tells the engine what it cannot know: who takes part, which messages
/// came, when a turn begins, when history was compacted.
#[derive(Clone, Debug)]
pub struct SessionControl {
    engine: Arc<Engine>,
}

/// How a session stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionState {
    /// Which session.
    #[serde(flatten)]
    pub key: SessionKey,
    /// Where it takes place and for whom.
    pub profile: SessionProfile,
    /// What it has loaded.
    pub loaded: LoadedSet,
    /// Its turn.
    pub turn: TurnRecord,
}

/// What begins a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnStart {
    /// The turn's id, unique in its session. One that is under way already goes on, with more messages.
    pub id: TurnId,
    /// The messages received. Those that tools' media were made of begin no turn and are left out.
    pub messages: Vec<ReceivedMessage>,
}

/// There is no such session in memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no session `{0}`; open it first")]
pub struct SessionUnknown(pub String);

/// A turn that is over was to begin again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the turn `{0}` is over; begin one with an id that was not used before")]
pub struct TurnOver(pub String);

// === impl SessionControl ===

impl SessionControl {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Opens a session: from memory, else from the store, else a new one. A profile takes the place of the one before.
    pub async fn open(&self, key: &SessionKey, profile: Option<SessionProfile>) -> SessionState {
        let session = self.session(key).await;
        if let Some(profile) = profile {
            session.set_profile(profile);
            self.engine.sessions.touch(&session);
        }
        state(&session)
    }

    /// Brings a session that is only in the store back into memory. One that is nowhere stays so: looking at a session makes
    /// none.
    pub async fn restore(&self, key: &SessionKey) {
        self.engine.sessions.restore(key, Instant::now()).await;
    }

    /// How a session stands; nothing where it is not in memory.
    pub fn state(&self, key: &SessionKey) -> Option<SessionState> {
        self.engine.sessions.get(key).map(|session| state(&session))
    }

    /// Sessions in memory.
    pub fn len(&self) -> usize {
        self.engine.sessions.len()
    }

    /// Whether no session is in memory.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Begins a turn, or adds messages to the one under way. The turn before is over, and its taint with it. Nothing begins
    /// where all that came was made of tools' media.
    ///
    /// # Errors
    /// The turn is over: nothing in it begins again, and nothing has changed.
    pub async fn begin_turn(&self, key: &SessionKey, start: TurnStart) -> Result<SessionState, TurnOver> {
        let session = self.session(key).await;
        let TurnStart { id, messages } = start;
        let is_made = !messages.is_empty() && messages.iter().all(|message| message.tool_result_media);
        if !is_made {
            let sent = messages.into_iter().filter(|message| !message.tool_result_media);
            if !session.begin_turn(&id, sent) {
                return Err(TurnOver(id.0.to_string()));
            }
            self.engine.sessions.touch(&session);
        }
        Ok(state(&session))
    }

    /// Marks a message as taken back.
    ///
    /// # Errors
    /// The session is not in memory. Says otherwise whether the message is known.
    pub fn recall(&self, key: &SessionKey, message_id: &str) -> Result<bool, SessionUnknown> {
        let session = self.known(key)?;
        let is_known = session.recall(message_id);
        self.engine.sessions.touch(&session);
        Ok(is_known)
    }

    /// Loads deferred tools for a session, as if the model had found them.
    pub async fn load(&self, key: &SessionKey, more: &LoadedSet) -> SessionState {
        let session = self.session(key).await;
        if session.load(more) {
            self.engine.sessions.touch(&session);
        }
        state(&session)
    }

    /// Forgets what a session has loaded: its history was compacted, and the model has lost sight of what it found.
    ///
    /// # Errors
    /// The session is not in memory.
    pub fn unload_all(&self, key: &SessionKey) -> Result<(), SessionUnknown> {
        let session = self.known(key)?;
        session.unload_all();
        self.engine.sessions.touch(&session);
        Ok(())
    }

    /// Cancels the session's batches, withdraws its approvals and forgets it, in the store too. Says whether it was in memory.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn end(&self, key: &SessionKey) -> Result<bool, StoreError> {
        self.engine.batches.cancel_session(key);
        self.engine.approvals.withdraw_session(key);
        let was_there = self.engine.sessions.take(key).is_some();
        if let Some(store) = &self.engine.sessions.store {
            store.remove(key).await?;
        }
        Ok(was_there)
    }

    async fn session(&self, key: &SessionKey) -> Arc<Session> {
        self.engine.sessions.open(key, Instant::now()).await
    }

    fn known(&self, key: &SessionKey) -> Result<Arc<Session>, SessionUnknown> {
        self.engine.sessions.get(key).ok_or_else(|| SessionUnknown(key.session.to_string()))
    }
}

fn state(session: &Session) -> SessionState {
    let turn = session.turn();
    SessionState {
        key: session.key.clone(),
        profile: SessionProfile::clone(&session.profile()),
        loaded: LoadedSet::clone(&session.loaded()),
        turn: TurnRecord {
            id: turn.id.clone(),
            begun: turn.begun,
            tainted: turn.is_tainted(),
            stopped: turn.was_asked_to_stop(),
        },
    }
}
