//! What holds for every JSON Schema of a tool's arguments, whoever reads it.

use serde_json::{Map, Value};

use super::Problems;

/// Members that hold one schema, a list of them, or one for each name.
const ONE: [&str; 12] = [
    "items",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "additionalItems",
];
const LIST: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];
const COUNTS: [&str; 6] = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const NUMBERS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const TEXTS: [&str; 6] = ["title", "description", "format", "pattern", "$ref", "$schema"];

/// Every schema in a schema, the outer ones first, with its place.
pub(super) fn each(schema: &Value, place: &str, seen: &mut impl FnMut(&Map<String, Value>, &str)) {
    let Some(keywords) = schema.as_object() else { return };
    seen(keywords, place);
    for (word, value) in keywords {
        let at = format!("{place}/{word}");
        match value {
            Value::Object(inner) if NAMED.contains(&word.as_str()) => {
                inner.iter().for_each(|(name, inner)| each(inner, &format!("{at}/{name}"), seen));
            }
            Value::Array(inner) if LIST.contains(&word.as_str()) => {
                inner.iter().enumerate().for_each(|(index, inner)| each(inner, &format!("{at}/{index}"), seen));
            }
            inner if ONE.contains(&word.as_str()) => each(inner, &at, seen),
            _ => {}
        }
    }
}

/// The root is an object with properties and without compositions.
pub(super) fn root(schema: &Value, place: &str, problems: &mut Problems) {
    problems.unless(schema["type"] == "object", place, "the root is not of type object");
    problems.unless(schema["properties"].is_object(), place, "the root has no properties");
    for word in ["anyOf", "oneOf", "allOf", "enum", "not", "const", "$ref"] {
        problems.unless(schema.get(word).is_none(), place, "the root has a composition");
    }
}

/// The words of draft 2020-12 have the values that they may have.
pub(super) fn words(schema: &Value, place: &str, problems: &mut Problems) {
    each(schema, place, &mut |keywords, at| {
        for (word, value) in keywords {
            let holds = match word.as_str() {
                "type" => types(value),
                "enum" => value.as_array().is_some_and(|values| !values.is_empty() && are_distinct(values)),
                "required" => {
                    value.as_array().is_some_and(|names| are_distinct(names) && names.iter().all(Value::is_string))
                }
                "$ref" => value.as_str().is_some_and(|to| resolves(schema, to)),
                word if COUNTS.contains(&word) => value.is_u64(),
                word if NUMBERS.contains(&word) => value.is_number(),
                word if TEXTS.contains(&word) => value.is_string(),
                word if NAMED.contains(&word) => value.is_object(),
                word if LIST.contains(&word) => value.as_array().is_some_and(|forms| !forms.is_empty()),
                word if ONE.contains(&word) => value.is_object() || value.is_boolean(),
                _ => true,
            };
            problems.unless(holds, at, &format!("`{word}` cannot be {value}"));
        }
    });
}

/// Arrays say what their items are.
pub(super) fn items(schema: &Value, place: &str, problems: &mut Problems) {
    each(schema, place, &mut |keywords, at| {
        let is_list = keywords.get("type").is_some_and(|kind| has_type(kind, "array"));
        problems.unless(!is_list || keywords.contains_key("items"), at, "an array has no items");
    });
}

/// What is required is declared.
pub(super) fn required(keywords: &Map<String, Value>, at: &str, problems: &mut Problems) {
    let properties = keywords.get("properties").and_then(Value::as_object);
    for name in keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let is_known = properties.is_some_and(|properties| properties.contains_key(name));
        problems.unless(is_known, at, &format!("`{name}` is required and not declared"));
    }
}

pub(super) fn has_type(kind: &Value, wanted: &str) -> bool {
    kind == wanted || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == wanted))
}

fn types(kind: &Value) -> bool {
    let known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    known(kind)
        || kind.as_array().is_some_and(|kinds| !kinds.is_empty() && are_distinct(kinds) && kinds.iter().all(known))
}

fn resolves(document: &Value, reference: &str) -> bool {
    reference.strip_prefix('#').is_some_and(|pointer| document.pointer(pointer).is_some())
}

fn are_distinct(values: &[Value]) -> bool {
    values.iter().enumerate().all(|(index, value)| !values[..index].contains(value))
}
