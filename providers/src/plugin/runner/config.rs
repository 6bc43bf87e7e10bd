//! RunnerConfig: how a plugin's process is run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::process::{ProcessLimits, RunAs};

/// How a plugin's process is run; the same keys for every kind of plugin that has a runner.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunnerConfig {
    /// The Python that runs the plugin. Default `python3`.
    pub python: String,
    /// Variables that are set for it. Their values are treated as secrets.
    pub env: BTreeMap<String, String>,
    /// Further variables that it gets from the daemon's environment.
    pub inherit_env: Vec<String>,
    /// How much of the machine it may take. Default 1 GiB of memory, 128 processes and threads, 1,024 open files, 1 GiB a
    /// file.
    pub limits: Option<ProcessLimits>,
    /// The user that it runs as, which only a daemon that is root can choose. Default the owner of the plugin's folder.
    pub run_as: Option<RunAs>,
    /// Where the plugin keeps its data; `data` in its folder where absent.
    pub data_dir: Option<PathBuf>,
    /// Least level of its log lines that are passed on. Default `info`.
    pub log_level: PluginLogLevel,
    /// Whether the plugin is loaded again when its files change. Default true.
    pub watch: bool,
    /// Milliseconds between two health checks. Default 10,000.
    pub health_interval_ms: u64,
    /// Milliseconds that a health check may take; then the process is ended and started again. Default 30,000.
    pub health_timeout_ms: u64,
    /// Milliseconds that a cancelled handler may go on; then the plugin is loaded again in a fresh process. Default 5,000.
    pub cancel_grace_ms: u64,
    /// Milliseconds that the plugin may take to give back what it holds. Default 5,000.
    pub unload_ms: u64,
    /// Bytes of one frame, and so of one call's arguments or result. Default 16 MiB.
    pub max_frame_bytes: usize,
    /// Requests of the plugin to the bot that may wait for their answers at once. Default 64.
    pub max_requests: usize,
}

/// The level of a line in a plugin's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginLogLevel {
    /// Everything.
    Debug,
    /// What happens.
    #[default]
    Info,
    /// What is not as it should be.
    Warning,
    /// What went wrong.
    Error,
    /// What ends the plugin.
    Critical,
}

// === impl PluginLogLevel ===

impl PluginLogLevel {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}

// === impl RunnerConfig ===

impl RunnerConfig {
    /// Every key, for readers that take a runner's keys apart from those of a kind of plugin.
    pub const KEYS: [&str; 14] = [
        "python",
        "env",
        "inherit_env",
        "limits",
        "run_as",
        "data_dir",
        "log_level",
        "watch",
        "health_interval_ms",
        "health_timeout_ms",
        "cancel_grace_ms",
        "unload_ms",
        "max_frame_bytes",
        "max_requests",
    ];
}

impl Default for RunnerConfig {
    fn default() -> Self {
        Self {
            python: "python3".to_owned(),
            env: BTreeMap::new(),
            inherit_env: Vec::new(),
            limits: None,
            run_as: None,
            data_dir: None,
            log_level: PluginLogLevel::Info,
            watch: true,
            health_interval_ms: 10_000,
            health_timeout_ms: 30_000,
            cancel_grace_ms: 5_000,
            unload_ms: 5_000,
            max_frame_bytes: 16 << 20,
            max_requests: 64,
        }
    }
}

impl RunnerConfig {
    pub(super) fn health_interval(&self) -> Duration {
        Duration::from_millis(self.health_interval_ms.max(1))
    }

    pub(super) fn health_timeout(&self) -> Duration {
        Duration::from_millis(self.health_timeout_ms.max(1))
    }

    pub(super) fn cancel_grace(&self) -> Duration {
        Duration::from_millis(self.cancel_grace_ms)
    }

    pub(super) fn unload(&self) -> Duration {
        Duration::from_millis(self.unload_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_known_and_no_other_is() {
        let read = |text: &str| serde_json::from_str::<RunnerConfig>(text).map_err(|error| error.to_string());
        let error = read(r#"{"pyhton": "x"}"#).unwrap_err();
        for key in RunnerConfig::KEYS {
            assert!(error.contains(&format!("`{key}`")), "{key} is not read: {error}");
        }
        assert_eq!(error.matches('`').count() / 2, RunnerConfig::KEYS.len() + 1, "{error}");
        assert_eq!(read("{}").unwrap().python, "python3");
    }
}
