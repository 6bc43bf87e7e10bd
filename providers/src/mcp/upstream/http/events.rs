//! EventParser: server-sent events out of the chunks of a body, with bounds.

use std::time::Duration;

/// Bytes of a line that is no data: an id, a name, a comment.
const MAX_FIELD_BYTES: usize = 8 << 10;
/// The longest pause that a server may ask for before it is connected to again.
const MAX_RETRY: Duration = Duration::from_secs(60);
/// The shortest one.
const MIN_RETRY: Duration = Duration::from_millis(50);

/// One event, or what was too large to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mcp::upstream) enum Event {
    /// A message. Never empty.
    Message(Vec<u8>),
    /// An event with a name other than `message`.
    Named(String, Vec<u8>),
    /// An event whose data was larger than allowed.
    TooLarge,
}

/// Reads an event stream. What it keeps is bounded by the size of one event.
#[derive(Debug)]
pub(in crate::mcp::upstream) struct EventParser {
    max_data: usize,
    line: Vec<u8>,
    /// The line is longer than allowed; the rest of it is skipped.
    is_cut: bool,
    /// The last byte was a carriage return: a line feed belongs to it.
    after_return: bool,
    is_first_line: bool,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    is_too_large: bool,
    id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

// === impl EventParser ===

impl EventParser {
    /// A parser for events of at most `max_data` bytes.
    pub(in crate::mcp::upstream) fn new(max_data: usize) -> Self {
        Self {
            max_data,
            line: Vec::new(),
            is_cut: false,
            after_return: false,
            is_first_line: true,
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            is_too_large: false,
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
        const DATA: &[u8] = b"data:";
        while !part.is_empty() {
            let (length, is_data) = (self.line.len(), self.line.starts_with(DATA));
            let limit = if is_data { self.max_data.saturating_add(DATA.len() + 1) } else { MAX_FIELD_BYTES };
            let room = if length < DATA.len() { DATA.len() - length } else { limit.saturating_sub(length) };
            if room == 0 {
                self.is_cut = true;
                return;
            }
            let (fitting, rest) = part.split_at(room.min(part.len()));
            self.line.extend_from_slice(fitting);
            part = rest;
        }
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        let is_cut = std::mem::take(&mut self.is_cut);
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
            b"data" => self.add_data(value, is_cut),
            _ if is_cut => {}
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

    fn add_data(&mut self, value: &[u8], is_cut: bool) {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        if is_cut || self.is_too_large || self.data.len() + value.len() > self.max_data {
            self.is_too_large = true;
            self.data = Vec::new();
        } else {
            self.data.extend_from_slice(value);
        }
    }

    fn end_event(&mut self) -> Option<Event> {
        let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
        let has_data = std::mem::take(&mut self.has_data);
        let is_too_large = std::mem::take(&mut self.is_too_large);
        if let Some(id) = self.id.take() {
            self.last_id = (!id.is_empty()).then_some(id);
        }
        match name.as_str() {
            _ if is_too_large => Some(Event::TooLarge),
            // An event without data only gives its id.
            _ if !has_data || data.is_empty() => None,
            "" | "message" => Some(Event::Message(data)),
            _ => Some(Event::Named(name, data)),
        }
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
        assert_eq!(parser.push(stream.as_bytes()), [Event::TooLarge, Event::TooLarge, message("ok")]);
        parser.push(&[b'x'; 1 << 20]);
        assert!(parser.line.capacity() <= 2 * MAX_FIELD_BYTES, "{}", parser.line.capacity());
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
