//! Children that are real processes.

mod ends;
mod pipes;

use std::path::PathBuf;
use std::time::Duration;

use super::{ChildProcess, CommandSpec, Spawner};

/// Longer than any end may take: both grace times and a second.
const PATIENCE: Duration = Duration::from_secs(5);

/// `examples/launcher.rs`, which `cargo test` builds beside the tests.
fn launcher() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let launcher = tests.parent().and_then(|deps| deps.parent()).unwrap().join("examples/launcher");
    assert!(launcher.exists(), "{} is missing: run `cargo test` without `--lib`", launcher.display());
    launcher
}

fn spawner() -> Spawner {
    Spawner::new(Some(launcher())).unwrap()
}

fn shell(script: &str) -> CommandSpec {
    CommandSpec { command: "sh".to_owned(), args: vec!["-c".to_owned(), script.to_owned()], ..CommandSpec::default() }
}

async fn end_of(child: &ChildProcess) -> String {
    tokio::time::timeout(PATIENCE, child.ended()).await.expect("the child did not end")
}

/// Ids of living processes whose command line holds `mark`.
fn processes_with(mark: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").unwrap();
    let pids = pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(mark)
    })
    .collect()
}

async fn until(what: &str, mut state: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !state() {
        assert!(tokio::time::Instant::now() < deadline, "{what}: not in time");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
