//! What goes to the runner for one call, and what comes back.

use serde_json::{Value, json};
use toolyard::{
    ErrorCode, InvokeResult, JsonText, SOURCE_MESSAGE_PARAMETER, Sent, ToolExecutionContext, ToolExecutionResult,
    ToolFailure, ToolSpec,
};

use crate::plugin::dialect::CallBody;

/// Messages of the turn that are passed on; the latest count.
const MAX_MESSAGES: usize = 200;

/// The arguments without what is the host's, and the context that the runner needs to check and answer the call.
pub(super) fn body(tool: &ToolSpec, arguments: &JsonText, context: &ToolExecutionContext, scene: String) -> CallBody {
    let mut told = json!({"scene": scene});
    if !tool.flags.needs_source {
        return CallBody { arguments: arguments.clone(), context: told.into() };
    }
    let members = arguments.members().unwrap_or_default();
    let (source, own): (Vec<_>, Vec<_>) = members.into_iter().partition(|(key, _)| key == SOURCE_MESSAGE_PARAMETER);
    told[SOURCE_MESSAGE_PARAMETER] = source.first().and_then(|(_, value)| value.to().ok()).unwrap_or(Value::Null);
    told["source_message"] = message(context.source_message.as_deref());
    told["message"] = message(context.anchor_message.as_deref());
    let turn = context.metadata.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let latest = turn.get(turn.len().saturating_sub(MAX_MESSAGES)..).unwrap_or_default();
    told["messages"] = Value::Array(latest.to_vec());
    let arguments = JsonText::object(own.iter().map(|(key, value)| (key.as_str(), value.clone())));
    CallBody { arguments, context: told.into() }
}

/// Text goes to the model as it is, everything else as JSON; `null` too, which the tool gave back.
pub(super) fn result(value: JsonText) -> ToolExecutionResult {
    match value.to::<Value>() {
        Ok(Value::String(text)) => ToolExecutionResult::success(text),
        Ok(Value::Null) => ToolExecutionResult { content: "null".to_owned(), ..ToolExecutionResult::structured(value) },
        _ => ToolExecutionResult::structured(value),
    }
}

/// `message` is `<type>: <text>`, except where the plugin did not get to see the call.
pub(super) fn raised(tool: &ToolSpec, kind: &str, message: &str) -> InvokeResult {
    let text = format!("{} 失败：{message}", tool.name);
    match kind {
        "arguments" => Err(ToolFailure::not_sent(ErrorCode::ArgumentsSchema, text)),
        "unknown_tool" => Err(ToolFailure::not_sent(ErrorCode::ToolRemoved, format!("未找到工具：{}", tool.name))),
        // The plugin went away, and nobody knows how far the call had come.
        "unloading" => {
            let mut failure = ToolFailure::new(ErrorCode::ProviderDown, message.to_owned());
            failure.sent = Sent::Maybe;
            Err(failure)
        }
        "not_json" => Ok(ToolExecutionResult::failure(format!("{} 失败：ValueError: {message}", tool.name))),
        _ => Ok(ToolExecutionResult::failure(text)),
    }
}

fn message(message: Option<&Value>) -> Value {
    message.cloned().unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tool(needs_source: bool) -> ToolSpec {
        let mut tool = ToolSpec::new("act", "Acts.");
        tool.flags.needs_source = needs_source;
        tool
    }

    fn context() -> ToolExecutionContext {
        let messages: Vec<_> = (0..300).map(|id| json!({"id": id})).collect();
        ToolExecutionContext {
            anchor_message: Some(Arc::new(json!({"id": "m1"}))),
            metadata: json!({"messages": messages}).as_object().cloned().unwrap(),
            ..ToolExecutionContext::default()
        }
    }

    #[test]
    fn the_source_is_the_hosts_and_the_other_arguments_keep_their_text() {
        let arguments =
            JsonText::parse(r#"{"n":653247040368672768123456789,"source_message_id":"m1","z":1.10}"#).unwrap();
        let body = body(&tool(true), &arguments, &context(), "a:group:1".to_owned());
        assert_eq!(body.arguments.as_str(), r#"{"n":653247040368672768123456789,"z":1.10}"#);
        let told: Value = body.context.to().unwrap();
        assert_eq!((&told["source_message_id"], &told["message"]["id"]), (&json!("m1"), &json!("m1")));
        assert_eq!((&told["scene"], &told["source_message"]), (&json!("a:group:1"), &Value::Null));
        let messages = told["messages"].as_array().unwrap();
        assert_eq!((messages.len(), &messages[0]["id"]), (MAX_MESSAGES, &json!(100)));
    }

    #[test]
    fn a_tool_without_need_of_a_source_gets_no_messages() {
        let arguments = JsonText::parse(r#"{"source_message_id":"m1"}"#).unwrap();
        let body = body(&tool(false), &arguments, &context(), "a:group:1".to_owned());
        assert_eq!(body.arguments, arguments);
        assert_eq!(body.context.to::<Value>().unwrap(), json!({"scene": "a:group:1"}));
    }

    #[test]
    fn text_is_verbatim_and_all_other_values_are_json() {
        for (value, expected) in [
            (r#""原文 {}""#, "原文 {}"),
            (r#"{"a":null}"#, r#"{"a":null}"#),
            ("[1]", "[1]"),
            ("3", "3"),
            ("false", "false"),
            ("null", "null"),
        ] {
            let result = result(JsonText::parse(value).unwrap());
            assert_eq!((result.success, result.history_content("c").as_str()), (true, expected));
        }
    }

    #[test]
    fn the_kind_of_an_error_decides_what_the_call_comes_to() {
        let tool = tool(false);
        let failed = raised(&tool, "exception", "PermissionError: 不许").unwrap();
        assert_eq!(failed.error_message.as_deref(), Some("act 失败：PermissionError: 不许"));
        for (kind, code, sent) in [
            ("arguments", ErrorCode::ArgumentsSchema, Sent::No),
            ("unknown_tool", ErrorCode::ToolRemoved, Sent::No),
            ("unloading", ErrorCode::ProviderDown, Sent::Maybe),
        ] {
            let failure = raised(&tool, kind, "x").unwrap_err();
            assert_eq!((failure.code, failure.sent), (code, sent), "{kind}");
        }
    }
}
