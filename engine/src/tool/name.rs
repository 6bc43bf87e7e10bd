//! Names: the id of a tool, and the name under which a model calls it.
//!
//! A model name fits every vendor: one to 64 characters of `[A-Za-z0-9_-]`, the first a letter or `_`. The table that maps it back is the only way
//! from a name to a tool; no name is ever split to find its parts.

use std::borrow::Borrow;
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
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
/// stand are never given to another tool; of two tools that want the very same one, the first gets it.
#[derive(Debug, Default)]
pub(crate) struct ModelNames {
    reserved: HashSet<Arc<str>, RandomState>,
    given: HashSet<Arc<str>, RandomState>,
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

impl Borrow<str> for ToolId {
    fn borrow(&self) -> &str {
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
        Self { reserved: wanted.filter(|name| is_legal(name)).map(Arc::from).collect(), ..Self::default() }
    }

    /// The model name for the tool with this id that wants to be called `wanted`.
    pub(crate) fn assign(&mut self, wanted: &str, id: &ToolId) -> Arc<str> {
        let plain = model_name(wanted);
        let is_free = &*plain == wanted || !self.reserved.contains(&plain);
        if is_free && self.given.insert(Arc::clone(&plain)) {
            return plain;
        }
        let seed = if &*plain == wanted { id.as_str() } else { wanted };
        let numbered = (0_u32..).map(|n| if n == 0 { seed.to_owned() } else { format!("{seed}#{n}") });
        let taken = |name: &Arc<str>| self.reserved.contains(name) || self.given.contains(name);
        let free = numbered.map(|seed| Arc::from(with_suffix(&plain, &seed))).find(|name| !taken(name));
        let name = free.unwrap_or(plain);
        self.given.insert(Arc::clone(&name));
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
/// Illegal characters become `_`, and `_` stands before a first digit or hyphen. A name that is too long, that loses letters
/// (as Chinese ones do), or that has nothing legal in it, ends in a hash of the whole wanted name, so that it stays the same
/// whatever other tools there are.
pub fn model_name(wanted: &str) -> Arc<str> {
    if is_legal(wanted) {
        return wanted.into();
    }
    let starts_well = wanted.starts_with(|c: char| c.is_ascii_alphabetic() || !is_legal_char(c) || c == '_');
    let front = if starts_well { "" } else { "_" };
    let replaced: String =
        front.chars().chain(wanted.chars().map(|c| if is_legal_char(c) { c } else { '_' })).collect();
    let says_something = replaced.chars().any(|c| c.is_ascii_alphanumeric());
    let loses_letters = wanted.chars().any(|c| c.is_alphanumeric() && !c.is_ascii());
    if says_something && !loses_letters && replaced.len() <= MAX_MODEL_NAME {
        return replaced.into();
    }
    let stem = if says_something { replaced.trim_end_matches('_') } else { "tool" };
    with_suffix(stem, wanted).into()
}

fn is_legal(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.len() <= MAX_MODEL_NAME && name.chars().all(is_legal_char)
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
        let qualified = model_name("local__天气");
        assert!(qualified.starts_with("local_") && !qualified.contains("__"), "{qualified}");
        assert_ne!(qualified, model_name("local__时间"), "whichever is listed first");
    }

    #[test]
    fn overlong_names_keep_their_start_and_differ_in_their_hash() {
        let one = model_name(&format!("{}a", "x".repeat(100)));
        let two = model_name(&format!("{}b", "x".repeat(100)));
        assert_eq!((one.len(), two.len()), (64, 64));
        assert_ne!(one, two);
    }

    #[test]
    fn names_start_with_a_letter_or_an_underscore() {
        assert_eq!(&*model_name("3d-render"), "_3d-render");
        assert_eq!(&*model_name("-x"), "_-x");
        assert!(model_name(&format!("3{}", "x".repeat(63))).starts_with("_3x"));
        assert_eq!(model_name(&format!("3{}", "x".repeat(63))).len(), 64);
    }

    #[test]
    fn different_names_that_become_equal_are_kept_apart() {
        let mut names = ModelNames::default();
        let first = names.assign("a.b", &ToolId::new("p", "a.b"));
        let second = names.assign("a/b", &ToolId::new("p", "a/b"));
        assert_eq!(&*first, "a_b");
        assert!(second.starts_with("a_b_") && is_legal(&second), "{second}");
    }

    #[test]
    fn equal_names_of_different_tools_are_kept_apart_by_their_ids() {
        let mut names = ModelNames::reserving(["a__b__c", "a__b__c"].into_iter());
        assert_eq!(&*names.assign("a__b__c", &ToolId::new("a__b", "c")), "a__b__c");
        let second = names.assign("a__b__c", &ToolId::new("a", "b__c"));
        assert!(second.starts_with("a__b__c_") && is_legal(&second), "{second}");
    }

    #[test]
    fn a_legal_name_is_never_given_to_another_tool() {
        let mut names = ModelNames::reserving(["a.b", "a_b"].into_iter());
        assert_ne!(&*names.assign("a.b", &ToolId::new("p", "a.b")), "a_b");
        assert_eq!(&*names.assign("a_b", &ToolId::new("p", "a_b")), "a_b");
    }
}
