//! Dispatch beside plain tokio, one axis at a time around one base case: 16 no-op calls of one session, 50 tools in 5
//! providers, no payload, two workers. Then the stages of the path one by one.
//!
//! `cargo run --package toolyard-bench --bin tables` makes tables of what criterion has kept.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

mod axes;
mod stages;
mod subjects;

use criterion::{criterion_group, criterion_main};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

criterion_group!(benches, axes::axes, stages::stages);
criterion_main!(benches);
