//! Messages that a session has received: what a model may name as the source of a call (seed 002, `needs_source`).

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::TurnId;

/// Messages that a session remembers; the oldest go first.
const MAX_MESSAGES: usize = 256;

/// A message that the bot has received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReceivedMessage {
    /// Its id on the platform.
    pub id: Arc<str>,
    /// Who sent it.
    pub sender: Arc<str>,
    /// The bot sent it itself.
    pub own: bool,
    /// Another bot that is known as one sent it.
    pub from_bot: bool,
    /// It was taken back.
    pub recalled: bool,
    /// Its sender may not use the bot here.
    pub blacklisted: bool,
    /// It was made of a tool's media and was never sent by anybody (`tool_result_media`).
    pub tool_result_media: bool,
    /// The message in the backend's own form, as tools get it.
    pub body: Arc<Value>,
}

/// The newest messages of a session, each with its turn.
#[derive(Debug, Default)]
pub(crate) struct Messages(VecDeque<(TurnId, Arc<ReceivedMessage>)>);

// === impl Messages ===

impl Messages {
    /// Adds a message of a turn, or brings one up to date.
    pub(crate) fn add(&mut self, turn: &TurnId, message: Arc<ReceivedMessage>) {
        self.0.retain(|(_, known)| known.id != message.id);
        if self.0.len() >= MAX_MESSAGES {
            self.0.pop_front();
        }
        self.0.push_back((turn.clone(), message));
    }

    /// Marks a message as taken back. Says whether it is known.
    pub(crate) fn recall(&mut self, id: &str) -> bool {
        let Some((_, message)) = self.0.iter_mut().find(|(_, message)| &*message.id == id) else { return false };
        Arc::make_mut(message).recalled = true;
        true
    }

    /// The message with this id and the turn in which it came.
    pub(crate) fn find(&self, id: &str) -> Option<(TurnId, Arc<ReceivedMessage>)> {
        self.0.iter().find(|(_, message)| &*message.id == id).cloned()
    }

    /// All of them, the oldest first.
    pub(crate) fn all(&self) -> Vec<(TurnId, Arc<ReceivedMessage>)> {
        self.0.iter().cloned().collect()
    }
}
