//! Frames between host and runner: a length of four bytes, big-endian, and a JSON object.
//!
//! The only place that knows how they are written.

mod incoming;
mod outgoing;

pub(super) use incoming::{CapabilityFrame, FromRunner, LogFrame, read};
pub(super) use outgoing::{LoadRequest, answer, call, cancel, configure, load, ping, refusal, unload};

/// The protocol that both sides must speak.
pub(super) const PROTOCOL: u64 = 1;
