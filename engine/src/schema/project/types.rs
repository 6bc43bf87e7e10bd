//! Which types a schema admits.

use serde_json::{Map, Value, json};

use super::merge::type_words;

/// The types that a schema admits.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) words: Vec<&'static str>,
    pub(super) nullable: bool,
}

/// Keywords that are about one type only.
pub(super) const ABOUT: [(&str, &[&str]); 4] = [
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "propertyOrdering",
        ],
    ),
    ("array", &["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"]),
    ("string", &["pattern", "minLength", "maxLength", "format"]),
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

/// The types that a schema names; without `type`, those of its values, or the one that its keywords are about.
pub(super) fn types(keywords: &Map<String, Value>) -> Types {
    let mut types = Types::default();
    let named = keywords.get("type").map(type_words).unwrap_or_default();
    let values: Vec<&Value> = match (keywords.get("const"), keywords.get("enum").and_then(Value::as_array)) {
        (Some(value), _) => vec![value],
        (None, Some(values)) => values.iter().collect(),
        (None, None) => Vec::new(),
    };
    for value in &values {
        types.add(word_of(value));
    }
    if !named.is_empty() {
        let has = |word: &str| named.iter().any(|name| name == word);
        let of_values = std::mem::take(&mut types);
        let fits = |word: &str| has(word) || (word == "integer" && has("number"));
        types.words = of_values.words.into_iter().filter(|word| fits(word)).collect();
        types.nullable = has("null") && (values.is_empty() || of_values.nullable);
        if types.words.is_empty() && !types.nullable {
            named.iter().for_each(|word| types.add(word));
            types.nullable = has("null");
        } else if values.is_empty() {
            named.iter().for_each(|word| types.add(word));
        }
    } else if values.is_empty() {
        words_about(keywords).into_iter().for_each(|word| types.add(word));
    }
    if keywords.get("nullable") == Some(&json!(true)) {
        types.nullable |= !types.words.is_empty();
    }
    types
}

/// Whether null is all that fits.
pub(super) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| type_words(kind) == ["null"])
        || schema.get("const").is_some_and(Value::is_null)
        || schema.get("enum") == Some(&json!([null]))
}

/// The type of a value.
fn word_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The one type that a schema's keywords are about; nothing when there is none, or more.
fn words_about(keywords: &Map<String, Value>) -> Vec<&'static str> {
    let about: Vec<&'static str> = ABOUT
        .into_iter()
        .filter(|(_, words)| words.iter().any(|word| keywords.contains_key(*word)))
        .map(|(kind, _)| kind)
        .collect();
    if about.len() == 1 { about } else { Vec::new() }
}

// === impl Types ===

impl Types {
    fn add(&mut self, word: &str) {
        let words = ["string", "integer", "number", "boolean", "array", "object"];
        self.nullable |= word == "null";
        if let Some(word) = words.into_iter().find(|known| *known == word)
            && !self.words.contains(&word)
        {
            self.words.push(word);
        }
        if self.words.contains(&"number") {
            self.words.retain(|word| *word != "integer");
        }
    }
}
