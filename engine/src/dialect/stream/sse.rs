//! Chunks as they come over the wire: JSON, lines of JSON, or server-sent events.

use crate::json::outline::Outline;

/// What a chunk holds.
pub(super) enum Event<'a> {
    /// One JSON value.
    Value(Outline<'a>),
    /// OpenAI's end mark.
    Done,
    /// Text that is no JSON.
    Undecodable,
}

/// Fields of an event that carry no data.
const FIELDS: [&str; 3] = ["event:", "id:", "retry:"];

/// Calls `take` with everything that the chunk holds, in order.
pub(super) fn each(chunk: &str, take: &mut dyn FnMut(Event<'_>)) {
    let chunk = chunk.trim_start_matches('\u{feff}').trim();
    if chunk.starts_with(['{', '['])
        && let Ok(outline) = Outline::parse(chunk)
    {
        return take(Event::Value(outline));
    }
    // Data may be spread over several lines; what is no value by itself is tried as a part of one.
    let mut parts = Vec::new();
    for line in chunk.lines().map(str::trim) {
        if line.is_empty() {
            flush(&mut parts, take);
        }
        let is_data = line.starts_with("data:");
        let payload = line.strip_prefix("data:").unwrap_or(line).trim();
        if payload.is_empty() || (!is_data && (line.starts_with(':') || FIELDS.iter().any(|it| line.starts_with(it)))) {
            continue;
        }
        if payload == "[DONE]" {
            flush(&mut parts, take);
            take(Event::Done);
        } else if let Ok(outline) = Outline::parse(payload) {
            flush(&mut parts, take);
            take(Event::Value(outline));
        } else {
            parts.push(payload);
        }
    }
    flush(&mut parts, take);
}

fn flush(parts: &mut Vec<&str>, take: &mut dyn FnMut(Event<'_>)) {
    if parts.is_empty() {
        return;
    }
    let whole = parts.join("\n");
    parts.clear();
    match Outline::parse(&whole) {
        Ok(outline) => take(Event::Value(outline)),
        Err(_) => take(Event::Undecodable),
    }
}
