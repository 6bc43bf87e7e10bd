//! The rule for names that plugins of seed 002 keep: what is declared is what a model calls.

use crate::call::Locale;

/// The longest name.
const MAX_NAME: usize = 64;

/// Why a name breaks the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It has no character.
    #[error("the name of a tool must not be empty")]
    Empty,
    /// It is longer than 64 characters.
    #[error("the name of a tool has at most {MAX_NAME} characters, not {characters}")]
    Long {
        /// How many characters it has.
        characters: usize,
    },
    /// It has a character that is not allowed.
    #[error("the name of a tool has only letters, digits, `_` and `-` of ASCII, not {character:?}")]
    Character {
        /// The first such character.
        character: char,
    },
}

// === impl NameError ===

impl NameError {
    /// The reason in a language for people.
    pub fn message(&self, locale: Locale) -> String {
        match locale {
            Locale::En => self.to_string(),
            Locale::Zh => format!("工具名只能使用字母、数字、下划线和连字符，最长 {MAX_NAME}"),
        }
    }
}

/// Checks that the whole name is 1 to 64 characters of `[a-zA-Z0-9_-]` (seed 002).
///
/// # Errors
/// Says which part of the rule the name breaks.
pub fn check_tool_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if let Some(character) = name.chars().find(|c| !is_allowed(*c)) {
        return Err(NameError::Character { character });
    }
    if name.len() > MAX_NAME { Err(NameError::Long { characters: name.len() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_name_keeps_the_rule() {
        for name in ["a", "content_query", "code-analyzer", "9", &"x".repeat(64)] {
            assert_eq!(check_tool_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_name_that_breaks_the_rule_is_told_how() {
        let cases = [
            ("", NameError::Empty),
            ("a.b", NameError::Character { character: '.' }),
            ("天气", NameError::Character { character: '天' }),
            ("name\n", NameError::Character { character: '\n' }),
            (&"x".repeat(65), NameError::Long { characters: 65 }),
        ];
        for (name, expected) in cases {
            assert_eq!(check_tool_name(name), Err(expected), "{name:?}");
        }
        assert_eq!(NameError::Empty.message(Locale::Zh), "工具名只能使用字母、数字、下划线和连字符，最长 64");
    }
}
