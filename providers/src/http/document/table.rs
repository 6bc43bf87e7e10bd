//! Cursors over a document: each step knows where it is, so that what is wrong can be told with its place.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::finding::{Findings, hint};
use super::node::{Member, Node, NodeValue, Place};

/// A value of a document with the keys that lead to it.
#[derive(Clone, Debug)]
pub(super) struct Spot<'n> {
    pub(super) node: &'n Node,
    pub(super) path: String,
}

/// A table whose keys are known in advance.
#[derive(Debug)]
pub(super) struct Table<'n> {
    members: &'n [Member],
    path: String,
    place: Place,
    known: Vec<&'static str>,
}

// === impl Spot ===

impl<'n> Spot<'n> {
    pub(super) fn error(&self, findings: &mut Findings, message: impl Into<String>) {
        findings.error(self.node.place, &self.path, message);
    }

    fn wrong_kind<T>(&self, findings: &mut Findings, wanted: &str) -> Option<T> {
        self.error(findings, format!("must be {wanted}, not {}", self.node.kind()));
        None
    }

    fn at(&self, key: impl std::fmt::Display, node: &'n Node) -> Self {
        let path = if self.path.is_empty() { key.to_string() } else { format!("{}/{key}", self.path) };
        Self { node, path }
    }

    /// Text that says something.
    pub(super) fn text(&self, findings: &mut Findings) -> Option<&'n str> {
        match &self.node.value {
            NodeValue::Text(text) if text.trim().is_empty() => {
                self.error(findings, "must not be empty");
                None
            }
            NodeValue::Text(text) => Some(text),
            _ => self.wrong_kind(findings, "text"),
        }
    }

    pub(super) fn boolean(&self, findings: &mut Findings) -> Option<bool> {
        match &self.node.value {
            NodeValue::Bool(value) => Some(*value),
            _ => self.wrong_kind(findings, "true or false"),
        }
    }

    pub(super) fn integer(&self, range: RangeInclusive<u64>, findings: &mut Findings) -> Option<u64> {
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        match &self.node.value {
            NodeValue::Number(number) => match number.parse().ok().filter(|number| range.contains(number)) {
                Some(number) => Some(number),
                None => {
                    self.error(findings, format!("must be {wanted}, not {number}"));
                    None
                }
            },
            _ => self.wrong_kind(findings, &wanted),
        }
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)], findings: &mut Findings) -> Option<T> {
        let given = self.text(findings)?;
        let found = words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.error(findings, format!("`{given}` is not known{}", hint(given, &known)));
        }
        found
    }

    pub(super) fn list(&self, findings: &mut Findings) -> Option<Vec<Spot<'n>>> {
        match &self.node.value {
            NodeValue::List(items) => {
                Some(items.iter().enumerate().map(|(index, item)| self.at(index, item)).collect())
            }
            _ => self.wrong_kind(findings, "a list"),
        }
    }

    /// A list, or one value in its stead.
    pub(super) fn one_or_more(&self) -> Vec<Spot<'n>> {
        match &self.node.value {
            NodeValue::List(items) => items.iter().enumerate().map(|(index, item)| self.at(index, item)).collect(),
            _ => vec![self.clone()],
        }
    }

    /// A table whose keys are the author's own.
    pub(super) fn entries(&self, findings: &mut Findings) -> Option<Vec<(&'n str, Spot<'n>)>> {
        match &self.node.value {
            NodeValue::Table(members) => {
                Some(members.iter().map(|member| (member.key.as_str(), self.at(&member.key, &member.node))).collect())
            }
            _ => self.wrong_kind(findings, "a table"),
        }
    }

    /// A table whose keys are known in advance.
    pub(super) fn table(&self, findings: &mut Findings) -> Option<Table<'n>> {
        match &self.node.value {
            NodeValue::Table(members) => {
                Some(Table { members, path: self.path.clone(), place: self.node.place, known: Vec::new() })
            }
            _ => self.wrong_kind(findings, "a table"),
        }
    }

    /// A JSON Schema of an object.
    pub(super) fn value(&self) -> Value {
        self.node.to_value()
    }
}

// === impl Table ===

impl<'n> Table<'n> {
    /// The value under a key; from now on the key is known.
    pub(super) fn get(&mut self, key: &'static str) -> Option<Spot<'n>> {
        self.known.push(key);
        let member = self.members.iter().find(|member| member.key == key)?;
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}/{key}", self.path) };
        Some(Spot { node: &member.node, path })
    }

    /// The value under a key that must be there.
    pub(super) fn need(&mut self, key: &'static str, findings: &mut Findings) -> Option<Spot<'n>> {
        let found = self.get(key);
        if found.is_none() {
            self.error(findings, format!("the key `{key}` is missing"));
        }
        found
    }

    pub(super) fn error(&self, findings: &mut Findings, message: impl Into<String>) {
        findings.error(self.place, &self.path, message);
    }

    /// Reports every key that was never asked for. To be called when all known ones were.
    pub(super) fn finish(self, findings: &mut Findings) {
        for member in self.members.iter().filter(|member| !self.known.contains(&member.key.as_str())) {
            let message = format!("unknown key `{}`{}", member.key, hint(&member.key, &self.known));
            findings.error(member.place, &self.path, message);
        }
    }
}
