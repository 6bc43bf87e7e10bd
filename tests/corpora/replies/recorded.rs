//! One recording: its text, and the replies in it.

use std::collections::BTreeSet;

use toolyard::{Dialect, ParsedReply};

use super::MAX_BYTES;
use super::table::{Call, RECORDINGS};
use crate::recordings;

const FOLDER: &str = "llm-responses";

pub(super) struct Recorded {
    pub(super) file: &'static str,
    pub(super) dialect: Dialect,
    pub(super) calls: &'static [Call],
    pub(super) text: String,
}

/// The names of all recordings.
pub(super) fn files() -> BTreeSet<String> {
    let entries = std::fs::read_dir(recordings().join(FOLDER)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "LICENSE").collect()
}

pub(super) fn text(file: &str) -> String {
    std::fs::read_to_string(recordings().join(FOLDER).join(file)).unwrap()
}

// === impl Recorded ===

impl Recorded {
    pub(super) fn all() -> Vec<Self> {
        let one = |dialect: Dialect, (file, calls): &(&'static str, &'static [Call])| Self {
            file,
            dialect,
            calls,
            text: text(file),
        };
        RECORDINGS.iter().flat_map(|(dialect, files)| files.iter().map(|file| one(*dialect, file))).collect()
    }

    pub(super) fn is_stream(&self) -> bool {
        !self.file.ends_with(".json")
    }

    pub(super) fn parse(&self, reply: &str) -> ParsedReply {
        let parsed =
            if self.is_stream() { self.dialect.parse_stream(reply, MAX_BYTES) } else { self.dialect.parse(reply) };
        parsed.unwrap_or_else(|error| panic!("{}: {error}", self.file))
    }

    /// Some files hold the streams of several requests in a row; each begins with a message of its own.
    pub(super) fn replies(&self) -> Vec<String> {
        if !self.is_stream() {
            return vec![self.text.clone()];
        }
        let mut replies = vec![String::new()];
        for line in self.text.lines() {
            let begins = line.starts_with(r#"{"type":"message_start""#);
            if begins && replies.last().is_some_and(|reply| !reply.is_empty()) {
                replies.push(String::new());
            }
            if let Some(reply) = replies.last_mut() {
                reply.push_str(line);
                reply.push('\n');
            }
        }
        replies
    }
}
