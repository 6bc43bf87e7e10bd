//! What the benches share: the engine under test, the plain-tokio baselines beside it, the work that both do, and how the
//! two are timed.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

mod baseline;
pub mod border;
mod engine;
mod metrics;
mod policy;
mod reply;
mod setup;
mod spent;
mod subject;
mod work;

pub use baseline::{Baseline, Calls};
pub use engine::Engine;
pub use metrics::install_recorder;
pub use policy::{caller, rules, usage};
pub use reply::openai_reply;
pub use setup::Setup;
pub use spent::{Meter, Spent};
pub use subject::{Floor, Load, Started, Subject, Timed, Tokio};
pub use work::Work;

/// Calls of a batch in the base case.
pub const BASE_CALLS: usize = 16;
