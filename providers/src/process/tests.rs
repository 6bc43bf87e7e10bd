//! Children that are real processes.

mod ends;
mod limits;
mod pipes;
mod remains;

use std::path::PathBuf;
use std::time::Duration;

use super::cgroup::Cgroup;
use super::hierarchy::Hierarchy;
use super::{ChildProcess, CommandSpec, ProcessLimits, Spawner};

/// After this time a test says that something hangs. It measures nothing: a busy machine takes its time.
const HANG: Duration = Duration::from_secs(180);

/// `examples/launcher.rs`. Cargo builds it with the tests, but not when it is asked for only some of them.
fn launcher() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let launcher = tests.parent().and_then(|deps| deps.parent()).unwrap().join("examples/launcher");
    assert!(launcher.exists(), "{} is missing: `cargo build --example launcher` makes it", launcher.display());
    launcher
}

fn spawner() -> Spawner {
    Spawner::new(Some(launcher())).unwrap()
}

fn shell(script: &str) -> CommandSpec {
    CommandSpec { command: "sh".to_owned(), args: vec!["-c".to_owned(), script.to_owned()], ..CommandSpec::default() }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this system lets the tests make cgroups that limit memory and processes.
fn has_cgroups() -> bool {
    static PROBES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let probe = PROBES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let limits = ProcessLimits::plugin();
    let cgroup = Cgroup::create(&Hierarchy::all(), &format!("toolyard-probe-{}-{probe}", std::process::id()), limits);
    cgroup.remaining_limits() == ProcessLimits { memory_bytes: None, processes: None, ..limits }
}

async fn end_of(child: &ChildProcess) -> String {
    in_time(child.ended()).await
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

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, work).await.expect("it hangs")
}

async fn until(what: &str, mut state: impl FnMut() -> bool) {
    let hangs = tokio::time::Instant::now() + HANG;
    while !state() {
        assert!(tokio::time::Instant::now() < hangs, "{what}: it hangs");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
