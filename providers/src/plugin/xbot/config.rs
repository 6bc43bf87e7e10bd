//! The configuration of one plugin.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::process::{ProcessLimits, RunAs};

/// One plugin of xbot, as configured. Relative paths are relative to the daemon's working directory.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XbotConfig {
    /// The folder that holds its `plugin.json`.
    pub path: PathBuf,
    /// The program to start instead of the one in `plugin.json`.
    #[serde(default)]
    pub command: Option<String>,
    /// Arguments instead of those in `plugin.json`; with `command` and without `args` there are none.
    #[serde(default)]
    pub args: Option<Vec<String>>,
    /// Variables that are set for it. Their values are treated as secrets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Further variables that it gets from the daemon's environment.
    #[serde(default)]
    pub inherit_env: Vec<String>,
    /// Its working directory. Default the plugin's folder.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// How much of the machine it may take. Default as for the other plugins.
    #[serde(default)]
    pub limits: Option<ProcessLimits>,
    /// The user that it runs as, which only a daemon that is root can choose. Default the owner of the plugin's folder.
    #[serde(default)]
    pub run_as: Option<RunAs>,
    /// Bytes of one line, in either direction. Default 1 MiB, as in xbot.
    #[serde(default = "default_line")]
    pub max_line_bytes: usize,
    /// Whether descriptions for the model begin with `[<id> plugin]`, as in xbot. Default true.
    #[serde(default = "yes")]
    pub prefix_descriptions: bool,
    /// Time to answer `deactivate`, in milliseconds, before the process is ended. Default 5,000.
    #[serde(default = "default_grace")]
    pub deactivate_grace_ms: u64,
}

// === impl XbotConfig ===

impl XbotConfig {
    /// The plugin in this folder, everything else by default.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            command: None,
            args: None,
            env: BTreeMap::new(),
            inherit_env: Vec::new(),
            cwd: None,
            limits: None,
            run_as: None,
            max_line_bytes: default_line(),
            prefix_descriptions: yes(),
            deactivate_grace_ms: default_grace(),
        }
    }

    pub(super) fn deactivate_grace(&self) -> Duration {
        Duration::from_millis(self.deactivate_grace_ms)
    }
}

/// Without the values of its variables.
impl std::fmt::Debug for XbotConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.env.keys().collect();
        f.debug_struct("XbotConfig").field("path", &self.path).field("env", &names).finish_non_exhaustive()
    }
}

const fn default_line() -> usize {
    1 << 20
}

const fn default_grace() -> u64 {
    5_000
}

const fn yes() -> bool {
    true
}
