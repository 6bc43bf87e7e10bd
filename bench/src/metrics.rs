//! Recorder: the exporter of the daemon, so that metrics cost what they cost there.

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use toolyard::LATENCY_BUCKETS_SECONDS;

/// The installed recorder.
#[derive(Clone)]
pub struct Recorder(PrometheusHandle);

// === impl Recorder ===

impl Recorder {
    /// Installs it for the whole process. Engines that were started before it record nothing.
    pub fn install() -> Self {
        let builder = PrometheusBuilder::new().set_buckets(&LATENCY_BUCKETS_SECONDS).unwrap();
        Self(builder.install_recorder().unwrap())
    }

    /// What the exporter does every few seconds in the daemon; its buckets would grow for ever without it.
    pub fn run_upkeep(&self) {
        self.0.run_upkeep();
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}
