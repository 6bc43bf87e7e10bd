//! Changes to single places of a document, and its parts printed with them.

use std::collections::BTreeMap;

use super::raw::Place;
use crate::json::JsonText;

/// The changes, by where they begin in the document. None lies within another.
pub(super) struct Edits<'a> {
    document: &'a str,
    edits: BTreeMap<usize, Edit>,
}

struct Edit {
    end: usize,
    text: String,
    /// Whether a member was put in front of others.
    comma: bool,
}

// === impl Edits ===

impl<'a> Edits<'a> {
    pub(super) fn of(document: &'a str) -> Self {
        Self { document, edits: BTreeMap::new() }
    }

    /// Gives a member a value, or its object the member.
    pub(super) fn set(&mut self, place: Place<'a>, json: String) {
        if let Some(value) = place.value {
            let start = self.offset(value);
            self.edits.insert(start, Edit { end: start + value.len(), text: json, comma: false });
            return;
        }
        let member = format!("{}:{json}", JsonText::string(place.key));
        let inside = place.object.strip_prefix('{').unwrap_or(place.object);
        let start = self.offset(inside);
        let comma = !inside.trim_start().starts_with('}');
        let edit = self.edits.entry(start).or_insert_with(|| Edit { end: start, text: String::new(), comma });
        if !edit.text.is_empty() {
            edit.text.push(',');
        }
        edit.text.push_str(&member);
    }

    pub(super) fn set_string(&mut self, place: Place<'a>, text: &str) {
        self.set(place, JsonText::string(text).as_str().to_owned());
    }

    /// A part of the document with its changes.
    pub(super) fn render(&self, part: &'a str) -> String {
        let start = self.offset(part);
        self.render_range(start, start + part.len())
    }

    /// A part of the document with its changes, and `text` in place of the part `inner` of it.
    pub(super) fn render_around(&self, part: &'a str, inner: &'a str, text: &str) -> String {
        let (start, inner_start) = (self.offset(part), self.offset(inner));
        let head = self.render_range(start, inner_start);
        format!("{head}{text}{}", self.render_range(inner_start + inner.len(), start + part.len()))
    }

    fn render_range(&self, start: usize, end: usize) -> String {
        let mut text = String::new();
        let mut at = start;
        for (from, edit) in self.edits.range(start..end) {
            text.push_str(self.document.get(at..*from).unwrap_or_default());
            text.push_str(&edit.text);
            if edit.comma {
                text.push(',');
            }
            at = edit.end;
        }
        text.push_str(self.document.get(at..end).unwrap_or_default());
        text
    }

    /// Where a part that was read from the document stands in it.
    fn offset(&self, part: &str) -> usize {
        part.as_ptr().addr().saturating_sub(self.document.as_ptr().addr())
    }
}

#[cfg(test)]
mod tests {
    use super::super::raw::Members;
    use super::*;

    fn edited(document: &str, changes: &[(&'static str, &str)]) -> String {
        let members = Members::of(document);
        let mut edits = Edits::of(document);
        for (key, json) in changes {
            edits.set(members.place(key), (*json).to_owned());
        }
        edits.render(document)
    }

    #[test]
    fn values_are_replaced_and_the_rest_stays_byte_for_byte() {
        assert_eq!(edited(r#"{ "a" : 1.10, "b":[ ] }"#, &[("a", "2")]), r#"{ "a" : 2, "b":[ ] }"#);
        assert_eq!(edited(r#"{"a":null}"#, &[("a", "2")]), r#"{"a":2}"#);
    }

    #[test]
    fn members_that_are_not_there_are_put_in_front() {
        assert_eq!(edited(r#"{ "a":1}"#, &[("b", "2"), ("c", "3")]), r#"{"b":2,"c":3, "a":1}"#);
        assert_eq!(edited("{ }", &[("b", "2"), ("c", "3")]), r#"{"b":2,"c":3 }"#);
    }

    #[test]
    fn the_last_of_a_repeated_key_is_the_one_that_counts() {
        assert_eq!(edited(r#"{"a":1,"a":2}"#, &[("a", "3")]), r#"{"a":1,"a":3}"#);
    }
}
