//! Anthropic's tool use guide, and what its API says when it refuses a tool.

use serde_json::Value;

use super::{NameRule, Problems, listed, schema};

const NAMES: NameRule = NameRule { longest: 64, more: "_-", starts_as_word: false };

pub(crate) fn check(document: &Value) -> Problems {
    let mut problems = Problems::default();
    for tool in listed(document) {
        let name = tool["name"].as_str().unwrap_or_default();
        problems.members(tool, name, &["name", "description", "input_schema"]);
        problems.unless(tool["description"].is_string(), name, "has no description");
        input(&tool["input_schema"], name, &mut problems);
    }
    problems.names(listed(document).iter().map(|tool| &tool["name"]), &NAMES);
    problems
}

/// The schema of a tool's input.
pub(crate) fn input(parameters: &Value, name: &str, problems: &mut Problems) {
    schema::root(parameters, name, problems);
    schema::words(parameters, name, problems);
    schema::each(parameters, name, &mut |keywords, at| {
        for key in keywords.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys()) {
            let legal = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            let holds = (1..=64).contains(&key.len()) && key.chars().all(legal);
            problems.unless(holds, at, &format!("the key {key} is refused"));
        }
    });
}
