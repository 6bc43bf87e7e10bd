//! Logs and metrics of the process.

use std::io::IsTerminal;

use metrics::SetRecorderError;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use toolyard::{HistogramHandle, HistogramRecorder, LATENCY_BUCKETS_SECONDS, describe_metrics};
use tracing_subscriber::EnvFilter;

use crate::backend;

/// rmcp logs requests with their arguments.
const DEFAULT_FILTER: &str = "info,rmcp=warn";

/// The process's metrics.
#[derive(Debug)]
pub(crate) struct Metrics {
    /// Counters and gauges: the exporter's. Nothing of it grows, so it needs no upkeep.
    others: PrometheusHandle,
    histograms: HistogramHandle,
}

// === impl Metrics ===

impl Metrics {
    /// Installs the recorder. Must come before the first registry is made.
    pub(crate) fn install() -> Result<Self, SetRecorderError<HistogramRecorder<PrometheusRecorder>>> {
        let (recorder, metrics) = Self::recorder();
        metrics::set_global_recorder(recorder)?;
        describe_metrics();
        backend::describe_metrics();
        toolyard_providers::describe_plugin_metrics();
        toolyard_providers::describe_mcp_metrics();
        Ok(metrics)
    }

    /// For tests: counts nothing.
    #[cfg(test)]
    pub(crate) fn detached() -> Self {
        Self::recorder().1
    }

    pub(crate) fn render(&self) -> String {
        self.others.render() + &self.histograms.render()
    }

    fn recorder() -> (HistogramRecorder<PrometheusRecorder>, Self) {
        let exporter = PrometheusBuilder::new().build_recorder();
        let others = exporter.handle();
        let recorder = HistogramRecorder::new(exporter, LATENCY_BUCKETS_SECONDS);
        let histograms = recorder.handle();
        (recorder, Self { others, histograms })
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
