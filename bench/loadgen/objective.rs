//! Objectives: what a run had to reach, and what it reached.

use serde::{Deserialize, Serialize};

use crate::report::{ProcessFacts, Results};
use crate::scenario::ObjectiveKeys;

/// One objective, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Objective {
    /// The key in `[objectives]`.
    pub(crate) name: String,
    pub(crate) bound: f64,
    /// Nothing where it could not be measured, which counts as missed.
    pub(crate) found: Option<f64>,
    pub(crate) met: bool,
}

/// Holds the results, and what the process used that counts, against what was stated.
pub(crate) fn judge(keys: &ObjectiveKeys, results: &Results, process: Option<ProcessFacts>) -> Vec<Objective> {
    let (batch, call) = (&results.latency.batch.corrected, &results.latency.call.corrected);
    // Where nothing has an end, no latency is good.
    let of = |distribution: &crate::report::Distribution, ms: f64| (distribution.count > 0).then_some(ms);
    let count = |count: Option<u64>| count.map(|count| count as f64);
    let at_most = [
        ("p50_ms", keys.p50_ms, of(batch, batch.p50_ms)),
        ("p90_ms", keys.p90_ms, of(batch, batch.p90_ms)),
        ("p99_ms", keys.p99_ms, of(batch, batch.p99_ms)),
        ("p999_ms", keys.p999_ms, of(batch, batch.p999_ms)),
        ("max_ms", keys.max_ms, of(batch, batch.max_ms)),
        ("call_p50_ms", keys.call_p50_ms, of(call, call.p50_ms)),
        ("call_p99_ms", keys.call_p99_ms, of(call, call.p99_ms)),
        ("error_ratio", keys.error_ratio, Some(results.error_ratio)),
        ("not_sent", count(keys.not_sent), Some(results.not_sent as f64)),
        ("lost", count(keys.lost), Some(results.lost.batches as f64)),
        ("violations", count(keys.violations), Some(results.violations as f64)),
        ("cpu_us_per_call", keys.cpu_us_per_call, process.map(|process| process.cpu_us_per_call)),
        ("memory_mib", keys.memory_mib, process.map(|p| p.peak_memory_bytes as f64 / f64::from(1 << 20))),
    ];
    let at_least = [
        ("min_calls_per_second", keys.min_calls_per_second, Some(results.calls_per_s)),
        ("min_batches_per_second", keys.min_batches_per_second, Some(results.batches_per_s)),
    ];
    let at_most = at_most.into_iter().map(|row| (row, false));
    let at_least = at_least.into_iter().map(|row| (row, true));
    let judged = at_most.chain(at_least).filter_map(|((name, bound, found), is_least)| {
        let bound = bound?;
        let met = found.is_some_and(|found| if is_least { found >= bound } else { found <= bound });
        Some(Objective { name: name.to_owned(), bound, found, met })
    });
    judged.collect()
}

#[cfg(test)]
mod tests {
    use crate::report::sample;
    use crate::scenario::Scenario;

    use super::*;

    fn judged(objectives: &str) -> Vec<(String, bool)> {
        let text = format!("[target]\nkind = \"embedded\"\n[objectives]\n{objectives}");
        let keys = Scenario::parse(&text).unwrap().objectives;
        judge(&keys, &sample(100), None).into_iter().map(|objective| (objective.name, objective.met)).collect()
    }

    #[test]
    fn only_what_is_stated_is_judged_and_each_by_itself() {
        // 100 batches of 1 to 100 ms with two calls each, within 2 s; one call of ten fails.
        let found = judged("p50_ms = 60\np99_ms = 20\nerror_ratio = 0.2\nviolations = 0\nmin_calls_per_second = 50\n");
        let expected = [
            ("p50_ms", true),
            ("p99_ms", false),
            ("error_ratio", true),
            ("violations", true),
            ("min_calls_per_second", true),
        ];
        let found: Vec<(&str, bool)> = found.iter().map(|(name, met)| (name.as_str(), *met)).collect();
        assert_eq!(found, expected);
        assert_eq!(judged(""), []);
        assert!(!judged("min_batches_per_second = 56")[0].1);
    }

    #[test]
    fn what_could_not_be_measured_is_missed() {
        let text = "[target]\nkind = \"embedded\"\n[objectives]\np99_ms = 20\nmemory_mib = 10\n";
        let keys = Scenario::parse(text).unwrap().objectives;
        let judged = judge(&keys, &sample(0), None);
        assert!(judged.iter().all(|objective| !objective.met && objective.found.is_none()), "{judged:?}");
    }
}
