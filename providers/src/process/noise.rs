//! What a child writes besides its protocol: read to the end, kept a little, shown sparingly in the log.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

use super::CommandSpec;

/// Bytes that are kept for the case that the child dies.
const KEPT: usize = 64 << 10;
/// Bytes of them that are shown.
const SHOWN: usize = 400;
/// Lines a second that go to the log.
const LINES_PER_SECOND: u32 = 20;
/// Bytes of a line that are looked at; the rest of it is left out.
const LINE: usize = 4 << 10;
/// Bytes of a line that go to the log.
const LINE_SHOWN: usize = 1 << 10;

/// The noise of one child: its standard error, and its standard output where that carries nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    spec: Arc<CommandSpec>,
    pid: Option<u32>,
    heard: Arc<Mutex<Heard>>,
}

/// What was heard from all pipes together.
#[derive(Debug, Default)]
struct Heard {
    tail: Vec<u8>,
    rate: Rate,
}

/// Lets a few lines a second through, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    second: Option<Instant>,
    passed: u32,
    dropped: u64,
}

/// The line of one pipe that is not finished yet.
#[derive(Debug, Default)]
struct Line(Vec<u8>);

// === impl Noise ===

impl Noise {
    pub(super) fn new(spec: Arc<CommandSpec>, pid: Option<u32>) -> Self {
        Self { spec, pid, heard: Arc::default() }
    }

    /// Reads to the end, whatever comes, so that the child never blocks on its own noise.
    pub(super) async fn drain(self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 << 10];
        let mut line = Line::default();
        while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
            let bytes = buffer.get(..read).unwrap_or_default();
            self.heard().keep(bytes);
            if tracing::enabled!(tracing::Level::DEBUG) {
                line.push(bytes, |line| self.forward(line));
            }
        }
        line.finish(|line| self.forward(line));
    }

    /// Takes one line that was read elsewhere.
    pub(crate) fn hear(&self, line: &[u8]) {
        let line = line.get(..LINE.min(line.len())).unwrap_or_default();
        let mut heard = self.heard();
        heard.keep(line);
        heard.keep(b"\n");
        drop(heard);
        if tracing::enabled!(tracing::Level::DEBUG) {
            self.forward(line.trim_ascii());
        }
    }

    /// The last words, short enough for a sentence and without secrets.
    pub(super) fn last_words(&self) -> String {
        let tail = self.heard().tail.clone();
        let text = self.spec.redact(String::from_utf8_lossy(&tail).trim());
        let start = text.len().saturating_sub(SHOWN);
        let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.get(start..).unwrap_or_default().to_owned()
    }

    fn forward(&self, line: &[u8]) {
        let Some(dropped) = self.heard().rate.admit(Instant::now()) else { return };
        let mut text = self.spec.redact(&String::from_utf8_lossy(line));
        text.truncate((0..=LINE_SHOWN.min(text.len())).rfind(|at| text.is_char_boundary(*at)).unwrap_or_default());
        tracing::debug!(program = %self.spec.command, pid = self.pid, dropped, "it wrote: {}", text.escape_debug());
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Heard ===

impl Heard {
    fn keep(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > KEPT {
            let excess = self.tail.len() - KEPT;
            self.tail.drain(..excess);
        }
    }
}

// === impl Rate ===

impl Rate {
    /// Whether a line may go to the log now, with the number of lines that were dropped since the last that did.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<u64> {
        if self.second.is_none_or(|begun| now.duration_since(begun) >= Duration::from_secs(1)) {
            self.second = Some(now);
            self.passed = 0;
        }
        if self.passed == LINES_PER_SECOND {
            self.dropped = self.dropped.saturating_add(1);
            return None;
        }
        self.passed += 1;
        Some(std::mem::take(&mut self.dropped))
    }
}

// === impl Line ===

impl Line {
    fn push(&mut self, bytes: &[u8], mut forward: impl FnMut(&[u8])) {
        let mut parts = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            let room = LINE.saturating_sub(self.0.len()).min(part.len());
            self.0.extend_from_slice(part.get(..room).unwrap_or_default());
            if parts.peek().is_some() {
                self.finish(&mut forward);
            }
        }
    }

    fn finish(&mut self, forward: impl FnOnce(&[u8])) {
        if !self.0.trim_ascii().is_empty() {
            forward(self.0.trim_ascii());
        }
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise() -> Noise {
        let env = [("TOKEN".to_owned(), "s3cret-value".to_owned())].into();
        Noise::new(Arc::new(CommandSpec { command: "x".into(), env, ..CommandSpec::default() }), None)
    }

    #[test]
    fn only_the_end_is_kept_and_shown() {
        let noise = noise();
        for _ in 0..100 {
            noise.heard().keep(&[b'x'; 4096]);
        }
        noise.heard().keep("末尾\n".as_bytes());
        assert!(noise.heard().tail.len() <= KEPT);
        assert!(noise.last_words().len() <= SHOWN && noise.last_words().ends_with("末尾"));
    }

    #[test]
    fn a_secret_at_the_edge_of_what_is_shown_is_not_shown_in_part() {
        let noise = noise();
        noise.heard().keep(b"s3cret-value");
        noise.heard().keep(&[b'.'; SHOWN - 5]);
        assert!(!noise.last_words().contains("value"), "{}", noise.last_words());
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_shown_as_far_as_they_go() {
        let noise = noise();
        noise.heard().keep(b"\xd6\xd0\xce\xc4 broke");
        assert!(noise.last_words().ends_with(" broke"));
    }

    #[test]
    fn lines_come_whole_however_they_are_cut_and_never_grow() {
        let mut line = Line::default();
        let mut lines: Vec<usize> = Vec::new();
        for bytes in [&b"ab"[..], b"c\n\nde", b"f\n"] {
            line.push(bytes, |line| lines.push(line.len()));
        }
        for _ in 0..100 {
            line.push(&[b'x'; 1000], |line| lines.push(line.len()));
        }
        assert!(line.0.len() <= LINE);
        line.finish(|line| lines.push(line.len()));
        assert_eq!(lines, [3, 3, LINE]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_lines_a_second_pass_and_the_rest_is_counted() {
        let mut rate = Rate::default();
        let passed = (0..1000).filter(|_| rate.admit(Instant::now()).is_some()).count();
        assert_eq!(passed, LINES_PER_SECOND as usize);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(rate.admit(Instant::now()), Some(980));
        assert_eq!(rate.admit(Instant::now()), Some(0));
    }
}
