//! Shortening: what a result says to the model is cut to a limit, head and tail kept. Pictures and other bytes are not.

use std::sync::Arc;

use super::history::{self, Shown};
use super::{ContentItem, ContentType, KeptResult, ToolExecutionResult, media_reference};

/// Stands where there is no room to say more.
const ELLIPSIS: &str = "…";
/// A cut text says where the rest is only when it has this much room beside, in bytes and in characters.
const ROOM_BESIDE_NOTICE: usize = 32;
/// What an item's line has besides what its tool says, about.
const LINE_BYTES: usize = 200;

/// How long a text may be, in both units at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextLimit {
    chars: usize,
    bytes: usize,
}

/// What a limit has done to a result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shortened {
    pub(crate) truncated: bool,
    /// Where the whole of it is kept.
    pub(crate) reference: Option<Arc<str>>,
}

/// Hands out what is left of a limit, in order.
struct Room<'a> {
    left: TextLimit,
    /// Said once.
    notice: &'a str,
}

/// Cuts what the model would see to `limit`. Structured content stays whole for programs up to the limit in bytes, even
/// where the model sees only its head and tail. The line that names each item is not cut, and counts for at most half.
///
/// `keep` gets the whole of what is cut and says where it can be read back; `notice` says so to the model.
pub(crate) fn shorten(
    result: &mut ToolExecutionResult,
    call_id: &str,
    limit: TextLimit,
    keep: impl FnOnce(KeptResult) -> Option<Arc<str>>,
    notice: impl FnOnce(&str, Option<&str>) -> String,
) -> Shortened {
    if weight(result) <= limit.chars.min(limit.bytes) {
        return Shortened::default();
    }
    let structured_is_long = result.structured_content.as_ref().is_some_and(|json| json.as_str().len() > limit.bytes);
    let whole = history::text(result, call_id);
    let is_hidden_part_long = structured_is_long
        || result.error_message.as_deref().is_some_and(|message| !limit.allows(message))
        || result.content_items.iter().filter_map(|item| item.text.as_deref()).any(|text| text.len() > limit.bytes);
    if limit.allows(&whole) && !is_hidden_part_long {
        return Shortened::default();
    }
    let structured_content = result.structured_content.clone().filter(|_| structured_is_long);
    let reference = keep(KeptResult { text: (*whole).into(), structured_content });
    let notice = notice(&whole, reference.as_deref());
    cut_shown(result, call_id, limit, &notice);
    cut_hidden(result, limit, &notice);
    Shortened { truncated: true, reference }
}

/// Cuts the middle out of `text` so that it keeps `limit`, on character boundaries, and says so if there is room for it.
/// Nothing when the text is short enough already.
pub(crate) fn truncate_middle(text: &str, limit: TextLimit, notice: &str) -> Option<String> {
    if limit.allows(text) {
        return None;
    }
    let says_so = limit.minus(notice).is_some_and(|room| room.chars.min(room.bytes) >= ROOM_BESIDE_NOTICE);
    let notice = if says_so { notice } else { ELLIPSIS };
    let Some(room) = limit.minus(notice) else { return Some(head(text, limit).to_owned()) };
    let for_tail = TextLimit { chars: room.chars / 3, bytes: room.bytes / 3 };
    let for_head = TextLimit { chars: room.chars - for_tail.chars, bytes: room.bytes - for_tail.bytes };
    Some(format!("{}{notice}{}", head(text, for_head), tail(text, for_tail)))
}

fn cut_shown(result: &mut ToolExecutionResult, call_id: &str, limit: TextLimit, notice: &str) {
    let shown = Shown::of(result);
    let mut room = Room { left: limit.beside(&lines(result, call_id)), notice };
    match shown {
        Shown::Content => room.cut(&mut result.content),
        Shown::Structured => {
            // Half a JSON document is none, so it is cut as a text.
            let mut text = result.structured_content.as_ref().map(ToString::to_string).unwrap_or_default();
            let before = text.len();
            room.cut(&mut text);
            if text.len() != before {
                result.content = text;
            }
        }
        Shown::Error => {
            if let Some(message) = &mut result.error_message {
                room.cut(message);
            }
        }
        Shown::Items | Shown::Nothing => {}
    }
    let is_shown = |item: &&mut ContentItem| shown != Shown::Content || item.content_type != ContentType::Text;
    for text in result.content_items.iter_mut().filter(is_shown).filter_map(|item| item.text.as_mut()) {
        room.cut(text);
    }
}

/// What the model does not see is held to the same limits, so that no field of a result is without one.
fn cut_hidden(result: &mut ToolExecutionResult, limit: TextLimit, notice: &str) {
    if result.structured_content.as_ref().is_some_and(|json| json.as_str().len() > limit.bytes) {
        result.structured_content = None;
    }
    let texts = result.content_items.iter_mut().filter_map(|item| item.text.as_mut());
    for text in texts.chain(&mut result.error_message) {
        if let Some(shorter) = truncate_middle(text, limit, notice) {
            *text = shorter;
        }
    }
}

/// The lines of all items, without the texts in them.
fn lines(result: &ToolExecutionResult, call_id: &str) -> String {
    let media = result.content_items.iter().enumerate().filter(|(_, item)| item.content_type != ContentType::Text);
    media.map(|(index, item)| item.summary_line(&media_reference(call_id, index + 1)) + "\n\n").collect()
}

/// At least the bytes of everything in a result that can be shown or cut.
fn weight(result: &ToolExecutionResult) -> usize {
    let of_item = |item: &ContentItem| {
        let said = [&item.text, &item.name, &item.description, &item.mime_type];
        let address = item.uri.as_ref().map_or(0, String::len);
        said.into_iter().flatten().map(String::len).sum::<usize>() + address + LINE_BYTES
    };
    result.content.len()
        + result.error_message.as_ref().map_or(0, String::len)
        + result.structured_content.as_ref().map_or(0, |json| json.as_str().len())
        + result.content_items.iter().map(of_item).sum::<usize>()
}

// === impl TextLimit ===

impl TextLimit {
    /// At most `chars` characters, where 0 stands for any number, and at most `bytes` bytes.
    pub(crate) fn new(chars: usize, bytes: usize) -> Self {
        Self { chars: if chars == 0 { usize::MAX } else { chars }, bytes }
    }

    /// Whether `text` is short enough without anything being counted.
    pub(crate) fn is_certainly_kept_by(self, text: &str) -> bool {
        text.len() <= self.chars.min(self.bytes)
    }

    /// A text has at least as many bytes as characters, so those are counted only when the bytes are too many.
    fn allows(self, text: &str) -> bool {
        text.len() <= self.bytes && (text.len() <= self.chars || text.chars().count() <= self.chars)
    }

    /// What is left beside `text`, if it fits.
    fn minus(self, text: &str) -> Option<Self> {
        let chars = self.chars.checked_sub(text.chars().count())?;
        Some(Self { chars, bytes: self.bytes.checked_sub(text.len())? })
    }

    /// What is left beside `text`, at least half.
    fn beside(self, text: &str) -> Self {
        let half = Self { chars: self.chars.div_ceil(2), bytes: self.bytes.div_ceil(2) };
        match self.minus(text) {
            Some(left) => Self { chars: left.chars.max(half.chars), bytes: left.bytes.max(half.bytes) },
            None => half,
        }
    }
}

// === impl Room ===

impl Room<'_> {
    fn cut(&mut self, text: &mut String) {
        if let Some(shorter) = truncate_middle(text, self.left, self.notice) {
            *text = shorter;
            self.notice = ELLIPSIS;
        }
        self.left = self.left.minus(text).unwrap_or(TextLimit { chars: 0, bytes: 0 });
    }
}

/// The longest beginning of `text` within `limit`.
fn head(text: &str, limit: TextLimit) -> &str {
    let by_chars = match limit.chars {
        chars if chars >= text.len() => text.len(),
        chars => text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at),
    };
    let most = by_chars.min(limit.bytes);
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// The longest end of `text` within `limit`.
fn tail(text: &str, limit: TextLimit) -> &str {
    let by_chars = match limit.chars {
        0 => text.len(),
        chars if chars >= text.len() => 0,
        chars => text.char_indices().rev().nth(chars - 1).map_or(0, |(at, _)| at),
    };
    let least = by_chars.max(text.len().saturating_sub(limit.bytes));
    let start = (least..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
