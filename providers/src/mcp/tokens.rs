//! Tokens: the pieces of a JSON text, with their places, so that a text can be changed without being printed anew.

use std::ops::Range;

/// One piece of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) place: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// `{`, `}`, `[`, `]`, `,` or `:`.
    Mark(u8),
    /// A string, with its quotes.
    Text,
    /// A number, `true`, `false` or `null`.
    Scalar,
}

/// The tokens of a text that is valid JSON; of anything else, some tokens.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

// === impl Tokens ===

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The piece itself.
    pub(super) fn piece(&self, token: &Token) -> &'t str {
        self.text.get(token.place.clone()).unwrap_or_default()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let rest = self.rest();
        let (kind, length) = match *rest.first()? {
            mark @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => (TokenKind::Mark(mark), 1),
            b'"' => (TokenKind::Text, text_length(rest)),
            _ => (TokenKind::Scalar, rest.iter().take_while(|byte| is_scalar(**byte)).count().max(1)),
        };
        let place = self.at..self.at + length;
        self.at = place.end;
        Some(Token { kind, place })
    }
}

fn is_scalar(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
}

/// The length of the string that begins here, with its quotes.
fn text_length(rest: &[u8]) -> usize {
    let mut is_escaped = false;
    for (index, byte) in rest.iter().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let tokens = Tokens::new(text);
        tokens.clone().map(|token| tokens.piece(&token)).collect()
    }

    #[test]
    fn a_text_falls_into_its_pieces() {
        let text = "{ \"a\\\"\\\\\" : [1.50e3,true , \"ü:{\"], \"b\":null}\n";
        let expected = [
            "{",
            "\"a\\\"\\\\\"",
            ":",
            "[",
            "1.50e3",
            ",",
            "true",
            ",",
            "\"ü:{\"",
            "]",
            ",",
            "\"b\"",
            ":",
            "null",
            "}",
        ];
        assert_eq!(pieces(text), expected);
    }

    #[test]
    fn what_is_no_json_ends_all_the_same() {
        for text in ["", "\"", "\"\\", "é", "{\"a", "][,,"] {
            assert!(pieces(text).concat().len() <= text.len());
        }
    }
}
