//! Call ids that a vendor takes.
//!
//! An id that one vendor made is refused by the next. The rules here are pure functions of the id, so that a call and
//! its result, and every later export, get the same one without a table.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::short_hash::short_hash;

/// The longest id in the chat completions of OpenAI.
const OPENAI_MAX: usize = 40;
/// The longest id of Anthropic.
const ANTHROPIC_MAX: usize = 64;
/// The length of every id of Mistral.
const MISTRAL_LENGTH: usize = 9;
/// Digits of the hash that keeps mended ids apart.
const HASH_DIGITS: usize = 7;

/// What a vendor asks of call ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum IdRule {
    /// Every id is fine.
    #[default]
    AsGiven,
    /// One to 40 printable characters.
    #[serde(rename = "openai")]
    OpenAi,
    /// One to 64 of `[a-zA-Z0-9_-]`.
    Anthropic,
    /// Exactly nine of `[a-zA-Z0-9]`.
    Mistral,
}

/// There is no rule of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no id rule `{0}`; the rules are as-given, openai, anthropic and mistral")]
pub struct UnknownIdRule(String);

// === impl IdRule ===

impl IdRule {
    /// Every rule.
    pub const ALL: [Self; 4] = [Self::AsGiven, Self::OpenAi, Self::Anthropic, Self::Mistral];

    /// The name on the command line and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AsGiven => "as-given",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Mistral => "mistral",
        }
    }

    /// The id under which the vendor gets the call `id`.
    ///
    /// A legal id is unchanged. Another is made legal and ends in a hash of the whole id, so that ids which look alike
    /// once they are legal stay different. The same id gives the same result always. Two ids can meet only by chance:
    /// when their hashes do, or when one vendor's id happens to end in the hash of another.
    pub fn apply(self, id: &str) -> Cow<'_, str> {
        if self.is_legal(id) {
            return Cow::Borrowed(id);
        }
        Cow::Owned(match self {
            Self::AsGiven => id.to_owned(),
            Self::OpenAi => with_hash(id, OPENAI_MAX, |c| !c.is_control()),
            Self::Anthropic => with_hash(id, ANTHROPIC_MAX, is_word),
            Self::Mistral => short_hash(id, MISTRAL_LENGTH),
        })
    }

    /// Whether the vendor takes `id` as it is.
    pub fn is_legal(self, id: &str) -> bool {
        match self {
            Self::AsGiven => true,
            Self::OpenAi => (1..=OPENAI_MAX).contains(&id.chars().count()) && !id.chars().any(char::is_control),
            Self::Anthropic => (1..=ANTHROPIC_MAX).contains(&id.len()) && id.chars().all(is_word),
            Self::Mistral => id.len() == MISTRAL_LENGTH && id.chars().all(|c| c.is_ascii_alphanumeric()),
        }
    }
}

impl fmt::Display for IdRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for IdRule {
    type Err = UnknownIdRule;

    fn from_str(name: &str) -> Result<Self, UnknownIdRule> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name).ok_or_else(|| UnknownIdRule(name.to_owned()))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn with_hash(id: &str, max: usize, is_legal: fn(char) -> bool) -> String {
    let stem: String = id.chars().take(max - HASH_DIGITS - 1).map(|c| if is_legal(c) { c } else { '_' }).collect();
    let stem = if stem.is_empty() { "call" } else { &stem };
    format!("{stem}_{}", short_hash(id, HASH_DIGITS))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rules_are_read_and_printed_by_name() {
        for rule in IdRule::ALL {
            assert_eq!(rule.to_string().parse(), Ok(rule));
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.as_str());
        }
        assert!("gemini".parse::<IdRule>().is_err());
    }

    #[test]
    fn legal_ids_stay_as_they_are() {
        for (rule, id) in [
            (IdRule::AsGiven, "a.b|c"),
            (IdRule::OpenAi, "functions.eval:301"),
            (IdRule::OpenAi, "call_PTLP8xhu3uwZk4l3nlnrrJha"),
            (IdRule::Anthropic, "toolu_01A09q90qw90lq917835lq9"),
            (IdRule::Mistral, "a1B2c3D4e"),
        ] {
            assert!(matches!(rule.apply(id), Cow::Borrowed(same) if same == id), "{rule} {id}");
        }
    }

    #[test]
    fn mistral_gets_nine_letters_and_digits_from_every_vendors_ids() {
        let ids = ["call_PTLP8xhu3uwZk4l3nlnrrJha", "turn1_0", "38f04d9ea185424a8dc6ed9a88da5"];
        let mapped: HashSet<_> = ids.map(|id| IdRule::Mistral.apply(id)).into();
        assert_eq!(mapped.len(), 3);
        assert!(mapped.iter().all(|id| IdRule::Mistral.is_legal(id)), "{mapped:?}");
    }

    #[test]
    fn ids_that_look_alike_once_they_are_legal_stay_different() {
        let mapped: HashSet<_> = ["a.b", "a:b", "a_b", "a b"].map(|id| IdRule::Anthropic.apply(id)).into();
        assert_eq!(mapped.len(), 4);
        assert!(mapped.contains("a_b"), "{mapped:?}");
    }

    #[test]
    fn a_pipe_between_two_ids_goes() {
        let mapped = IdRule::Anthropic.apply("call_Q1|fc_0f0d");
        assert!(mapped.starts_with("call_Q1_fc_0f0d_") && IdRule::Anthropic.is_legal(&mapped), "{mapped}");
    }

    #[test]
    fn long_ids_keep_their_start_and_differ_in_their_hash() {
        let (one, two) = (format!("{}a", "x".repeat(80)), format!("{}b", "x".repeat(80)));
        for rule in [IdRule::OpenAi, IdRule::Anthropic] {
            assert_ne!(rule.apply(&one), rule.apply(&two));
            assert!(rule.apply(&one).starts_with("xxxx") && rule.is_legal(&rule.apply(&one)));
        }
    }

    #[test]
    fn the_mapping_is_the_same_after_a_restart() {
        assert_eq!(IdRule::Mistral.apply("turn1_0"), "qlujfjphc");
        assert_eq!(IdRule::Anthropic.apply("a.b"), "a_b_o52duer");
    }

    proptest! {
        #[test]
        fn every_id_becomes_legal_and_stays_so(id in ".{0,100}") {
            for rule in IdRule::ALL {
                let mapped = rule.apply(&id);
                prop_assert!(rule.is_legal(&mapped), "{} {}", rule, mapped);
                prop_assert_eq!(rule.apply(&mapped), &*mapped);
            }
        }

        #[test]
        fn different_ids_stay_different(one in "[a-c.:| ]{1,12}", two in "[a-c.:| ]{1,12}") {
            prop_assume!(one != two);
            for rule in IdRule::ALL {
                prop_assert_ne!(rule.apply(&one), rule.apply(&two));
            }
        }
    }
}
