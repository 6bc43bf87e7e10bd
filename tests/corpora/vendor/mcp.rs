//! MCP's `Tool`, as in a `tools/list` result.

use serde_json::Value;

use super::{NameRule, Problems, listed};

/// The protocol only recommends which names to use.
const NAMES: NameRule = NameRule { longest: 128, more: "_.-/", starts_as_word: false };

pub(crate) fn check(document: &Value) -> Problems {
    let mut problems = Problems::default();
    for tool in listed(document) {
        let name = tool["name"].as_str().unwrap_or_default();
        problems.members(tool, name, &["name", "title", "description", "inputSchema", "outputSchema"]);
        for key in ["title", "description"] {
            problems.unless(tool.get(key).is_none_or(Value::is_string), name, "a text is none");
        }
        for key in ["inputSchema", "outputSchema"] {
            let Some(schema) = tool.get(key) else { continue };
            problems.unless(schema["type"] == "object", name, "a schema is not of type object");
            problems.unless(schema.get("properties").is_none_or(Value::is_object), name, "properties are no object");
        }
        problems.unless(tool.get("inputSchema").is_some(), name, "has no inputSchema");
    }
    problems.names(listed(document).iter().map(|tool| &tool["name"]), &NAMES);
    problems
}
