//! Chunks of OpenAI chat completions, as OpenAI sends them and as servers that speak it do.
//!
//! A delta belongs to a call by this precedence:
//! 1. By its id, if it has one ("" and null are none). An id other than that of the call open at its index opens a new
//!    call; the same id continues it. A call that was opened at this index without an id takes the id. A strange id on
//!    a delta that only continues arguments, which some servers make up anew for each chunk, is not believed.
//! 2. Else by its index. The first index need not be 0. A delta without a name at a new index continues the latest call
//!    while that one's arguments are incomplete.
//! 3. Else, with neither, it is the latest call's.
//!
//! Servers that send calls whole and without ids reuse index 0 or give none: without an id, a name that arrives after
//! complete arguments opens a new call when it is another name or brings arguments of its own.
//!
//! Pieces of a name are joined; a piece that begins with all before it (a repeated name) replaces it. Arguments that
//! come as an object are the whole. Other members of a call, of its function and of the message are kept as they are,
//! the last that is not null; lists of the message are joined. Only choice 0 is read. A server's `message` in place of
//! `delta` is read the same.

mod call;
mod nesting;

use indexmap::IndexMap;

use super::Assemble;
use super::ledger::Ledger;
use super::members::{Extras, Members, null, text_or_null, verbatim};
use super::text::{Text, escaped};
use crate::json::JsonText;
use crate::json::outline::Node;

use call::{Call, Calls, Delta};

/// Members of a message that are text in pieces, in the order of the whole message.
const TEXTS: [&str; 4] = ["content", "refusal", "reasoning_content", "reasoning"];
/// Members of the completion that are kept.
const KEPT: [&str; 4] = ["id", "created", "model", "usage"];

#[derive(Debug, Default)]
pub(super) struct OpenAiChat {
    completion: Extras,
    message: Extras,
    texts: [Text; 4],
    lists: IndexMap<String, Vec<JsonText>>,
    calls: Calls,
    function_call: Option<Call>,
    finish_reason: Option<JsonText>,
    done: bool,
    failed: bool,
}

// === impl OpenAiChat ===

impl Assemble for OpenAiChat {
    fn frame(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        let choices = frame.list("choices");
        if choices.is_empty() && !["choices", "usage"].iter().any(|key| frame.has(key)) {
            return ledger.warn("a chunk without choices was left out");
        }
        self.completion.keep_some(frame, &KEPT, ledger);
        for (position, choice) in choices.into_iter().map(Members::of).enumerate() {
            if choice.index("index").map_or(position == 0, |index| index == 0) {
                self.choice(&choice, ledger);
            }
        }
    }

    fn fail(&mut self) {
        self.failed = true;
    }

    fn done(&mut self) {
        self.done = true;
    }

    fn reply(&self, _ledger: &mut Ledger) -> (JsonText, bool) {
        let ended = !self.failed && (self.finish_reason.is_some() || self.done);
        let last = self.calls.last().or(self.function_call.as_ref());
        let finish_reason = match &self.finish_reason {
            // The stream broke inside the call: without arguments it would pass for a call that has none.
            _ if !ended && last.is_some_and(|call| !call.is_complete()) => JsonText::string("length"),
            Some(reason) => reason.clone(),
            None => null(),
        };
        let index = JsonText::trusted("0".into());
        let choice = [("index", index), ("message", self.message()), ("finish_reason", finish_reason)];
        let mut completion = self.completion.clone();
        completion.put("choices", JsonText::array([JsonText::object(choice)]));
        (completion.object(), ended)
    }
}

impl OpenAiChat {
    fn choice(&mut self, choice: &Members<'_>, ledger: &mut Ledger) {
        let key = if choice.get("delta").is_some() { "delta" } else { "message" };
        let delta = choice.object(key);
        for (name, value) in delta.iter().filter(|(_, value)| !value.is_null()) {
            match &*name {
                "tool_calls" => {
                    for call in value.items().unwrap_or_default() {
                        self.calls.take(&Delta::of(Members::of(call)), ledger);
                    }
                }
                "function_call" => {
                    let call = self.function_call.get_or_insert_default();
                    call.extend(&Delta::of_function(Members::of(value)), ledger);
                }
                name => self.member(name, value, ledger),
            }
        }
        if let Some(reason) = choice.get("finish_reason")
            && ledger.charge(reason.raw().len())
        {
            self.finish_reason = Some(verbatim(reason));
        }
    }

    fn member(&mut self, name: &str, value: Node<'_>, ledger: &mut Ledger) {
        let text = TEXTS.iter().zip(&mut self.texts).find(|(key, _)| **key == name).map(|(_, text)| text);
        match (text, value.items()) {
            // Some servers send content as a list of parts.
            (Some(text), Some(parts)) => {
                parts.into_iter().for_each(|part| text.push(Members::of(part).get("text"), ledger));
            }
            (Some(text), None) => text.push_escaped(escaped(value).unwrap_or_default(), ledger),
            (None, Some(items)) => {
                for item in items {
                    if ledger.charge(name.len() + item.raw().len()) {
                        self.lists.entry(name.to_owned()).or_default().push(verbatim(item));
                    }
                }
            }
            (None, None) => self.message.keep(name, value, ledger),
        }
    }

    fn message(&self) -> JsonText {
        let mut message = Extras::default();
        message.put("role", JsonText::string("assistant"));
        for (key, text) in TEXTS.iter().zip(&self.texts).filter(|(key, text)| **key == "content" || !text.is_empty()) {
            message.put(key, text_or_null(text));
        }
        self.message.iter().for_each(|(key, value)| message.put(key, value));
        self.lists.iter().for_each(|(key, items)| message.put(key, JsonText::array(items.iter().cloned())));
        if let Some(call) = &self.function_call {
            message.put("function_call", call.function());
        }
        if self.calls.last().is_some() {
            message.put("tool_calls", self.calls.list());
        }
        message.object()
    }
}
