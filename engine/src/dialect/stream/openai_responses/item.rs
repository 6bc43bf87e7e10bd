//! The items of a response so far.
//!
//! An event is joined to its item by `output_index` (by `item_id` among items that share one), else by `item_id`, else
//! to the latest item. Proxies are known that give each event another `item_id`, so the index comes first.

use crate::dialect::stream::ledger::Ledger;
use crate::dialect::stream::members::{Extras, Members, verbatim};
use crate::dialect::stream::text::{Text, escaped};
use crate::json::JsonText;

#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<Item>,
    parts: usize,
}

#[derive(Debug, Default)]
struct Item {
    output_index: Option<u64>,
    id: String,
    start: Extras,
    /// The item as `output_item.done` gave it.
    whole: Option<JsonText>,
    parts: Vec<Part>,
}

/// One text of an item.
#[derive(Debug)]
struct Part {
    place: Place,
    index: u64,
    text: Text,
    done: bool,
}

/// An event that brings text.
pub(super) struct Event {
    place: Place,
    /// Where a `….done` event has its value; nothing for a piece.
    done: Option<&'static str>,
}

/// Where a text stands in its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A member of the item.
    Member(&'static str),
    /// A member of an entry of this type in a list of the item.
    Entry { list: &'static str, kind: &'static str, key: &'static str },
}

// === impl Items ===

impl Items {
    pub(super) fn add(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        let item = frame.object("item");
        let at = match self.position(frame).filter(|at| self.is_same(*at, frame, &item)) {
            Some(at) => at,
            None => self.open(frame, &item.text("id"), ledger),
        };
        if let Some(slot) = self.items.get_mut(at).filter(|slot| slot.whole.is_none()) {
            slot.start.keep_all(&item, &[], ledger);
        }
    }

    pub(super) fn complete(&mut self, frame: &Members<'_>, ledger: &mut Ledger) {
        let item = frame.object("item");
        let Some(value) = frame.get("item").filter(|_| !item.is_empty()) else {
            return ledger.warn("an event without its item was left out");
        };
        let at = match self.position(frame).filter(|at| self.is_same(*at, frame, &item)) {
            Some(at) => at,
            None => self.open(frame, &item.text("id"), ledger),
        };
        let Some(slot) = self.items.get_mut(at) else { return };
        slot.release(ledger);
        if ledger.charge(value.raw().len()) {
            slot.whole = Some(verbatim(value));
        }
        slot.start.keep_some(&item, &["id", "call_id"], ledger);
    }

    pub(super) fn extend(&mut self, event: &Event, frame: &Members<'_>, ledger: &mut Ledger) {
        let at = match self.position(frame) {
            Some(at) => at,
            None => self.open(frame, &frame.text("item_id"), ledger),
        };
        let Some(item) = self.items.get_mut(at).filter(|item| item.whole.is_none()) else { return };
        let index = frame.index("content_index").or_else(|| frame.index("summary_index")).unwrap_or_default();
        let known = item.parts.iter().position(|part| part.place == event.place && part.index == index);
        if known.is_none() {
            if !ledger.admit(self.parts) {
                return;
            }
            self.parts += 1;
            item.parts.push(Part { place: event.place, index, text: Text::default(), done: false });
        }
        let at = known.unwrap_or(item.parts.len().saturating_sub(1));
        let Some(part) = item.parts.get_mut(at) else { return };
        match event.done {
            Some(key) => {
                if let Some(text) = frame.get(key).and_then(escaped) {
                    part.text.set_escaped(text, ledger);
                }
                part.done = true;
            }
            None => part.text.push(frame.get("delta"), ledger),
        }
    }

    /// Whether there are items, and each is done.
    pub(super) fn are_done(&self) -> bool {
        !self.items.is_empty() && self.items.iter().all(|item| item.whole.is_some())
    }

    pub(super) fn release(&mut self, ledger: &mut Ledger) {
        self.items.iter_mut().for_each(|item| item.release(ledger));
        self.items = Vec::new();
    }

    /// The items in the order of their indexes, or of arrival when some have none.
    pub(super) fn list(&self, has_completed: bool, ledger: &mut Ledger) -> JsonText {
        let mut items: Vec<&Item> = self.items.iter().collect();
        if items.iter().all(|item| item.output_index.is_some()) {
            items.sort_by_key(|item| item.output_index);
        }
        let (known, orphans): (Vec<&Item>, Vec<&Item>) = items.into_iter().partition(|item| item.is_known());
        if !orphans.is_empty() {
            ledger.warn("pieces of an item that was never started were left out");
        }
        JsonText::array(known.into_iter().map(|item| item.json(has_completed)))
    }

    fn open(&mut self, frame: &Members<'_>, id: &str, ledger: &mut Ledger) -> usize {
        if ledger.admit(self.items.len()) && ledger.charge(id.len()) {
            let output_index = frame.index("output_index");
            self.items.push(Item { output_index, id: id.to_owned(), ..Item::default() });
        }
        self.items.len().saturating_sub(1)
    }

    fn position(&self, frame: &Members<'_>) -> Option<usize> {
        let nested = frame.object("item").text("id");
        let id = if nested.is_empty() { frame.text("item_id") } else { nested };
        let index = frame.index("output_index");
        let has_id = |item: &Item| !id.is_empty() && item.id == id;
        let has_index = |item: &Item| index.is_some() && item.output_index == index;
        let items = &self.items;
        let both = items.iter().rposition(|item| has_index(item) && has_id(item));
        let either = both.or_else(|| items.iter().rposition(has_index)).or_else(|| items.iter().rposition(has_id));
        if either.is_none() && index.is_none() && id.is_empty() { items.len().checked_sub(1) } else { either }
    }

    /// Whether an item in a frame is the one found for it, not another at the same place.
    fn is_same(&self, at: usize, frame: &Members<'_>, item: &Members<'_>) -> bool {
        let Some(known) = self.items.get(at) else { return false };
        let (old, new) = (known.start.text("call_id"), item.text("call_id"));
        if !old.is_empty() && !new.is_empty() {
            return old == new;
        }
        let id = item.text("id");
        let has_place = frame.index("output_index").is_some();
        !known.is_known() || (!id.is_empty() && known.id == id) || (has_place && known.whole.is_none())
    }
}

// === impl Item ===

impl Item {
    fn is_known(&self) -> bool {
        self.whole.is_some() || self.start.iter().next().is_some()
    }

    fn release(&mut self, ledger: &mut Ledger) {
        let kept = self.whole.take().map_or(0, |whole| whole.as_str().len());
        ledger.refund(kept);
        self.start.release(ledger);
        self.parts.iter_mut().for_each(|part| part.text.release(ledger));
        self.parts = Vec::new();
    }

    fn json(&self, has_completed: bool) -> JsonText {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let mut item = self.start.clone();
        let mut is_done = has_completed;
        for part in &self.parts {
            if let Place::Member(key) = part.place {
                item.put(key, part.text.json());
                is_done |= part.done;
            }
        }
        for list in ["content", "summary"] {
            let entries: Vec<JsonText> = self.parts.iter().filter_map(|part| part.entry(list)).collect();
            if !entries.is_empty() {
                item.put(list, JsonText::array(entries));
            }
        }
        item.put("status", JsonText::string(if is_done { "completed" } else { "incomplete" }));
        item.object()
    }
}

// === impl Part ===

impl Part {
    fn entry(&self, of: &str) -> Option<JsonText> {
        match self.place {
            Place::Entry { list, kind, key } if list == of => {
                Some(JsonText::object([("type", JsonText::string(kind)), (key, self.text.json())]))
            }
            Place::Entry { .. } | Place::Member(_) => None,
        }
    }
}

// === impl Event ===

impl Event {
    /// The event of a name without `response.`; nothing for events that bring no text.
    pub(super) fn of(name: &str) -> Option<Self> {
        let (what, step) = name.rsplit_once('.')?;
        let (place, key) = match what {
            "function_call_arguments" | "mcp_call_arguments" => (Place::Member("arguments"), "arguments"),
            "custom_tool_call_input" => (Place::Member("input"), "input"),
            "code_interpreter_call_code" => (Place::Member("code"), "code"),
            "output_text" => (Place::Entry { list: "content", kind: "output_text", key: "text" }, "text"),
            "refusal" => (Place::Entry { list: "content", kind: "refusal", key: "refusal" }, "refusal"),
            "reasoning_text" => (Place::Entry { list: "content", kind: "reasoning_text", key: "text" }, "text"),
            "reasoning_summary_text" => (Place::Entry { list: "summary", kind: "summary_text", key: "text" }, "text"),
            _ => return None,
        };
        match step {
            "delta" => Some(Self { place, done: None }),
            "done" => Some(Self { place, done: Some(key) }),
            _ => None,
        }
    }
}
