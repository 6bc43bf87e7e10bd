//! What is wrong with a document, and where.

use std::fmt;

/// How alike two keys must be for one to be suggested for the other.
const ALIKE: f64 = 0.75;

/// Everything that is wrong with a document, in its order. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentErrors {
    errors: Vec<DocumentError>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentError {
    /// Line and column, from 1; known for TOML, and for JSON that cannot be parsed.
    pub place: Option<(usize, usize)>,
    /// The keys that lead there, such as `tools/0/request/url`; empty for the document as a whole.
    pub path: String,
    /// The tool that it concerns, and no other.
    pub tool: Option<String>,
    /// A sentence that its author can act on.
    pub message: String,
}

/// Collects what is wrong, and what is only odd, while a document is read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<DocumentError>,
    /// The tool that is being read.
    pub(super) tool: Option<String>,
}

// === impl DocumentErrors ===

impl DocumentErrors {
    pub(super) fn new(mut errors: Vec<DocumentError>) -> Self {
        errors.sort_by_key(|error| error.place);
        Self { errors }
    }

    /// The errors, in the order of the document.
    pub fn iter(&self) -> impl Iterator<Item = &DocumentError> {
        self.errors.iter()
    }
}

impl fmt::Display for DocumentErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let line = if index > 0 { "\n" } else { "" };
            write!(f, "{line}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for DocumentErrors {}

// === impl DocumentError ===

impl DocumentError {
    pub(super) fn new(message: &str) -> Self {
        Self { message: message.to_owned(), ..Self::default() }
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}: ")?;
        }
        if let Some(tool) = &self.tool {
            write!(f, "tool `{tool}`: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

// === impl Findings ===

impl Findings {
    pub(super) fn error(&mut self, place: Option<(usize, usize)>, path: &str, message: impl Into<String>) {
        let tool = self.tool.clone();
        self.errors.push(DocumentError { place, path: path.to_owned(), tool, message: message.into() });
    }
}

/// `; did you mean …?` where a known word is like the unknown one, else the words that are known.
pub(super) fn hint(unknown: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|word| (strsim::jaro_winkler(&unknown.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, word)) => format!("; did you mean `{word}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; known are {}", known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")),
    }
}
