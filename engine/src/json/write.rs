//! Writing JSON text straight into one buffer.

use super::JsonText;
use super::outline::Node;
use super::plain::plain;

/// Bytes of an ordinary object, so that the buffer does not grow in many steps.
const SMALL_OBJECT: usize = 128;

/// Writes JSON texts one after the other, and keeps its buffer from one to the next.
#[derive(Default)]
pub(crate) struct JsonWriter {
    text: String,
}

/// Writes the members of an object, in their order.
pub(crate) struct ObjectWriter<'w> {
    out: &'w mut String,
    is_empty: bool,
}

/// Writes the items of a list, in their order.
pub(crate) struct ListWriter<'w> {
    out: &'w mut String,
    is_empty: bool,
}

/// Appends the JSON text of a string, escaped as `serde_json` escapes it.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some((run, special)) = rest.split_at_checked(plain(rest.as_bytes())) {
        out.push_str(run);
        let Some(byte) = special.bytes().next() else { break };
        push_escape(out, byte);
        rest = special.get(1..).unwrap_or_default();
    }
    out.push('"');
}

fn push_escape(out: &mut String, byte: u8) {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\n' => out.push_str("\\n"),
        b'\r' => out.push_str("\\r"),
        b'\t' => out.push_str("\\t"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        control => {
            out.push_str("\\u00");
            out.push(HEX[usize::from(control >> 4)]);
            out.push(HEX[usize::from(control & 0xf)]);
        }
    }
}

// === impl JsonWriter ===

impl JsonWriter {
    /// The text of an object with the members that `write` writes.
    pub(crate) fn object(&mut self, write: impl FnOnce(&mut ObjectWriter<'_>)) -> JsonText {
        self.text.clear();
        ObjectWriter::write(&mut self.text, write);
        JsonText::trusted(self.text.as_str().into())
    }

    /// The same; nothing when there are none.
    pub(crate) fn object_unless_empty(&mut self, write: impl FnOnce(&mut ObjectWriter<'_>)) -> Option<JsonText> {
        self.text.clear();
        let mut object = ObjectWriter::new(&mut self.text);
        write(&mut object);
        if object.is_empty {
            return None;
        }
        object.end();
        Some(JsonText::trusted(self.text.as_str().into()))
    }
}

// === impl ObjectWriter ===

impl<'w> ObjectWriter<'w> {
    pub(super) fn write(out: &'w mut String, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        let mut object = Self::new(out);
        write(&mut object);
        object.end();
    }

    /// Nothing is written before the first member, so that an object that stays empty costs nothing.
    fn new(out: &'w mut String) -> Self {
        Self { out, is_empty: true }
    }

    fn end(self) {
        self.out.push_str(if self.is_empty { "{}" } else { "}" });
    }

    fn key(&mut self, key: &str) -> &mut String {
        if self.is_empty {
            self.out.reserve(SMALL_OBJECT);
        }
        self.out.push(if self.is_empty { '{' } else { ',' });
        self.is_empty = false;
        push_string(self.out, key);
        self.out.push(':');
        self.out
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) {
        push_string(self.key(key), text);
    }

    pub(crate) fn boolean(&mut self, key: &str, value: bool) {
        self.key(key).push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn json(&mut self, key: &str, value: &JsonText) {
        self.raw(key, value.as_str());
    }

    /// A value that is valid JSON already.
    pub(crate) fn raw(&mut self, key: &str, json: &str) {
        self.key(key).push_str(json);
    }

    pub(crate) fn object(&mut self, key: &str, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        ObjectWriter::write(self.key(key), write);
    }

    pub(crate) fn list(&mut self, key: &str, write: impl FnOnce(&mut ListWriter<'_>)) {
        ListWriter::write(self.key(key), write);
    }

    /// The members of another object, without those whose keys are among `known`. What is no object has none.
    pub(crate) fn members_of(&mut self, object: Option<Node<'_>>, known: &[&str]) {
        for (key, value) in object.map(|object| object.members_but(known)).unwrap_or_default() {
            self.raw(&key, value.raw());
        }
    }
}

// === impl ListWriter ===

impl<'w> ListWriter<'w> {
    pub(super) fn write(out: &'w mut String, write: impl FnOnce(&mut ListWriter<'_>)) {
        out.push('[');
        let mut list = Self { out, is_empty: true };
        write(&mut list);
        list.out.push(']');
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    fn item(&mut self) -> &mut String {
        if !self.is_empty {
            self.out.push(',');
        }
        self.is_empty = false;
        self.out
    }

    pub(crate) fn text(&mut self, text: &str) {
        push_string(self.item(), text);
    }

    pub(crate) fn json(&mut self, value: &JsonText) {
        self.item().push_str(value.as_str());
    }

    pub(crate) fn object(&mut self, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        ObjectWriter::write(self.item(), write);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::json::outline::Outline;

    #[test]
    fn objects_and_lists_are_written_inside_of_one_another() {
        let mut writer = JsonWriter::default();
        let written = writer.object(|object| {
            object.text("a\"b", "x\ny");
            object.list("l", |list| {
                list.text("1");
                list.object(|_| {});
                list.json(&JsonText::null());
            });
            object.object("o", |inner| inner.boolean("is", true));
            object.list("e", |_| {});
        });
        assert_eq!(written.as_str(), r#"{"a\"b":"x\ny","l":["1",{},null],"o":{"is":true},"e":[]}"#);
        assert_eq!(writer.object(|object| object.text("a", "b")).as_str(), r#"{"a":"b"}"#);
        assert!(writer.object_unless_empty(|_| {}).is_none());
    }

    #[test]
    fn members_of_another_object_follow_and_of_repeated_ones_the_last_value_counts() {
        let other = Outline::of(r#"{ "x" : 1.50, "y":[ 1 ], "z":0,"x":123456789012345678901 }"#);
        let written = JsonWriter::default().object(|object| {
            object.text("a", "b");
            object.members_of(Some(other.root()), &["z"]);
            object.members_of(None, &[]);
        });
        assert_eq!(written.as_str(), r#"{"a":"b","x":123456789012345678901,"y":[ 1 ]}"#);
    }

    proptest! {
        #[test]
        fn strings_are_escaped_as_by_serde(text in "(?s)[\\x00-\\x22\\\\a-c\\x7f/é图😀]{0,60}") {
            let mut written = String::new();
            push_string(&mut written, &text);
            prop_assert_eq!(written, Value::from(text).to_string());
        }
    }
}
