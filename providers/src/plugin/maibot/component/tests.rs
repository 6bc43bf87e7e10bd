use std::time::Duration;

use super::*;

fn read(list: Value) -> (Vec<ToolSpec>, Remarks) {
    Components::read(list.as_array().unwrap(), Visibility::Deferred).finish("someone.plugin")
}

fn tool_with(metadata: Value) -> ToolSpec {
    let (mut tools, remarks) = read(json!([{"name": "t", "type": "TOOL", "metadata": metadata}]));
    assert_eq!(remarks.rejected, []);
    tools.remove(0)
}

#[test]
fn visibility_is_the_word_then_core_tool_then_the_default() {
    for (metadata, expected) in [
        (json!({}), Visibility::Deferred),
        (json!({"core_tool": true}), Visibility::Visible),
        (json!({"core_tool": "false"}), Visibility::Visible),
        (json!({"core_tool": 0}), Visibility::Deferred),
        (json!({"visibility": "Hidden", "core_tool": true}), Visibility::Hidden),
        (json!({"visibility": "VISIBLE"}), Visibility::Visible),
        (json!({"visibility": "deferred", "core_tool": true}), Visibility::Deferred),
        (json!({"visibility": "sometimes", "core_tool": true}), Visibility::Visible),
        (json!({"visibility": null, "core_tool": 1}), Visibility::Visible),
    ] {
        assert_eq!(tool_with(metadata.clone()).visibility, Some(expected), "{metadata}");
    }
    let (tools, _) =
        Components { ..Components::read(&[json!({"name": "t", "type": "TOOL", "metadata": {}})], Visibility::Visible) }
            .finish("p");
    assert_eq!(tools[0].visibility, Some(Visibility::Visible));
}

#[test]
fn an_odd_visibility_is_told() {
    let (_, remarks) = read(json!([{"name": "t", "type": "TOOL", "metadata": {"visibility": "sometimes"}}]));
    assert_eq!(remarks.warnings[0].name, "t");
    assert!(remarks.warnings[0].message.contains("\"sometimes\""));
}

#[test]
fn a_poison_declaration_costs_only_its_own_tool() {
    let (tools, remarks) = read(json!([
        {"name": "good", "type": "TOOL", "metadata": {"parameters_raw": {"q": {"type": "string", "required": true}}}},
        {"name": "negative", "type": "TOOL", "metadata": {"timeout_ms": -1}},
        {"name": "wordy", "type": "TOOL", "metadata": {"timeout_ms": "soon"}},
        {"name": "", "type": "TOOL", "metadata": {}},
        {"type": "TOOL", "metadata": {}},
        {"name": "listed", "type": "TOOL", "metadata": {"parameters_raw": [7]}},
        {"name": "strange", "type": "TOOL", "fault": "its metadata cannot be sent: `icon` is a set"},
        {"name": "also good", "type": "TOOL", "metadata": {}},
    ]));
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["good", "also good"]);
    assert_eq!(tools[0].parameters_schema["required"], json!(["q"]));
    let rejected: Vec<&str> = remarks.rejected.iter().map(|rejected| rejected.name.as_str()).collect();
    assert_eq!(rejected, ["negative", "wordy", "", "", "listed", "strange"]);
    assert!(remarks.rejected[0].reason.contains("timeout_ms"));
    assert!(remarks.rejected[5].reason.contains("`icon` is a set"));
}

#[test]
fn schemas_that_stop_maibot_are_tools_like_others() {
    let array =
        tool_with(json!({"parameters": [{"name": "ids", "param_type": "array", "description": "d", "required": true,
        "enum_values": null, "items_schema": null, "properties": null, "required_properties": [],
        "additional_properties": null, "default": null}]}));
    assert_eq!(array.parameters_schema["properties"]["ids"]["type"], "array");
    let typeless = tool_with(json!({"parameters_raw": {"properties": {"q": {"type": "string"}}}}));
    assert!(typeless.parameters_schema["properties"]["q"].is_object());
    let required = tool_with(json!({"parameters_raw": {"required": {"type": "boolean"}, "q": {"type": "string"}}}));
    assert!(required.parameters_schema["properties"]["required"].is_object(), "{}", required.parameters_schema);
    let under_parameters = tool_with(json!({"parameters": {"q": {"type": "string"}}}));
    assert!(under_parameters.parameters_schema["properties"]["q"].is_object());
}

#[test]
fn deadlines_are_milliseconds_in_any_spelling() {
    for (timeout, expected) in
        [(json!(120_000), Some(120)), (json!("5000"), Some(5)), (json!(0), None), (json!(null), None)]
    {
        let tool = tool_with(json!({"timeout_ms": timeout}));
        assert_eq!(tool.timeout, expected.map(Duration::from_secs));
    }
}

#[test]
fn what_old_sdks_nested_counts_as_well() {
    let tool = tool_with(json!({"description": "d", "metadata": {"core_tool": true, "timeout_ms": 9000}}));
    assert_eq!((tool.visibility, tool.timeout), (Some(Visibility::Visible), Some(Duration::from_secs(9))));
}

#[test]
fn of_two_tools_with_one_name_the_later_counts() {
    let (tools, remarks) = read(json!([
        {"name": "a", "type": "TOOL", "metadata": {"description": "first"}},
        {"name": "b", "type": "TOOL", "metadata": {}},
        {"name": "a", "type": "TOOL", "metadata": {"description": "second"}},
    ]));
    assert_eq!((tools.len(), tools[0].description.as_str()), (2, "second"));
    assert!(remarks.warnings.iter().any(|warning| warning.name == "a" && warning.message.contains("twice")));
}

#[test]
fn old_actions_become_tools_in_both_their_forms() {
    let (tools, remarks) = read(json!([
        {"name": "mute", "type": "TOOL", "metadata": {"description": "禁言", "legacy_action": true,
            "legacy_component_type": "ACTION", "invoke_method": "plugin.invoke_action", "detailed_description": "使用建议：x",
            "parameters_raw": {"type": "object", "properties": {"target": {"type": "string", "description": "对象"}}}}},
        {"name": "greet", "type": "action", "description": "问候", "metadata": {"legacy": true,
            "action_parameters": {"who": "对谁"}, "activation_type": "always"}},
    ]));
    assert_eq!(remarks.rejected, []);
    assert_eq!((tools[0].description.as_str(), tools[1].description.as_str()), ("禁言", "问候"));
    assert_eq!(tools[1].parameters_schema["properties"]["who"], json!({"type": "string", "description": "对谁"}));
    assert!(tools.iter().all(|tool| tool.metadata["legacy_action"] == true));
}

#[test]
fn components_that_are_no_tools_are_told_and_stop_nothing() {
    let (tools, remarks) = read(json!([
        {"name": "hello", "type": "COMMAND", "metadata": {}},
        {"name": "bye", "type": "COMMAND", "metadata": {}},
        {"name": "on_message", "type": "EVENT_HANDLER", "metadata": {}},
        {"name": "extend", "type": "REPLY_EXTENSION", "metadata": {}},
        {"name": "render", "type": "API", "metadata": {"public": true}},
        {"name": "t", "type": "TOOL", "metadata": {}},
        "nonsense",
    ]));
    assert_eq!(tools.len(), 1);
    let messages: Vec<&str> = remarks.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "components of type  are not run here: ",
            "components of type COMMAND are not run here: hello, bye",
            "components of type EVENT_HANDLER are not run here: on_message",
            "components of type REPLY_EXTENSION are not run here: extend",
        ]
    );
    assert!(remarks.warnings.iter().all(|warning| warning.name == "someone.plugin"));
}

#[test]
fn a_tool_that_is_not_enabled_says_so() {
    assert!(tool_with(json!({"enabled": true})).enabled);
    assert!(!tool_with(json!({"enabled": false})).enabled);
}

#[test]
fn a_handler_that_disagrees_with_its_declaration_is_told() {
    let warnings = |handler: Value| {
        let (_, remarks) = read(json!([{"name": "t", "type": "TOOL", "handler": handler, "metadata": {
            "parameters_raw": {"q": {"type": "string"}, "limit": {"type": "integer"}}}}]));
        remarks.warnings.into_iter().map(|warning| warning.message).collect::<Vec<_>>()
    };
    assert_eq!(warnings(json!({"name": "handle_t", "any": true, "accepts": ["q"]})), [] as [&str; 0]);
    assert_eq!(
        warnings(json!({"name": "handle_t", "any": false, "accepts": ["q"]})),
        ["its handler `handle_t` does not take the parameter `limit` that it declares"]
    );
    assert_eq!(warnings(json!({"name": null})), ["its plugin has no handler for it; calls will fail"]);
}
