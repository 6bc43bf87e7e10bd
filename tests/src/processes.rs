//! A look at the system's processes.

/// A process of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its command line, with spaces between the arguments.
    pub command_line: String,
}

/// Every process below `ancestor`.
pub fn children_of(ancestor: u32) -> Vec<Process> {
    let all: Vec<(i32, i32)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent_of(pid)?)))
        .collect();
    let mut found: Vec<i32> = vec![i32::try_from(ancestor).unwrap()];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(all.iter().filter(|(_, ppid)| *ppid == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.into_iter().skip(1).map(|pid| Process { pid, command_line: command_line(pid) }).collect()
}

// === impl Process ===

impl Process {
    /// Kills it at once.
    pub fn kill(&self) {
        let pid = rustix::process::Pid::from_raw(self.pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    /// Whether it still runs; a zombie does not.
    pub fn is_alive(&self) -> bool {
        std::fs::read_to_string(format!("/proc/{}/stat", self.pid))
            .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or_default().starts_with('Z'))
    }
}

/// The name in the second field may hold spaces and brackets; the fields behind it do not.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()
}

fn command_line(pid: i32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}
