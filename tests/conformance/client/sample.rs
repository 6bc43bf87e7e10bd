//! Values that fit a simple schema.

use serde_json::{Map, Value, json};

/// Arguments with all that the schema requires.
pub(super) fn arguments(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let of = |name: &str| (name.to_owned(), value(&schema["properties"][name]));
    required.map(of).collect::<Map<_, _>>().into()
}

/// A value of the schema's type.
pub(super) fn value(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => json!(7),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        Some("null") => Value::Null,
        _ => json!("text"),
    }
}
