//! What is allocated, counted by a program of its own: the allocator that counts is not the one that is timed.

use std::process::Command;

use serde_json::Value;

use crate::Rounds;
use crate::race::Figure;
use crate::report::Report;

/// Allocations of a call, bytes of a session.
pub(crate) fn heap(report: &mut Report, _rounds: Rounds) {
    let output = Command::new(env!("CARGO_BIN_EXE_heap")).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counted: Value = serde_json::from_slice(&output.stdout).unwrap();
    for of in counted["calls"].as_array().unwrap() {
        let class = of["class"].as_str().unwrap();
        let work = format!("allocations of a no-op call in a batch of 16, `{class}`");
        report.add(work, exactly(&of["allocations"]), "", 4.0);
    }
    report.add("memory of an idle session", exactly(&counted["session_bytes"]), "bytes", 2048.0);
}

fn exactly(counted: &Value) -> Figure {
    let count = counted.as_f64().unwrap();
    Figure { median: count, low: count, high: count }
}
