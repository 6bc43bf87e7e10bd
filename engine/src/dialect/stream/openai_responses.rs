//! Events of OpenAI responses.
//!
//! What wins: the `output` of the last event's response when it holds items; else the item of `output_item.done`; else
//! the value of a `….done` event; else the pieces so far. Items that came whole stay byte for byte, so encrypted
//! reasoning can be sent back. An item that never came whole is put together from its start and its pieces, and is
//! `incomplete` unless its value came whole or the response completed.
//!
//! A response without a last event is `completed` when every item is done, else `incomplete`.

mod item;

use super::Assemble;
use super::ledger::Ledger;
use super::members::{Extras, Members, error_type, is_plain, null, verbatim};
use crate::json::JsonText;
use crate::json::outline::Node;

use item::{Event, Items};

/// Members of a response that are kept besides its output.
const KEPT: [&str; 7] = ["id", "object", "created_at", "model", "status", "incomplete_details", "usage"];
/// Beginnings of events that say nothing that the reply does not.
const QUIET: [&str; 10] = [
    "content_part.",
    "reasoning_summary_part.",
    "output_text.annotation.",
    "file_search_call.",
    "web_search_call.",
    "code_interpreter_call.",
    "image_generation_call.",
    "mcp_call.",
    "mcp_list_tools.",
    "audio.",
];

#[derive(Debug, Default)]
pub(super) struct OpenAiResponses {
    response: Extras,
    items: Items,
    output: Option<JsonText>,
    /// The status that the kind of the last event means.
    status: Option<&'static str>,
}

// === impl OpenAiResponses ===

impl Assemble for OpenAiResponses {
    fn frame(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        let name = frame.text("type");
        match name.strip_prefix("response.") {
            Some("created" | "in_progress" | "queued") => self.head(&frame.object("response"), ledger),
            Some("completed" | "done") => self.last("completed", &frame.object("response"), ledger),
            Some("incomplete") => self.last("incomplete", &frame.object("response"), ledger),
            Some("failed") => self.last("failed", &frame.object("response"), ledger),
            Some("cancelled") => self.last("cancelled", &frame.object("response"), ledger),
            Some(event) => self.event(event, frame, ledger),
            None if name == "error" => ledger.warn(format!("the vendor reported an error: {}", code(frame))),
            None if name == "keepalive" => {}
            // A response that was not streamed after all.
            None if frame.has("output") => self.last("completed", frame, ledger),
            None => ledger.warn("an event of no known type was left out"),
        }
    }

    fn reply(&self, ledger: &mut Ledger) -> (JsonText, bool) {
        let meant = self.status.unwrap_or(if self.items.are_done() { "completed" } else { "incomplete" });
        let output = match &self.output {
            Some(output) => output.clone(),
            None => self.items.list(self.status == Some("completed"), ledger),
        };
        let mut response = self.response.clone();
        if response.get("status").is_none() {
            response.put("status", JsonText::string(meant));
        }
        if response.get("incomplete_details").is_none() {
            response.put("incomplete_details", null());
        }
        response.put("output", output);
        (response.object(), matches!(self.status, Some("completed" | "incomplete")))
    }
}

impl OpenAiResponses {
    fn head(&mut self, response: &Members<'_>, ledger: &mut Ledger) {
        let keys: Vec<&str> = KEPT.into_iter().filter(|key| *key != "status").collect();
        self.response.keep_some(response, &keys, ledger);
    }

    fn last(&mut self, status: &'static str, response: &Members<'_>, ledger: &mut Ledger) {
        if let Some(error) = response.get("error") {
            ledger.warn(format!("the vendor reported an error: {}", error_type(error)));
        } else if status == "failed" {
            ledger.warn("the vendor reported an error: the response failed");
        }
        self.status = Some(status);
        self.response.keep_some(response, &KEPT, ledger);
        let Some(output) = response.get("output").filter(|_| !response.list("output").is_empty()) else { return };
        self.items.release(ledger);
        if ledger.charge(output.raw().len()) {
            self.output = Some(verbatim(output));
        }
    }

    fn event(&mut self, name: &str, frame: &Members<'_>, ledger: &mut Ledger) {
        match name {
            "output_item.added" => self.items.add(frame, ledger),
            "output_item.done" => self.items.complete(frame, ledger),
            _ if QUIET.iter().any(|quiet| name.starts_with(quiet)) => {}
            _ => match Event::of(name) {
                Some(event) => self.items.extend(&event, frame, ledger),
                None if is_plain(name) => ledger.warn(format!("an event of unknown type {name} was left out")),
                None => ledger.warn("an event of no known type was left out"),
            },
        }
    }
}

fn code(frame: &Members<'_>) -> String {
    let code = frame.get("code").map_or("", Node::raw).trim_matches('"').to_owned();
    if is_plain(&code) { code } else { "of no known type".to_owned() }
}
