//! What goes to the runner for one call, and what comes back.

use serde_json::{Value, json};
use toolyard::{
    ErrorCode, InvokeResult, JsonText, ReceivedMessage, SOURCE_MESSAGE_PARAMETER, Sent, ToolExecutionContext,
    ToolExecutionResult, ToolFailure, ToolSpec,
};

use crate::plugin::dialect::CallBody;

/// The arguments, and the context that the runner needs to check and answer the call.
pub(super) fn body(
    tool: &ToolSpec,
    arguments: &JsonText,
    context: &ToolExecutionContext,
    source: Option<&ReceivedMessage>,
    scene: String,
) -> CallBody {
    let mut told = json!({"scene": scene});
    if tool.flags.needs_source {
        told[SOURCE_MESSAGE_PARAMETER] = source.map_or(Value::Null, |source| json!(source.id));
        told["source_message"] = source.map_or(Value::Null, told_message);
        told["message"] = context.anchor_message.as_deref().cloned().unwrap_or(Value::Null);
    }
    CallBody { arguments: arguments.clone(), context: told.into() }
}

/// The message in the backend's form, with the id and the sender that the session knows it by.
fn told_message(source: &ReceivedMessage) -> Value {
    let mut told = source.body.as_object().cloned().unwrap_or_default();
    told.insert("platform_message_id".to_owned(), json!(source.id));
    if !told.contains_key("sender") && !told.contains_key("user_id") {
        told.insert("sender".to_owned(), json!({"uid": source.sender}));
    }
    Value::Object(told)
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
        // The runner looks at the message once more, by the plugin's own settings, before the handler is entered.
        "source_message" => Err(ToolFailure::not_sent(ErrorCode::PolicySourceMessage, text)),
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
        ToolExecutionContext { anchor_message: Some(Arc::new(json!({"id": "m0"}))), ..ToolExecutionContext::default() }
    }

    fn source(body: Value) -> ReceivedMessage {
        ReceivedMessage { id: "m1".into(), sender: "qq:7".into(), body: Arc::new(body), ..ReceivedMessage::default() }
    }

    fn told(source: &ReceivedMessage) -> Value {
        let arguments = JsonText::parse("{}").unwrap();
        body(&tool(true), &arguments, &context(), Some(source), "a:group:1".to_owned()).context.to().unwrap()
    }

    #[test]
    fn the_source_is_told_with_the_id_and_the_sender_that_the_session_knows() {
        let told_whole = told(&source(json!({"id": "row-1", "sender": {"uid": "onebot:7"}})));
        assert_eq!((&told_whole["source_message_id"], &told_whole["message"]["id"]), (&json!("m1"), &json!("m0")));
        let message = json!({"id": "row-1", "sender": {"uid": "onebot:7"}, "platform_message_id": "m1"});
        assert_eq!((&told_whole["source_message"], &told_whole["scene"]), (&message, &json!("a:group:1")));
        let told_bare = told(&source(Value::Null));
        assert_eq!(told_bare["source_message"], json!({"platform_message_id": "m1", "sender": {"uid": "qq:7"}}));
    }

    #[test]
    fn a_tool_without_need_of_a_source_gets_no_messages() {
        let arguments = JsonText::parse(r#"{"n":653247040368672768123456789,"z":1.10}"#).unwrap();
        let body = body(&tool(false), &arguments, &context(), None, "a:group:1".to_owned());
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
            ("source_message", ErrorCode::PolicySourceMessage, Sent::No),
            ("unknown_tool", ErrorCode::ToolRemoved, Sent::No),
            ("unloading", ErrorCode::ProviderDown, Sent::Maybe),
        ] {
            let failure = raised(&tool, kind, "x").unwrap_err();
            assert_eq!((failure.code, failure.sent), (code, sent), "{kind}");
        }
    }
}
