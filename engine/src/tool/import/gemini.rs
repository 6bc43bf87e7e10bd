//! Gemini's form: a list of function declarations, whose `parameters` speak OpenAPI's dialect of JSON Schema.

use serde_json::{Map, Value, json};

use super::{DefinitionError, plain};
use crate::tool::ToolSpec;

/// How deep a schema is translated; what lies deeper stays as it is.
const MAX_DEPTH: usize = 64;
/// Limits that the wire form writes as text, because they have 64 bits.
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// The list of declarations in a tool of Gemini, and the key it stands under.
pub(super) fn declarations(tool: &Value) -> Option<(&'static str, &Vec<Value>)> {
    let keys = ["functionDeclarations", "function_declarations"];
    keys.into_iter().find_map(|key| Some((key, tool.get(key)?.as_array()?)))
}

/// One function declaration.
pub(super) fn definition(fields: &Map<String, Value>) -> Result<ToolSpec, DefinitionError> {
    let Some(parameters) = fields.get("parameters").filter(|declared| declared.is_object()) else {
        return plain::definition(fields);
    };
    let mut translated = fields.clone();
    translated.insert("parameters".to_owned(), json_schema(parameters));
    plain::definition(&translated)
}

/// Whether a schema is surely in this dialect: its type is written in capitals.
pub(super) fn is_own(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("OBJECT")
}

/// The same schema in JSON Schema: types in lower case, `nullable` as a type, counts as numbers.
pub(super) fn json_schema(schema: &Value) -> Value {
    let mut schema = schema.clone();
    translate(&mut schema, 0);
    schema
}

fn translate(schema: &mut Value, depth: usize) {
    let Some(fields) = schema.as_object_mut() else { return };
    if depth > MAX_DEPTH {
        return;
    }
    translate_words(fields);
    for key in ["properties", "$defs"] {
        for property in fields.get_mut(key).and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
            translate(property, depth + 1);
        }
    }
    for key in ["items", "additionalProperties"] {
        fields.get_mut(key).into_iter().for_each(|nested| translate(nested, depth + 1));
    }
    for key in ["anyOf", "prefixItems"] {
        for nested in fields.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            translate(nested, depth + 1);
        }
    }
}

fn translate_words(fields: &mut Map<String, Value>) {
    let word = fields.get("type").and_then(Value::as_str).map(str::to_ascii_lowercase);
    if word.as_deref() == Some("type_unspecified") {
        fields.shift_remove("type");
    } else if let Some(word) = word {
        fields.insert("type".to_owned(), Value::String(word));
    }
    if fields.get("nullable") == Some(&Value::Bool(true)) {
        admit_null(fields);
    }
    fields.shift_remove("nullable");
    for key in COUNTS {
        let count = fields.get(key).and_then(Value::as_str).and_then(|text| text.parse::<u64>().ok());
        if let Some(count) = count {
            fields.insert(key.to_owned(), count.into());
        }
    }
}

/// Adds `null` to the values that a schema allows.
fn admit_null(fields: &mut Map<String, Value>) {
    if let Some(word @ Value::String(_)) = fields.get("type").cloned() {
        fields.insert("type".to_owned(), json!([word, "null"]));
    }
    if let Some(values) =
        fields.get_mut("enum").and_then(Value::as_array_mut).filter(|list| !list.contains(&Value::Null))
    {
        values.push(Value::Null);
    }
    if let Some(alternatives) = fields.get_mut("anyOf").and_then(Value::as_array_mut) {
        alternatives.push(json!({"type": "null"}));
    }
}
