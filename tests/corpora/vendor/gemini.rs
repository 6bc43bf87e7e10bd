//! Gemini's `FunctionDeclaration`, its `Schema`, and the words that it documents for JSON Schemas.

use serde_json::{Map, Value};

use super::{NameRule, Problems, listed, schema};

const NAMES: NameRule = NameRule { longest: 64, more: "_.:-", starts_as_word: true };
/// What one declaration may weigh.
const MAX_BYTES: usize = 64 << 10;

const SCHEMA_WORDS: [&str; 22] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];
const JSON_WORDS: [&str; 21] = [
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
];
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Declarations with `parameters`.
pub(crate) fn parameters(document: &Value) -> Problems {
    let mut problems = Problems::default();
    for declaration in declarations(document) {
        let name = declaration["name"].as_str().unwrap_or_default();
        problems.members(declaration, name, &["name", "description", "parameters"]);
        problems.unless(declaration["description"].is_string(), name, "has no description");
        problems.unless(declaration.to_string().len() < MAX_BYTES, name, "is too large");
        let Some(parameters) = declaration.get("parameters") else { continue };
        problems.unless(parameters["type"] == "object", name, "the root is no object");
        let has_some = parameters["properties"].as_object().is_some_and(|properties| !properties.is_empty());
        problems.unless(has_some, name, "the root has no properties");
        schema::each(parameters, name, &mut |keywords, at| node(keywords, at, &mut problems));
    }
    names(document, &mut problems);
    problems
}

/// Declarations with `parametersJsonSchema`.
pub(crate) fn json_schema(document: &Value) -> Problems {
    let mut problems = Problems::default();
    for declaration in declarations(document) {
        let name = declaration["name"].as_str().unwrap_or_default();
        problems.members(declaration, name, &["name", "description", "parametersJsonSchema"]);
        let parameters = &declaration["parametersJsonSchema"];
        schema::root(parameters, name, &mut problems);
        schema::words(parameters, name, &mut problems);
        schema::each(parameters, name, &mut |keywords, at| json_node(keywords, at, &mut problems));
    }
    names(document, &mut problems);
    problems
}

pub(crate) fn declarations(document: &Value) -> &[Value] {
    listed(&listed(document)[0]["functionDeclarations"])
}

fn names(document: &Value, problems: &mut Problems) {
    problems.unless(listed(document).len() == 1, "the document", "has more than one list");
    problems.names(declarations(document).iter().map(|declaration| &declaration["name"]), &NAMES);
}

fn node(keywords: &Map<String, Value>, at: &str, problems: &mut Problems) {
    for word in keywords.keys().filter(|word| !SCHEMA_WORDS.contains(&word.as_str())) {
        problems.add(at, format!("`{word}` is unknown"));
    }
    if let Some(forms) = keywords.get("anyOf") {
        problems.unless(keywords.len() == 1, at, "something stands beside anyOf");
        problems.unless(forms.as_array().is_some_and(|forms| !forms.is_empty()), at, "there are no alternatives");
        return;
    }
    let kind = keywords.get("type").and_then(Value::as_str).unwrap_or_default();
    problems.unless(TYPES.contains(&kind), at, "has no single type");
    problems.unless(kind != "array" || keywords.get("items").is_some_and(Value::is_object), at, "has no items");
    for word in ["title", "description", "format", "pattern"] {
        problems.unless(keywords.get(word).is_none_or(Value::is_string), at, "a text is none");
    }
    for word in ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"] {
        problems.unless(keywords.get(word).is_none_or(Value::is_u64), at, "a count is none");
    }
    for word in ["minimum", "maximum"] {
        problems.unless(keywords.get(word).is_none_or(Value::is_number), at, "a bound is no number");
    }
    if let Some(values) = keywords.get("enum") {
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        let values = listed(values);
        problems.unless(kind == "string", at, "lists values, and is no string");
        problems.unless(!values.is_empty() && values.iter().all(is_text), at, "lists something else than texts");
    }
    if let Some(format) = keywords.get("format").and_then(Value::as_str) {
        let known: &[&str] = match kind {
            "string" => &["enum", "date-time"],
            "number" => &["float", "double"],
            "integer" => &["int32", "int64"],
            _ => &[],
        };
        problems.unless(known.contains(&format), at, "an unknown format");
    }
    let declared = keywords.get("properties").and_then(Value::as_object);
    problems.unless(declared.is_none_or(|declared| !declared.is_empty()), at, "its properties are empty");
    problems.unless(declared.is_none() || kind == "object", at, "has properties, and is no object");
    schema::required(keywords, at, problems);
}

fn json_node(keywords: &Map<String, Value>, at: &str, problems: &mut Problems) {
    for word in keywords.keys().filter(|word| !JSON_WORDS.contains(&word.as_str())) {
        problems.add(at, format!("`{word}` is unknown"));
    }
    if keywords.contains_key("$ref") {
        problems.unless(keywords.keys().all(|word| word.starts_with('$')), at, "something stands beside a reference");
    }
    let is_plain = |value: &Value| value.is_string() || value.is_number();
    let values = keywords.get("enum").map(listed).unwrap_or_default();
    problems.unless(values.iter().all(is_plain), at, "lists something else than texts and numbers");
    schema::required(keywords, at, problems);
}
