//! Cgroup: the processes of one child, counted and limited by the system, ended without exception.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ProcessLimits;
use super::hierarchy::Hierarchy;
use super::limits::Bytes;

/// How often the end of what was killed is looked for, and the time between.
const ROUNDS: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(5);
/// The same where somebody may be held up.
const ROUNDS_IN_DROP: u32 = 10;

/// The cgroup of one child: a folder in each tree that the system has. Dropping it kills whatever is in it, however it
/// got away from the child's process group, and removes it.
#[derive(Debug)]
pub(super) struct Cgroup {
    folders: Vec<Hierarchy>,
    limits: ProcessLimits,
}

// === impl Cgroup ===

impl Cgroup {
    /// Makes a cgroup with these limits in each of `trees` that lets it.
    pub(super) fn create(trees: &[Hierarchy], name: &str, limits: ProcessLimits) -> Self {
        let mut made = Self { folders: Vec::new(), limits };
        for tree in trees {
            let folder = Hierarchy { folder: tree.folder.join(name), ..tree.clone() };
            if std::fs::create_dir(&folder.folder).is_err() {
                continue;
            }
            match set_limits(&folder, limits) {
                Ok(()) => made.folders.push(folder),
                Err(_no_controller) => drop(std::fs::remove_dir(&folder.folder)),
            }
        }
        made
    }

    /// What it cannot limit and so must be limited by other means.
    pub(super) fn remaining_limits(&self) -> ProcessLimits {
        let has_memory = self.folders.iter().any(|folder| folder.memory);
        let has_pids = self.folders.iter().any(|folder| folder.pids);
        ProcessLimits {
            memory_bytes: self.limits.memory_bytes.filter(|_| !has_memory),
            processes: self.limits.processes.filter(|_| !has_pids),
            ..self.limits
        }
    }

    /// The folders that a process must join to be in it.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.folders.iter().map(|folder| folder.folder.clone()).collect()
    }

    /// The limits that were hit, in words.
    pub(super) fn limits_hit(&self) -> Vec<String> {
        let has_counted = |file: &str, key: &str| {
            self.folders.iter().any(|folder| counter(&folder.folder.join(file), key).is_some_and(|count| count > 0))
        };
        let mut hit = Vec::new();
        if let Some(limit) = self.limits.memory_bytes
            && (has_counted("memory.events", "oom_kill") || has_counted("memory.oom_control", "oom_kill"))
        {
            hit.push(format!("it ran out of memory at its limit of {}", Bytes(limit)));
        }
        if let Some(limit) = self.limits.processes
            && has_counted("pids.events", "max")
        {
            hit.push(format!("it reached its limit of {limit} processes and threads"));
        }
        hit
    }

    /// Kills everything in it and removes it. Blocks for as long as that takes, at most a second.
    pub(super) fn end(mut self) {
        self.end_within(ROUNDS);
    }

    fn end_within(&mut self, rounds: u32) {
        for folder in std::mem::take(&mut self.folders) {
            remove(&folder.folder, rounds);
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.end_within(ROUNDS_IN_DROP);
    }
}

fn set_limits(group: &Hierarchy, limits: ProcessLimits) -> io::Result<()> {
    let set = |file: &str, value: String| std::fs::write(group.folder.join(file), value);
    if let Some(limit) = limits.processes.filter(|_| group.pids) {
        set("pids.max", limit.to_string())?;
    }
    let Some(limit) = limits.memory_bytes.filter(|_| group.memory) else { return Ok(()) };
    // The files about swap and the common end are missing on some systems, which have the limit all the same.
    if group.unified {
        set("memory.max", limit.to_string())?;
        set("memory.swap.max", "0".to_owned()).ok();
        set("memory.oom.group", "1".to_owned()).ok();
    } else {
        set("memory.limit_in_bytes", limit.to_string())?;
        set("memory.memsw.limit_in_bytes", limit.to_string()).ok();
    }
    Ok(())
}

/// The number behind a key, in a file of lines such as `oom_kill 3`.
fn counter(file: &Path, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
}

/// Kills what is in a cgroup until it can be removed.
pub(super) fn remove(folder: &Path, rounds: u32) {
    for _ in 0..rounds {
        kill(folder);
        match std::fs::remove_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(BETWEEN),
            Ok(()) | Err(_) => return,
        }
    }
}

fn kill(folder: &Path) {
    if std::fs::write(folder.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    // What cannot fork cannot outrun its killer. Only some trees have the file, and a file must not be made.
    let max = folder.join("pids.max");
    if max.exists() {
        std::fs::write(max, "0").ok();
    }
    for pid in members(folder) {
        kill_member(folder, pid);
    }
}

/// The processes in a cgroup, as this process numbers them; 0 for those that it cannot see.
pub(super) fn members(folder: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Numbers are used again, so the process is held fast before it is looked at.
#[cfg(target_os = "linux")]
fn kill_member(folder: &Path, pid: i32) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    let Some(process) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return };
    let place = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let name = folder.file_name().and_then(|name| name.to_str());
    if name.is_some_and(|name| place.lines().any(|line| line.ends_with(name))) {
        pidfd_send_signal(process, Signal::KILL).ok();
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_member(_folder: &Path, _pid: i32) {}
