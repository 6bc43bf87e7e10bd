//! Lines of Ollama's `/api/chat`. Calls come whole, one or several a line, and add up.

use super::Assemble;
use super::ledger::Ledger;
use super::members::{Extras, Members, verbatim};
use super::text::Text;
use crate::json::JsonText;

/// Members of a line that are kept besides the message.
const KEPT: [&str; 5] = ["model", "created_at", "done_reason", "prompt_eval_count", "eval_count"];

#[derive(Debug, Default)]
pub(super) struct Ollama {
    reply: Extras,
    message: Extras,
    content: Text,
    thinking: Text,
    calls: Vec<JsonText>,
    done: bool,
}

// === impl Ollama ===

impl Assemble for Ollama {
    fn frame(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        if frame.get("message").is_none() && !frame.has("done") {
            return ledger.warn("a line without a message was left out");
        }
        let message = frame.object("message");
        self.content.push(message.get("content"), ledger);
        self.thinking.push(message.get("thinking"), ledger);
        self.message.keep_all(&message, &["content", "thinking", "tool_calls"], ledger);
        for call in message.list("tool_calls") {
            if ledger.admit(self.calls.len()) && ledger.charge(call.raw().len()) {
                self.calls.push(verbatim(call));
            }
        }
        self.reply.keep_some(frame, &KEPT, ledger);
        self.done |= frame.is_true("done");
    }

    fn reply(&self, _ledger: &mut Ledger) -> (JsonText, bool) {
        let mut message = Extras::default();
        message.put("role", JsonText::string("assistant"));
        message.put("content", self.content.json());
        if !self.thinking.is_empty() {
            message.put("thinking", self.thinking.json());
        }
        self.message.iter().for_each(|(key, value)| message.put(key, value));
        if !self.calls.is_empty() {
            message.put("tool_calls", JsonText::array(self.calls.iter().cloned()));
        }
        let mut reply = self.reply.clone();
        reply.put("message", message.object());
        reply.put("done", JsonText::trusted(self.done.to_string().into()));
        (reply.object(), self.done)
    }
}
