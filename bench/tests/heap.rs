//! What a call may allocate and a session may keep, counted.

use std::process::Command;

use serde_json::Value;

/// Allocations of a no-op call in a batch of 16, at most.
const ALLOCATIONS: f64 = 4.0;
/// Bytes of an idle session, at most.
const SESSION_BYTES: f64 = 2048.0;

#[test]
fn a_call_allocates_little_and_an_idle_session_keeps_little() {
    let output = Command::new(env!("CARGO_BIN_EXE_heap")).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let counted: Value = serde_json::from_slice(&output.stdout).unwrap();
    let calls = counted["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 3);
    for of in calls {
        let allocations = of["allocations"].as_f64().unwrap();
        // The future of the tool and what it answers are allocated by any engine.
        assert!((1.0..=ALLOCATIONS).contains(&allocations), "{of:#}");
    }
    let session = counted["session_bytes"].as_f64().unwrap();
    assert!((64.0..=SESSION_BYTES).contains(&session), "{session} bytes");
}
