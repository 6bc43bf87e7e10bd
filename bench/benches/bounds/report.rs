//! Report: what was measured, beside its bounds.

use std::io::Write;

use serde_json::json;

use crate::race::Figure;

/// What was measured.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    work: String,
    figure: Figure,
    unit: &'static str,
    /// What the figure must not exceed; nothing for what is only good to know.
    bound: Option<f64>,
}

// === impl Report ===

impl Report {
    /// A ratio, and what it must not exceed.
    pub(crate) fn ratio(&mut self, work: impl Into<String>, figure: Figure, bound: impl Into<Option<f64>>) {
        self.add(work, figure, "×", bound);
    }

    /// A figure with a unit, and what it must not exceed.
    pub(crate) fn add(
        &mut self,
        work: impl Into<String>,
        figure: Figure,
        unit: &'static str,
        bound: impl Into<Option<f64>>,
    ) {
        let row = Row { work: work.into(), figure, unit, bound: bound.into() };
        // So that people see that it goes on.
        writeln!(std::io::stderr(), "{}", row.line()).ok();
        self.rows.push(row);
    }

    /// Whether no bound was missed.
    pub(crate) fn is_met(&self) -> bool {
        self.rows.iter().all(|row| row.is_met() != Some(false))
    }

    pub(crate) fn print(&self, as_json: bool) {
        let text = if as_json { self.json() } else { self.table() };
        writeln!(std::io::stdout(), "{text}").ok();
    }

    fn table(&self) -> String {
        let head = ["| work | measured | middle half | bound | met |", "|---|---:|---|---:|---|"];
        let lines = head.into_iter().map(str::to_owned).chain(self.rows.iter().map(Row::line));
        let missed = self.rows.iter().filter(|row| row.is_met() == Some(false)).count();
        let lines: Vec<String> = lines.chain([String::new(), format!("{missed} missed.")]).collect();
        lines.join("\n")
    }

    fn json(&self) -> String {
        let row = |row: &Row| {
            let Figure { median, low, high } = row.figure;
            json!({"work": row.work, "measured": median, "low": low, "high": high, "unit": row.unit,
                "bound": row.bound, "met": row.is_met()})
        };
        serde_json::Value::from(self.rows.iter().map(row).collect::<Vec<_>>()).to_string()
    }
}

// === impl Row ===

impl Row {
    fn is_met(&self) -> Option<bool> {
        self.bound.map(|bound| self.figure.median <= bound)
    }

    fn line(&self) -> String {
        let Figure { median, low, high } = self.figure;
        let unit = self.unit;
        let (bound, met) = match (self.bound, self.is_met()) {
            (Some(bound), Some(met)) => (format!("≤ {bound} {unit}"), if met { "yes" } else { "**no**" }),
            _ => ("–".to_owned(), "–"),
        };
        format!("| {} | {median:.2} {unit} | {low:.2} to {high:.2} | {bound} | {met} |", self.work)
    }
}
