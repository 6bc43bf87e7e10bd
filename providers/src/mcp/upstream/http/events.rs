//! EventParser: server-sent events out of the chunks of a body, with bounds.

use std::time::Duration;

use crate::mcp::upstream::connection::reply_id_of_ends;
use crate::mcp::upstream::failure;
use crate::mcp::upstream::transport::{Failed, Inbox};

/// Bytes of a line that is no data: an id, a name, a comment.
const MAX_FIELD_BYTES: usize = 8 << 10;
/// The longest pause that a server may ask for before it is connected to again.
const MAX_RETRY: Duration = Duration::from_secs(60);
/// The shortest one.
const MIN_RETRY: Duration = Duration::from_millis(50);

/// What a line of data begins with.
const DATA: &[u8] = b"data:";
/// Bytes of each end of what is too large that are kept.
const ENDS: usize = 4 << 10;

/// One event, or what was too large to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mcp::upstream) enum Event {
    /// A message. Never empty.
    Message(Vec<u8>),
    /// An event with a name other than `message`.
    Named(String, Vec<u8>),
    /// An event whose data was larger than allowed.
    TooLarge(Ends),
}

/// Both ends of something of which the middle is not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::mcp::upstream) struct Ends {
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// Reads an event stream. What it keeps is bounded by the size of one event.
#[derive(Debug)]
pub(in crate::mcp::upstream) struct EventParser {
    max_data: usize,
    line: Vec<u8>,
    /// The line is longer than allowed: the ends of the rest of it.
    cut: Option<Ends>,
    /// The last byte was a carriage return: a line feed belongs to it.
    after_return: bool,
    is_first_line: bool,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    too_large: Option<Ends>,
    id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

/// Tells whoever waits for it that an answer in a stream of all was too large.
pub(in crate::mcp::upstream) fn too_large(inbox: &dyn Inbox, ends: &Ends, max: usize) {
    match ends.reply_id() {
        Some(id) => inbox.fail(id, Failed::Failed(failure::too_large(max))),
        None => tracing::warn!("a message of an MCP server was too large, and is left out"),
    }
}

// === impl EventParser ===

impl EventParser {
    /// A parser for events of at most `max_data` bytes.
    pub(in crate::mcp::upstream) fn new(max_data: usize) -> Self {
        Self {
            max_data,
            line: Vec::new(),
            cut: None,
            after_return: false,
            is_first_line: true,
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            too_large: None,
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// Where the stream can be taken up again: the id of the last whole event.
    pub(in crate::mcp::upstream) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server asks to be left alone before it is connected to again.
    pub(in crate::mcp::upstream) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Whether the event that is being read is larger than allowed already.
    pub(in crate::mcp::upstream) fn is_too_large(&self) -> bool {
        self.too_large.is_some() || (self.cut.is_some() && self.line.starts_with(DATA))
    }

    /// The events that the next bytes complete.
    pub(in crate::mcp::upstream) fn push(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) {
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.add_to_line(part);
            let Some((ending, rest)) = rest.split_first() else { break };
            self.after_return = *ending == b'\r';
            events.extend(self.end_line());
            bytes = rest;
        }
        events
    }

    /// Only data may be long.
    fn add_to_line(&mut self, mut part: &[u8]) {
        while !part.is_empty() {
            let (length, is_data) = (self.line.len(), self.line.starts_with(DATA));
            let limit = if is_data { self.max_data.saturating_add(DATA.len() + 1) } else { MAX_FIELD_BYTES };
            let room = if length < DATA.len() { DATA.len() - length } else { limit.saturating_sub(length) };
            if room == 0 {
                return self.cut.get_or_insert_default().push(part);
            }
            let (fitting, rest) = part.split_at(room.min(part.len()));
            self.line.extend_from_slice(fitting);
            part = rest;
        }
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        let cut = self.cut.take();
        if std::mem::take(&mut self.is_first_line) && line.starts_with("\u{feff}".as_bytes()) {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value, cut),
            _ if cut.is_some() => {}
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" => {
                let millis = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                let pause = millis.map(|millis| Duration::from_millis(millis).clamp(MIN_RETRY, MAX_RETRY));
                self.retry = pause.or(self.retry);
            }
            _ => {}
        }
        None
    }

    fn add_data(&mut self, value: &[u8], cut: Option<Ends>) {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        if cut.is_some() || self.data.len() + value.len() > self.max_data {
            let ends = self.too_large.get_or_insert_default();
            ends.push(&std::mem::take(&mut self.data));
            ends.push(value);
            for part in cut.iter().flat_map(|Ends { head, tail }| [head, tail]) {
                ends.push(part);
            }
        } else if let Some(ends) = &mut self.too_large {
            ends.push(&std::mem::take(&mut self.data));
            ends.push(value);
        } else {
            self.data.extend_from_slice(value);
        }
    }

    fn end_event(&mut self) -> Option<Event> {
        let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
        let has_data = std::mem::take(&mut self.has_data);
        let too_large = self.too_large.take();
        if let Some(id) = self.id.take() {
            self.last_id = (!id.is_empty()).then_some(id);
        }
        if let Some(ends) = too_large {
            return Some(Event::TooLarge(ends));
        }
        match name.as_str() {
            // An event without data only gives its id.
            _ if !has_data || data.is_empty() => None,
            "" | "message" => Some(Event::Message(data)),
            _ => Some(Event::Named(name, data)),
        }
    }
}

// === impl Ends ===

impl Ends {
    /// The request that this was meant to answer, if that is to be seen.
    pub(in crate::mcp::upstream) fn reply_id(&self) -> Option<u64> {
        reply_id_of_ends(&self.head, &self.tail)
    }

    fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(ENDS.saturating_sub(self.head.len())));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest.get(rest.len().saturating_sub(ENDS)..).unwrap_or_default());
        self.tail.drain(..self.tail.len().saturating_sub(ENDS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Event {
        Event::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn events_are_read_whatever_the_line_ends_and_however_the_bytes_arrive() {
        let stream = "\u{feff}: hello\r\nid: 1\nretry: 500\ndata:\n\ndata: {\"a\":\rdata:1}\r\n\r\nevent: endpoint\nid:2\n\
                      data: /x\n\nevent: message\ndata: b\nother\n\ndata: unfinished";
        let expected = [message("{\"a\":\n1}"), Event::Named("endpoint".to_owned(), b"/x".to_vec()), message("b")];
        for size in [1, 2, 7, 1_000] {
            let mut parser = EventParser::new(100);
            let events: Vec<Event> = stream.as_bytes().chunks(size).flat_map(|chunk| parser.push(chunk)).collect();
            assert_eq!(events, expected, "chunks of {size}");
            assert_eq!((parser.last_id(), parser.retry()), (Some("2"), Some(Duration::from_millis(500))));
        }
    }

    #[test]
    fn an_event_that_is_too_large_costs_itself_and_no_memory() {
        let mut parser = EventParser::new(10);
        let stream =
            format!("data: {}\n\ndata: 12345\ndata: 67890\n\n: {}\ndata: ok\n\n", "x".repeat(99), "c".repeat(99_999));
        let events = parser.push(stream.as_bytes());
        assert!(
            matches!(&events[..], [Event::TooLarge(_), Event::TooLarge(_), ok] if *ok == message("ok")),
            "{events:?}"
        );
        parser.push(&[b'x'; 1 << 20]);
        assert!(parser.line.capacity() <= 2 * MAX_FIELD_BYTES, "{}", parser.line.capacity());
    }

    #[test]
    fn whose_answer_was_too_large_is_seen_at_either_end_of_it_and_before_it_ends() {
        let long = "x".repeat(50_000);
        let first = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"{long}\"}}");
        let last = format!("{{\"jsonrpc\":\"2.0\",\ndata: \"result\":\"{long}\",\ndata: \"id\":8}}");
        for (data, id) in [(first, Some(7)), (last, Some(8)), (long, None)] {
            for size in [7, 1_000, 100_000] {
                let mut parser = EventParser::new(10_000);
                let stream = format!("data: {data}\n\n");
                let mut seen = Vec::new();
                for chunk in stream.as_bytes().chunks(size) {
                    seen.extend(parser.push(chunk));
                }
                assert!(matches!(&seen[..], [Event::TooLarge(ends)] if ends.reply_id() == id), "{id:?} {size}");
                parser.push(stream.as_bytes().get(..20_000).unwrap());
                assert!(parser.is_too_large());
            }
        }
    }

    #[test]
    fn a_pause_is_kept_within_bounds_and_an_id_can_be_taken_back() {
        let mut parser = EventParser::new(10);
        parser.push(b"retry: 999999999\nid: a\n\n");
        assert_eq!((parser.retry(), parser.last_id()), (Some(MAX_RETRY), Some("a")));
        parser.push(b"retry: 0\nretry: soon\nid\n\n");
        assert_eq!((parser.retry(), parser.last_id()), (Some(MIN_RETRY), None));
    }
}
