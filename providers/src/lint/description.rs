//! Descriptions: they say when to use a tool, which its name alone does not.

use toolyard::ToolSpec;

use super::Finding;

/// Words that say nothing of a particular tool; the SDK puts the first before the name where an author said nothing.
const EMPTY_WORDS: [&str; 4] = ["工具", "tool", "plugin", "插件"];

pub(super) fn check(tool: &ToolSpec) -> Option<Finding> {
    let text = tool.brief_description.as_deref().unwrap_or(&tool.description);
    let text = own_words(text);
    if text.trim().is_empty() {
        let message = "it has no description: say when to use it, what comes back, and its limits";
        return Some(Finding::error("description.missing", message).of(&tool.name));
    }
    let rest = plain(text);
    let rest = EMPTY_WORDS.iter().fold(rest, |rest, word| rest.replace(word, ""));
    let name = EMPTY_WORDS.iter().fold(plain(&tool.name), |name, word| name.replace(word, ""));
    if !rest.is_empty() && rest != name {
        return None;
    }
    let message = "its description only repeats its name: say when to use it, what comes back, and its limits";
    Some(Finding::warning("description.repeats_name", message).of(&tool.name))
}

/// Without the words in brackets that name the plugin, which some hosts put in front.
fn own_words(text: &str) -> &str {
    match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((front, own)) if front.ends_with(" plugin") || front.starts_with("插件 ") => own,
        Some(_) | None => text,
    }
}

/// The letters and digits.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_must_say_more_than_the_name() {
        let code = |name: &str, text: &str| check(&ToolSpec::new(name, text)).map(|finding| finding.code);
        assert_eq!(code("get_weather", " "), Some("description.missing"));
        for empty in ["[a.b plugin] ", "[插件 a] "] {
            assert_eq!(code("say", empty), Some("description.missing"));
        }
        for text in ["Get weather.", "工具 get_weather", "The tool", "[a.b plugin] get_weather"] {
            let expected = (text != "The tool").then_some("description.repeats_name");
            assert_eq!(code("get_weather", text), expected, "{text}");
        }
        assert_eq!(code("get_weather", "Use when the user asks for the weather."), None);
    }
}
