//! From the answer to `execute_tool` to a ToolExecutionResult (seed 004, ToolResult).

use serde_json::Value;
use toolyard::{JsonText, ToolExecutionResult, result_from_json};

use super::answer::Answer;
use super::fields::camel_case;

/// The members of a ToolResult; `ui_code` is what xbot's own screens show.
const MEMBERS: [&str; 4] = ["content", "is_error", "metadata", "ui_code"];

/// Reads a result. An `error` is the tool's failure, as in xbot; only a plugin that dies or breaks its protocol counts as
/// broken.
///
/// xbot takes nothing but text as `result`. Text goes to the model as it is, unless it is the JSON of a ToolResult with
/// more than `content`; an object with `content` is a ToolResult too; any other value is structured content.
pub(super) fn read(mut answer: Answer) -> ToolExecutionResult {
    if let Some(error) = answer.take_error() {
        return ToolExecutionResult::failure(error);
    }
    let mut result = match answer.take("result") {
        None => ToolExecutionResult::success(""),
        Some(body) => of_body(&body),
    };
    // A ToolResult may also stand where the answer itself does.
    let outer: Vec<(&str, JsonText)> =
        MEMBERS.into_iter().filter_map(|name| answer.take(name).map(|value| (name, value))).collect();
    apply(&mut result, outer);
    if !result.success && result.error_message.is_none() {
        let why = if result.content.is_empty() { "the tool failed and did not say why" } else { &result.content };
        result.error_message = Some(why.to_owned());
    }
    result
}

fn of_body(body: &JsonText) -> ToolExecutionResult {
    match body.as_str().as_bytes().first() {
        Some(b'"') => {
            let result = result_from_json(body);
            let parts = JsonText::parse(&result.content).ok().and_then(|json| tool_result(&json));
            match parts.filter(|parts| parts.len() > 1) {
                Some(parts) => of_parts(parts),
                None => result,
            }
        }
        Some(b'{') => tool_result(body).map_or_else(|| ToolExecutionResult::structured(body.clone()), of_parts),
        _ => ToolExecutionResult::structured(body.clone()),
    }
}

/// The members of a ToolResult by their names in snake_case, if it is one: it has `content` and nothing unknown.
fn tool_result(json: &JsonText) -> Option<Vec<(&'static str, JsonText)>> {
    let members = json.members()?;
    let named = members.into_iter().map(|(key, value)| {
        let name = MEMBERS.into_iter().find(|name| key == *name || key == camel_case(name));
        name.map(|name| (name, value))
    });
    let named: Vec<(&str, JsonText)> = named.collect::<Option<_>>()?;
    named.iter().any(|(name, _)| *name == "content").then_some(named)
}

fn of_parts(parts: Vec<(&'static str, JsonText)>) -> ToolExecutionResult {
    let mut result = ToolExecutionResult::success("");
    apply(&mut result, parts);
    result
}

fn apply(result: &mut ToolExecutionResult, parts: Vec<(&str, JsonText)>) {
    for (name, json) in parts {
        match name {
            "content" if json.as_str().starts_with('"') => result.content = result_from_json(&json).content,
            "content" if json.as_str() == "null" => {}
            "content" => result.content = json.as_str().to_owned(),
            "is_error" => result.success &= json.as_str() != "true",
            "metadata" => match json.with_whole_characters().to::<Value>() {
                Ok(Value::Object(metadata)) => result.metadata.extend(metadata),
                Ok(Value::Null) | Err(_) => {}
                Ok(other) => drop(result.metadata.insert(name.to_owned(), other)),
            },
            _ => drop(result.metadata.insert(name.to_owned(), json.with_whole_characters().to().unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::answer::{Said, read as read_line};
    use super::super::line::Line;
    use super::*;

    fn result(answer: &str) -> ToolExecutionResult {
        let bytes = answer.as_bytes().to_vec();
        let Said::Answer(answer) = read_line(&Line { written: bytes.len(), bytes }) else { panic!("no answer") };
        read(answer)
    }

    #[test]
    fn text_goes_to_the_model_as_it_is() {
        for text in ["plain", "{\"a\": [1, 2.50]}", "[1]", "{\"content\": \"x\"}", "", "12345678901234567890123"] {
            let result = result(&json!({"result": text}).to_string());
            assert_eq!((result.success, result.content.as_str()), (true, text));
            assert!(result.structured_content.is_none());
        }
        assert!(result(r#"{"result":"half \ud83d"}"#).content.starts_with("half \u{fffd}"));
    }

    #[test]
    fn an_object_is_a_result_or_structured_content_with_all_its_digits() {
        let whole = result(r#"{"result":{"content":"no","is_error":true,"metadata":{"k":"v"},"uiCode":"<a>"}}"#);
        assert_eq!((whole.success, whole.error_message.as_deref()), (false, Some("no")));
        assert_eq!((&whole.metadata["k"], &whole.metadata["ui_code"]), (&json!("v"), &json!("<a>")));
        let structured = result(r#"{"result":{"id":653247040368672768123456789}}"#);
        assert_eq!(structured.structured_content.unwrap().as_str(), r#"{"id":653247040368672768123456789}"#);
        assert_eq!(result(r#"{"result":[1]}"#).structured_content.unwrap().as_str(), "[1]");
    }

    #[test]
    fn a_result_as_text_or_in_place_of_the_answer_is_read_too() {
        let inside = json!({"result": json!({"content": "no", "isError": true}).to_string()});
        for answer in [inside, json!({"result": "no", "is_error": true}), json!({"content": "no", "isError": true})] {
            let result = result(&answer.to_string());
            assert_eq!((result.success, result.content.as_str()), (false, "no"), "{answer}");
        }
    }

    #[test]
    fn an_error_is_the_tools_failure_and_nothing_at_all_is_an_empty_success() {
        let failed = result(r#"{"result":"half done","error":"disk full"}"#);
        assert_eq!((failed.success, failed.error_message.as_deref()), (false, Some("disk full")));
        let silent = result(r#"{"result":{"content":"","is_error":true}}"#);
        assert_eq!(silent.error_message.as_deref(), Some("the tool failed and did not say why"));
        for answer in ["{}", r#"{"result":null,"error":""}"#] {
            let result = result(answer);
            assert_eq!((result.success, result.content.as_str()), (true, ""), "{answer}");
        }
    }
}
