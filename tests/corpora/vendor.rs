//! What vendors publish about tool definitions, checked without the engine's help.

pub(super) mod anthropic;
pub(super) mod bedrock;
pub(super) mod gemini;
pub(super) mod mcp;
pub(super) mod ollama;
pub(super) mod openai;
mod refused;
mod schema;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What is wrong with a document, and where.
#[derive(Default)]
pub(super) struct Problems(pub(super) Vec<String>);

/// What a vendor asks of the names of tools.
pub(super) struct NameRule {
    longest: usize,
    more: &'static str,
    starts_as_word: bool,
}

// === impl Problems ===

impl Problems {
    pub(super) fn add(&mut self, place: &str, problem: impl AsRef<str>) {
        self.0.push(format!("{place}: {}", problem.as_ref()));
    }

    pub(super) fn unless(&mut self, holds: bool, place: &str, problem: &str) {
        if !holds {
            self.add(place, problem);
        }
    }

    /// An object has no members but these.
    pub(super) fn members(&mut self, value: &Value, place: &str, known: &[&str]) {
        self.unless(value.is_object(), place, "is no object");
        for key in value.as_object().into_iter().flat_map(Map::keys).filter(|key| !known.contains(&key.as_str())) {
            self.add(place, format!("has an unknown member {key}"));
        }
    }

    /// The names of the tools, each legal and there once.
    pub(super) fn names<'a>(&mut self, names: impl Iterator<Item = &'a Value>, rule: &NameRule) {
        let mut seen = BTreeSet::new();
        for name in names {
            let name = name.as_str().unwrap_or_default();
            let legal = |c: char| c.is_ascii_alphanumeric() || rule.more.contains(c);
            self.unless(!name.is_empty() && name.len() <= rule.longest, name, "is too long or empty as a name");
            self.unless(name.chars().all(legal), name, "is no legal name");
            let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            self.unless(starts || !rule.starts_as_word, name, "starts badly");
            self.unless(seen.insert(name.to_owned()), name, "is there twice");
        }
    }
}

/// The definitions in a list, each with its name.
pub(super) fn listed(document: &Value) -> &[Value] {
    document.as_array().map(Vec::as_slice).unwrap_or_default()
}
