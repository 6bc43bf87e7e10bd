//! Streamable HTTP: one POST a message, answered as JSON or as a stream of events.

mod ask;
mod auth;
mod config;
mod dialogue;
mod events;
mod link;
mod listen;
mod refused;
#[cfg(test)]
mod tests;
mod transport;

pub(super) use ask::content_type;
pub use config::{McpHttpConfig, McpOAuth, McpOAuthClient, McpWay};
pub(super) use events::{Event, EventParser, too_large};
pub(super) use link::{Letter, Link};
pub(super) use refused::Refused;
pub(super) use transport::{Gone, HttpTransport};
