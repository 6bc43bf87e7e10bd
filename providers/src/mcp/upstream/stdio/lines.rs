//! Lines: bytes cut into lines of bounded length.

/// Bytes of a line that is too long that are kept of each of its ends.
const ENDS: usize = 4 << 10;

/// Collects lines. One that is too long is skipped, except for its ends.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    /// What is there of a line that is not finished; of one that is too long only its head.
    line: Vec<u8>,
    skipped: Option<Skipped>,
}

#[derive(Debug, Default)]
struct Skipped {
    bytes: usize,
    tail: Vec<u8>,
}

/// One line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong { head: &'a [u8], tail: &'a [u8], bytes: usize },
}

// === impl Lines ===

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), skipped: None }
    }

    /// Takes the next bytes, and gives every line that they finish.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            // Most lines come whole, and need not be copied.
            if self.line.is_empty() && self.skipped.is_none() && line.len() <= self.limit {
                take(Line::Whole(line));
                continue;
            }
            self.extend(line);
            self.finish(&mut take);
        }
        self.extend(bytes);
    }

    /// Gives what is left as a line.
    pub(super) fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        match self.skipped.take() {
            None if self.line.is_empty() => {}
            None => take(Line::Whole(&self.line)),
            Some(Skipped { bytes, tail }) => {
                take(Line::TooLong { head: &self.line, tail: &tail, bytes: self.line.len() + bytes });
            }
        }
        self.line.clear();
        self.line.shrink_to(1 << 20);
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.skipped.is_none() {
            self.line.extend_from_slice(bytes);
            if self.line.len() > self.limit {
                let rest = self.line.split_off(ENDS.min(self.line.len()));
                self.skipped = Some(Skipped::default());
                self.skip(&rest);
            }
        } else {
            self.skip(bytes);
        }
    }

    fn skip(&mut self, bytes: &[u8]) {
        let Some(skipped) = &mut self.skipped else { return };
        skipped.bytes += bytes.len();
        skipped.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(ENDS)..).unwrap_or_default());
        let excess = skipped.tail.len().saturating_sub(ENDS);
        skipped.tail.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(limit: usize, parts: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(limit);
        let mut cut = Vec::new();
        let mut take = |line: Line<'_>| {
            cut.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong { head, tail, bytes } => format!("{}..{}={bytes}", head.len(), tail.len()),
            });
        };
        for part in parts {
            lines.push(part, &mut take);
        }
        lines.finish(&mut take);
        cut
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        assert_eq!(cut(100, &[b"ab", b"c\n\nde", b"f\ng"]), ["abc", "", "def", "g"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_up_to_its_end_and_the_next_one_works() {
        let long = vec![b'x'; 10_000];
        assert_eq!(cut(5_000, &[&long, &long, b"\nok\n"]), ["4096..4096=20000", "ok"]);
        let mut whole = long.clone();
        whole.extend_from_slice(b"\nok\n");
        assert_eq!(cut(5_000, &[&whole]), ["4096..4096=10000", "ok"]);
        assert_eq!(cut(10, &[&[b'x'; 11], b"\n"]), ["11..0=11"]);
    }

    #[test]
    fn what_is_kept_of_a_long_line_does_not_grow() {
        let mut lines = Lines::new(5_000);
        for _ in 0..1_000 {
            lines.push(&[b'x'; 9_999], |_| unreachable!());
        }
        assert!(lines.line.len() <= ENDS && lines.skipped.unwrap().tail.len() <= ENDS);
    }
}
