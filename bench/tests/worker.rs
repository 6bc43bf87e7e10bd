//! engine-worker, as the harness speaks to it.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Worker {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

// === impl Worker ===

impl Worker {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engine-worker"));
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout }
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, request: &Value) -> Value {
        self.tell(request);
        self.hear()
    }

    fn tell(&mut self, request: &Value) {
        writeln!(self.stdin, "{request}").unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_worker_greets_and_runs_what_it_is_asked() {
    let mut worker = Worker::start(&[]);
    let hello = worker.hear()["hello"].clone();
    assert_eq!(
        (&hello["peer"], &hello["lang"], &hello["args_in"]),
        (&json!("toolyard"), &json!("rust"), &json!("json"))
    );

    let run = worker.ask(&json!({"op": "run", "n": 8, "sessions": 3, "budget_ms": 60000, "max_batches": 4}));
    assert_eq!((&run["ok"], &run["batches"], &run["calls"]), (&json!(true), &json!(12), &json!(96)));
    assert!(run["secs"].as_f64().unwrap() > 0.0 && run["cpu_secs"].as_f64().unwrap() > 0.0);
    assert_eq!(run.get("lat_ms"), None);

    let one = worker.ask(&json!({"op": "run", "n": 2, "sessions": 1, "budget_ms": 0}));
    assert_eq!((&one["ok"], &one["batches"]), (&json!(true), &json!(1)), "at least one batch");
}

#[test]
fn sleeping_tools_of_a_batch_sleep_together() {
    let mut worker = Worker::start(&["--class", "task"]);
    assert_eq!(worker.hear()["hello"]["peer"], "toolyard-task");
    let asked = json!({"op": "run", "n": 64, "sessions": 1, "sleep_ms": 200, "budget_ms": 60000, "max_batches": 2});
    let run = worker.ask(&asked);
    let latencies: Vec<f64> = run["lat_ms"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect();
    assert_eq!(latencies.len(), 2);
    assert!(latencies.iter().all(|ms| (200.0..12_800.0).contains(ms)), "{latencies:?}: that is one after the other");

    let burst = worker.ask(&json!({"op": "burst", "n": 8, "sessions": 200, "sleep_ms": 10}));
    assert_eq!((&burst["ok"], &burst["batches"], &burst["calls"]), (&json!(true), &json!(200), &json!(1600)));
    let (p50, p99) = (burst["lat_p50_ms"].as_f64().unwrap(), burst["lat_p99_ms"].as_f64().unwrap());
    assert!(p50 >= 10.0 && p99 >= p50, "{burst}");
}

#[test]
fn a_request_that_cannot_be_read_is_answered_and_the_worker_goes_on_until_it_is_told_to_quit() {
    let mut worker = Worker::start(&[]);
    worker.hear();
    let refused = worker.ask(&json!({"op": "dance"}));
    assert_eq!(refused["ok"], false);
    assert!(refused["error"].as_str().unwrap().contains("dance"));
    let asked = json!({"op": "run", "n": 1, "sessions": 1, "budget_ms": 1, "max_batches": 1});
    assert_eq!(worker.ask(&asked)["ok"], true);
    worker.tell(&json!({"op": "quit"}));
    assert!(worker.child.wait().unwrap().success());
}

#[test]
fn a_class_that_there_is_not_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_engine-worker")).args(["--class", "fast"]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("io|task|inline"));
}
