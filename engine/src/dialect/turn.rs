//! The model's turn, as it goes into the history: what it said, with its calls made fit for the vendor.
//!
//! Vendors refuse a whole request for one call with an illegal id, name or arguments, and for one whose id does not match
//! its result's. So the turn is given back with the ids, names and arguments that the results have; everything else,
//! thought signatures and reasoning items above all, stays byte for byte (halves of characters excepted: no vendor takes
//! them).

use std::borrow::Cow;

use super::IdRule;
use crate::call::{Profile, RawArguments, read_arguments};
use crate::json::outline::Outline;
use crate::json::write::{JsonWriter, ListWriter, ObjectWriter};
use crate::json::{JsonText, lossy};
use crate::limits::Limits;
use crate::result::{CallResult, TextLimit, truncate_middle};

/// The key under which arguments stand that are no JSON object, so that the history stays one that vendors take.
const INVALID: &str = "invalid_arguments";

/// Bytes of them that are kept.
const MAX_INVALID_BYTES: usize = 64 << 10;

/// Bytes of them, as they are written, that are decoded.
const DECODED_INVALID_BYTES: usize = 4 * MAX_INVALID_BYTES;

/// What a model said in one reply.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AssistantTurn {
    /// Members of the message besides its parts and calls, such as its role and its reasoning.
    pub(super) members: Vec<(String, JsonText)>,
    /// Blocks, parts or items, in the reply's order.
    pub(super) parts: Vec<TurnPart>,
    /// The arguments of each call as they stand in the reply.
    pub(super) arguments: Vec<RawArguments>,
}

/// One part of a turn.
#[derive(Clone, Debug)]
pub(super) enum TurnPart {
    /// As it stands in the reply.
    Kept(JsonText),
    /// The call at this place.
    Call(usize),
}

/// One call as it goes into the history.
pub(super) struct HistoryCall<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: &'a str,
    /// A JSON object.
    pub(super) arguments: JsonText,
    /// Further members of the call, byte for byte.
    pub(super) opaque: Option<&'a JsonText>,
}

// === impl AssistantTurn ===

impl AssistantTurn {
    /// The call at `index`, with its result's id and name.
    pub(super) fn call<'a>(&self, index: usize, results: &'a [CallResult], ids: IdRule) -> Option<HistoryCall<'a>> {
        let result = results.get(index)?;
        Some(HistoryCall {
            id: ids.apply(result.call_id.as_str()),
            name: &result.model_name,
            arguments: match &result.arguments {
                Some(as_run) => as_run.clone(),
                None => self.arguments.get(index).map_or_else(|| JsonText::object([]), as_object),
            },
            opaque: result.opaque.as_ref(),
        })
    }

    /// Every call, in order.
    pub(super) fn calls<'a>(&self, results: &'a [CallResult], ids: IdRule) -> Vec<HistoryCall<'a>> {
        (0..results.len()).filter_map(|index| self.call(index, results, ids)).collect()
    }

    /// The message with its calls under `tool_calls`; none when the model said nothing.
    pub(super) fn message(
        &self,
        calls: &[HistoryCall<'_>],
        write: fn(&HistoryCall<'_>, &mut ObjectWriter<'_>),
    ) -> Vec<JsonText> {
        if calls.is_empty() && self.members.is_empty() {
            return Vec::new();
        }
        let message = JsonWriter::default().object(|message| {
            if !self.members.iter().any(|(key, _)| key == "role") {
                message.text("role", "assistant");
            }
            for (key, value) in &self.members {
                message.json(key, value);
            }
            if !calls.is_empty() {
                message.list("tool_calls", |list| {
                    calls.iter().for_each(|call| list.object(|object| write(call, object)));
                });
            }
        });
        vec![message]
    }

    /// A message of this role with its parts in a list under `key`; none when there are no parts.
    pub(super) fn list(&self, role: &str, key: &str, write: impl Fn(&TurnPart, &mut ListWriter<'_>)) -> Vec<JsonText> {
        let mut is_empty = true;
        let message = JsonWriter::default().object(|message| {
            message.text("role", role);
            message.list(key, |list| {
                self.parts.iter().for_each(|part| write(part, list));
                is_empty = list.is_empty();
            });
        });
        if is_empty { Vec::new() } else { vec![message] }
    }
}

// === impl HistoryCall ===

impl HistoryCall<'_> {
    /// Writes what the vendor wants back with the call.
    pub(super) fn write_opaque(&self, object: &mut ObjectWriter<'_>) {
        if let Some(opaque) = self.opaque {
            object.members_of(Some(Outline::of(opaque.as_str()).root()), &[]);
        }
    }
}

/// Arguments that were refused, as an object all the same.
fn as_object(raw: &RawArguments) -> JsonText {
    let limits = Limits::default();
    let given = match raw {
        RawArguments::CutOff(token) => RawArguments::Encoded(token.clone()),
        other => other.clone(),
    };
    if let Ok((arguments, _)) = read_arguments(given.clone(), Profile::Lenient, &limits) {
        return arguments.json().clone();
    }
    let text = match &given {
        // What is much too long is cut as it stands: decoding it first would hold it in memory once more.
        RawArguments::Encoded(token) if token.len() > DECODED_INVALID_BYTES => Cow::Borrowed(&**token),
        RawArguments::Encoded(token) => lossy::text(token).unwrap_or(Cow::Borrowed(token)),
        RawArguments::Text(text) | RawArguments::CutOff(text) => Cow::Borrowed(&**text),
        RawArguments::Absent => Cow::Borrowed(""),
    };
    let cut = truncate_middle(&text, TextLimit::new(0, MAX_INVALID_BYTES), " […] ");
    JsonText::object([(INVALID, JsonText::string(cut.as_deref().unwrap_or(&text)))])
}
