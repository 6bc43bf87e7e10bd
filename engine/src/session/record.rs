//! What of a session outlives the process.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{LoadedSet, ReceivedMessage, SessionProfile};
use crate::call::{SessionKey, TurnId};

/// A session, as a store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Which session.
    pub key: SessionKey,
    /// Where it takes place and for whom.
    pub profile: SessionProfile,
    /// What it has loaded.
    pub loaded: LoadedSet,
    /// Its turn.
    pub turn: TurnRecord,
    /// Ids of turns before it, the newest last.
    pub past_turns: Vec<TurnId>,
    /// The newest messages, each with its turn, the oldest first.
    pub messages: Vec<(TurnId, Arc<ReceivedMessage>)>,
    /// Ids of the tools that a person has agreed to for the whole session.
    #[serde(default)]
    pub granted: BTreeSet<Arc<str>>,
}

/// A turn, as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Its id.
    pub id: TurnId,
    /// Whether the backend began it.
    pub begun: bool,
    /// Whether text of third parties has reached the model.
    pub tainted: bool,
    /// Whether the model's batches are refused until a turn begins.
    pub stopped: bool,
}
