//! Edits of JSON text: what is not edited keeps its text, digit for digit.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use crate::json::JsonText;

/// What happens to the value at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Another value stands there.
    Replace(JsonText),
    /// Its key is taken out of its object.
    Remove,
}

/// Changes by place. The changes below a place that changes itself have no effect.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    change: Option<Change>,
    below: IndexMap<String, Edits>,
}

// === impl Edits ===

impl Edits {
    /// Adds a change; the first one for a place stays. Says whether it was added.
    pub(crate) fn add<S: AsRef<str>>(&mut self, keys: &[S], change: Change) -> bool {
        match keys.split_first() {
            Some((first, rest)) => self.below.entry(first.as_ref().to_owned()).or_default().add(rest, change),
            None if self.change.is_some() => false,
            None => {
                self.change = Some(change);
                true
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.change.is_none() && self.below.is_empty()
    }

    /// The text with every change made; nothing when it has no such places.
    pub(crate) fn apply(&self, text: &str) -> Option<String> {
        if let Some(Change::Replace(value)) = &self.change {
            return Some(value.as_str().to_owned());
        }
        if self.below.is_empty() {
            return Some(text.to_owned());
        }
        match text.as_bytes().first() {
            Some(b'{') => self.apply_to_object(text),
            Some(b'[') => self.apply_to_array(text),
            _ => None,
        }
    }

    fn apply_to_object(&self, text: &str) -> Option<String> {
        let members: IndexMap<String, &RawValue> = serde_json::from_str(text).ok()?;
        let mut kept = Vec::with_capacity(members.len());
        for (key, value) in &members {
            let changed = match self.below.get(key) {
                Some(Edits { change: Some(Change::Remove), .. }) => continue,
                Some(edits) => edits.apply(value.get())?,
                None => value.get().to_owned(),
            };
            kept.push((key.as_str(), JsonText::trusted(changed.into())));
        }
        Some(JsonText::object(kept).as_str().to_owned())
    }

    fn apply_to_array(&self, text: &str) -> Option<String> {
        let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let mut kept = Vec::with_capacity(items.len());
        for (index, value) in items.iter().enumerate() {
            let changed = match self.below.get(index.to_string().as_str()) {
                Some(edits) => edits.apply(value.get())?,
                None => value.get().to_owned(),
            };
            kept.push(JsonText::trusted(changed.into()));
        }
        Some(JsonText::array(kept).as_str().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_edited_changes() {
        let mut edits = Edits::default();
        assert!(edits.add(&["a", "1"], Change::Replace(JsonText::string("x"))));
        assert!(edits.add(&["b"], Change::Remove));
        assert!(!edits.add(&["b"], Change::Replace(JsonText::string("y"))));
        let text = r#"{"n":653247040368672768123456789, "a":[1.50, 2], "b":null}"#;
        assert_eq!(edits.apply(text).unwrap(), r#"{"n":653247040368672768123456789,"a":[1.50,"x"]}"#);
    }

    #[test]
    fn a_place_that_is_not_there_gives_nothing() {
        let mut edits = Edits::default();
        edits.add(&["a", "b"], Change::Remove);
        assert_eq!(edits.apply(r#"{"a":1}"#), None);
    }
}
