//! Events of Anthropic messages.
//!
//! A block is known by its index; a start always opens a new one. Members of its start stay byte for byte. The input of
//! a `tool_use` block that came in pieces is given as text in a JSON string: whether the text is complete is for the
//! reader of arguments to find. Blocks that the vendor runs itself get their input as an object again, for the history.
//!
//! When the stream breaks inside a `tool_use` block and gave no stop reason, the reason is `max_tokens`, so that the
//! call counts as cut off.

use super::Assemble;
use super::ledger::Ledger;
use super::members::{Extras, Members, is_plain, null, verbatim};
use super::text::Text;
use crate::json::JsonText;
use crate::json::outline::Outline;

#[derive(Debug, Default)]
pub(super) struct Anthropic {
    message: Extras,
    blocks: Vec<Block>,
    stopped: bool,
}

#[derive(Debug, Default)]
struct Block {
    index: Option<u64>,
    kind: String,
    start: Extras,
    text: Text,
    thinking: Text,
    input: Text,
    citations: Vec<JsonText>,
    stopped: bool,
}

// === impl Anthropic ===

impl Assemble for Anthropic {
    fn frame(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        match &*frame.text("type") {
            "message_start" => self.begin(&frame.object("message"), ledger),
            "content_block_start" => self.open(frame.index("index"), &frame.object("content_block"), ledger),
            "content_block_delta" => self.delta(frame, ledger),
            "content_block_stop" => {
                if let Some(block) = self.block(frame.index("index")) {
                    block.stopped = true;
                }
            }
            "message_delta" => {
                self.message.keep_all(&frame.object("delta"), &[], ledger);
                self.message.keep_some(frame, &["usage", "context_management"], ledger);
            }
            "message_stop" => self.stopped = true,
            "ping" => {}
            "message" => self.whole(frame, ledger),
            kind if is_plain(kind) => ledger.warn(format!("an event of unknown type {kind} was left out")),
            _ => ledger.warn("an event of no known type was left out"),
        }
    }

    fn reply(&self, _ledger: &mut Ledger) -> (JsonText, bool) {
        let mut message = Extras::default();
        message.put("type", JsonText::string("message"));
        message.put("role", JsonText::string("assistant"));
        self.message.iter().for_each(|(key, value)| message.put(key, value));
        message.put("content", JsonText::array(self.blocks.iter().map(Block::json)));
        let has_reason = message.get("stop_reason").is_some();
        if !has_reason {
            let is_cut = self.blocks.iter().any(|block| block.kind == "tool_use" && !block.stopped);
            message.put("stop_reason", if is_cut { JsonText::string("max_tokens") } else { null() });
        }
        (message.object(), self.stopped || has_reason)
    }
}

impl Anthropic {
    /// Calls that a program of the model's made come whole in the start of a message, without events of their own.
    fn begin(&mut self, message: &Members<'_>, ledger: &mut Ledger) {
        self.message.keep_all(message, &["content"], ledger);
        let known = self.blocks.len();
        for (place, block) in (0..).zip(message.list("content")) {
            self.open(Some(place), &Members::of(block), ledger);
        }
        self.blocks.iter_mut().skip(known).for_each(|block| block.stopped = true);
    }

    fn open(&mut self, index: Option<u64>, start: &Members<'_>, ledger: &mut Ledger) {
        if !ledger.admit(self.blocks.len()) {
            return;
        }
        let mut block = Block { index, kind: start.text("type").into_owned(), ..Block::default() };
        block.start.keep_all(start, &[], ledger);
        block.text.push(start.get("text"), ledger);
        block.thinking.push(start.get("thinking"), ledger);
        self.blocks.push(block);
    }

    fn delta(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        let (index, delta) = (frame.index("index"), frame.object("delta"));
        let kind = delta.text("type");
        if self.block(index).is_none() {
            // Some servers leave out the start of a text.
            let start = match &*kind {
                "text_delta" => r#"{"type":"text"}"#,
                "thinking_delta" => r#"{"type":"thinking"}"#,
                _ => return ledger.warn("a delta of a block that was never started was left out"),
            };
            self.open(index, &Members::of(Outline::of(start).root()), ledger);
        }
        let Some(block) = self.block(index) else { return };
        match &*kind {
            "text_delta" => block.text.push(delta.get("text"), ledger),
            "thinking_delta" => block.thinking.push(delta.get("thinking"), ledger),
            "input_json_delta" => block.input.push(delta.get("partial_json"), ledger),
            "signature_delta" => block.start.keep_some(&delta, &["signature"], ledger),
            "citations_delta" => {
                if let Some(citation) = delta.get("citation").filter(|it| ledger.charge(it.raw().len())) {
                    block.citations.push(verbatim(citation));
                }
            }
            kind if is_plain(kind) => ledger.warn(format!("a delta of unknown type {kind} was left out")),
            _ => ledger.warn("a delta of no known type was left out"),
        }
    }

    /// A reply that was not streamed after all.
    fn whole(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        self.message.keep_all(frame, &["content"], ledger);
        for block in frame.list("content") {
            self.open(None, &Members::of(block), ledger);
        }
        self.blocks.iter_mut().for_each(|block| block.stopped = true);
        self.stopped = true;
    }

    /// The latest block at an index; without an index, the latest of all.
    fn block(&mut self, index: Option<u64>) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|block| index.is_none() || block.index == index)
    }
}

// === impl Block ===

impl Block {
    fn json(&self) -> JsonText {
        let mut block = self.start.clone();
        for (key, text) in [("text", &self.text), ("thinking", &self.thinking)] {
            if !text.is_empty() {
                block.put(key, text.json());
            }
        }
        if !self.input.is_empty() {
            block.put("input", if self.kind == "tool_use" { self.input.json() } else { object_or_text(&self.input) });
        }
        if !self.citations.is_empty() {
            let first: Vec<JsonText> = block.get("citations").and_then(|list| list.to().ok()).unwrap_or_default();
            block.put("citations", JsonText::array(first.into_iter().chain(self.citations.iter().cloned())));
        }
        block.object()
    }
}

/// The object that a text holds, as it stands; else the text.
fn object_or_text(text: &Text) -> JsonText {
    let decoded = text.decoded().and_then(|text| JsonText::parse(&text).ok());
    decoded.filter(|json| json.as_str().starts_with('{')).unwrap_or_else(|| text.json())
}
