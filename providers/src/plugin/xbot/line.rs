//! LineReader: lines of bounded length, however long they are written.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Reads lines. Waiting for the next one may be given up at any time: nothing is lost.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    reader: BufReader<R>,
    max_bytes: usize,
    flood: usize,
    line: Line,
}

/// One line without its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Its bytes, up to the limit.
    pub(super) bytes: Vec<u8>,
    /// All that were written.
    pub(super) written: usize,
}

// === impl LineReader ===

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Lines are kept up to `max_bytes`. One with `flood` bytes more and no end is the end of it all.
    pub(super) fn new(reader: R, max_bytes: usize, flood: usize) -> Self {
        let flood = max_bytes.saturating_add(flood);
        Self { reader: BufReader::with_capacity(16 << 10, reader), max_bytes, flood, line: Line::default() }
    }

    /// The next line; nothing at the end. A last line without an end counts as one.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            if self.is_flooded() {
                return None;
            }
            let buffered = self.reader.fill_buf().await.unwrap_or_default();
            if buffered.is_empty() {
                let last = std::mem::take(&mut self.line);
                return (last.written > 0).then_some(last);
            }
            let end = buffered.iter().position(|byte| *byte == b'\n');
            let part = buffered.get(..end.unwrap_or(buffered.len())).unwrap_or_default();
            let room = self.max_bytes.saturating_sub(self.line.bytes.len());
            self.line.bytes.extend(part.iter().take(room));
            self.line.written += part.len();
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    /// Whether a whole line has been read already.
    pub(super) fn has_line(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }

    /// Whether nothing more is read because a line does not end.
    pub(super) fn is_flooded(&self) -> bool {
        self.line.written > self.flood
    }
}

// === impl Line ===

impl Line {
    /// Whether the end of it was left out.
    pub(super) fn is_cut(&self) -> bool {
        self.written > self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line { bytes: text.as_bytes().to_vec(), written: text.len() }
    }

    #[tokio::test]
    async fn long_lines_are_cut_and_the_next_line_is_whole() {
        let text = format!("{}\nshort\n\nlast", "x".repeat(100_000));
        let mut lines = LineReader::new(text.as_bytes(), 10, 1 << 20);
        let long = lines.next().await.unwrap();
        assert_eq!((long.bytes.len(), long.written, long.is_cut()), (10, 100_000, true));
        assert_eq!(lines.next().await.unwrap(), line("short"));
        assert!(lines.has_line());
        assert_eq!(lines.next().await.unwrap(), line(""));
        assert_eq!(lines.next().await.unwrap(), line("last"));
        assert_eq!(lines.next().await, None);
    }

    #[tokio::test]
    async fn a_line_without_end_is_the_end() {
        let mut lines = LineReader::new(tokio::io::repeat(b'x'), 10, 1000);
        assert_eq!(lines.next().await, None);
        assert!(lines.is_flooded());
        assert_eq!(lines.next().await, None);
    }

    #[tokio::test]
    async fn a_wait_that_is_given_up_loses_nothing() {
        let (mut near, far) = tokio::io::duplex(64);
        let mut lines = LineReader::new(far, 100, 100);
        tokio::io::AsyncWriteExt::write_all(&mut near, b"one ").await.unwrap();
        tokio::select! {
            biased;
            _ = lines.next() => panic!("there is no whole line"),
            () = std::future::ready(()) => {}
        }
        tokio::io::AsyncWriteExt::write_all(&mut near, b"line\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap(), line("one line"));
    }
}
