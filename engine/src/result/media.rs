//! Lifting: media that a tool put into its JSON or its text become content items, so that no base64 reaches the model as
//! text.
//!
//! Only strings that are a base64 `data:` URI from end to end are lifted; every other byte stays as it was. One that is
//! embedded in prose is prose.

use serde_json::value::RawValue;

use super::ToolExecutionResult;
use super::blocks::MAX_ITEMS;
use super::content::ContentItem;
use super::data_uri::DataUri;
use crate::json::readable::end_of_string;
use crate::json::{JsonText, lossy};

/// How a string that can be lifted begins in JSON text.
const START: &str = "\"data:";
/// How all of them begin.
const SCHEME: &str = "data:";
/// Depth and length of a pointer that is still said; beyond them it names the whole document.
const MAX_POINTER_DEPTH: usize = 64;
const MAX_POINTER_BYTES: usize = 1024;

/// Where a scan of JSON text stands, container by container.
enum Frame<'a> {
    /// The key that was read last, as it is written.
    Object(&'a str),
    Array(usize),
}

struct Lift<'a, 'b> {
    json: &'a str,
    frames: Vec<Frame<'a>>,
    items: &'b mut Vec<ContentItem>,
    lifted: String,
    /// Everything before this byte has been copied.
    copied: usize,
}

/// Whether a text is worth a closer look.
pub(super) fn may_hold_media(text: &str) -> bool {
    text.contains(SCHEME)
}

// === impl ToolExecutionResult ===

impl ToolExecutionResult {
    /// Moves media out of the structured content and the text into `content_items`. Each leaves a marker such as
    /// `[image 1: image/png, 3 bytes]`, whose number is that of its reference. The engine does so with every result.
    pub fn lift_media(&mut self) {
        if let Some(lifted) =
            self.structured_content.as_ref().and_then(|json| lift(json.as_str(), &mut self.content_items))
        {
            self.structured_content = Some(JsonText::trusted(lifted.into()));
        }
        if self.content.starts_with(SCHEME) {
            if let Some(uri) = DataUri::parse(self.content.trim_end()) {
                self.content_items.push(ContentItem::from_data_uri(&uri));
                self.content = String::new();
            }
        } else if self.content.contains(START) && serde_json::from_str::<&RawValue>(&self.content).is_ok() {
            // Servers repeat their structured content as text.
            let before = self.content_items.len();
            if let Some(lifted) = lift(&self.content, &mut self.content_items) {
                self.content = lifted;
            }
            self.content_items.iter_mut().skip(before).for_each(|item| item.pointer = None);
        }
    }
}

/// Gives the JSON with markers in the place of media, or nothing when there are none. `json` must be valid.
fn lift(json: &str, items: &mut Vec<ContentItem>) -> Option<String> {
    if !json.contains(START) {
        return None;
    }
    let mut lift = Lift { json, frames: Vec::new(), items, lifted: String::new(), copied: 0 };
    lift.scan();
    let Lift { copied, mut lifted, .. } = lift;
    if copied == 0 {
        return None;
    }
    lifted.push_str(json.get(copied..).unwrap_or_default());
    Some(lifted)
}

// === impl Lift ===

impl<'a> Lift<'a, '_> {
    /// Walks the text once, without recursion.
    fn scan(&mut self) {
        let mut at = 0;
        while let Some(byte) = self.json.as_bytes().get(at) {
            at += 1;
            match byte {
                b'{' => self.frames.push(Frame::Object("")),
                b'[' => self.frames.push(Frame::Array(0)),
                b'}' | b']' => drop(self.frames.pop()),
                b',' => {
                    if let Some(Frame::Array(index)) = self.frames.last_mut() {
                        *index += 1;
                    }
                }
                b'"' => {
                    let start = at - 1;
                    at = end_of_string(self.json, at);
                    self.string(start, at);
                }
                _ => {}
            }
        }
    }

    /// Looks at the string from `start` to `end`, quotes included.
    fn string(&mut self, start: usize, end: usize) {
        let json: &'a str = self.json;
        let Some(quoted) = json.get(start..end) else { return };
        let is_key = json.get(end..).is_some_and(|rest| rest.trim_ascii_start().starts_with(':'));
        if is_key {
            if let Some(Frame::Object(key)) = self.frames.last_mut() {
                *key = quoted;
            }
            return;
        }
        if !quoted.starts_with(START) {
            return;
        }
        let text = lossy::string(quoted).unwrap_or_default();
        let Some(uri) = DataUri::parse(&text) else { return };
        let marker = self.take(&uri);
        self.lifted.push_str(json.get(self.copied..start).unwrap_or_default());
        self.lifted.push('"');
        self.lifted.push_str(&marker);
        self.lifted.push('"');
        self.copied = end;
    }

    /// Makes an item and gives its marker. The same bytes twice are one item.
    fn take(&mut self, uri: &DataUri<'_>) -> String {
        let mut item = ContentItem::from_data_uri(uri);
        let is_full = self.items.len() >= MAX_ITEMS;
        let known = if is_full { None } else { self.items.iter().position(|known| known.data == item.data) };
        let number = known.unwrap_or(self.items.len()) + 1;
        let kind = item.content_type.as_str();
        let what = format!("{}, {} bytes", uri.mime_type, super::base64::decoded_len(&uri.base64));
        if let Some(known) = known.and_then(|place| self.items.get_mut(place)) {
            known.pointer.get_or_insert_with(|| pointer(&self.frames));
            return format!("[{kind} {number}: {what}]");
        }
        if is_full {
            return format!("[{kind} left out: {what}]");
        }
        item.pointer = Some(pointer(&self.frames));
        self.items.push(item);
        format!("[{kind} {number}: {what}]")
    }
}

fn pointer(frames: &[Frame<'_>]) -> String {
    let mut pointer = String::new();
    if frames.len() > MAX_POINTER_DEPTH {
        return pointer;
    }
    for frame in frames {
        let segment = match frame {
            Frame::Array(index) => index.to_string(),
            Frame::Object(key) if key.len() > MAX_POINTER_BYTES => return String::new(),
            Frame::Object(key) => lossy::string(key).unwrap_or_default().replace('~', "~0").replace('/', "~1"),
        };
        pointer.push('/');
        pointer.push_str(&segment);
    }
    if pointer.len() > MAX_POINTER_BYTES { String::new() } else { pointer }
}

#[cfg(test)]
mod tests;
