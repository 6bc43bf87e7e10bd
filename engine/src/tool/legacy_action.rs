//! The old `@Action` of MaiBot's plugins as a tool (seed 000, "Relationship with Legacy Action").

use serde_json::{Map, Value, json};

use super::ToolSpec;
use super::description::{DeclaredText, ToolText};

/// What a parameter without a description is said to be.
const NO_DESCRIPTION: &str = "兼容旧 Action 参数";

/// A tool from what an old `@Action` declares: its name, and the fields of the decorator.
///
/// Every entry of `action_parameters` becomes an optional text parameter. The description follows the rules of tools.
/// `activation_type`, `activation_keywords` and all other fields stay in the tool's metadata beside `legacy_action` and
/// `legacy_component_type`; they decide nothing.
pub fn legacy_action(name: &str, declared: &Map<String, Value>) -> ToolSpec {
    let text = |key: &str| declared.get(key).and_then(Value::as_str).unwrap_or_default();
    let text = DeclaredText {
        name,
        brief_description: text("brief_description"),
        description: text("description"),
        detailed_description: "",
    };
    let schema = action_parameters_schema(declared.get("action_parameters").unwrap_or(&Value::Null));
    let text = ToolText::declared(&text, &schema);
    let mut spec = ToolSpec::new(name, "").with_text(text).with_parameters(schema);
    spec.enabled = declared.get("enabled").and_then(Value::as_bool).unwrap_or(true);
    spec.metadata.clone_from(declared);
    for consumed in
        ["brief_description", "description", "detailed_description", "enabled", "parameters", "parameters_raw"]
    {
        spec.metadata.shift_remove(consumed);
    }
    spec.metadata.insert("legacy_action".to_owned(), json!(true));
    spec.metadata.insert("legacy_component_type".to_owned(), json!("ACTION"));
    spec
}

/// A map from names to descriptions, or a list of names; all optional text.
fn action_parameters_schema(declared: &Value) -> Value {
    let mut properties = Map::new();
    let mut add = |name: &str, description: &Value| {
        if !name.trim().is_empty() {
            properties.insert(name.to_owned(), json!({"type": "string", "description": described(description)}));
        }
    };
    match declared {
        Value::Object(map) => map.iter().for_each(|(name, description)| add(name, description)),
        Value::Array(list) => {
            for entry in list {
                let name = entry.as_str().or_else(|| entry.get("name")?.as_str());
                add(name.unwrap_or_default(), entry.get("description").unwrap_or(&Value::Null));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    json!({"type": "object", "properties": properties})
}

/// What a value says of its parameter: a text, the description inside a schema, or a plain value.
fn described(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Object(schema) => schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Null | Value::Array(_) => String::new(),
    };
    match text.trim() {
        "" => NO_DESCRIPTION.to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(declared: Value) -> ToolSpec {
        legacy_action("mute", declared.as_object().unwrap())
    }

    #[test]
    fn every_parameter_is_optional_text_whatever_it_was() {
        let spec = action(json!({"description": "禁言某个成员", "action_parameters": {
            "target": "禁言对象", "duration": "", "reason": null, "times": 3,
            "level": {"type": "integer", "description": "级别", "required": true}}}));
        assert_eq!(
            spec.parameters_schema,
            json!({"type": "object", "properties": {
                "target": {"type": "string", "description": "禁言对象"},
                "duration": {"type": "string", "description": "兼容旧 Action 参数"},
                "reason": {"type": "string", "description": "兼容旧 Action 参数"},
                "times": {"type": "string", "description": "3"},
                "level": {"type": "string", "description": "级别"},
            }})
        );
        assert_eq!(spec.description, "禁言某个成员");
    }

    #[test]
    fn a_list_of_parameters_is_read_as_names() {
        let spec = action(json!({"action_parameters": ["target", {"name": "why", "description": "原因"}, 7]}));
        assert_eq!(
            spec.parameters_schema["properties"],
            json!({"target": {"type": "string", "description": "兼容旧 Action 参数"},
                "why": {"type": "string", "description": "原因"}})
        );
        assert_eq!(spec.description, "工具 mute");
    }

    #[test]
    fn activation_stays_as_metadata() {
        let spec = action(json!({"description": "x", "activation_type": "keyword", "activation_keywords": ["k"]}));
        assert_eq!(
            Value::Object(spec.metadata),
            json!({"activation_type": "keyword", "activation_keywords": ["k"],
                "legacy_action": true, "legacy_component_type": "ACTION"})
        );
        assert_eq!(spec.parameters_schema, json!({"type": "object", "properties": {}}));
    }
}
