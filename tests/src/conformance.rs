//! The fixture of the conformance suites: tools, prompts and resources with the names and answers that their scenarios
//! ask for.
//!
//! What it does is written once, as answers to MCP requests. `conformance-native` serves them through Toolyard's own
//! endpoint, `conformance-server` as a server of its own that Toolyard has as an upstream.

mod answers;
mod caller;
mod tools;

pub use answers::{answer, listed};
pub use caller::{Caller, Fault, Said, Unanswered};

/// Where a program of the fixture tells its address, once it listens: a line on standard error.
pub const LISTENS_ON: &str = "the fixture listens on ";
