//! Names: the id of a tool, and the name under which a model calls it.
//!
//! A model name fits every vendor: one to 64 characters of `[A-Za-z0-9_-]`. The table that maps it back is the only way
//! from a name to a tool; no name is ever split to find its parts.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use ahash::RandomState;
use serde::{Deserialize, Serialize};

use crate::short_hash::short_hash;

/// The longest model name.
const MAX_MODEL_NAME: usize = 64;
/// `_` and seven digits of base 36.
const HASH_SUFFIX: usize = 8;

/// `<plugin>.<name>`: what configuration, policy and records call a tool.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct ToolId(Arc<str>);

/// Whether a provider's tools carry its name in front, as the model sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameForm {
    /// `<name>`: built-in, in-process, scripted and plugin tools.
    Bare,
    /// `<plugin>__<name>`: MCP and HTTP tools.
    Qualified,
}

/// Gives each tool of one table its model name, in order of precedence.
///
/// The hash suffix only separates different tools whose names become the same legal name. Names that are legal as they
/// stand are never given to another tool. Tools that want the very same name have to be told apart before.
#[derive(Debug, Default)]
pub(crate) struct ModelNames {
    taken: HashSet<Arc<str>, RandomState>,
}

// === impl ToolId ===

impl ToolId {
    /// The id of tool `name` of `provider`.
    pub fn new(provider: &str, name: &str) -> Self {
        Self(format!("{provider}.{name}").into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

// === impl ModelNames ===

impl ModelNames {
    /// Keeps the names that are legal as they stand for those who want them.
    pub(crate) fn reserving<'a>(wanted: impl Iterator<Item = &'a str>) -> Self {
        Self { taken: wanted.filter(|name| is_legal(name)).map(Arc::from).collect() }
    }

    /// The model name for the tool that wants to be called `wanted`.
    pub(crate) fn assign(&mut self, wanted: &str) -> Arc<str> {
        if is_legal(wanted) {
            return wanted.into();
        }
        let plain = model_name(wanted);
        if self.taken.insert(Arc::clone(&plain)) {
            return plain;
        }
        let numbered = (0_u32..).map(|n| if n == 0 { wanted.to_owned() } else { format!("{wanted}#{n}") });
        let free = numbered.map(|seed| Arc::from(with_suffix(&plain, &seed))).find(|name| !self.taken.contains(name));
        let name = free.unwrap_or(plain);
        self.taken.insert(Arc::clone(&name));
        name
    }
}

impl NameForm {
    /// The name that a tool wants to be called by, before it is made legal.
    pub(crate) fn wanted(self, provider: &str, tool: &str) -> String {
        match self {
            Self::Bare => tool.to_owned(),
            Self::Qualified => format!("{provider}__{tool}"),
        }
    }
}

/// The legal model name nearest to `wanted`.
///
/// Illegal characters become `_`. A name that is too long, or that has nothing legal in it, ends in a hash of the whole
/// wanted name, so that it stays the same from one start to the next.
pub fn model_name(wanted: &str) -> Arc<str> {
    if is_legal(wanted) {
        return wanted.into();
    }
    let replaced: String = wanted.chars().map(|c| if is_legal_char(c) { c } else { '_' }).collect();
    let says_something = replaced.chars().any(|c| c.is_ascii_alphanumeric());
    if says_something && replaced.len() <= MAX_MODEL_NAME {
        return replaced.into();
    }
    let stem = if says_something { replaced.as_str() } else { "tool" };
    with_suffix(stem, wanted).into()
}

fn is_legal(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_MODEL_NAME && name.chars().all(is_legal_char)
}

fn is_legal_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// `stem` is legal apart from its length, so cutting it by bytes is safe.
fn with_suffix(stem: &str, wanted: &str) -> String {
    let keep = stem.len().min(MAX_MODEL_NAME - HASH_SUFFIX);
    format!("{}_{}", &stem[..keep], short_hash(wanted, HASH_SUFFIX - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_names_stay_as_they_are() {
        assert_eq!(&*model_name("get_weather-2"), "get_weather-2");
    }

    #[test]
    fn dotted_and_chinese_names_become_legal() {
        assert_eq!(&*model_name("a.b"), "a_b");
        let chinese = model_name("天气");
        assert!(is_legal(&chinese) && chinese.starts_with("tool_"), "{chinese}");
        assert_ne!(chinese, model_name("时间"));
    }

    #[test]
    fn overlong_names_keep_their_start_and_differ_in_their_hash() {
        let one = model_name(&format!("{}a", "x".repeat(100)));
        let two = model_name(&format!("{}b", "x".repeat(100)));
        assert_eq!((one.len(), two.len()), (64, 64));
        assert_ne!(one, two);
    }

    #[test]
    fn different_names_that_become_equal_are_kept_apart() {
        let mut names = ModelNames::default();
        let first = names.assign("a.b");
        let second = names.assign("a/b");
        assert_eq!(&*first, "a_b");
        assert!(second.starts_with("a_b_") && is_legal(&second), "{second}");
    }

    #[test]
    fn a_legal_name_is_never_given_to_another_tool() {
        let mut names = ModelNames::reserving(["a.b", "a_b"].into_iter());
        assert_ne!(&*names.assign("a.b"), "a_b");
        assert_eq!(&*names.assign("a_b"), "a_b");
    }
}
