//! What a call may allocate and a session may keep, counted.

use std::process::Command;

use serde_json::Value;

/// Allocations of a no-op call in a batch of 16, at most. A task of its own is one of them, and makes its batch wait.
const ALLOCATIONS: [(&str, f64); 3] = [("io", 4.0), ("inline", 4.0), ("task", 7.0)];
/// Bytes of an idle session, at most.
const SESSION_BYTES: f64 = 2048.0;

#[test]
fn a_call_allocates_little_and_an_idle_session_keeps_little() {
    let output = Command::new(env!("CARGO_BIN_EXE_heap")).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counted: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (class, most) in ALLOCATIONS {
        let of = counted["calls"].as_array().unwrap().iter().find(|of| of["class"] == class).unwrap();
        let allocations = of["allocations"].as_f64().unwrap();
        // The future of the tool is allocated by any engine.
        assert!((1.0..=most).contains(&allocations), "{of:#}");
    }
    let session = counted["session_bytes"].as_f64().unwrap();
    assert!((64.0..=SESSION_BYTES).contains(&session), "{session} bytes");
}
