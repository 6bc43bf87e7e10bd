//! Behaviour of the engine, through its public API only.
//!
//! Time is paused wherever nothing blocks a thread for real, so that waits cost nothing and lengths can be compared
//! exactly.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod acting;
mod actors;
mod approvals;
mod argument_properties;
mod arguments;
mod availability;
mod batch_handle;
mod blocking;
mod breaker;
mod breaker_properties;
mod cancellation;
mod closing;
mod context_providers;
mod crashes;
mod deadlines;
mod decisions;
mod discovery;
mod dispatch;
mod fixture;
mod function_tools;
mod guides;
mod history_messages;
mod holds;
mod limits;
mod listing;
mod metrics;
mod middleware;
mod names;
mod ordered;
mod outdated;
mod panics;
mod permits;
mod preview;
mod properties;
mod rendered_history;
mod repairs;
mod replacing;
mod replies;
mod results;
mod stop_flag;
mod usage;
