//! In which chats a tool may be used: `chat_scope`, `allowed_session` and `platforms` of its declaration.

use serde_json::{Map, Value};
use toolyard::{Reason, ToolAvailabilityContext, ToolSpec};

const CHAT_SCOPE: &str = "chat_scope";
const ALLOWED_SESSION: &str = "allowed_session";
const PLATFORMS: &str = "platforms";

/// Why the tool cannot be used in this chat, if so.
pub(super) fn reason(tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason> {
    let fields = &tool.metadata;
    let reason = wrong_chat(fields, context)
        .or_else(|| wrong_platform(fields, context))
        .or_else(|| wrong_session(fields, context))?;
    Some(Reason(reason))
}

/// What is declared in a way that cannot be read, and so limits nothing.
pub(super) fn warnings(fields: &Map<String, Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    let scope = fields.get(CHAT_SCOPE).filter(|scope| !scope.is_null());
    if let Some(scope) = scope.filter(|scope| !matches!(word(scope).as_deref(), Some("" | "all" | "group" | "private")))
    {
        warnings.push(format!("`{CHAT_SCOPE}` is {scope}; it may be all, group or private, and counts as all"));
    }
    for key in [ALLOWED_SESSION, PLATFORMS] {
        if fields.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Array(_) | Value::String(_))) {
            warnings.push(format!("`{key}` must be a list of texts; it limits nothing"));
        }
    }
    warnings
}

fn wrong_chat(fields: &Map<String, Value>, context: &ToolAvailabilityContext<'_>) -> Option<String> {
    let scope = fields.get(CHAT_SCOPE).and_then(word)?;
    match (scope.as_str(), context.is_group_chat) {
        ("group", false) => Some("the tool is for group chats only".to_owned()),
        ("private", true) => Some("the tool is for private chats only".to_owned()),
        _ => None,
    }
}

fn wrong_platform(fields: &Map<String, Value>, context: &ToolAvailabilityContext<'_>) -> Option<String> {
    let platforms = list(fields.get(PLATFORMS));
    let here = context.platform.trim();
    if platforms.is_empty() || platforms.iter().any(|platform| platform.eq_ignore_ascii_case(here)) {
        return None;
    }
    let here = if here.is_empty() { "not known" } else { here };
    Some(format!("the tool is for {} only, and the chat's platform is {here}", platforms.join(", ")))
}

/// A session may be named by its own id, by that of its stream or by that of its group.
fn wrong_session(fields: &Map<String, Value>, context: &ToolAvailabilityContext<'_>) -> Option<String> {
    let sessions = list(fields.get(ALLOWED_SESSION));
    let ids = [context.session_id, context.stream_id, context.group_id];
    let is_here = |session: &String| ids.iter().any(|id| !id.is_empty() && id == session);
    if sessions.is_empty() || sessions.iter().any(is_here) {
        return None;
    }
    Some("the tool is not allowed in this chat: its plugin names the chats that it is for".to_owned())
}

fn word(value: &Value) -> Option<String> {
    value.as_str().map(|word| word.trim().to_ascii_lowercase())
}

/// Ids may be written as numbers.
fn list(value: Option<&Value>) -> Vec<String> {
    let item = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(item).collect(),
        Some(one) => item(one).into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolyard::ToolExecutionContext;

    use super::*;

    fn reason_in(fields: Value, context: Value) -> Option<String> {
        let mut tool = ToolSpec::new("a", "b");
        tool.metadata = fields.as_object().unwrap().clone();
        let context: ToolExecutionContext = serde_json::from_value(context).unwrap();
        reason(&tool, &context.availability()).map(|reason| reason.0)
    }

    #[test]
    fn a_tool_without_limits_is_for_every_chat() {
        for fields in [
            json!({}),
            json!({"chat_scope": "all", "allowed_session": [], "platforms": []}),
            json!({"chat_scope": null, "allowed_session": null, "platforms": null}),
            json!({"chat_scope": 7, "platforms": {}}),
        ] {
            assert_eq!(reason_in(fields, json!({})), None);
        }
    }

    #[test]
    fn the_kind_of_chat_is_told_apart() {
        for (scope, group, usable) in [
            ("group", true, true),
            ("GROUP", false, false),
            ("private", false, true),
            ("private", true, false),
            ("club", false, true),
        ] {
            let reason = reason_in(json!({"chat_scope": scope}), json!({"is_group_chat": group}));
            assert_eq!(reason.is_none(), usable, "{scope} {group}");
        }
    }

    #[test]
    fn platforms_match_in_any_case_and_an_unknown_one_does_not() {
        let on = |platform: &str| reason_in(json!({"platforms": ["qq", "Discord"]}), json!({"platform": platform}));
        assert_eq!((on("QQ"), on("discord")), (None, None));
        assert_eq!(on("tg").unwrap(), "the tool is for qq, Discord only, and the chat's platform is tg");
        assert!(on("").unwrap().ends_with("not known"));
        assert_eq!(reason_in(json!({"platforms": "qq"}), json!({"platform": "qq"})), None);
    }

    #[test]
    fn a_session_may_be_named_by_any_of_its_ids() {
        let fields = || json!({"allowed_session": ["s1", 42]});
        for context in [json!({"session_id": "s1"}), json!({"stream_id": "s1"}), json!({"group_id": "42"})] {
            assert_eq!(reason_in(fields(), context), None);
        }
        for context in [json!({}), json!({"session_id": "s2"}), json!({"user_id": "s1"})] {
            assert!(reason_in(fields(), context).is_some());
        }
        assert!(reason_in(json!({"allowed_session": [""]}), json!({})).is_none(), "an empty id limits nothing");
    }

    #[test]
    fn limits_that_cannot_be_read_are_told() {
        let warned = |fields: Value| warnings(fields.as_object().unwrap()).len();
        assert_eq!(warned(json!({"chat_scope": "club", "allowed_session": 7, "platforms": {"qq": true}})), 3);
        assert_eq!(warned(json!({"chat_scope": "Group", "allowed_session": ["x"], "platforms": "qq"})), 0);
    }
}
