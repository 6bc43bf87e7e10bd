//! Members of JSON objects, in order, each value as it stands.

use std::borrow::Cow;

use indexmap::IndexMap;

use super::ledger::Ledger;
use crate::json::JsonText;
use crate::json::outline::Node;

/// The members of an object in a frame.
#[derive(Clone, Copy, Default)]
pub(super) struct Members<'a>(Option<Node<'a>>);

/// Members that are kept: of each key the last value that is not null.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras(IndexMap<String, JsonText>);

// === impl Members ===

impl<'a> Members<'a> {
    /// Nothing when it is no object.
    pub(super) fn parse(node: Node<'a>) -> Option<Self> {
        node.is_object().then_some(Self(Some(node)))
    }

    /// What is no object has no members.
    pub(super) fn of(node: Node<'a>) -> Self {
        Self(Some(node))
    }

    /// The value at a key; null counts as none.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.0?.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.is_some_and(|object| object.get(key).is_some())
    }

    pub(super) fn object(&self, key: &str) -> Self {
        Self(self.get(key))
    }

    /// The items of a list; what is no list has none.
    pub(super) fn list(&self, key: &str) -> Vec<Node<'a>> {
        self.get(key).and_then(Node::items).unwrap_or_default()
    }

    /// The text at a key, empty where there is none.
    pub(super) fn text(&self, key: &str) -> Cow<'a, str> {
        self.get(key).and_then(Node::text).unwrap_or_default()
    }

    /// A place in a list; a few servers send it as text.
    pub(super) fn index(&self, key: &str) -> Option<u64> {
        self.get(key)?.raw().trim_matches('"').parse().ok()
    }

    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.raw() == "true")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none_or(|object| object.members().next().is_none())
    }

    /// The members by key, of a repeated one the last value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Cow<'a, str>, Node<'a>)> {
        self.filtered(|_| true)
    }

    fn filtered(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (Cow<'a, str>, Node<'a>)> {
        self.0.map(|object| object.members_where(wanted)).unwrap_or_default().into_iter()
    }
}

// === impl Extras ===

impl Extras {
    /// Keeps a member; null changes nothing.
    pub(super) fn keep(&mut self, key: &str, value: Node<'_>, ledger: &mut Ledger) {
        // Vendors repeat the id and the model in each chunk.
        let is_known = || self.0.get(key).is_some_and(|known| known.as_str() == value.raw());
        if value.is_null() || is_known() {
            return;
        }
        let former = self.0.get(key).map_or(0, |value| key.len() + value.as_str().len());
        ledger.refund(former);
        if ledger.charge(key.len() + value.raw().len()) {
            self.put(key, verbatim(value));
        }
    }

    /// Keeps the members of an object, but for some.
    pub(super) fn keep_all(&mut self, members: &Members<'_>, except: &[&str], ledger: &mut Ledger) {
        for (key, value) in members.filtered(|key| !except.contains(&key)) {
            self.keep(&key, value, ledger);
        }
    }

    /// Keeps only these members of an object.
    pub(super) fn keep_some(&mut self, members: &Members<'_>, keys: &[&str], ledger: &mut Ledger) {
        for (key, value) in members.filtered(|key| keys.contains(&key)) {
            self.keep(&key, value, ledger);
        }
    }

    /// Sets a member in its place, or as the last, at no charge.
    pub(super) fn put(&mut self, key: &str, value: JsonText) {
        self.0.insert(key.to_owned(), value);
    }

    pub(super) fn get(&self, key: &str) -> Option<&JsonText> {
        self.0.get(key)
    }

    /// The text at a key, empty where there is none.
    pub(super) fn text(&self, key: &str) -> String {
        self.get(key).and_then(|value| value.to().ok()).unwrap_or_default()
    }

    /// Forgets all members.
    pub(super) fn release(&mut self, ledger: &mut Ledger) {
        let bytes = self.0.iter().map(|(key, value)| key.len() + value.as_str().len()).sum();
        ledger.refund(bytes);
        self.0 = IndexMap::new();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, JsonText)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.clone()))
    }

    pub(super) fn object(&self) -> JsonText {
        JsonText::object(self.iter())
    }
}

/// A value as it stands in its frame.
pub(super) fn verbatim(value: Node<'_>) -> JsonText {
    JsonText::trusted(value.raw().into())
}

pub(super) fn null() -> JsonText {
    JsonText::trusted("null".into())
}

/// A text that may be missing.
pub(super) fn text_or_null(text: &super::text::Text) -> JsonText {
    if text.is_empty() { null() } else { text.json() }
}

/// The vendor's own name of an error. Its message is left out: it may quote the prompt, or a key.
pub(super) fn error_type(error: Node<'_>) -> String {
    let members = Members::of(error);
    let names = ["type", "status", "code"].into_iter().map(|key| {
        let raw = members.get(key).map_or("", Node::raw);
        raw.trim_matches('"').to_owned()
    });
    let named = names.into_iter().find(|name| is_plain(name));
    named.unwrap_or_else(|| "of no known type".to_owned())
}

/// Whether a name can stand in a warning as it is.
pub(super) fn is_plain(name: &str) -> bool {
    let is_short = (1..=64).contains(&name.len());
    is_short && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}
