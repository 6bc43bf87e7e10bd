//! The canonical form of a JSON text, over which declarations are compared (in the manner of RFC 8785).

use std::iter::Peekable;

use super::tokens::{Token, TokenKind, Tokens};

/// Deeper than this, keys keep their order.
const MAX_DEPTH: usize = 128;

/// The text without white space, with sorted keys and one way of writing each string. Numbers keep their digits.
pub(super) fn canonical(text: &str) -> String {
    let tokens = Tokens::new(text);
    let mut writer = Writer { source: tokens.clone(), tokens: tokens.peekable() };
    writer.value(0)
}

struct Writer<'t> {
    source: Tokens<'t>,
    tokens: Peekable<Tokens<'t>>,
}

// === impl Writer ===

impl Writer<'_> {
    fn value(&mut self, depth: usize) -> String {
        let Some(token) = self.tokens.next() else { return String::new() };
        match token.kind {
            TokenKind::Mark(mark @ (b'{' | b'[')) if depth >= MAX_DEPTH => self.rest_of_container(mark),
            TokenKind::Mark(b'{') => self.object(depth),
            TokenKind::Mark(b'[') => self.array(depth),
            TokenKind::Text => string(self.source.piece(&token)),
            TokenKind::Mark(_) | TokenKind::Scalar => self.source.piece(&token).to_owned(),
        }
    }

    fn object(&mut self, depth: usize) -> String {
        let mut members: Vec<(Vec<u16>, String)> = Vec::new();
        while let Some(key) = self.tokens.next() {
            match key.kind {
                TokenKind::Mark(b'}') => break,
                TokenKind::Mark(_) | TokenKind::Scalar => continue,
                TokenKind::Text => {}
            }
            let key = string(self.source.piece(&key));
            if self.tokens.next_if(|token| token.kind == TokenKind::Mark(b':')).is_none() {
                continue;
            }
            let value = self.value(depth + 1);
            members.push((key.encode_utf16().collect(), format!("{key}:{value}")));
        }
        // Stable: of equal keys all are kept, in their order.
        members.sort_by(|a, b| a.0.cmp(&b.0));
        let members: Vec<String> = members.into_iter().map(|(_, member)| member).collect();
        format!("{{{}}}", members.join(","))
    }

    fn array(&mut self, depth: usize) -> String {
        let mut items = Vec::new();
        while let Some(token) = self.tokens.peek() {
            match token.kind {
                TokenKind::Mark(b']') => {
                    self.tokens.next();
                    break;
                }
                TokenKind::Mark(b',') => drop(self.tokens.next()),
                TokenKind::Mark(_) | TokenKind::Text | TokenKind::Scalar => items.push(self.value(depth + 1)),
            }
        }
        format!("[{}]", items.join(","))
    }

    /// As it is, but for the white space.
    fn rest_of_container(&mut self, opening: u8) -> String {
        let mut text = String::from(if opening == b'{' { "{" } else { "[" });
        let mut open = 1usize;
        while open > 0 {
            let Some(Token { kind, place }) = self.tokens.next() else { break };
            match kind {
                TokenKind::Mark(b'{' | b'[') => open += 1,
                TokenKind::Mark(b'}' | b']') => open -= 1,
                TokenKind::Mark(_) | TokenKind::Text | TokenKind::Scalar => {}
            }
            text.push_str(self.source.piece(&Token { kind, place }));
        }
        text
    }
}

/// One way of writing a string. Half of a surrogate pair has only its own.
fn string(raw: &str) -> String {
    match serde_json::from_str::<String>(raw) {
        Ok(text) => serde_json::Value::from(text).to_string(),
        Err(_) => raw.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_order_white_space_and_escapes_do_not_matter() {
        let one = r#"{"b":[1, {"y":true,"x":null}], "a":"\u00fc\/"}"#;
        let other = "{\"a\" : \"ü/\",\n \"b\":[1,{\"x\":null,\"y\":true}]}";
        assert_eq!(canonical(one), canonical(other));
        assert_eq!(canonical(one), r#"{"a":"ü/","b":[1,{"x":null,"y":true}]}"#);
    }

    #[test]
    fn digits_order_of_items_and_keys_that_come_twice_do_matter() {
        for (one, other) in [
            ("[123456789012345678901234567890]", "[123456789012345678901234567891]"),
            ("[1,2]", "[2,1]"),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#""a""#, r#""a\u200b""#),
        ] {
            assert_ne!(canonical(one), canonical(other));
        }
    }

    #[test]
    fn a_text_that_is_nested_without_end_costs_no_stack() {
        let deep = format!("{}{}", "[ ".repeat(100_000), "]".repeat(100_000));
        assert_eq!(canonical(&deep).len(), 200_000);
        assert_eq!(canonical("{\"a\""), "{}");
    }
}
