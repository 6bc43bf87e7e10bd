//! Declarative plugins against real services over real sockets.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod addresses;
mod mapping;
mod plugin;
mod service;
mod trouble;
