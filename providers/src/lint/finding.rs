//! Finding: one thing that the author of a plugin should know.

use std::fmt;

use serde::Serialize;

/// One thing that the author of a plugin should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// What it is, for programs; never changes its meaning.
    pub code: &'static str,
    /// How bad it is.
    pub level: FindingLevel,
    /// The tool, by its name within the plugin; absent where it is about the plugin as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Where: a JSON pointer into the tool's schema or result, or a place in a document. Empty where there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// A sentence that the author can act on.
    pub message: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingLevel {
    /// Worth knowing; nothing can or need be changed.
    Note,
    /// Works, but worse than it could.
    Warning,
    /// Does not work, or not for every call.
    Error,
}

// === impl Finding ===

impl Finding {
    pub(super) fn new(level: FindingLevel, code: &'static str, message: impl Into<String>) -> Self {
        Self { code, level, tool: None, place: String::new(), message: message.into() }
    }

    pub(super) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(FindingLevel::Error, code, message)
    }

    pub(super) fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(FindingLevel::Warning, code, message)
    }

    pub(super) fn of(mut self, tool: &str) -> Self {
        self.tool = Some(tool.to_owned());
        self
    }

    pub(super) fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.level, self.code)?;
        if let Some(tool) = &self.tool {
            write!(f, " {tool}")?;
        }
        if !self.place.is_empty() {
            write!(f, " {}", self.place)?;
        }
        write!(f, ": {}", self.message)
    }
}

// === impl FindingLevel ===

impl fmt::Display for FindingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}
