//! What is left when a child, or its daemon, is gone.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use tokio::io::AsyncReadExt;

use super::*;

/// A process that leaves its group and session, so that no signal to them reaches it.
fn runaway(mark: &str) -> CommandSpec {
    let script = format!("setsid sleep {mark} & echo ready >&0; cat; exit 5");
    CommandSpec { limits: Some(ProcessLimits::plugin()), ..shell(&script) }
}

/// The cgroups that this process has made and that are still there.
fn cgroups() -> BTreeSet<PathBuf> {
    let own = format!("toolyard-{}-", std::process::id());
    let folders = Hierarchy::all().into_iter().filter_map(|tree| std::fs::read_dir(tree.folder).ok()).flatten();
    let folders = folders.map(|entry| entry.unwrap().path());
    folders.filter(|folder| folder.file_name().unwrap().to_str().unwrap().starts_with(&own)).collect()
}

fn kill_all(mark: &str) {
    for pid in processes_with(mark) {
        let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
    }
}

#[tokio::test]
async fn a_grandchild_that_left_the_group_dies_with_its_child_and_so_does_the_cgroup() {
    let spawner = spawner();
    let (child, mut socket) = ChildProcess::start_with_socket(&spawner, &runaway("1020.25")).await.unwrap();
    socket.read_exact(&mut [0; 6]).await.unwrap();
    until("it runs away", || processes_with("sleep 1020.25").iter().any(|pid| is_leader(*pid))).await;
    let place = std::fs::read_to_string(format!("/proc/{}/cgroup", child.pid().unwrap())).unwrap();
    drop(socket);
    assert!(end_of(&child).await.contains("exit status: 5"));
    if has_cgroups() {
        assert!(place.contains(&format!("/toolyard-{}-", std::process::id())), "{place}");
        assert_eq!(processes_with("sleep 1020.25"), Vec::<u32>::new());
        let name = place.rsplit('/').find(|part| part.starts_with("toolyard-")).unwrap().lines().next().unwrap();
        assert!(!cgroups().iter().any(|folder| folder.ends_with(name)), "{name} is left");
    } else {
        // Nothing reaches it but its own number.
        kill_all("sleep 1020.25");
    }
}

/// Whether a process leads a session of its own.
fn is_leader(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(3)) == Some(&pid.to_string())
}

#[tokio::test]
async fn a_start_that_fails_leaves_no_cgroup() {
    let spawner = Spawner::new(Some("/no/such/launcher".into())).unwrap();
    let spec = CommandSpec { limits: Some(ProcessLimits::plugin()), ..shell("sleep 1021.25") };
    ChildProcess::start_with_socket(&spawner, &spec).await.unwrap_err();
    let spawner = super::spawner();
    let spec = CommandSpec { command: "/no/such/program".to_owned(), ..spec };
    let (child, _socket) = ChildProcess::start_with_socket(&spawner, &spec).await.unwrap();
    assert!(end_of(&child).await.contains("exit status: 127"));
    // Other tests have cgroups too, which go when they end.
    let mut seen = cgroups();
    until("every cgroup seen is gone", || {
        seen = seen.intersection(&cgroups()).cloned().collect();
        seen.is_empty()
    })
    .await;
}

#[tokio::test]
async fn killing_the_daemon_leaves_neither_child_nor_grandchild() {
    let script = "setsid sleep 1022.25 & sleep 1022.25 & exec sleep 1022.50";
    let mut daemon = Command::new(launcher()).args(["run", "sh", "-c", script]).stdin(Stdio::null()).spawn().unwrap();
    until("all of them run", || processes_with("sleep 1022").len() >= 3).await;
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let mark = if has_cgroups() { "sleep 1022" } else { "sleep 1022.50" };
    // None of them would end by itself.
    until("all of them are gone", || processes_with(mark).is_empty()).await;
    kill_all("sleep 1022");
    let own = format!("toolyard-{}-", daemon.id());
    let left = || {
        Hierarchy::all().into_iter().any(|tree| {
            let entries = std::fs::read_dir(tree.folder).unwrap();
            entries.flatten().any(|entry| entry.file_name().to_str().unwrap().starts_with(&own))
        })
    };
    until("its cgroups are gone", || !left()).await;
}
