//! OpenAI's function calling guide, its guide to structured outputs, and the API reference.

use serde_json::{Map, Value};

use super::schema::{self, has_type};
use super::{NameRule, Problems, listed};

const NAMES: NameRule = NameRule { longest: 64, more: "_-", starts_as_word: false };
const LONGEST_DESCRIPTION: usize = 1_024;

/// What strict mode takes in a schema.
const STRICT_WORDS: [&str; 20] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "title",
    "description",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
];
const STRICT_FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The `tools` of chat completions.
pub(crate) fn chat(document: &Value) -> Problems {
    let mut problems = Problems::default();
    for tool in listed(document) {
        problems.members(tool, "a tool", &["type", "function"]);
        problems.unless(tool["type"] == "function", "a tool", "is not of type function");
        function(&tool["function"], &["name", "description", "parameters", "strict"], &mut problems);
    }
    problems.names(listed(document).iter().map(|tool| &tool["function"]["name"]), &NAMES);
    problems
}

/// The `tools` of Responses.
pub(crate) fn responses(document: &Value) -> Problems {
    let mut problems = Problems::default();
    for tool in listed(document) {
        problems.unless(tool["type"] == "function", "a tool", "is not of type function");
        // Without the word the vendor takes strict mode for granted.
        problems.unless(tool["strict"].is_boolean(), "a tool", "does not say whether it is strict");
        function(tool, &["type", "name", "description", "parameters", "strict"], &mut problems);
    }
    problems.names(listed(document).iter().map(|tool| &tool["name"]), &NAMES);
    problems
}

/// How many definitions ask for strict mode.
pub(crate) fn count_strict(document: &Value) -> usize {
    let is_strict = |tool: &&Value| tool["strict"] == true || tool["function"]["strict"] == true;
    listed(document).iter().filter(is_strict).count()
}

fn function(function: &Value, known: &[&str], problems: &mut Problems) {
    let name = function["name"].as_str().unwrap_or_default();
    problems.members(function, name, known);
    let length = function["description"].as_str().map(|text| text.chars().count());
    problems.unless(length.is_some_and(|length| length <= LONGEST_DESCRIPTION), name, "its description is too long");
    let parameters = &function["parameters"];
    schema::root(parameters, name, problems);
    schema::words(parameters, name, problems);
    schema::items(parameters, name, problems);
    if function["strict"] == true {
        strict(parameters, name, problems);
    }
}

fn strict(parameters: &Value, name: &str, problems: &mut Problems) {
    let (mut properties, mut values, mut text) = (0, 0, 0);
    schema::each(parameters, name, &mut |keywords, at| {
        strict_node(keywords, at, problems);
        let declared = keywords.get("properties").and_then(Value::as_object);
        properties += declared.map_or(0, Map::len);
        text += declared.map_or(0, |declared| declared.keys().map(String::len).sum::<usize>());
        text += keywords.get("$defs").and_then(Value::as_object).map_or(0, |all| all.keys().map(String::len).sum());
        let listed = keywords.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let own: usize = listed.iter().chain(keywords.get("const")).filter_map(Value::as_str).map(str::len).sum();
        problems.unless(listed.len() <= 250 || own <= 15_000, at, "a list of values is too long");
        values += listed.len();
        text += own;
    });
    problems.unless(properties <= 5_000, name, "too many properties");
    problems.unless(values <= 1_000, name, "too many listed values");
    problems.unless(text <= 120_000, name, "too much text");
    problems.unless(object_levels(parameters, 0) <= 10, name, "objects are nested too deep");
}

fn strict_node(keywords: &Map<String, Value>, at: &str, problems: &mut Problems) {
    for word in keywords.keys().filter(|word| !STRICT_WORDS.contains(&word.as_str()) && *word != "maxItems") {
        problems.add(at, format!("`{word}` is not taken in strict mode"));
    }
    if keywords.contains_key("$ref") {
        problems.unless(keywords.len() == 1, at, "something stands beside a reference");
        return;
    }
    let kind = keywords.get("type");
    problems.unless(kind.is_some() || keywords.contains_key("anyOf"), at, "has no type");
    if let Some(format) = keywords.get("format") {
        problems.unless(STRICT_FORMATS.iter().any(|known| format == known), at, "an unknown format");
    }
    if kind.is_some_and(|kind| has_type(kind, "object")) {
        let names = |value: Option<&Value>| -> Vec<String> {
            let names = value.and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let declared = keywords.get("properties").and_then(Value::as_object);
        let mut declared: Vec<String> = declared.into_iter().flat_map(Map::keys).cloned().collect();
        declared.sort();
        problems.unless(names(keywords.get("required")) == declared, at, "not all properties are required, sorted");
        problems.unless(keywords.get("additionalProperties") == Some(&Value::Bool(false)), at, "an object is open");
    }
}

fn object_levels(schema: &Value, level: usize) -> usize {
    if level > 20 {
        return level;
    }
    let is_object = schema.get("type").is_some_and(|kind| has_type(kind, "object"));
    let level = if is_object { level + 1 } else { level };
    let forms = schema["anyOf"].as_array().into_iter().flatten().chain(schema.get("items"));
    let inner = schema["properties"].as_object().into_iter().flat_map(Map::values).chain(forms);
    inner.map(|inner| object_levels(inner, level)).max().unwrap_or(level)
}
