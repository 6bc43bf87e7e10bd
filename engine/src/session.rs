//! Sessions: what a conversation has loaded and received, and how far its turn is to be trusted.
//!
//! The invoke path reads a session once, when a batch starts, and writes to it once, when the batch is aggregated. Tools
//! never touch it: their results carry effects.

mod control;
mod loaded;
mod message;
mod profile;
mod record;
mod state;
mod store;
mod table;
mod turn;
mod writer;

pub use control::{SessionControl, SessionState, SessionUnknown, TurnOver, TurnStart};
pub use loaded::LoadedSet;
pub(crate) use message::Messages;
pub use message::ReceivedMessage;
pub use profile::SessionProfile;
pub use record::{SessionRecord, TurnRecord};
pub(crate) use state::{Session, SessionView};
pub use store::{MemoryStore, SessionStore, StoreError, Stores};
pub(crate) use table::Sessions;
pub(crate) use turn::Turn;
pub(crate) use writer::{flush, write_behind};
