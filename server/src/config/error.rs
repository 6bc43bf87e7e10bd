//! What is wrong with a configuration, and where.

use std::fmt;
use std::ops::Range;

/// How alike two keys must be for one to be suggested for the other.
const ALIKE: f64 = 0.75;

/// Everything that is wrong with a configuration.
#[derive(Debug)]
pub(crate) struct ConfigErrors {
    source: String,
    errors: Vec<ConfigError>,
}

/// One thing that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConfigError {
    /// Line and column, from 1.
    pub(crate) place: Option<(usize, usize)>,
    /// Such as `providers/2 (time)`.
    pub(crate) section: String,
    pub(crate) message: String,
}

// === impl ConfigErrors ===

impl ConfigErrors {
    pub(super) fn new(source: &str, errors: Vec<ConfigError>) -> Self {
        Self { source: source.to_owned(), errors }
    }

    pub(super) fn unreadable(source: &str, error: &std::io::Error) -> Self {
        let error = ConfigError { place: None, section: String::new(), message: format!("cannot be read: {error}") };
        Self::new(source, vec![error])
    }

    #[cfg(test)]
    pub(super) fn errors(&self) -> &[ConfigError] {
        &self.errors
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            f.write_str(&self.source)?;
            if let Some((line, column)) = error.place {
                write!(f, ":{line}:{column}")?;
            }
            if !error.section.is_empty() {
                write!(f, ": {}", error.section)?;
            }
            write!(f, ": {}", error.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

// === impl ConfigError ===

impl ConfigError {
    pub(super) fn at(text: &str, span: Option<Range<usize>>, section: &str, message: String) -> Self {
        let place = span.map(|span| line_and_column(text, span.start));
        Self { place, section: section.to_owned(), message }
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// serde's message, with the nearest known key where one is misspelt. `others` are keys that are known there too, though
/// serde does not know of them.
pub(super) fn explain(message: &str, others: &[&str]) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().unwrap_or_default();
    let known: Vec<&str> = names.chain(others.iter().copied()).collect();
    for (prefix, noun) in [("unknown field", "key"), ("unknown variant", "value")] {
        if message.starts_with(prefix) {
            let said = match nearest(unknown, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => format!("there are no {noun}s here"),
                None => format!("the known {noun}s are `{}`", known.join("`, `")),
            };
            return format!("unknown {noun} `{unknown}`; {said}");
        }
    }
    message.replacen("missing field", "missing key", 1)
}

pub(super) fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (strsim::jaro_winkler(unknown, name), name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
