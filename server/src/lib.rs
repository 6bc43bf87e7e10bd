//! The Toolyard daemon and its command line.
//!
//! Knows how to configure providers, not how they work inside.

mod api;
mod app;
mod backend;
mod cli;
mod config;
mod demo;
mod document;
mod process;
mod telemetry;

pub use process::{hide_panic_messages, launch_child, run_command_line};
