//! The forms in which the parameters of a tool are declared: a list of records, a map of schemas, a JSON Schema.
//!
//! A map and a schema are both objects. They are told apart by the shape of the values, not by names alone, because a
//! parameter may be called `type` or `properties`.

use serde_json::{Map, Value};

use super::{MAX_DEPTH, ParameterError, ToolParameterInfo, object_schema, parameter_of, sorted};

/// Words of JSON Schema, and of the dialects of it that vendors use.
const KEYWORDS: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "discriminator",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "propertyOrdering",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
];
/// Keywords that hold objects and that nobody calls a parameter by.
const OBJECT_KEYWORDS: [&str; 7] = [
    "$defs",
    "additionalProperties",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
];
/// Keywords that hold objects beside `properties`.
const BESIDE_PROPERTIES: [&str; 6] = ["properties", "not", "if", "then", "else", "discriminator"];
/// Types that no arguments have.
const OTHER_TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "null"];

/// The JSON Schema of the arguments, from any form of `parameters` (seed 000): a list of records, a map from names to
/// schemas, or a JSON Schema, which stays as it is. `null` means no parameters.
///
/// In a map the parameters that say `"required": true` are required, and those that a list `required` beside them names.
///
/// # Errors
/// The declaration has none of these forms, or would lose parameters if it were read as one of them.
pub fn parameters_schema(declared: &Value) -> Result<Value, ParameterError> {
    match declared {
        Value::Null => Ok(object_schema(Map::new(), Vec::new())),
        Value::Array(records) => {
            let read = records.iter().enumerate().map(|(index, record)| parameter_of(record, index));
            ToolParameterInfo::arguments_schema(&read.collect::<Result<Vec<_>, _>>()?)
        }
        Value::Object(fields) if is_map(fields) => map_schema(fields),
        Value::Object(_) => argument_schema(declared),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Err(ParameterError::Form { found: crate::json::a_kind(declared) })
        }
    }
}

/// A JSON Schema for arguments, as it is.
///
/// # Errors
/// It cannot hold for an object, or keeps its parameters where no validator looks for them.
pub(in crate::tool) fn argument_schema(schema: &Value) -> Result<Value, ParameterError> {
    let Value::Object(fields) = schema else {
        return Err(ParameterError::Form { found: crate::json::a_kind(schema) });
    };
    if let Some(found) = other_type(fields.get("type")) {
        return Err(ParameterError::RootType { found });
    }
    let says_what = ["properties", "patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if"];
    if fields.is_empty() || says_what.iter().any(|key| fields.contains_key(*key)) {
        return Ok(schema.clone());
    }
    let strays = || fields.iter().filter(|(key, _)| !is_schema_keyword(key));
    if let Some((name, _)) = strays().find(|(_, value)| says_something(value)) {
        return Err(ParameterError::Misplaced { name: name.clone() });
    }
    match strays().next() {
        Some((name, _)) if !fields.keys().any(|key| is_schema_keyword(key)) => {
            Err(ParameterError::NotSchema { name: name.clone() })
        }
        _ => Ok(schema.clone()),
    }
}

/// Whether `key` is a word of JSON Schema.
pub(in crate::tool) fn is_schema_keyword(key: &str) -> bool {
    KEYWORDS.contains(&key)
}

/// Whether an object maps names to schemas. All its values are objects then, apart from a list `required`.
fn is_map(fields: &Map<String, Value>) -> bool {
    let declared = || fields.iter().filter(|(key, value)| *key != "required" || !value.is_array());
    if !declared().all(|(_, value)| value.is_object()) {
        return false;
    }
    if declared().all(|(key, _)| OBJECT_KEYWORDS.contains(&key.as_str())) {
        return fields.is_empty();
    }
    let holds_properties = fields.get("properties").is_some_and(is_schema_map);
    let is_keyword = |key: &str| OBJECT_KEYWORDS.contains(&key) || BESIDE_PROPERTIES.contains(&key);
    !(holds_properties && declared().all(|(key, _)| is_keyword(key)))
}

/// Whether a value can be the value of the keyword `properties`.
fn is_schema_map(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.values().all(|value| value.is_object() || value.is_boolean()))
}

fn map_schema(fields: &Map<String, Value>) -> Result<Value, ParameterError> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Array(names) => required.extend(names.iter().filter_map(Value::as_str).map(str::to_owned)),
            _ if value.as_object().is_none_or(Map::is_empty) || says_something(value) => {
                properties.insert(name.clone(), value.clone());
            }
            _ => return Err(ParameterError::NotSchema { name: name.clone() }),
        }
    }
    if let Some(name) = required.iter().find(|name| !properties.contains_key(name.as_str())) {
        return Err(ParameterError::Undeclared { name: name.clone() });
    }
    let mut schema = object_schema(properties, required);
    lift_required(&mut schema, 0);
    Ok(schema)
}

/// Moves a boolean `required` out of each property into the list of the object around it.
///
/// Beyond the depth limit it does nothing; the schema's compiler finds such a keyword and says so.
pub(super) fn lift_required(schema: &mut Value, depth: usize) {
    let Some(fields) = schema.as_object_mut() else { return };
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(items) = fields.get_mut("items") {
        take_required(items);
        lift_required(items, depth + 1);
    }
    let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let mut lifted = Vec::new();
    for (name, property) in properties {
        if take_required(property) == Some(true) {
            lifted.push(name.clone());
        }
        lift_required(property, depth + 1);
    }
    if lifted.is_empty() {
        return;
    }
    let listed = fields.get("required").and_then(Value::as_array);
    lifted.extend(listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
    fields.insert("required".to_owned(), sorted(lifted).into());
}

/// Takes a boolean `required` out of a schema.
fn take_required(schema: &mut Value) -> Option<bool> {
    let fields = schema.as_object_mut()?;
    let said = fields.get("required").and_then(Value::as_bool)?;
    fields.shift_remove("required");
    Some(said)
}

/// Whether a value is a schema that says something.
fn says_something(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.keys().any(|key| is_schema_keyword(key)))
}

/// The type of a root that is certainly not an object.
fn other_type(declared: Option<&Value>) -> Option<String> {
    let is_other = |word: &str| OTHER_TYPES.contains(&word);
    match declared? {
        Value::String(word) if is_other(word) => Some(word.clone()),
        Value::Array(words) if words.iter().all(|word| word.as_str().is_some_and(is_other)) => {
            Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "))
        }
        _ => None,
    }
}
