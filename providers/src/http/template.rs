//! Template: text with `{name}` for arguments and `{secrets.name}` for secrets; `{{` and `}}` are braces.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::secret::Secrets;

const SECRET_PREFIX: &str = "secrets.";

/// Text with places for arguments and secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Argument(String),
    Secret(String),
}

/// What the places of a template are filled with.
#[derive(Debug)]
pub(super) struct Values<'a> {
    /// All arguments as one object.
    pub(super) whole: &'a str,
    arguments: IndexMap<String, &'a RawValue>,
    /// JSON texts that stand in for arguments that are absent.
    defaults: &'a IndexMap<String, String>,
    secrets: &'a Secrets,
}

/// How a template is filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    /// Lists and objects are written as JSON; otherwise they are refused.
    pub(super) nested: bool,
    /// What is absent is empty text; otherwise the whole template is left out.
    pub(super) absent_is_empty: bool,
    pub(super) encode: fn(&str) -> String,
}

/// Why a template cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` {reason}")]
pub(super) struct FillError {
    pub(super) name: String,
    pub(super) reason: &'static str,
}

// === impl Template ===

impl Template {
    /// Reads a template.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                literal.push_str(from.get(..1).unwrap_or_default());
                rest = after;
                continue;
            }
            let inner = from.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let Some((name, after)) = inner.filter(|(name, _)| !name.is_empty() && !name.contains('{')) else {
                return Err("a brace stands alone: write `{name}` for an argument, `{{` and `}}` for braces".to_owned());
            };
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(match name.strip_prefix(SECRET_PREFIX) {
                Some(secret) => Part::Secret(secret.to_owned()),
                None => Part::Argument(name.to_owned()),
            });
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// The names of the arguments in it.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Argument(name) => Some(name.as_str()),
            Part::Literal(_) | Part::Secret(_) => None,
        })
    }

    /// The names of the secrets in it.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Secret(name) => Some(name.as_str()),
            Part::Literal(_) | Part::Argument(_) => None,
        })
    }

    /// The argument that the template is, where it is nothing else.
    pub(super) fn only_argument(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether anything in it has to be filled.
    pub(super) fn is_literal(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Literal(_)))
    }

    /// The text; nothing where an argument is absent and the filling leaves out what is.
    pub(super) fn fill(&self, values: &Values<'_>, filling: Filling) -> Result<Option<String>, FillError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Secret(name) => {
                    let secret = values.secrets.get(name);
                    let reason = "is a secret that is not there";
                    let secret = secret.ok_or_else(|| FillError { name: name.clone(), reason })?;
                    text.push_str(&(filling.encode)(secret));
                }
                Part::Argument(name) => {
                    let spelt = values.get(name).map_or(Ok(None), |raw| plain(raw, filling.nested));
                    match spelt.map_err(|reason| FillError { name: name.clone(), reason })? {
                        Some(plain) => text.push_str(&(filling.encode)(&plain)),
                        None if filling.absent_is_empty => {}
                        None => return Ok(None),
                    }
                }
            }
        }
        Ok(Some(text))
    }
}

// === impl Values ===

impl<'a> Values<'a> {
    /// Arguments, as the JSON text of an object.
    pub(super) fn new(
        arguments: &'a str,
        defaults: &'a IndexMap<String, String>,
        secrets: &'a Secrets,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self { whole: arguments, arguments: serde_json::from_str(arguments)?, defaults, secrets })
    }

    /// The JSON text of an argument, or of its default.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let given = self.arguments.get(name).map(|raw| raw.get());
        given.or_else(|| self.defaults.get(name).map(String::as_str))
    }
}

// === impl Filling ===

impl Filling {
    /// For headers, parameters and fields of forms.
    pub(super) const PLAIN: Self = Self { nested: false, absent_is_empty: false, encode: str::to_owned };
    /// For bodies of text.
    pub(super) const TEXT: Self = Self { nested: true, absent_is_empty: true, encode: str::to_owned };
}

/// A JSON value as plain text: without quotes, and nothing for `null`. Numbers keep their digits.
pub(super) fn plain(raw: &str, nested: bool) -> Result<Option<String>, &'static str> {
    match raw.as_bytes().first() {
        Some(b'n') => Ok(None),
        Some(b'"') => serde_json::from_str(raw).map(Some).map_err(|_| "has half a character in it"),
        Some(b'{' | b'[') if !nested => Err("must be text, a number or a boolean here"),
        _ => Ok(Some(raw.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_doubled_braces_are_braces() {
        let (defaults, secrets) = (IndexMap::new(), Secrets::of([("key", "s3cret")]));
        let arguments = r#"{"n":123456789012345678901234567890,"t":"你 好","none":null,"list":[1]}"#;
        let values = Values::new(arguments, &defaults, &secrets).unwrap();
        let fill = |text: &str, filling| Template::parse(text).unwrap().fill(&values, filling);
        assert_eq!(fill("a{{{n}}}b", Filling::PLAIN), Ok(Some("a{123456789012345678901234567890}b".to_owned())));
        assert_eq!(fill("Bearer {secrets.key}", Filling::PLAIN), Ok(Some("Bearer s3cret".to_owned())));
        assert_eq!(fill("{t}, {none}", Filling::PLAIN), Ok(None));
        assert_eq!(fill("{t}, {absent}.", Filling::TEXT), Ok(Some("你 好, .".to_owned())));
        assert_eq!(fill("{list}", Filling::TEXT), Ok(Some("[1]".to_owned())));
        assert_eq!(fill("{list}", Filling::PLAIN).unwrap_err().name, "list");
    }

    #[test]
    fn a_lone_brace_is_a_mistake() {
        for text in ["{", "}", "a{b", "{}", "{a{b}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        assert!(Template::parse("{a}b{c}").unwrap().only_argument().is_none());
        assert_eq!(Template::parse("{a}").unwrap().only_argument(), Some("a"));
    }
}
