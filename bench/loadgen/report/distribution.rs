//! The distribution of a latency, as it stands in results: its usual figures, and the whole histogram.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as HistogramReader, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Latencies in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Distribution {
    pub(crate) count: u64,
    pub(crate) min_ms: f64,
    pub(crate) mean_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p90_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) p999_ms: f64,
    pub(crate) max_ms: f64,
    /// In nanoseconds; HdrHistogram's V2 form, compressed, in base64.
    pub(crate) histogram: String,
}

// === impl Distribution ===

impl Distribution {
    pub(crate) fn new(histogram: &Histogram<u64>) -> Self {
        let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e6;
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        V2DeflateSerializer::new().serialize(histogram, &mut bytes).ok();
        Self {
            count: histogram.len(),
            min_ms: if histogram.is_empty() { 0.0 } else { histogram.min() as f64 / 1e6 },
            mean_ms: histogram.mean() / 1e6,
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: histogram.max() as f64 / 1e6,
            histogram: base64::engine::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes),
        }
    }

    /// The whole histogram, in nanoseconds; nothing where it cannot be read.
    pub(crate) fn histogram(&self) -> Option<Histogram<u64>> {
        let engine = &base64::engine::general_purpose::STANDARD;
        let bytes = base64::engine::Engine::decode(engine, &self.histogram).ok()?;
        HistogramReader::new().deserialize(&mut bytes.as_slice()).ok()
    }

    /// The usual figures with their names.
    pub(crate) fn figures(&self) -> [(&'static str, f64); 6] {
        [
            ("p50", self.p50_ms),
            ("p90", self.p90_ms),
            ("p99", self.p99_ms),
            ("p99.9", self.p999_ms),
            ("max", self.max_ms),
            ("mean", self.mean_ms),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::new_histogram;

    #[test]
    fn the_whole_histogram_can_be_read_back_and_added_up() {
        let mut histogram = new_histogram();
        for ns in [1_500, 2_000_000, 3_000_000, 900_000_000] {
            histogram.record(ns).unwrap();
        }
        let distribution = Distribution::new(&histogram);
        let mut back = distribution.histogram().unwrap();
        assert_eq!(Distribution::new(&back), distribution);
        back.add(&histogram).unwrap();
        assert_eq!(back.len(), 8);
        // The first bytes of every compressed V2 histogram.
        assert!(distribution.histogram.starts_with("HISTF"), "{}", distribution.histogram);
        assert_eq!(Distribution { histogram: "?".to_owned(), ..distribution }.histogram(), None);
    }
}
