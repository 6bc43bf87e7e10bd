//! Comparing the results of two runs.

use std::path::Path;

use crate::report::units::{digits, mebibytes, milliseconds, percent};
use crate::report::{Grid, Results};

/// One figure of both runs.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    old: f64,
    new: f64,
    shown: fn(f64) -> String,
    better: Better,
}

/// Which way a figure gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    Less,
    More,
    /// It is shown, and not judged: a single value of a long tail says little.
    Unjudged,
}

/// What a comparison came to.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) text: String,
    /// Names of the figures that are worse by more than the tolerance.
    pub(crate) worse: Vec<String>,
}

/// Why results cannot be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResultsError {
    #[error("{path}: cannot be read: {error}")]
    Unreadable { path: String, error: std::io::Error },
    #[error("{path}: these are no results of loadgen: {error}")]
    NoResults { path: String, error: serde_json::Error },
    #[error("{path}: has the form {form}, and this loadgen reads `toolyard-loadgen` 1")]
    OtherForm { path: String, form: String },
}

/// Reads what `--json` wrote.
pub(crate) fn read(path: &Path) -> Result<Results, ResultsError> {
    let shown = || path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| ResultsError::Unreadable { path: shown(), error })?;
    let no_results = |error| ResultsError::NoResults { path: shown(), error };
    // The form is looked at first: of another one, nothing else need be as expected.
    let any: serde_json::Value = serde_json::from_str(&text).map_err(no_results)?;
    if any["format"] != "toolyard-loadgen" || any["version"] != 1 {
        let form = format!("{} {}", any["format"], any["version"]);
        return Err(ResultsError::OtherForm { path: shown(), form });
    }
    serde_json::from_value(any).map_err(no_results)
}

/// Sets two runs beside each other.
pub(crate) fn compare(old: &Results, new: &Results, tolerance: f64) -> Comparison {
    let mut grid = Grid::new(&["", "old", "new", "new/old", ""]);
    let mut worse = Vec::new();
    for row in rows(old, new) {
        let verdict = row.verdict(tolerance);
        if verdict == "WORSE" {
            worse.push(row.name.clone());
        }
        let ratio = if row.old > 0.0 { digits(row.new / row.old) } else { "-".to_owned() };
        grid.add([row.name, (row.shown)(row.old), (row.shown)(row.new), ratio, verdict.to_owned()]);
    }
    Comparison { text: remarks(old, new) + &grid.text(), worse }
}

/// What makes the two runs hard to compare.
fn remarks(old: &Results, new: &Results) -> String {
    let (a, b) = (&old.scenario, &new.scenario);
    let differences = [
        ("scenario", a.name.clone(), b.name.clone()),
        ("target", a.target.clone(), b.target.clone()),
        ("loop", a.loop_kind.clone(), b.loop_kind.clone()),
        ("sessions", a.sessions.to_string(), b.sessions.to_string()),
        ("rate", format!("{:?}", a.rate), format!("{:?}", b.rate)),
        ("correction", old.latency.correction.clone(), new.latency.correction.clone()),
        ("workers", old.host.workers.to_string(), new.host.workers.to_string()),
        ("cores", old.host.cores.to_string(), new.host.cores.to_string()),
    ];
    let differing = differences.iter().filter(|(_, old, new)| old != new);
    differing.map(|(what, old, new)| format!("note: the {what} differs: {old}, {new}\n")).collect()
}

fn rows(old: &Results, new: &Results) -> Vec<Row> {
    let number = |number: f64| digits(number);
    let row =
        |name: &str, old, new, shown: fn(f64) -> String, better| Row { name: name.to_owned(), old, new, shown, better };
    let mut rows = vec![
        row("calls/s", old.calls_per_s, new.calls_per_s, number, Better::More),
        row("batches/s", old.batches_per_s, new.batches_per_s, number, Better::More),
    ];
    let pairs = [
        ("batch", &old.latency.batch.corrected, &new.latency.batch.corrected),
        ("call", &old.latency.call.corrected, &new.latency.call.corrected),
    ];
    for (kind, old, new) in pairs {
        for ((name, old), (_, new)) in old.figures().into_iter().zip(new.figures()) {
            let better = if matches!(name, "p99.9" | "max") { Better::Unjudged } else { Better::Less };
            rows.push(row(&format!("{kind} {name}"), old, new, milliseconds, better));
        }
    }
    rows.push(row("errors", old.error_ratio, new.error_ratio, percent, Better::Less));
    rows.push(row("not sent", old.not_sent as f64, new.not_sent as f64, number, Better::Less));
    rows.push(row("violations", old.violations as f64, new.violations as f64, number, Better::Less));
    let processes = [("loadgen", old.usage.loadgen, new.usage.loadgen), ("target", old.usage.target, new.usage.target)];
    for (name, old, new) in processes {
        if let (Some(old), Some(new)) = (old, new) {
            let micros = |us: f64| milliseconds(us / 1e3);
            let (cpu, memory) = (format!("CPU per call, {name}"), format!("memory, {name}"));
            rows.push(row(&cpu, old.cpu_us_per_call, new.cpu_us_per_call, micros, Better::Less));
            let bytes = |bytes: f64| mebibytes(bytes as u64);
            let (old, new) = (old.peak_memory_bytes as f64, new.peak_memory_bytes as f64);
            rows.push(row(&memory, old, new, bytes, Better::Less));
        }
    }
    rows
}

// === impl Row ===

impl Row {
    fn verdict(&self, tolerance: f64) -> &'static str {
        let (old, new) = match self.better {
            Better::Unjudged => return "",
            Better::Less => (self.old, self.new),
            Better::More => (self.new, self.old),
        };
        // Of `Less`: more than before by the tolerance. Of `More`: what there was before is more than now by it.
        if new > old * (1.0 + tolerance) {
            "WORSE"
        } else if old > new * (1.0 + tolerance) {
            "better"
        } else {
            ""
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_run_is_as_good_as_itself() {
        let results = sample(100);
        let comparison = compare(&results, &results, 0.0);
        assert_eq!(comparison.worse, Vec::<String>::new());
        assert!(!comparison.text.contains("note:"), "{}", comparison.text);
    }

    #[test]
    fn only_what_is_worse_by_more_than_the_tolerance_is_told() {
        let old = sample(100);
        let mut new = old.clone();
        new.latency.batch.corrected.p99_ms *= 1.09;
        new.latency.batch.corrected.p50_ms *= 1.2;
        new.latency.batch.corrected.max_ms *= 10.0;
        new.latency.call.corrected.p50_ms *= 0.5;
        new.calls_per_s *= 0.8;
        assert_eq!(compare(&old, &new, 0.1).worse, ["calls/s", "batch p50"]);
        assert_eq!(compare(&old, &new, 0.5).worse, Vec::<String>::new());
        let text = compare(&old, &new, 0.1).text;
        let line = text.lines().find(|line| line.starts_with("call p50")).unwrap();
        assert!(line.contains("0.500") && line.ends_with("better"), "{line}");
    }

    #[test]
    fn errors_that_were_not_there_before_are_worse_whatever_the_tolerance() {
        let mut old = sample(100);
        let mut new = old.clone();
        (old.error_ratio, new.error_ratio) = (0.0, 0.000_1);
        assert_eq!(compare(&old, &new, 5.0).worse, ["errors"]);
        new.scenario.sessions = 7;
        assert!(compare(&old, &new, 5.0).text.contains("note: the sessions differs: 1, 7"));
    }

    #[test]
    fn results_are_read_back_and_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let results = sample(10);
        std::fs::write(&path, serde_json::to_string(&results).unwrap()).unwrap();
        assert_eq!(compare(&results, &read(&path).unwrap(), 0.0).worse, Vec::<String>::new());
        std::fs::write(&path, r#"{"format": "toolyard-loadgen", "version": 2}"#).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("has the form"));
        std::fs::write(&path, "[").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("no results"));
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("cannot be read"));
    }
}
