//! Ollama's `api.Tool`: what it reads of a schema, and what its templates can print.

use serde_json::Value;

use super::{NameRule, Problems, listed, schema};

const NAMES: NameRule = NameRule { longest: 64, more: "_-", starts_as_word: false };

pub(crate) fn check(document: &Value) -> Problems {
    let mut problems = Problems::default();
    for tool in listed(document) {
        problems.members(tool, "a tool", &["type", "function"]);
        problems.unless(tool["type"] == "function", "a tool", "is not of type function");
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap_or_default();
        problems.members(function, name, &["name", "description", "parameters"]);
        let parameters = &function["parameters"];
        schema::root(parameters, name, &mut problems);
        schema::words(parameters, name, &mut problems);
        schema::each(parameters, name, &mut |keywords, at| {
            problems.unless(!keywords.contains_key("$ref"), at, "a reference is lost on the way to the template");
            let properties = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
            for (key, property) in properties {
                problems.unless(property.is_object(), at, &format!("the property {key} is no object"));
            }
        });
    }
    problems.names(listed(document).iter().map(|tool| &tool["function"]["name"]), &NAMES);
    problems
}
