//! What is wrong with a scenario, and where.

use std::fmt;
use std::ops::Range;

/// How alike two keys must be for one to be suggested for the other.
const ALIKE: f64 = 0.75;

/// Everything that is wrong with a scenario.
#[derive(Debug)]
pub(crate) struct ScenarioErrors {
    source: String,
    errors: Vec<Fault>,
}

/// One thing that is wrong.
#[derive(Debug)]
pub(super) struct Fault {
    /// Line and column, from 1.
    pub(super) place: Option<(usize, usize)>,
    /// Such as `tools/2 (search)`.
    pub(super) section: String,
    pub(super) message: String,
}

// === impl ScenarioErrors ===

impl ScenarioErrors {
    pub(super) fn new(source: &str, mut errors: Vec<Fault>) -> Self {
        errors.sort_by_key(|fault| fault.place);
        Self { source: source.to_owned(), errors }
    }

    pub(super) fn unreadable(source: &str, error: &std::io::Error) -> Self {
        Self::new(
            source,
            vec![Fault { place: None, section: String::new(), message: format!("cannot be read: {error}") }],
        )
    }
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.errors.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            f.write_str(&self.source)?;
            if let Some((line, column)) = fault.place {
                write!(f, ":{line}:{column}")?;
            }
            if !fault.section.is_empty() {
                write!(f, ": {}", fault.section)?;
            }
            write!(f, ": {}", fault.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioErrors {}

// === impl Fault ===

impl Fault {
    pub(super) fn at(text: &str, span: Option<Range<usize>>, section: &str, message: String) -> Self {
        Self { place: span.map(|span| line_and_column(text, span.start)), section: section.to_owned(), message }
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// serde's message, with the nearest known key or value where one is misspelt.
pub(super) fn explain(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().unwrap_or_default();
    let known: Vec<&str> = names.collect();
    for (prefix, noun) in [("unknown field", "key"), ("unknown variant", "value")] {
        if message.starts_with(prefix) {
            return format!("unknown {noun} `{unknown}`{}", hint(unknown, &known));
        }
    }
    message.replacen("missing field", "missing key", 1)
}

/// `; did you mean …?`, else what there is.
pub(super) fn hint(unknown: &str, known: &[&str]) -> String {
    let alike = known.iter().map(|name| (strsim::jaro_winkler(unknown, name), name));
    match alike.filter(|(alike, _)| *alike >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((_, near)) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; there are `{}`", known.join("`, `")),
    }
}
