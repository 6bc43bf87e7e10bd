//! `[server]`: the daemon's own settings.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;

/// The daemon's own settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerConfig {
    /// Where to listen. Default 127.0.0.1:7700.
    pub(crate) listen: SocketAddr,
    /// Bytes of one request's body. Default 4 MiB.
    pub(crate) max_body_bytes: usize,
    /// Requests that are served at once. Default 4,096.
    pub(crate) max_requests: usize,
    shutdown_grace_ms: u64,
}

// === impl ServerConfig ===

impl ServerConfig {
    /// Time for batches in flight to finish when the daemon stops.
    pub(crate) fn shutdown_grace(&self) -> Duration {
        Duration::from_millis(self.shutdown_grace_ms)
    }

    /// Nobody is asked who they are, so nobody from outside may ask.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !self.listen.ip().is_loopback() {
            return Err(format!(
                "listen: {} can be reached from outside; only loopback addresses are allowed",
                self.listen
            ));
        }
        Ok(())
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7700),
            max_body_bytes: 4 << 20,
            max_requests: 4096,
            shutdown_grace_ms: 10_000,
        }
    }
}
