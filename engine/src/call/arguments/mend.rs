//! Mending of arguments whose text is almost JSON, where only one reading is possible.
//!
//! Open strings and brackets are never closed: text that ends inside a value was cut off.

use serde_json::value::RawValue;

use crate::result::RepairKind;

/// Text after mending, and what was mended.
pub(super) struct Mended {
    pub(super) text: String,
    pub(super) repairs: Vec<RepairKind>,
}

/// What stands before other text.
pub(super) enum Front<'a> {
    /// One whole value, and then something that is none.
    Value(&'a str),
    /// A second value follows, or something that may be one.
    Ambiguous,
    /// No whole value.
    None,
}

/// Takes a code fence away, writes control characters in strings as escapes, and leaves commas out that end a list.
pub(super) fn mend(text: &str) -> Mended {
    let mut repairs = Vec::new();
    let inside = match unfenced(text) {
        Some(inside) => {
            repairs.push(RepairKind::CodeFence);
            inside
        }
        None => text,
    };
    let mut scan = Scan { out: String::with_capacity(inside.len()), ..Scan::default() };
    for (index, c) in inside.char_indices() {
        scan.take(c, &inside[index + c.len_utf8()..]);
    }
    repairs.extend(scan.controls.then_some(RepairKind::ControlCharacters));
    repairs.extend(scan.commas.then_some(RepairKind::TrailingComma));
    Mended { text: scan.out, repairs }
}

/// The value that `text` starts with, when what follows cannot be another one.
pub(super) fn front(text: &str) -> Front<'_> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let Some(Ok(value)) = values.next() else {
        return Front::None;
    };
    let rest = text.get(values.byte_offset()..).unwrap_or_default().trim_start();
    if starts_a_value(rest) || rest.contains('{') {
        return Front::Ambiguous;
    }
    Front::Value(value.get())
}

fn starts_a_value(rest: &str) -> bool {
    let is_literal = ["true", "false", "null"].into_iter().any(|literal| {
        rest.strip_prefix(literal).is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    is_literal || rest.starts_with(|c: char| matches!(c, '{' | '[' | '"' | '-') || c.is_ascii_digit())
}

/// What stands between a fence at the very start and one at the end, which may be missing.
fn unfenced(text: &str) -> Option<&str> {
    let (language, inside) = text.strip_prefix("```")?.split_once('\n')?;
    if !language.trim().chars().all(|c| c.is_ascii_alphanumeric()) {
        return None;
    }
    let inside = inside.trim_end();
    Some(inside.strip_suffix("```").unwrap_or(inside).trim())
}

/// Reads text character by character, knowing only strings from what is around them.
#[derive(Default)]
struct Scan {
    out: String,
    in_string: bool,
    escaped: bool,
    controls: bool,
    commas: bool,
}

// === impl Scan ===

impl Scan {
    fn take(&mut self, c: char, rest: &str) {
        if self.in_string {
            self.take_in_string(c);
            return;
        }
        if c == ',' && matches!(rest.trim_start().as_bytes().first(), Some(b'}' | b']')) {
            self.commas = true;
            return;
        }
        self.in_string = c == '"';
        self.out.push(c);
    }

    fn take_in_string(&mut self, c: char) {
        // After a backslash it has no reading that is sure: left as it is, it is refused.
        if c.is_ascii_control() && c != '\u{7f}' && !self.escaped {
            self.controls = true;
            let escape = match c {
                '\n' => "\\n".to_owned(),
                '\r' => "\\r".to_owned(),
                '\t' => "\\t".to_owned(),
                other => format!("\\u{:04x}", u32::from(other)),
            };
            self.out.push_str(&escape);
            return;
        }
        self.in_string = c != '"' || self.escaped;
        self.escaped = c == '\\' && !self.escaped;
        self.out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_control_characters_and_last_commas_go_and_nothing_else_changes() {
        let mended = mend("```json\n{\"a\": \"x\ny, }\", \"b\": [1, ], }\n```");
        assert_eq!(mended.text, "{\"a\": \"x\\ny, }\", \"b\": [1 ] }");
        assert_eq!(mended.repairs, [RepairKind::CodeFence, RepairKind::ControlCharacters, RepairKind::TrailingComma]);
        let whole = r#"{"a": "\\\"", "b": "```"}"#;
        let same = mend(whole);
        assert!(same.text == whole && same.repairs.is_empty());
    }

    #[test]
    fn a_backslash_before_a_line_break_is_left_alone() {
        let text = "{\"a\": \"x\\\n\"}";
        assert_eq!(mend(text).text, text);
    }

    #[test]
    fn text_after_a_value_is_told_from_a_second_value() {
        for rest in [" I will now check.", "\n```\n</tool_call>", " truely", ";"] {
            assert!(matches!(front(&format!("{{\"a\":1}}{rest}")), Front::Value("{\"a\":1}")), "{rest}");
        }
        for rest in ["{}", " [1]", " \"x\"", " 3 hits", " true", " and {\"a\":2}"] {
            assert!(matches!(front(&format!("{{\"a\":1}}{rest}")), Front::Ambiguous), "{rest}");
        }
        assert!(matches!(front("{bad"), Front::None));
    }
}
