//! The client against a server that the tests play themselves, with time that stands still.

mod answers;
mod asks;
mod calls;
mod features;
mod handshakes;
mod lists;
mod server;
mod sessions;
mod starts;
