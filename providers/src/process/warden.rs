//! Names of this daemon's cgroups, and the end of those that a killed daemon has left.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use super::LAUNCH_COMMAND;
use super::ProcessLimits;
use super::cgroup::{Cgroup, members, remove};
use super::hierarchy::Hierarchy;
use super::launcher::Errand;

const PREFIX: &str = "toolyard-";
/// How often the end of what was killed is looked for.
const ROUNDS: u32 = 200;

/// Makes the cgroups of one spawner's children, and sees to their end also when this process is killed: a small process
/// of its own waits for that.
#[derive(Debug)]
pub(super) struct Warden {
    trees: Vec<Hierarchy>,
    /// What the names of all its cgroups begin with.
    prefix: String,
    next: u64,
    launcher: PathBuf,
    /// Ends when its standard input does.
    watch: Option<Child>,
}

// === impl Warden ===

impl Warden {
    /// Removes what killed daemons have left, and is ready to make cgroups. Nothing where the system has none.
    pub(super) fn new(launcher: &Path) -> Self {
        static SPAWNERS: AtomicU64 = AtomicU64::new(0);
        let trees = Hierarchy::all();
        sweep(&trees, is_stale);
        let own = std::process::id();
        let spawner = SPAWNERS.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{PREFIX}{own}-{}-{spawner}-", start_time(own).unwrap_or_default());
        Self { trees, prefix, next: 0, launcher: launcher.to_owned(), watch: None }
    }

    /// A cgroup for one child, with those of the limits that the system can keep.
    pub(super) fn cgroup(&mut self, limits: ProcessLimits) -> Cgroup {
        self.next += 1;
        let cgroup = Cgroup::create(&self.trees, &format!("{}{}", self.prefix, self.next), limits);
        if self.watch.is_none() && !cgroup.folders().is_empty() {
            match self.start_watch() {
                Ok(watch) => self.watch = Some(watch),
                Err(error) => tracing::warn!(%error, "nobody will clear up behind this daemon should it be killed"),
            }
        }
        cgroup
    }

    fn start_watch(&self) -> io::Result<Child> {
        use std::os::unix::process::CommandExt;
        let errand = Errand::Watch { prefix: self.prefix.clone() };
        Command::new(&self.launcher)
            .arg(LAUNCH_COMMAND)
            .arg(serde_json::to_string(&errand)?)
            .env_clear()
            .current_dir("/")
            // Signals to the daemon's group, such as those of a terminal, are not for it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        if let Some(mut watch) = self.watch.take() {
            drop(watch.stdin.take());
            watch.wait().ok();
        }
    }
}

/// Waits for the end of the daemon, which holds the other end of the standard input, and then ends everything in the
/// cgroups that it has left.
pub(super) fn watch(prefix: &str) -> io::Result<()> {
    let mut buffer = [0; 64];
    while std::io::stdin().read(&mut buffer)? > 0 {}
    // A prefix that is not one of ours would sweep what is not ours.
    if parts(prefix).is_some() {
        sweep(&Hierarchy::all(), |name| name.starts_with(prefix));
    }
    Ok(())
}

/// Removes the cgroups whose names fit, with everything in them.
fn sweep(trees: &[Hierarchy], fits: impl Fn(&str) -> bool) {
    for tree in trees {
        let Ok(entries) = std::fs::read_dir(&tree.folder) else { continue };
        for folder in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let is_ours = folder.file_name().and_then(|name| name.to_str()).is_some_and(&fits);
            // A process that cannot be seen from here belongs to a daemon that cannot be seen either.
            if is_ours && folder.is_dir() && !members(&folder).contains(&0) {
                remove(&folder, ROUNDS);
            }
        }
    }
}

/// Whether a cgroup's name is that of a daemon that is gone. Process ids are used again, start times with them are not.
fn is_stale(name: &str) -> bool {
    parts(name).is_some_and(|(pid, started)| start_time(pid) != Some(started))
}

/// The process id and the start time in a cgroup's name.
fn parts(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// When a process was started, in ticks since the system was. Nothing for one that is gone or only waits to be reaped.
fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn only_the_cgroups_of_dead_daemons_are_stale() {
        let own = std::process::id();
        let started = start_time(own).unwrap();
        assert!(!is_stale(&format!("toolyard-{own}-{started}-0-1")));
        assert!(is_stale(&format!("toolyard-{own}-{}-0-1", started + 1)), "the id is used again");
        assert!(is_stale("toolyard-4194999-7-0-1"), "there is no such process");
        assert!(!is_stale("toolyard-production") && !is_stale("system.slice") && !is_stale("toolyard"));
    }
}
