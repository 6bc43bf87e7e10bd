//! One record of a list of parameters, in MaiBot's words or in xbot's.

use serde_json::{Map, Value};

use super::{ParameterError, ToolParameterInfo};

/// xbot's words and MaiBot's for the same fields.
const SYNONYMS: [(&str, &str); 4] = [
    ("type", "param_type"),
    ("items", "items_schema"),
    ("enum", "enum_values"),
    ("additionalProperties", "additional_properties"),
];

/// Reads the record at `index` of a list.
///
/// A record with `type` is xbot's, where a parameter is optional unless it says otherwise; any other is MaiBot's, where
/// it is required.
pub(in crate::tool) fn parameter_of(record: &Value, index: usize) -> Result<ToolParameterInfo, ParameterError> {
    let broken = |reason: String| ParameterError::Record { place: index + 1, reason };
    let Value::Object(fields) = record else {
        return Err(broken(format!("it must be an object, not {}", crate::json::a_kind(record))));
    };
    let is_unread = |key: &str| key.to_ascii_lowercase().contains("schema") && key != "items_schema";
    if let Some((key, _)) = fields.iter().find(|(key, value)| is_unread(key) && !value.is_null()) {
        return Err(broken(format!("its key `{key}` is not understood")));
    }
    let fields = in_maibot_words(fields.clone());
    serde_json::from_value(Value::Object(fields)).map_err(|error| broken(error.to_string()))
}

fn in_maibot_words(mut fields: Map<String, Value>) -> Map<String, Value> {
    let is_xbot = fields.contains_key("type") && !fields.contains_key("param_type");
    if is_xbot && !fields.contains_key("required") {
        fields.insert("required".to_owned(), Value::Bool(false));
    }
    for (theirs, ours) in SYNONYMS {
        if fields.contains_key(ours) {
            continue;
        }
        if let Some(value) = fields.shift_remove(theirs) {
            fields.insert(ours.to_owned(), value);
        }
    }
    fields
}
