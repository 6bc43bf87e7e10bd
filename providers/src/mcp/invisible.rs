//! Takes characters that nobody sees out of declarations, before a model reads them.

use toolyard::JsonText;

use super::tokens::{TokenKind, Tokens};

/// Places that are named; more are only counted.
const MAX_PLACES: usize = 5;
/// Keys whose values are expressions and addresses. They are kept, but for tags, which mean nothing in them.
const KEPT: [&str; 3] = ["pattern", "src", "uri"];

/// A declaration without invisible characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stripped {
    pub(super) json: JsonText,
    /// What to tell people, if anything was taken out.
    pub(super) warning: Option<String>,
}

/// The declaration of a tool, a prompt or a resource, without invisible characters in its texts: descriptions, titles,
/// enum texts, defaults, at any depth. Names (`name` of the declaration itself and the keys of schemas) are kept, because
/// calls are made by them, and only told of. Everything else stays as it is to the byte.
pub(super) fn stripped(json: &JsonText) -> Stripped {
    let text = json.as_str();
    // Most are plain ASCII.
    if text.is_ascii() && !text.contains("\\u") {
        return Stripped { json: json.clone(), warning: None };
    }
    let mut walk = Walk { out: String::with_capacity(text.len()), places: Vec::new(), names: 0, open: Vec::new() };
    walk.all(text);
    let warning = walk.warning();
    let json = if walk.places.is_empty() {
        json.clone()
    } else {
        // What was put in are JSON strings in the place of JSON strings.
        JsonText::parse(&walk.out).unwrap_or_else(|_| JsonText::null())
    };
    Stripped { json, warning }
}

/// A text without invisible characters. Joiners stay where they make emoji and where scripts need them.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let keeps = !is_invisible(character) || joins(before, character, characters.peek().copied());
        if keeps {
            out.push(character);
            before = Some(character);
        }
    }
    out
}

/// One container that is open.
struct Open {
    is_object: bool,
    key: Option<String>,
}

struct Walk {
    out: String,
    /// Where something was taken out.
    places: Vec<String>,
    /// Names that hold invisible characters.
    names: usize,
    open: Vec<Open>,
}

// === impl Walk ===

impl Walk {
    fn all(&mut self, text: &str) {
        let tokens = Tokens::new(text);
        let mut copied = 0;
        let mut expects_key = false;
        for token in tokens.clone() {
            match token.kind {
                TokenKind::Mark(mark @ (b'{' | b'[')) => {
                    expects_key = mark == b'{';
                    self.open.push(Open { is_object: mark == b'{', key: None });
                }
                TokenKind::Mark(b'}' | b']') => {
                    self.open.pop();
                    expects_key = false;
                }
                TokenKind::Mark(b',') => expects_key = self.open.last().is_some_and(|open| open.is_object),
                TokenKind::Mark(_) => expects_key = false,
                TokenKind::Scalar => {}
                TokenKind::Text => {
                    let Ok(said) = serde_json::from_str::<String>(tokens.piece(&token)) else { continue };
                    if expects_key {
                        self.key(said);
                    } else if let Some(replaced) = self.value(&said) {
                        self.out.push_str(text.get(copied..token.place.start).unwrap_or_default());
                        self.out.push_str(JsonText::string(&replaced).as_str());
                        copied = token.place.end;
                    }
                }
            }
        }
        self.out.push_str(text.get(copied..).unwrap_or_default());
    }

    fn key(&mut self, key: String) {
        if visible(&key) != key {
            self.names += 1;
        }
        if let Some(open) = self.open.last_mut() {
            open.key = Some(key);
        }
    }

    fn value(&mut self, said: &str) -> Option<String> {
        let seen = visible(said);
        if seen == said {
            return None;
        }
        let keys: Vec<&str> = self.open.iter().filter_map(|open| open.key.as_deref()).collect();
        if self.open.len() == 1 && keys == ["name"] {
            self.names += 1;
            return None;
        }
        let is_kept = keys.last().is_some_and(|key| KEPT.contains(key)) && !said.chars().any(is_tag);
        if is_kept || keys.first() == Some(&"_meta") {
            return None;
        }
        self.places.push(keys.join("/"));
        Some(seen)
    }

    fn warning(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(first) = self.places.get(..self.places.len().min(MAX_PLACES)).filter(|first| !first.is_empty()) {
            let more = self.places.len() - first.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            parts.push(format!("invisible characters were taken out of {}{more}", first.join(", ")));
        }
        match self.names {
            0 => {}
            1 => parts.push("one of its names holds invisible characters".to_owned()),
            names => parts.push(format!("{names} of its names hold invisible characters")),
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Characters without a shape of their own: format and tag characters, overrides of direction, fillers, selectors.
fn is_invisible(character: char) -> bool {
    matches!(u32::from(character),
        0x00..=0x08 | 0x0b | 0x0c | 0x0e..=0x1f | 0x7f..=0x9f
        | 0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164
        | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

/// Characters in which whole hidden texts are written.
fn is_tag(character: char) -> bool {
    matches!(u32::from(character), 0xe0000..=0xe0fff)
}

/// Whether an invisible character does something where it stands.
fn joins(before: Option<char>, character: char, after: Option<char>) -> bool {
    let is_picture = |c: char| matches!(u32::from(c), 0xa9 | 0xae | 0x203c..=0x3299 | 0x1f000..=0x1faff | 0xfe0f);
    match character {
        // One choice of colour or text for a picture, a digit or a sign.
        '\u{fe0e}' | '\u{fe0f}' => {
            before.is_some_and(|c| c != '\u{fe0f}' && (is_picture(c) || matches!(c, '0'..='9' | '#' | '*')))
        }
        '\u{200d}' | '\u{200c}' => {
            let between = |test: fn(char) -> bool| before.is_some_and(test) && after.is_some_and(test);
            (character == '\u{200d}' && before.is_some_and(is_picture) && after.is_some_and(is_picture))
                || between(needs_joiners)
        }
        _ => false,
    }
}

/// Letters of scripts that are written with joiners: Arabic and its kin, and those of India and around.
fn needs_joiners(character: char) -> bool {
    matches!(u32::from(character), 0x600..=0x8ff | 0x900..=0xdff | 0x1780..=0x17ff | 0x1800..=0x18af)
        && !is_invisible(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(text: &str) -> Stripped {
        stripped(&JsonText::parse(text).unwrap())
    }

    #[test]
    fn tags_and_zero_widths_leave_every_text_and_nothing_else_changes() {
        let raw = "{\"name\":\"r\", \"description\":\"Read\u{e0048}\u{e0049} file\u{200b}\",\"title\":\"\\u202eT\",\
            \"inputSchema\":{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"string\",\"description\":\"x\u{e0041}\",\
            \"enum\":[\"a\u{2063}\",\"b\"]}}},\"big\":123456789012345678901234567890}";
        let Stripped { json, warning } = strip(raw);
        let expected = "{\"name\":\"r\", \"description\":\"Read file\",\"title\":\"T\",\
            \"inputSchema\":{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"string\",\"description\":\"x\",\
            \"enum\":[\"a\",\"b\"]}}},\"big\":123456789012345678901234567890}";
        assert_eq!(json.as_str(), expected);
        let warning = warning.unwrap();
        assert!(warning.contains("description, title, inputSchema/properties/p/description"), "{warning}");
    }

    #[test]
    fn names_are_kept_and_told_of_and_data_is_left_alone() {
        let raw = "{\"name\":\"a\u{200b}\",\"_meta\":{\"k\":\"v\u{200b}\"},\"inputSchema\":{\"properties\":{\"p\u{200b}\":{\"pattern\":\"[\u{200b}]\"}}}}";
        let Stripped { json, warning } = strip(raw);
        assert_eq!(json.as_str(), raw);
        assert_eq!(warning.as_deref(), Some("2 of its names hold invisible characters"));
    }

    #[test]
    fn emoji_and_scripts_keep_what_makes_them() {
        for text in
            ["👩\u{200d}💻 ❤\u{fe0f} 1\u{fe0f}\u{20e3}", "می\u{200c}خواهم", "क\u{94d}\u{200d}ष", "tab\tnew\nline"]
        {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("a\u{200d}b\u{fe0f}\u{fe0f}❤\u{fe0f}\u{fe0f}"), "ab❤\u{fe0f}");
        let raw = r#"{"description":"Grüße 你好"}"#;
        assert_eq!(strip(raw), Stripped { json: JsonText::parse(raw).unwrap(), warning: None });
    }

    #[test]
    fn half_a_surrogate_pair_is_left_to_others() {
        let raw = r#"{"description":"\ud800","title":"a\u200b"}"#;
        assert_eq!(strip(raw).json.as_str(), r#"{"description":"\ud800","title":"a"}"#);
    }
}
