//! Recorder: that of the daemon, so that metrics cost what they cost there.

use metrics_exporter_prometheus::PrometheusBuilder;
use toolyard::{HistogramRecorder, LATENCY_BUCKETS_SECONDS};

/// Installs the recorder for the whole process, once. Engines that were started before it record nothing.
pub fn install_recorder() {
    let recorder = HistogramRecorder::new(PrometheusBuilder::new().build_recorder(), LATENCY_BUCKETS_SECONDS);
    // A second engine in one process counts with the first.
    metrics::set_global_recorder(recorder).ok();
}
