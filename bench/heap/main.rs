//! heap: how much is allocated for a call, by whom, and what an idle session keeps.
//!
//! `cargo run --release --package toolyard-bench --bin heap [-- --json]`

mod calls;
mod idle;

use std::error::Error;
use std::io::Write;

use serde::Serialize;
use toolyard::ExecutionClass;
use toolyard_bench::{BASE_CALLS, install_recorder};

use calls::OfCalls;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const CLASSES: [(&str, ExecutionClass); 3] =
    [("io", ExecutionClass::Io), ("inline", ExecutionClass::Inline), ("task", ExecutionClass::Task)];

/// All that was counted.
#[derive(Serialize)]
struct Counted {
    calls: Vec<OfCalls>,
    /// Bytes that a started engine with 50 tools keeps, and those that it had at most while it started.
    engine_bytes: [usize; 2],
    /// Bytes that an idle session keeps.
    session_bytes: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    install_recorder();
    let engine_bytes = idle::engine(&runtime);
    let mut calls = Vec::new();
    for (name, class) in CLASSES {
        calls.push(calls::count(&runtime, name, class)?);
    }
    let counted = Counted { calls, engine_bytes, session_bytes: idle::session(&runtime) };
    let mut out = std::io::stdout().lock();
    if std::env::args().any(|argument| argument == "--json") {
        writeln!(out, "{}", serde_json::to_string(&counted)?)?;
    } else {
        print(&mut out, &counted)?;
    }
    Ok(())
}

fn print(out: &mut impl Write, counted: &Counted) -> std::io::Result<()> {
    for of in &counted.calls {
        writeln!(out, "A no-op call of class `{}` in a batch of {BASE_CALLS}:\n", of.class)?;
        writeln!(out, "| allocations | bytes | where |\n|---:|---:|---|")?;
        for place in &of.places {
            writeln!(out, "| {:.2} | {:.0} | `{}` |", place.allocations, place.bytes, place.place)?;
        }
        writeln!(out, "| **{:.2}** | **{:.0}** | all |\n", of.allocations, of.bytes)?;
    }
    let [kept, most] = counted.engine_bytes.map(|bytes| bytes >> 10);
    writeln!(out, "An engine with 50 tools: {kept} KiB, {most} KiB at most while it starts.")?;
    writeln!(out, "An idle session: {:.0} bytes.", counted.session_bytes)
}
