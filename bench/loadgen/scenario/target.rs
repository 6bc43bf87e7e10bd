//! `[target]`: what is driven, and how it is reached.

use std::time::Duration;

use serde::Deserialize;

use super::reader::Reader;

const SECTION: &str = "target";

/// What is driven.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetKeys {
    /// What it is.
    pub(crate) kind: TargetKind,
    /// Where it is, of kind `http` (`http://127.0.0.1:7700`) or `mcp` (`http://127.0.0.1:7700/mcp`).
    pub(crate) url: Option<String>,
    /// How batches are run, of kind `embedded`.
    #[serde(default)]
    pub(crate) mode: EmbeddedMode,
    /// Threads that load and, where embedded, the engine run on; as many as there are cores where absent.
    pub(crate) workers: Option<usize>,
    /// Connections at once, of kind `http` and `mcp`.
    pub(crate) connections: Option<usize>,
    /// How long an answer may take before its batch counts as lost; the deadline and 5 s where absent.
    pub(crate) timeout_ms: Option<u64>,
    /// Name of a header that every request carries.
    #[serde(default = "default_header")]
    pub(crate) header: String,
    /// Variable of the environment with that header's value; none is sent where absent.
    pub(crate) header_env: Option<String>,
    /// Process id of the daemon, whose CPU time and memory are then measured too.
    pub(crate) pid: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TargetKind {
    /// The engine in this process.
    Embedded,
    /// A daemon's HTTP API.
    Http,
    /// An MCP endpoint.
    Mcp,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmbeddedMode {
    /// In the task of the session.
    #[default]
    Dispatch,
    /// In a task of the registry, as the daemon does.
    Start,
}

fn default_header() -> String {
    "Authorization".to_owned()
}

// === impl TargetKeys ===

impl TargetKeys {
    /// Whether it is reached over the network.
    pub(crate) fn is_remote(&self) -> bool {
        self.kind != TargetKind::Embedded
    }

    pub(crate) fn timeout(&self, deadline: Duration) -> Duration {
        self.timeout_ms.map_or(deadline + Duration::from_secs(5), Duration::from_millis)
    }

    pub(super) fn check(&self, reader: &mut Reader<'_>) {
        match (&self.url, self.is_remote()) {
            (Some(_), false) => reader.fault(SECTION, "url", "an embedded engine has no address".to_owned()),
            (None, true) => reader.fault(SECTION, "kind", "needs a `url`, here or as --url".to_owned()),
            (Some(url), true) => {
                if let Err(message) = check_url(url) {
                    reader.fault(SECTION, "url", message);
                }
            }
            (None, false) => {}
        }
        if self.is_remote() && self.mode != EmbeddedMode::Dispatch {
            reader.fault(SECTION, "mode", "is only for the embedded engine".to_owned());
        }
        if self.header.is_empty() || !self.header.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            reader.fault(SECTION, "header", "is not the name of a header".to_owned());
        }
        reader.within(SECTION, "workers", self.workers.unwrap_or(1) as f64, 1.0, 256.0);
        reader.within(SECTION, "connections", self.connections.unwrap_or(1) as f64, 1.0, 65_536.0);
        reader.within(SECTION, "timeout_ms", self.timeout_ms.unwrap_or(1) as f64, 1.0, 3_600_000.0);
    }
}

/// Only plain HTTP, since the daemon listens on loopback addresses; nothing secret in it, since results name it.
pub(crate) fn check_url(url: &str) -> Result<(), String> {
    let Some(rest) = url.strip_prefix("http://") else { return Err("must begin with http://".to_owned()) };
    let host = rest.split('/').next().unwrap_or_default();
    if host.contains('@') {
        return Err("must not hold a user or a password; use `header_env`".to_owned());
    }
    if rest.contains(['?', '#']) {
        return Err("must not have a query; use `header_env` for keys".to_owned());
    }
    if host.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("is not an address".to_owned());
    }
    Ok(())
}
