//! The Converse API's `ToolSpecification`.

use serde_json::Value;

use super::{NameRule, Problems, anthropic, listed};

const NAMES: NameRule = NameRule { longest: 64, more: "_-", starts_as_word: false };

pub(crate) fn check(document: &Value) -> Problems {
    let mut problems = Problems::default();
    for tool in listed(document) {
        problems.members(tool, "a tool", &["toolSpec"]);
        let spec = &tool["toolSpec"];
        let name = spec["name"].as_str().unwrap_or_default();
        problems.members(spec, name, &["name", "description", "inputSchema"]);
        let is_said = spec["description"].as_str().is_some_and(|text| !text.is_empty());
        problems.unless(is_said || spec.get("description").is_none(), name, "its description is empty");
        problems.members(&spec["inputSchema"], name, &["json"]);
        anthropic::input(&spec["inputSchema"]["json"], name, &mut problems);
    }
    problems.names(listed(document).iter().map(|tool| &tool["toolSpec"]["name"]), &NAMES);
    problems
}
