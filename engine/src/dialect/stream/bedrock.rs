//! Events of Amazon Bedrock's `ConverseStream`.
//!
//! Blocks are known by `contentBlockIndex`; only those of calls have a start. As with Anthropic, an input that came in
//! pieces is given as text, and a call that the stream broke off makes the stop reason `max_tokens`.

use super::Assemble;
use super::ledger::Ledger;
use super::members::{Extras, Members, null};
use super::text::Text;
use crate::json::JsonText;

#[derive(Debug, Default)]
pub(super) struct Bedrock {
    reply: Extras,
    role: Extras,
    blocks: Vec<Block>,
    stopped: bool,
}

#[derive(Debug, Default)]
struct Block {
    index: Option<u64>,
    tool_use: Option<Extras>,
    input: Text,
    text: Text,
    reasoning: Text,
    /// Signature, or reasoning that is redacted.
    reasoning_rest: Extras,
    /// Blocks of other kinds, by the last delta.
    other: Extras,
    stopped: bool,
}

// === impl Bedrock ===

impl Assemble for Bedrock {
    fn frame(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        for (kind, event) in frame.iter() {
            let event = Members::of(event);
            let index = event.index("contentBlockIndex");
            match &*kind {
                "messageStart" => self.role.keep_some(&event, &["role"], ledger),
                "contentBlockStart" => self.open(index, &event.object("start"), ledger),
                "contentBlockDelta" => self.delta(index, &event.object("delta"), ledger),
                "contentBlockStop" => {
                    if let Some(block) = self.block(index) {
                        block.stopped = true;
                    }
                }
                "messageStop" => {
                    self.stopped = true;
                    self.reply.keep_some(&event, &["stopReason", "additionalModelResponseFields"], ledger);
                }
                "metadata" => self.reply.keep_some(&event, &["usage", "metrics"], ledger),
                // Padding against guesses from the length of events.
                "p" => {}
                kind if kind.ends_with("Exception") => ledger.warn("the vendor reported an error: an exception"),
                _ => ledger.warn("an event of no known kind was left out"),
            }
        }
    }

    fn reply(&self, _ledger: &mut Ledger) -> (JsonText, bool) {
        let role = self.role.get("role").cloned().unwrap_or_else(|| JsonText::string("assistant"));
        let content = JsonText::array(self.blocks.iter().filter_map(Block::json));
        let message = JsonText::object([("role", role), ("content", content)]);
        let mut reply = Extras::default();
        reply.put("output", JsonText::object([("message", message)]));
        let is_cut = self.blocks.iter().any(|block| block.tool_use.is_some() && !block.stopped);
        reply.put("stopReason", if is_cut { JsonText::string("max_tokens") } else { null() });
        self.reply.iter().for_each(|(key, value)| reply.put(key, value));
        (reply.object(), self.stopped)
    }
}

impl Bedrock {
    fn open(&mut self, index: Option<u64>, start: &Members<'_>, ledger: &mut Ledger) {
        if !ledger.admit(self.blocks.len()) {
            return;
        }
        let mut block = Block { index, ..Block::default() };
        if start.get("toolUse").is_some() {
            let tool_use = block.tool_use.get_or_insert_default();
            tool_use.keep_all(&start.object("toolUse"), &[], ledger);
        } else {
            block.other.keep_all(start, &[], ledger);
        }
        self.blocks.push(block);
    }

    fn delta(&mut self, index: Option<u64>, delta: &Members<'_>, ledger: &mut Ledger) {
        if self.block(index).is_none_or(|block| block.stopped) {
            if delta.get("toolUse").is_some() {
                return ledger.warn("a piece of a call that was never started was left out");
            }
            self.open(index, &Members::default(), ledger);
        }
        let Some(block) = self.block(index) else { return };
        block.input.push(delta.object("toolUse").get("input"), ledger);
        block.text.push(delta.get("text"), ledger);
        let reasoning = delta.object("reasoningContent");
        block.reasoning.push(reasoning.get("text"), ledger);
        block.reasoning_rest.keep_all(&reasoning, &["text"], ledger);
        block.other.keep_all(delta, &["toolUse", "text", "reasoningContent"], ledger);
    }

    /// The latest block at an index; without an index, the latest of all.
    fn block(&mut self, index: Option<u64>) -> Option<&mut Block> {
        self.blocks.iter_mut().rev().find(|block| index.is_none() || block.index == index)
    }
}

// === impl Block ===

impl Block {
    /// The block of a whole reply; nothing for a block that nothing came of.
    fn json(&self) -> Option<JsonText> {
        if let Some(tool_use) = &self.tool_use {
            let mut tool_use = tool_use.clone();
            let empty = || JsonText::trusted("{}".into());
            if !self.input.is_empty() {
                tool_use.put("input", self.input.json());
            } else if tool_use.get("input").is_none() {
                tool_use.put("input", empty());
            }
            return Some(JsonText::object([("toolUse", tool_use.object())]));
        }
        if !self.text.is_empty() {
            return Some(JsonText::object([("text", self.text.json())]));
        }
        let mut rest = self.reasoning_rest.clone();
        if !self.reasoning.is_empty() {
            let mut text = Extras::default();
            text.put("text", self.reasoning.json());
            rest.iter().for_each(|(key, value)| text.put(key, value));
            rest = Extras::default();
            rest.put("reasoningText", text.object());
        }
        let has_reasoning = rest.iter().next().is_some();
        if has_reasoning {
            return Some(JsonText::object([("reasoningContent", rest.object())]));
        }
        self.other.iter().next().map(|_| self.other.object())
    }
}
