//! In-process tools: closures, typed handlers, and the plain-string and JSON factories of seed 004.
//!
//! Async handlers run as [`crate::ExecutionClass::Task`] unless declared otherwise, sync ones as
//! [`crate::ExecutionClass::Blocking`].

mod provider;
mod tool;
mod typed;

pub use provider::FunctionProvider;
pub use tool::{FunctionTool, HandlerError};
