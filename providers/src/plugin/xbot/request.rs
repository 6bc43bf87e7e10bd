//! Requests: the lines that are written to a plugin.

use std::time::Duration;

use toolyard::{JsonText, ToolExecutionContext};

/// `activate`, which never has an id.
pub(super) fn activate(plugin_id: &str) -> String {
    let params = spelt_twice(vec![("plugin_id", JsonText::string(plugin_id))]);
    request(None, "activate", Some(params))
}

/// `deactivate`.
pub(super) fn deactivate(id: Option<u64>) -> String {
    request(id, "deactivate", None)
}

/// `cancel`, which only plugins with request ids are told.
pub(super) fn cancel(id: u64) -> String {
    request(None, "cancel", Some(JsonText::object([("id", number(id))])))
}

/// The parameters of `execute_tool`: the tool, its input as JSON text in a string, and who calls from where (seed 004,
/// `ToolCallContext`). Each key stands in both spellings.
pub(super) fn call_params(
    tool: &str,
    arguments: &JsonText,
    context: &ToolExecutionContext,
    time_left: Duration,
) -> JsonText {
    let millis = u64::try_from(time_left.as_millis()).unwrap_or(u64::MAX);
    spelt_twice(vec![
        ("tool_name", JsonText::string(tool)),
        ("input", JsonText::string(arguments.as_str())),
        ("session_id", JsonText::string(&context.session_id)),
        ("channel", JsonText::string(&context.channel)),
        ("chat_id", JsonText::string(&context.chat_id)),
        ("user_id", JsonText::string(&context.user_id)),
        ("tenant_id", tenant(&context.tenant)),
        ("timeout_ms", number(millis)),
    ])
}

/// `execute_tool` with parameters of [`call_params`].
pub(super) fn execute(id: Option<u64>, params: &JsonText) -> String {
    request(id, "execute_tool", Some(params.clone()))
}

fn request(id: Option<u64>, method: &'static str, params: Option<JsonText>) -> String {
    let id = id.map(|id| ("id", number(id)));
    let method = Some(("method", JsonText::string(method)));
    let params = params.map(|params| ("params", params));
    let mut line = JsonText::object([id, method, params].into_iter().flatten()).as_str().to_owned();
    line.push('\n');
    line
}

/// xbot's tenants are 64-bit integers, 0 for none. Text that no such integer would be written as stays text, so that two
/// tenants are never one.
fn tenant(tenant: &str) -> JsonText {
    match tenant.parse::<i64>() {
        _ if tenant.is_empty() => number(0),
        Ok(id) if id.to_string() == tenant => number(id),
        _ => JsonText::string(tenant),
    }
}

fn number(number: impl Into<serde_json::Value>) -> JsonText {
    JsonText::from(number.into())
}

fn spelt_twice(members: Vec<(&'static str, JsonText)>) -> JsonText {
    let mut spelt: Vec<(String, JsonText)> = Vec::with_capacity(members.len() * 2);
    for (name, value) in members {
        let camel = super::fields::camel_case(name);
        if camel != name {
            spelt.push((camel, value.clone()));
        }
        spelt.push((name.to_owned(), value));
    }
    JsonText::object(spelt.iter().map(|(name, value)| (name.as_str(), value.clone())))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(line: &str) -> Value {
        assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line:?}");
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn a_call_carries_its_input_as_text_and_who_calls_in_both_spellings() {
        let arguments = JsonText::parse("{\"n\":653247040368672768123456789,\n\"s\":\"你好\"}").unwrap();
        let context = ToolExecutionContext {
            session_id: "s1".to_owned(),
            channel: "feishu".to_owned(),
            chat_id: "c".to_owned(),
            user_id: "u".to_owned(),
            tenant: "9007199254740993".to_owned(),
            ..ToolExecutionContext::default()
        };
        let params = call_params("greet", &arguments, &context, Duration::from_millis(1500));
        let line = execute(Some(7), &params);
        assert!(
            line.contains("653247040368672768123456789") && line.contains(r#""tenantId":9007199254740993"#),
            "{line}"
        );
        let request = read(&line);
        assert_eq!((&request["id"], &request["method"]), (&json!(7), &json!("execute_tool")));
        let params = &request["params"];
        assert_eq!(params["input"], json!(arguments.as_str()));
        for (camel, snake, value) in [
            ("toolName", "tool_name", json!("greet")),
            ("sessionId", "session_id", json!("s1")),
            ("chatId", "chat_id", json!("c")),
            ("userId", "user_id", json!("u")),
            ("timeoutMs", "timeout_ms", json!(1500)),
        ] {
            assert_eq!((&params[camel], &params[snake]), (&value, &value));
        }
        assert_eq!(params["channel"], "feishu");
        assert_eq!(read(&execute(None, &JsonText::object([]))).get("id"), None);
    }

    #[test]
    fn only_text_that_is_an_integer_becomes_one() {
        for (text, json) in [
            ("", "0"),
            ("42", "42"),
            ("-1", "-1"),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "\"9223372036854775808\""),
            ("007", "\"007\""),
            ("+7", "\"+7\""),
            ("acme", "\"acme\""),
        ] {
            assert_eq!(tenant(text).as_str(), json);
        }
    }

    #[test]
    fn the_other_requests_are_short() {
        assert_eq!(
            read(&activate("a.b")),
            json!({"method": "activate", "params": {"pluginId": "a.b", "plugin_id": "a.b"}})
        );
        assert_eq!(deactivate(None), "{\"method\":\"deactivate\"}\n");
        assert_eq!(read(&deactivate(Some(3))), json!({"id": 3, "method": "deactivate"}));
        assert_eq!(read(&cancel(3)), json!({"method": "cancel", "params": {"id": 3}}));
    }
}
