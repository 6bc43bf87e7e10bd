//! ProcessLimits: how much of the machine a child and what it starts may take.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much of the machine a child, with everything that it starts, may take. What is absent is not limited, and neither
/// is what is 0, which takes a default away. No limited child leaves a memory image behind when it crashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessLimits {
    /// Memory in bytes. With a memory cgroup, of all its processes together, and whoever asks for more is killed. Without
    /// one, private memory of each process, and what asks for more is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes and threads together. Without a pids cgroup they are counted by user, and a child of root is not
    /// limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Files and sockets that each process may have open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Bytes of each file that is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// How far it steps back when processors are short, from 0 (not at all) to 19.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nice: Option<u8>,
}

/// A number of bytes, in words.
pub(super) struct Bytes(pub(super) u64);

// === impl ProcessLimits ===

impl ProcessLimits {
    /// What the process of one plugin gets: 1 GiB of memory, 128 processes and threads, 1,024 open files, files of 1 GiB.
    ///
    /// A Python with a few common packages takes 50 to 200 MiB and, with its pool of threads, up to 40 threads.
    pub const fn plugin() -> Self {
        Self {
            memory_bytes: Some(1 << 30),
            processes: Some(128),
            open_files: Some(1024),
            file_bytes: Some(1 << 30),
            nice: None,
        }
    }

    /// These limits, with those of `defaults` where one is absent.
    #[must_use]
    pub fn or(self, defaults: Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.or(defaults.memory_bytes),
            processes: self.processes.or(defaults.processes),
            open_files: self.open_files.or(defaults.open_files),
            file_bytes: self.file_bytes.or(defaults.file_bytes),
            nice: self.nice.or(defaults.nice),
        }
    }

    /// These limits, where 0 has become absence.
    #[must_use]
    pub(super) fn effective(self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.filter(|limit| *limit > 0),
            processes: self.processes.filter(|limit| *limit > 0),
            open_files: self.open_files.filter(|limit| *limit > 0),
            file_bytes: self.file_bytes.filter(|limit| *limit > 0),
            nice: self.nice.filter(|nice| *nice > 0).map(|nice| nice.min(19)),
        }
    }
}

// === impl Bytes ===

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 => write!(f, "{} MiB", bytes >> 20),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_configured_goes_before_the_defaults_and_0_takes_them_away() {
        let configured: ProcessLimits = serde_json::from_str(r#"{"memory_bytes": 5, "processes": 0}"#).unwrap();
        let limits = configured.or(ProcessLimits::plugin()).effective();
        let rest = ProcessLimits::plugin();
        assert_eq!(limits, ProcessLimits { memory_bytes: Some(5), processes: None, ..rest });
    }

    #[test]
    fn a_misspelt_limit_is_refused() {
        assert!(serde_json::from_str::<ProcessLimits>(r#"{"memory": 5}"#).is_err());
    }
}
