//! Blocks: texts of others in a prompt, in tags that they cannot leave.

use std::borrow::Cow;

/// Every tag that the engine puts around a text. None of them may stand in the text.
const TAGS: [&str; 3] = ["system-reminder", "tool_guide", "tool_context"];
const LONGEST_TAG: usize = 16;

/// A text between the tags of a block. `tag` is one of [`TAGS`].
pub(crate) fn block(tag: &str, attributes: &[(&str, &str)], text: &str) -> String {
    let mut block = format!("<{tag}");
    for (name, value) in attributes {
        block.push_str(&format!(" {name}=\"{}\"", attribute(value)));
    }
    block.push_str(">\n");
    block.push_str(harmless(text.trim()).as_ref());
    block.push_str(&format!("\n</{tag}>"));
    block
}

/// A text without what would open or close a block.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    for (at, _) in text.match_indices('<') {
        if begins_a_tag(&text[at + 1..]) {
            out.push_str(&text[kept..at]);
            out.push_str("&lt;");
            kept = at + 1;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// A text in one line, not longer than this many characters.
pub(super) fn line(text: &str, max_chars: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > max_chars.saturating_mul(4) {
            break;
        }
    }
    match line.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The beginning of a text, of at most this many bytes; says whether that is not all of it.
pub(crate) fn cut(text: &str, max_bytes: usize) -> (&str, bool) {
    if text.len() <= max_bytes {
        return (text, false);
    }
    let end = (0..=max_bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (&text[..end], true)
}

fn attribute(value: &str) -> String {
    let value = line(value, 128);
    value.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Whatever a model may read as one of the tags, opening or closing, in any letter case and with gaps that show or not.
fn begins_a_tag(rest: &str) -> bool {
    let letters = rest.chars().filter(|c| !c.is_whitespace() && !is_invisible(*c) && *c != '/');
    let name: String = letters.take(LONGEST_TAG).collect::<String>().to_ascii_lowercase();
    TAGS.iter().any(|tag| name.starts_with(tag))
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_block() {
        for closing in [
            "</tool_guide>",
            "</TOOL_Guide >",
            "< / tool_guide>",
            "<\u{200b}/tool_\u{200b}guide>",
            "<\n/system-reminder>",
            "<tool_context source=\"x\">",
        ] {
            let block = block("tool_guide", &[("source", "a\">\n<b")], &format!("before {closing} behind"));
            assert!(block.starts_with("<tool_guide source=\"a&quot;&gt; &lt;b\">\n"), "{block}");
            assert_eq!(block.matches('<').count(), 2, "{block}");
            assert!(block.contains("before &lt;") && block.ends_with(" behind\n</tool_guide>"), "{block}");
        }
    }

    #[test]
    fn other_tags_and_comparisons_stay_as_they_are() {
        for text in ["1 < 2", "<b>bold</b>", "a <tool> b", "<", "<<", "x <system"] {
            assert_eq!(harmless(text), text);
        }
    }

    #[test]
    fn lines_have_no_breaks_and_an_end() {
        assert_eq!(line(" a\r\n\tb\u{7}c \u{2028}", 10), "a b c");
        assert_eq!(line("天气预报", 2), "天气…");
        assert_eq!(line(&"x".repeat(100_000), 3), "xxx…");
        assert_eq!(cut("天气", 4), ("天", true));
        assert_eq!(cut("天气", 6), ("天气", false));
    }
}
