//! The table: results on the terminal.

use std::fmt::Write as _;

use super::distribution::Distribution;
use super::facts::ProcessFacts;
use super::results::Results;
use super::units::{count, digits, mebibytes, milliseconds, percent};

/// Rows whose columns stand below each other; the first is a heading.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<Vec<String>>,
}

/// The results as text.
pub(crate) fn table(results: &Results) -> String {
    let mut text = heading(results);
    text.push_str(&latencies(results).text());
    if results.phases.len() > 1 {
        text.push('\n');
        text.push_str(&phases(results).text());
    }
    text.push('\n');
    text.push_str(&counts(results).text());
    if !results.objectives.is_empty() {
        text.push('\n');
        text.push_str(&objectives(results).text());
    }
    text
}

fn heading(results: &Results) -> String {
    let scenario = &results.scenario;
    let place = scenario.url.as_deref().unwrap_or("in this process");
    let load = match scenario.rate {
        Some(rate) => format!("open loop, {} batches/s", count(rate)),
        None => format!("closed loop, {} sessions", count(f64::from(scenario.sessions))),
    };
    let interrupted = if results.interrupted { ", ended early" } else { "" };
    let measured = digits(results.measured_s);
    format!("{}: {} ({place}), {load}, {measured} s measured{interrupted}\n\n", scenario.name, scenario.target)
}

fn latencies(results: &Results) -> Grid {
    let latency = &results.latency;
    let mut grid = Grid::new(&["latency", "p50", "p90", "p99", "p99.9", "max", "mean"]);
    let mut add = |name: &str, distribution: &Distribution| {
        let figures = distribution.figures().into_iter().map(|(_, ms)| milliseconds(ms));
        grid.add(std::iter::once(name.to_owned()).chain(figures));
    };
    let is_corrected = latency.correction != "none";
    if is_corrected {
        add("batch, corrected", &latency.batch.corrected);
    }
    add(if is_corrected { "batch, from sending" } else { "batch" }, &latency.batch.raw);
    if is_corrected {
        add("call, corrected", &latency.call.corrected);
    }
    add(if is_corrected { "call, from sending" } else { "call" }, &latency.call.raw);
    if let Some(late) = &latency.late {
        add("sent late by", late);
    }
    grid
}

fn phases(results: &Results) -> Grid {
    let mut grid = Grid::new(&["phase", "calls/s", "errors", "p50", "p99", "max"]);
    for phase in &results.phases {
        let rate = if phase.seconds > 0.0 { phase.calls as f64 / phase.seconds } else { 0.0 };
        let times = [phase.batch.p50_ms, phase.batch.p99_ms, phase.batch.max_ms].map(milliseconds);
        grid.add([phase.name.clone(), count(rate), count(phase.errors as f64)].into_iter().chain(times));
    }
    grid
}

fn counts(results: &Results) -> Grid {
    let mut grid = Grid::default();
    let mut add = |name: &str, number: String, more: String| grid.add([name.to_owned(), number, more]);
    let of_calls =
        |calls: u64| if results.calls > 0 { percent(calls as f64 / results.calls as f64) } else { String::new() };
    add("batches", count(results.batches as f64), format!("{}/s", count(results.batches_per_s)));
    add("calls", count(results.calls as f64), format!("{}/s", count(results.calls_per_s)));
    if results.warm_up.batches > 0 {
        add("  before, in the warm-up", count(results.warm_up.calls as f64), String::new());
    }
    for (status, calls) in &results.statuses {
        add(&format!("  {status}"), count(*calls as f64), of_calls(*calls));
    }
    for (reason, calls) in &results.lost.reasons {
        add(&format!("  lost: {reason}"), count(*calls as f64), of_calls(*calls));
    }
    if results.scenario.loop_kind == "open" {
        add("batches not sent", count(results.not_sent as f64), String::new());
    }
    add("violations", count(results.violations as f64), String::new());
    let mut used = |name: &str, process: Option<ProcessFacts>| {
        if let Some(process) = process {
            let cpu = format!("{} µs per call", digits(process.cpu_us_per_call));
            add(&format!("CPU of {name}"), format!("{} s", digits(process.cpu_s)), cpu);
            add(&format!("memory of {name}"), mebibytes(process.peak_memory_bytes), "at its peak".to_owned());
        }
    };
    used("loadgen", results.usage.loadgen);
    used("the target", results.usage.target);
    grid
}

fn objectives(results: &Results) -> Grid {
    let mut grid = Grid::new(&["objective", "stated", "found", ""]);
    for objective in &results.objectives {
        let found = objective.found.map_or_else(|| "unknown".to_owned(), count_or_digits);
        let verdict = if objective.met { "met" } else { "MISSED" };
        grid.add([objective.name.clone(), count_or_digits(objective.bound), found, verdict.to_owned()]);
    }
    grid
}

/// Large numbers with their thousands set off, small ones with three digits.
pub(super) fn count_or_digits(number: f64) -> String {
    if number.abs() >= 1_000.0 { count(number) } else { digits(number) }
}

// === impl Grid ===

impl Grid {
    pub(crate) fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|name| (*name).to_owned()).collect()] }
    }

    pub(crate) fn add(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }

    /// The first column to the left, the others to the right, the last as it comes.
    pub(crate) fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                match column {
                    0 => write!(line, "{cell:<width$}").ok(),
                    _ => write!(line, "{gap}{cell:>width$}").ok(),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::report::sample;

    use super::*;

    #[test]
    fn the_table_tells_latencies_counts_and_objectives() {
        let text = table(&sample(100));
        for line in ["batch", "  ok", "  lost: closed", "violations", "p99_ms", "MISSED"] {
            assert!(text.lines().any(|found| found.starts_with(line) || found.ends_with(line)), "{line}\n{text}");
        }
        let batch = text.lines().find(|line| line.starts_with("batch")).unwrap();
        assert_eq!(batch.split_whitespace().collect::<Vec<_>>()[1..5], ["50.0", "ms", "90.0", "ms"]);
    }

    #[test]
    fn columns_stand_below_each_other() {
        let mut grid = Grid::new(&["a", "b"]);
        grid.add(["long".to_owned(), "1".to_owned()]);
        grid.add(["µs".to_owned(), "1,000".to_owned()]);
        assert_eq!(grid.text(), "a         b\nlong      1\nµs    1,000\n");
    }
}
