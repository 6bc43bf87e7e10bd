//! HistogramRecorder: a recorder that counts histograms itself.

mod exposition;
mod series;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use ahash::RandomState;
use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use series::Series;

/// Series that are kept; no more are counted beyond.
const MAX_SERIES: usize = 200_000;

/// A recorder in front of another one, such as that of an exporter. It counts histograms into buckets; counters and gauges
/// go on to the other.
///
/// The engine hands its latencies over as so many samples of one value. That is one addition here. The exporter for
/// Prometheus keeps each sample until its next upkeep: seconds of processor time for each minute of a busy engine.
///
/// ```
/// use metrics_exporter_prometheus::PrometheusBuilder;
/// use toolyard::{HistogramRecorder, LATENCY_BUCKETS_SECONDS};
///
/// let exporter = PrometheusBuilder::new().build_recorder();
/// let others = exporter.handle();
/// let recorder = HistogramRecorder::new(exporter, LATENCY_BUCKETS_SECONDS);
/// let histograms = recorder.handle();
/// metrics::set_global_recorder(recorder)?;
/// // What `/metrics` answers.
/// let page = others.render() + &histograms.render();
/// # drop(page);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct HistogramRecorder<R> {
    others: R,
    histograms: HistogramHandle,
}

/// Reads what a [`HistogramRecorder`] has counted.
#[derive(Clone)]
pub struct HistogramHandle(Arc<Histograms>);

struct Histograms {
    /// Upper bounds of the buckets, in order.
    bounds: Arc<[f64]>,
    known: RwLock<Known>,
    has_warned: AtomicBool,
}

#[derive(Default)]
struct Known {
    series: HashMap<Key, Arc<Series>, RandomState>,
    families: BTreeMap<String, Family>,
}

/// All series of one name.
#[derive(Default)]
struct Family {
    description: Option<SharedString>,
    /// By their labels, as they are written: keys that read the same are one series.
    by_labels: BTreeMap<String, Arc<Series>>,
}

// === impl HistogramRecorder ===

impl<R> HistogramRecorder<R> {
    /// Counts histograms into buckets with these upper bounds, inclusive and in any order; what is above them all has a
    /// bucket of its own. Whatever is no histogram goes to `others`.
    pub fn new(others: R, bounds: impl IntoIterator<Item = f64>) -> Self {
        let mut bounds: Vec<f64> = bounds.into_iter().filter(|bound| bound.is_finite()).collect();
        bounds.sort_by(f64::total_cmp);
        bounds.dedup();
        let histograms =
            Histograms { bounds: bounds.into(), known: RwLock::default(), has_warned: AtomicBool::new(false) };
        Self { others, histograms: HistogramHandle(Arc::new(histograms)) }
    }

    /// Reads what is counted, before and after the recorder is installed.
    pub fn handle(&self) -> HistogramHandle {
        self.histograms.clone()
    }
}

impl<R: Recorder> Recorder for HistogramRecorder<R> {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.others.describe_counter(key, unit, description);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.others.describe_gauge(key, unit, description);
    }

    fn describe_histogram(&self, key: KeyName, _unit: Option<Unit>, description: SharedString) {
        self.histograms.0.describe(key.as_str(), description);
    }

    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> Counter {
        self.others.register_counter(key, metadata)
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        self.others.register_gauge(key, metadata)
    }

    fn register_histogram(&self, key: &Key, _metadata: &Metadata<'_>) -> Histogram {
        self.histograms.0.series(key).map_or_else(Histogram::noop, Histogram::from_arc)
    }
}

// === impl HistogramHandle ===

impl HistogramHandle {
    /// All histograms in the text format of Prometheus, sorted by name and labels. Empty where nothing was counted.
    pub fn render(&self) -> String {
        let mut text = String::new();
        let known = self.0.known.read().unwrap_or_else(PoisonError::into_inner);
        for (name, family) in &known.families {
            exposition::write_family(&mut text, name, family, &self.0.bounds);
        }
        text
    }
}

impl fmt::Debug for HistogramHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistogramHandle").field("bounds", &self.0.bounds).finish_non_exhaustive()
    }
}

// === impl Histograms ===

impl Histograms {
    fn describe(&self, name: &str, description: SharedString) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let family = known.families.entry(exposition::metric_name(name)).or_default();
        family.description.get_or_insert(description);
    }

    /// The series of a key; nothing where there are too many.
    fn series(&self, key: &Key) -> Option<Arc<Series>> {
        if let Some(series) = self.known.read().unwrap_or_else(PoisonError::into_inner).series.get(key) {
            return Some(Arc::clone(series));
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.series.len() >= MAX_SERIES && !known.series.contains_key(key) {
            if !self.has_warned.swap(true, Ordering::Relaxed) {
                tracing::warn!(metric = key.name(), "there are {MAX_SERIES} series of histograms; no more are counted");
            }
            return None;
        }
        let Known { series, families } = &mut *known;
        let family = families.entry(exposition::metric_name(key.name())).or_default();
        let of_labels = family.by_labels.entry(exposition::labels(key));
        let found = of_labels.or_insert_with(|| Arc::new(Series::new(&self.bounds)));
        Some(Arc::clone(series.entry(key.to_retained()).or_insert_with(|| Arc::clone(found))))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use metrics::{NoopRecorder, counter, describe_histogram, histogram, with_local_recorder};
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    fn counted(bounds: &[f64], work: impl FnOnce()) -> String {
        let recorder = HistogramRecorder::new(NoopRecorder, bounds.iter().copied());
        let handle = recorder.handle();
        with_local_recorder(&recorder, work);
        handle.render()
    }

    #[test]
    fn many_samples_at_once_count_as_many_and_each_bucket_holds_those_below_it() {
        let text = counted(&[0.1, 0.000_01, 1.0], || {
            describe_histogram!("a.seconds", "How\nlong.");
            let histogram = histogram!("a.seconds");
            histogram.record_many(0.05, 10_000_000);
            for value in [0.000_01, 0.1, 0.25, 2.0, f64::INFINITY, f64::NAN] {
                histogram.record(if value.is_infinite() { 4.0 } else { value });
            }
            histogram.record_many(0.5, 0);
        });
        let expected = "# HELP a_seconds How\\nlong.\n\
            # TYPE a_seconds histogram\n\
            a_seconds_bucket{le=\"0.00001\"} 1\n\
            a_seconds_bucket{le=\"0.1\"} 10000002\n\
            a_seconds_bucket{le=\"1\"} 10000003\n\
            a_seconds_bucket{le=\"+Inf\"} 10000005\n\
            a_seconds_sum 500006.35001\n\
            a_seconds_count 10000005\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn labels_are_escaped_and_keys_that_read_the_same_are_one_series() {
        let text = counted(&[1.0], || {
            histogram!("b", "tool" => "say \"hi\"\\\n", "an.id" => "1").record(1.0);
            histogram!("b", "an_id" => "1", "tool" => "say \"hi\"\\\n").record(1.0);
            histogram!("b", "an.id" => "2").record(1.0);
        });
        let expected = "# TYPE b histogram\n\
            b_bucket{an_id=\"1\",tool=\"say \\\"hi\\\"\\\\\\n\",le=\"1\"} 2\n\
            b_bucket{an_id=\"1\",tool=\"say \\\"hi\\\"\\\\\\n\",le=\"+Inf\"} 2\n\
            b_sum{an_id=\"1\",tool=\"say \\\"hi\\\"\\\\\\n\"} 2\n\
            b_count{an_id=\"1\",tool=\"say \\\"hi\\\"\\\\\\n\"} 2\n\
            b_bucket{an_id=\"2\",le=\"1\"} 1\n\
            b_bucket{an_id=\"2\",le=\"+Inf\"} 1\n\
            b_sum{an_id=\"2\"} 1\n\
            b_count{an_id=\"2\"} 1\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn it_reads_as_the_exporter_writes_and_what_is_no_histogram_goes_on() {
        let work = || {
            describe_histogram!("c_seconds", "How long.");
            for (tool, value) in [("a", 0.03), ("a", 0.5), ("a", 7.0), ("a", 0.1)] {
                histogram!("c_seconds", "provider" => "p", "tool" => tool).record(value);
            }
            counter!("c_total").increment(3);
        };
        let exporter = || PrometheusBuilder::new().set_buckets(&[0.1, 1.0]).unwrap().build_recorder();
        let alone = exporter();
        with_local_recorder(&alone, work);
        let inner = exporter();
        let others = inner.handle();
        let layered = HistogramRecorder::new(inner, [0.1, 1.0]);
        with_local_recorder(&layered, work);
        assert_eq!(others.render() + &layered.handle().render(), alone.handle().render());
    }

    #[test]
    fn what_is_only_described_is_not_shown() {
        assert_eq!(counted(&[1.0], || describe_histogram!("d", "Nothing.")), "");
    }

    #[test]
    fn threads_together_lose_nothing() {
        let recorder = HistogramRecorder::new(NoopRecorder, [1.0]);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    with_local_recorder(&recorder, || {
                        (0..1000).for_each(|_| histogram!("e").record_many(0.5, 3));
                    });
                });
            }
        });
        let text = recorder.handle().render();
        assert!(text.contains("e_sum 6000\n") && text.contains("e_count 12000\n"), "{text}");
    }
}
