//! Chunks of Gemini's `streamGenerateContent`, as events or as one JSON list.
//!
//! Parts keep their order and come whole, so most stand in the reply as they were sent, signatures included. Pieces of
//! text are joined when they stand side by side, have nothing but text and the same `thought` mark, and none is signed.
//!
//! A call may also come in pieces: a name with `willContinue`, then `partialArgs` (see [`partial`]), then a piece without
//! `willContinue`. While it is open, a piece with no name, the same name or its id is more of it; another name is the next
//! call. A call still open at the end is complete when the reply's finish reason is STOP and none of its strings is half.
//! Else, or when a piece could not be placed, its `args` is a string of the text without its last bracket, so that it
//! counts as cut off; a stream without a finish reason gets MAX_TOKENS then. Only candidate 0 is read.

mod part;
mod partial;

use super::Assemble;
use super::ledger::Ledger;
use super::members::{Extras, Members, null, verbatim};
use crate::json::JsonText;

use part::{Call, Part};

/// Members of a candidate that are kept besides its content.
const CANDIDATE: [&str; 4] = ["finishReason", "finishMessage", "safetyRatings", "groundingMetadata"];
/// Members of the reply that are kept.
const KEPT: [&str; 4] = ["promptFeedback", "usageMetadata", "modelVersion", "responseId"];

#[derive(Debug, Default)]
pub(super) struct Gemini {
    reply: Extras,
    candidate: Extras,
    parts: Vec<Part>,
    /// Where the call stands that the next piece may continue.
    open: Option<usize>,
    calls: usize,
}

// === impl Gemini ===

impl Assemble for Gemini {
    fn frame(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        // Some of Google's own front ends wrap each chunk.
        let inner = frame.object("response");
        let frame = if inner.is_empty() { frame } else { &inner };
        if !["candidates", "promptFeedback", "usageMetadata"].iter().any(|key| frame.has(key)) {
            return ledger.warn("a chunk without candidates was left out");
        }
        self.reply.keep_some(frame, &KEPT, ledger);
        for (position, candidate) in frame.list("candidates").into_iter().map(Members::of).enumerate() {
            if candidate.index("index").map_or(position == 0, |index| index == 0) {
                self.candidate.keep_some(&candidate, &CANDIDATE, ledger);
                for part in candidate.object("content").list("parts") {
                    self.part(&Members::of(part), &verbatim(part), ledger);
                }
            }
        }
    }

    fn reply(&self, ledger: &mut Ledger) -> (JsonText, bool) {
        let reason = self.candidate.text("finishReason");
        let is_cut = |part: &&Part| part.as_call().is_some_and(|call| call.is_cut_off(reason == "STOP"));
        let cut = self.parts.iter().filter(is_cut).count();
        if cut > 0 {
            ledger.warn("a call whose arguments never became complete counts as cut off");
        }
        let parts = JsonText::array(self.parts.iter().map(|part| part.json(reason == "STOP")));
        let content = JsonText::object([("role", JsonText::string("model")), ("parts", parts)]);
        let mut candidate = Extras::default();
        candidate.put("content", content);
        candidate.put("finishReason", if cut > 0 { JsonText::string("MAX_TOKENS") } else { null() });
        self.candidate.iter().for_each(|(key, value)| candidate.put(key, value));
        let mut reply = Extras::default();
        reply.put("candidates", JsonText::array([candidate.object()]));
        self.reply.iter().for_each(|(key, value)| reply.put(key, value));
        let is_blocked = self.reply.get("promptFeedback").is_some() && self.parts.is_empty();
        (reply.object(), !reason.is_empty() || is_blocked)
    }
}

impl Gemini {
    fn part(&mut self, part: &Members<'_>, text: &JsonText, ledger: &mut Ledger) {
        if part.get("functionCall").is_some() {
            return self.call(part, text, ledger);
        }
        if Part::is_empty_text(part) || self.parts.last_mut().is_some_and(|last| last.join(part, ledger)) {
            return;
        }
        if ledger.charge(text.as_str().len()) {
            self.parts.push(Part::of(part, text, ledger));
        }
    }

    fn call(&mut self, part: &Members<'_>, text: &JsonText, ledger: &mut Ledger) {
        let function = part.object("functionCall");
        let open = self.open.and_then(|at| self.parts.get_mut(at)).and_then(Part::as_call_mut);
        if let Some(call) = open
            && call.is_open()
            && call.is_continued_by(&function)
        {
            return call.extend(part, &function, ledger);
        }
        let has_substance = ["name", "args", "partialArgs"].iter().any(|key| function.get(key).is_some());
        if !has_substance || !ledger.admit(self.calls) {
            return;
        }
        self.calls += 1;
        self.open = Some(self.parts.len());
        if function.is_true("willContinue") || function.get("partialArgs").is_some() {
            let mut call = Box::<Call>::default();
            call.extend(part, &function, ledger);
            self.parts.push(Part::Call(call));
        } else if ledger.charge(text.as_str().len()) {
            self.parts.push(Part::Whole(text.clone()));
        }
    }
}
