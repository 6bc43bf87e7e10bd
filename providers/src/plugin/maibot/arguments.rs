//! What a handler is given beside the model's arguments: where the call comes from.

use serde::Serialize;
use serde_json::Value;
use toolyard::{JsonText, ReceivedMessage, ToolExecutionContext, ToolSpec};

use super::python::is_true;

/// What the host adds to a call. The runner adds each only where the model's own value is missing or empty, and only what
/// the handler can take; the model's arguments themselves are never touched.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Added<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    stream_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    chat_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    group_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    user_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    platform: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a Value>,
}

#[derive(Serialize)]
struct Context<'a> {
    added: Added<'a>,
}

// === impl Added ===

impl<'a> Added<'a> {
    /// A parameter that the tool itself calls `message` or `reasoning` is the model's to fill; nothing of the host's may
    /// come in its place. Old actions get both, as ever.
    pub(super) fn to_call(
        tool: &ToolSpec,
        context: &'a ToolExecutionContext,
        source: Option<&'a ReceivedMessage>,
    ) -> Self {
        let stream = if context.stream_id.is_empty() { &context.session_id } else { &context.stream_id };
        let properties = tool.parameters_schema.get("properties");
        let is_action = is_true(tool.metadata.get("legacy_action"));
        let is_free = |name: &str| is_action || properties.is_none_or(|properties| properties.get(name).is_none());
        let source = source.map(|message| &*message.body).or(context.source_message.as_deref());
        let message = source.or(context.anchor_message.as_deref());
        Self {
            stream_id: stream,
            chat_id: stream,
            group_id: &context.group_id,
            user_id: &context.user_id,
            platform: &context.platform,
            reasoning: if is_free("reasoning") { &context.reasoning } else { "" },
            message: message.filter(|_| is_free("message")),
        }
    }

    /// The `context` member of a call.
    pub(super) fn into_json(self) -> JsonText {
        JsonText::from_serialize(&Context { added: self }).unwrap_or_else(|_| JsonText::object([]))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn added(tool: &ToolSpec, context: Value) -> Value {
        let context: ToolExecutionContext = serde_json::from_value(context).unwrap();
        Added::to_call(tool, &context, None).into_json().to().unwrap()
    }

    #[test]
    fn the_chat_is_told_and_what_is_not_known_is_left_out() {
        let tool = ToolSpec::new("a", "b");
        assert_eq!(added(&tool, json!({})), json!({"added": {}}));
        assert_eq!(
            added(
                &tool,
                json!({"session_id": "s", "stream_id": "t", "group_id": "g", "user_id": "u", "platform": "qq",
                "reasoning": "why", "chat_id": "elsewhere"})
            ),
            json!({"added": {"stream_id": "t", "chat_id": "t", "group_id": "g", "user_id": "u", "platform": "qq",
                "reasoning": "why"}})
        );
        assert_eq!(added(&tool, json!({"session_id": "s"})), json!({"added": {"stream_id": "s", "chat_id": "s"}}));
    }

    #[test]
    fn the_source_message_goes_before_the_anchor() {
        let tool = ToolSpec::new("a", "b");
        let anchor = || json!({"message_id": "1"});
        assert_eq!(added(&tool, json!({"message": anchor()}))["added"]["message"], anchor());
        let both = json!({"message": anchor(), "source_message": {"message_id": "2"}});
        assert_eq!(added(&tool, both.clone())["added"]["message"], json!({"message_id": "2"}));
        let context: ToolExecutionContext = serde_json::from_value(both).unwrap();
        let own = ReceivedMessage { body: Arc::new(json!({"message_id": "3"})), ..ReceivedMessage::default() };
        assert_eq!(Added::to_call(&tool, &context, Some(&own)).message, Some(&json!({"message_id": "3"})));
    }

    #[test]
    fn a_parameter_of_the_tools_own_is_left_to_the_model() {
        let mut tool = ToolSpec::new("send", "Sends.").with_parameters(json!({"type": "object", "properties": {
            "message": {"type": "string"}, "reasoning": {"type": "string"}, "stream_id": {"type": "string"}}}));
        assert_eq!(
            added(&tool, json!({"message": {"message_id": "1"}, "reasoning": "why", "stream_id": "t"})),
            json!({"added": {"stream_id": "t", "chat_id": "t"}})
        );
        tool.metadata.insert("legacy_action".to_owned(), json!(true));
        assert_eq!(added(&tool, json!({"reasoning": "why"})), json!({"added": {"reasoning": "why"}}));
    }
}
