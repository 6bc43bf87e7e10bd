//! engine-worker: the embedded engine beside other libraries, in one harness that runs all of them on the same batches.
//!
//! A worker speaks lines of JSON on its standard streams. It greets, then answers requests until it is told to quit:
//!
//! ```text
//! {"hello": {"peer": …, "lang": "rust", "role": "engine", …}}
//! {"op": "run", "n": 8, "sessions": 64, "sleep_ms": 10, "budget_ms": 40, "max_batches": 10}
//!   -> {"ok": true, "batches": …, "calls": …, "secs": …, "cpu_secs": …, "lat_ms": […]}
//! {"op": "burst", "n": 8, "sessions": 1000, "sleep_ms": 10}
//!   -> {"ok": true, "batches": …, "calls": …, "secs": …, "cpu_secs": …, "lat_p50_ms": …, "lat_p99_ms": …}
//! {"op": "quit"}
//! ```
//!
//! 50 tools of 5 providers, arguments as JSON text, validated by each tool's schema; a session for each of the harness's,
//! gates, deadline and metrics on. `--class` names the execution class of the tools.

mod protocol;
mod run;
mod tools;

use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::ExecutionClass;
use toolyard_bench::install_recorder;

use protocol::Request;
use run::Worker;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let class = class()?;
    // The harness compares peaks of memory, and huge pages would show two megabytes where some kilobytes are in use.
    #[cfg(target_os = "linux")]
    rustix::thread::disable_transparent_huge_pages(true)?;
    install_recorder();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    let worker = Arc::new(runtime.block_on(Worker::start(class))?);
    say(&greeting(class))?;
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(Request::Quit) => break,
            Ok(Request::Run(wanted)) => runtime.block_on(runtime.spawn(Arc::clone(&worker).run(wanted))),
            Ok(Request::Burst(wanted)) => runtime.block_on(runtime.spawn(Arc::clone(&worker).burst(wanted))),
            Err(error) => Ok(Err(error.to_string())),
        };
        let answer = answer.unwrap_or_else(|panicked| Err(panicked.to_string()));
        say(&answer.unwrap_or_else(|error| json!({"ok": false, "error": error})))?;
        worker.publish_metrics();
    }
    Ok(())
}

/// The class that `--class` names. A user whose async tools only wait would declare `io`.
fn class() -> Result<ExecutionClass, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["--class", "io"] => Ok(ExecutionClass::Io),
        ["--class", "task"] => Ok(ExecutionClass::Task),
        ["--class", "inline"] => Ok(ExecutionClass::Inline),
        _ => Err("usage: engine-worker [--class io|task|inline]".to_owned()),
    }
}

fn greeting(class: ExecutionClass) -> Value {
    let (peer, note) = match class {
        ExecutionClass::Task => ("toolyard-task", "tools of class `task`, the default: a task per call"),
        ExecutionClass::Inline => ("toolyard-inline", "tools of class `inline`, declared as cheap"),
        ExecutionClass::Io | ExecutionClass::Blocking => {
            ("toolyard", "tools of class `io`, declared as only waiting: polled in the batch's own task")
        }
    };
    let version = env!("CARGO_PKG_VERSION");
    json!({"hello": {"peer": peer, "lang": "rust", "role": "engine", "args_in": "json", "validates": "JSON Schema",
        "versions": {"toolyard": version}, "runtime": "tokio", "note": format!("{note}; sessions, gates, deadline, metrics")}})
}

fn say(value: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}")?;
    out.flush()
}
