//! Logs and metrics of the process.

use std::io::IsTerminal;
use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};
use tokio_util::task::AbortOnDropHandle;
use toolyard::{LATENCY_BUCKETS_SECONDS, describe_metrics};
use tracing_subscriber::EnvFilter;

use crate::backend;

/// How often the exporter's buckets are drained, so that they do not grow between two scrapes.
const UPKEEP: Duration = Duration::from_secs(5);
/// rmcp logs requests with their arguments.
const DEFAULT_FILTER: &str = "info,rmcp=warn";

/// The process's metrics. Upkeep ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Metrics {
    handle: PrometheusHandle,
    _upkeep: AbortOnDropHandle<()>,
}

// === impl Metrics ===

impl Metrics {
    /// Installs the recorder. Must come before the first registry is made.
    pub(crate) fn install() -> Result<Self, BuildError> {
        let handle = PrometheusBuilder::new().set_buckets(&LATENCY_BUCKETS_SECONDS)?.install_recorder()?;
        describe_metrics();
        backend::describe_metrics();
        toolyard_providers::describe_plugin_metrics();
        toolyard_providers::describe_mcp_metrics();
        let drained = handle.clone();
        let upkeep = tokio::spawn(async move {
            let mut ticks = tokio::time::interval(UPKEEP);
            loop {
                ticks.tick().await;
                drained.run_upkeep();
            }
        });
        Ok(Self { handle, _upkeep: AbortOnDropHandle::new(upkeep) })
    }

    /// For tests: counts nothing.
    #[cfg(test)]
    pub(crate) fn detached() -> Self {
        let handle = PrometheusBuilder::new().build_recorder().handle();
        Self { handle, _upkeep: AbortOnDropHandle::new(tokio::spawn(std::future::pending())) }
    }

    pub(crate) fn render(&self) -> String {
        self.handle.render()
    }
}

/// Sends logs to standard error, filtered by `TOOLYARD_LOG`, else by `fallback`.
pub(crate) fn log_to_stderr(fallback: Option<&str>) {
    let filter =
        EnvFilter::try_from_env("TOOLYARD_LOG").unwrap_or_else(|_| EnvFilter::new(fallback.unwrap_or(DEFAULT_FILTER)));
    // A second subscriber in one process, as in tests, changes nothing.
    let format = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(std::io::stderr().is_terminal());
    format.with_writer(std::io::stderr).try_init().ok();
}
