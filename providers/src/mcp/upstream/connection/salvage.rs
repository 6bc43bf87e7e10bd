//! Which request a text was meant to answer, where the text is no JSON any more.

/// The number under the outermost `id` of something that begins like a JSON-RPC answer. It may be cut off, have numbers
/// that JSON has not, and bytes that are no UTF-8.
pub(in crate::mcp::upstream) fn reply_id(text: &[u8]) -> Option<u64> {
    let mut scan = Scan { rest: text.trim_ascii().strip_prefix(b"{")?, depth: 0 };
    let (mut id, mut looks_right) = (None, false);
    while let Some(key) = scan.next_key() {
        match key {
            b"id" if id.is_none() => id = Some(scan.number()?),
            b"method" => return None,
            b"jsonrpc" | b"result" | b"error" => looks_right = true,
            _ => {}
        }
    }
    id.filter(|_| looks_right)
}

/// The same of a text of which only the first and the last bytes are known. Some servers put the id last.
pub(in crate::mcp::upstream) fn reply_id_of_ends(head: &[u8], tail: &[u8]) -> Option<u64> {
    reply_id(head).or_else(|| {
        let tail = tail.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
        let digits = tail.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (before, digits) = tail.split_at(tail.len() - digits);
        let before = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"id\"")?;
        before.trim_ascii_end().ends_with(b",").then_some(())?;
        parse(digits)
    })
}

/// Goes through the outermost members of an object.
struct Scan<'a> {
    rest: &'a [u8],
    depth: usize,
}

// === impl Scan ===

impl<'a> Scan<'a> {
    /// The next key of the outermost object; what follows it is next.
    fn next_key(&mut self) -> Option<&'a [u8]> {
        loop {
            let byte = self.take()?;
            match byte {
                b'"' => {
                    let text = self.string()?;
                    if self.depth == 0 && self.rest.trim_ascii_start().first() == Some(&b':') {
                        return Some(text);
                    }
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.checked_sub(1)?,
                _ => {}
            }
        }
    }

    /// The number behind a key.
    fn number(&mut self) -> Option<u64> {
        let value = self.rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let value = value.strip_prefix(b"\"").unwrap_or(value);
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
        // Digits that end the text may be the first few only.
        let (digits, rest) = value.split_at(digits);
        let is_whole = matches!(rest.first()?, b',' | b'}' | b'"' | b' ');
        is_whole.then(|| parse(digits))?
    }

    /// What stands between the quotes, the first of which was taken.
    fn string(&mut self) -> Option<&'a [u8]> {
        let text = self.rest;
        let mut length = 0;
        loop {
            match self.take()? {
                b'"' => return text.get(..length),
                b'\\' => {
                    self.take()?;
                    length += 2;
                }
                _ => length += 1,
            }
        }
    }

    fn take(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }
}

fn parse(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_id_is_found_wherever_it_stands() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"x":NaN}}"#, Some(7)),
            (r#"{"result":{"id":8,"s":"\"id\":9}"},"jsonrpc":"2.0", "id" : 7 }"#, Some(7)),
            (r#"{"jsonrpc":"2.0","id":"7","result":NaN}"#, Some(7)),
            (r#"{"jsonrpc":"2.0","id":7,"res"#, Some(7)),
            (r#"{"jsonrpc":"2.0","id":12"#, None),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":NaN}"#, None),
            (r#"{"id":7,"level":"info" oops"#, None),
            (r#"{"jsonrpc":"2.0","result":{"id":8,"x":NaN}}"#, None),
            (r#"[{"jsonrpc":"2.0","id":7"#, None),
            ("", None),
        ] {
            assert_eq!(reply_id(text.as_bytes()), id, "{text}");
        }
    }

    #[test]
    fn a_text_whose_middle_was_skipped_is_known_by_either_end() {
        assert_eq!(reply_id_of_ends(br#"{"jsonrpc":"2.0","id":7,"result":{"t":"xx"#, b"xx\"}}"), Some(7));
        assert_eq!(reply_id_of_ends(br#"{"result":{"t":"xx"#, br#"xx"},"jsonrpc":"2.0","id":71}"#), Some(71));
        assert_eq!(reply_id_of_ends(br#"{"result":{"t":"xx"#, br#"xx","y":{"id":71}}}"#), None);
        assert_eq!(reply_id_of_ends(b"aaa", b"aaa"), None);
    }
}
