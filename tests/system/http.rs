//! Declarative plugins against real services over real sockets.

mod addresses;
mod mapping;
mod plugin;
mod service;
mod trouble;
