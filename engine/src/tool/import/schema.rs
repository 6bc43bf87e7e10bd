//! Finding the schema of a definition, whatever the vendor calls it.

use serde_json::{Map, Value, json};

use super::{DefinitionError, gemini};
use crate::tool::parameter::{argument_schema, parameters_schema};

/// Keys that hold a JSON Schema and nothing else.
const SCHEMA_KEYS: [&str; 5] =
    ["inputSchema", "input_schema", "parametersJsonSchema", "parameters_json_schema", "parameters_schema"];
/// Keys that hold the schema of the result.
const OUTPUT_KEYS: [&str; 5] =
    ["outputSchema", "output_schema", "responseJsonSchema", "response_json_schema", "response"];
/// Keys that hold something else, whatever it looks like.
const OTHER_KEYS: [&str; 10] = [
    "_meta",
    "annotation",
    "annotations",
    "cache_control",
    "execution",
    "function",
    "icons",
    "metadata",
    "summaries",
    "titles",
];

/// The schema of the arguments.
///
/// MCP and Anthropic forbid a schema that is `null`; clients of the others write `null` for a field that is not set.
pub(super) fn arguments(fields: &Map<String, Value>) -> Result<Value, DefinitionError> {
    let declared = fields.get("parameters").filter(|declared| !declared.is_null());
    // xbot lists its parameters beside the schema that is made of them.
    let is_listed = declared.is_some_and(Value::is_array);
    let mut found: Vec<(&'static str, Value)> = Vec::new();
    for key in SCHEMA_KEYS {
        match fields.get(key) {
            None => {}
            Some(Value::Null) if is_listed || !key.starts_with("input") => {}
            Some(Value::Null) => return Err(DefinitionError::NullSchema(key)),
            Some(schema) => found.push((key, checked(key, schema)?)),
        }
    }
    let is_empty = declared.and_then(Value::as_object).is_some_and(Map::is_empty);
    if let Some(declared) = declared.filter(|_| found.is_empty() || !(is_listed || is_empty)) {
        found.push(("parameters", declared_parameters(declared)?));
    }
    let mut found = found.into_iter();
    let Some((key, schema)) = found.next() else {
        return match unknown_schema(fields) {
            Some(key) => Err(DefinitionError::UnknownKey(key.to_owned())),
            None => Ok(json!({"type": "object", "properties": {}})),
        };
    };
    match found.find(|(_, other)| *other != schema) {
        Some((other, _)) => Err(DefinitionError::Contradiction(key, other)),
        None => Ok(schema),
    }
}

/// The schema of the structured result.
pub(super) fn output(fields: &Map<String, Value>) -> Result<Option<Value>, DefinitionError> {
    for key in OUTPUT_KEYS {
        match fields.get(key) {
            None | Some(Value::Null) => {}
            Some(schema @ (Value::Object(_) | Value::Bool(_))) => {
                let is_gemini = key == "response" || gemini::is_own(schema);
                return Ok(Some(if is_gemini { gemini::json_schema(schema) } else { schema.clone() }));
            }
            Some(_) => return Err(DefinitionError::Field { key, expected: "a JSON Schema" }),
        }
    }
    Ok(None)
}

/// A key under which a schema seems to stand, in a definition that has none where one belongs.
pub(super) fn unknown_schema(fields: &Map<String, Value>) -> Option<&str> {
    let suspects = fields.iter().filter(|(key, value)| {
        let key = key.as_str();
        let is_known = key == "parameters" || OUTPUT_KEYS.contains(&key) || OTHER_KEYS.contains(&key);
        !is_known && !value.is_null()
    });
    suspects.map(|(key, value)| (key.as_str(), value)).find(|(key, value)| is_suspect(key, value)).map(|(key, _)| key)
}

fn declared_parameters(declared: &Value) -> Result<Value, DefinitionError> {
    let broken = |reason| DefinitionError::Parameters { key: "parameters", reason };
    if gemini::is_own(declared) {
        return argument_schema(&gemini::json_schema(declared)).map_err(broken);
    }
    parameters_schema(declared).map_err(broken)
}

fn checked(key: &'static str, schema: &Value) -> Result<Value, DefinitionError> {
    argument_schema(schema).map_err(|reason| DefinitionError::Parameters { key, reason })
}

fn is_suspect(key: &str, value: &Value) -> bool {
    const NAMES: [&str; 8] = ["args", "arguments", "input", "inputs", "properties", "required", "request", "signature"];
    let key = key.to_ascii_lowercase();
    let looks_like_schema = value.as_object().is_some_and(|fields| {
        let is_object =
            fields.get("type").and_then(Value::as_str).is_some_and(|word| word.eq_ignore_ascii_case("object"));
        is_object || fields.get("properties").is_some_and(Value::is_object) || fields.contains_key("$ref")
    });
    looks_like_schema || key.contains("schema") || key.contains("param") || NAMES.contains(&key.as_str())
}
