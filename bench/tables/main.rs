//! tables: what criterion has kept of `cargo bench --bench dispatch`, as Markdown.
//!
//! `cargo run --package toolyard-bench --bin tables [-- FOLDER]`, where the folder is `target/criterion` unless it is named.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// Groups in the order of their tables, and what their values are.
const GROUPS: [(&str, &str); 6] = [
    ("batch", "calls of a batch"),
    ("sessions", "sessions at once"),
    ("handler", "tools"),
    ("providers", "providers"),
    ("tools", "tools in all"),
    ("payload", "bytes each way"),
];
/// Columns of a table; all are set in proportion to this one.
const BASELINE: &str = "tokio-floor";
const SUBJECTS: [&str; 5] = ["tokio", "io", "inline", "task", "start"];
/// The group that has no values but only functions.
const STAGES: &str = "stage";

/// Criterion's `benchmark.json`.
#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
    throughput: Value,
}

/// Criterion's `estimates.json`.
#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
}

/// Nanoseconds for each call, by group, value and function.
#[derive(Default)]
struct Figures(BTreeMap<(String, String, String), f64>);

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = std::env::args().nth(1).map_or_else(|| target.join("criterion"), PathBuf::from);
    let mut figures = Figures::default();
    figures.read(&folder)?;
    let mut out = std::io::stdout().lock();
    for (group, values) in GROUPS {
        figures.print_axis(&mut out, group, values)?;
    }
    figures.print_stages(&mut out)?;
    Ok(())
}

// === impl Figures ===

impl Figures {
    /// Everything under a folder.
    fn read(&mut self, folder: &Path) -> Result<(), Box<dyn Error>> {
        let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.join("new/benchmark.json").exists() {
                self.add(&path.join("new"))?;
            } else if path.is_dir() {
                self.read(&path)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, folder: &Path) -> Result<(), Box<dyn Error>> {
        let benchmark: Benchmark = serde_json::from_slice(&std::fs::read(folder.join("benchmark.json"))?)?;
        let estimates: Estimates = serde_json::from_slice(&std::fs::read(folder.join("estimates.json"))?)?;
        if let (Some(function), Some(calls)) = (benchmark.function_id, benchmark.throughput["Elements"].as_f64()) {
            let key = (benchmark.group_id, benchmark.value_str.unwrap_or_default(), function);
            self.0.insert(key, estimates.median.point_estimate / calls);
        }
        Ok(())
    }

    fn get(&self, group: &str, value: &str, function: &str) -> Option<f64> {
        self.0.get(&(group.to_owned(), value.to_owned(), function.to_owned())).copied()
    }

    /// The values of a group, smallest first where they are numbers.
    fn values(&self, group: &str) -> Vec<&str> {
        let of_group = self.0.keys().filter(|(of, ..)| of == group).map(|(_, value, _)| value.as_str());
        let mut values: Vec<&str> = of_group.collect();
        values.sort_by_key(|value| value.parse::<u64>().unwrap_or_default());
        values.dedup();
        values
    }

    /// One table: a row for each value of the axis.
    fn print_axis(&self, out: &mut impl Write, group: &str, values: &str) -> std::io::Result<()> {
        let rows = self.values(group);
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(out, "| {values} | {BASELINE}, µs per call | {} |", SUBJECTS.join(" | "))?;
        writeln!(out, "|---|{}", "---:|".repeat(SUBJECTS.len() + 1))?;
        for value in rows {
            let Some(floor) = self.get(group, value, BASELINE) else { continue };
            write!(out, "| {value} | {:.2} |", floor / 1e3)?;
            for subject in SUBJECTS {
                match self.get(group, value, subject) {
                    Some(figure) => write!(out, " {:.2} |", figure / floor)?,
                    None => write!(out, " – |")?,
                }
            }
            writeln!(out)?;
        }
        writeln!(out)
    }

    fn print_stages(&self, out: &mut impl Write) -> std::io::Result<()> {
        let stages = self.0.iter().filter(|((group, ..), _)| group == STAGES);
        let rows: Vec<String> = stages.map(|((.., stage), figure)| format!("| {stage} | {figure:.0} |")).collect();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(out, "| stage | ns per call |\n|---|---:|\n{}", rows.join("\n"))
    }
}
