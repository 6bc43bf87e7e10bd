use toolyard::ContentType;

use super::*;

/// The result of a returned value, and of Python's text of it where it is neither an object nor text.
fn result(value: &str, text: Option<&str>) -> ToolExecutionResult {
    let text = text.map(|text| format!(r#","text":{}"#, JsonText::string(text))).unwrap_or_default();
    result_of(&JsonText::parse(&format!(r#"{{"value":{value}{text}}}"#)).unwrap())
}

fn object(value: &str) -> ToolExecutionResult {
    result(value, None)
}

fn summary(result: &ToolExecutionResult) -> (bool, &str, Option<&str>) {
    (result.success, &result.content, result.error_message.as_deref())
}

#[test]
fn objects_follow_the_table() {
    for (value, expected) in [
        (r#"{}"#, (true, "", None)),
        (r#"{"success":true,"message":"已回复"}"#, (true, "已回复", None)),
        (r#"{"content":"a","message":"b"}"#, (true, "a", None)),
        (r#"{"content":"","message":"b"}"#, (true, "", None)),
        (r#"{"content":null,"message":"b"}"#, (true, "", None)),
        (r#"{"content":12}"#, (true, "12", None)),
        (r#"{"success":"false","content":"x"}"#, (true, "x", None)),
        (r#"{"success":0,"message":"no"}"#, (false, "no", Some("no"))),
        (r#"{"success":null}"#, (false, "", Some(FAILED))),
        (r#"{"success":[],"error":"e","message":"m"}"#, (false, "m", Some("e"))),
        (r#"{"success":false,"error":"x"}"#, (false, "", Some("x"))),
        (r#"{"success":false,"error":null,"message":"m"}"#, (false, "m", Some(""))),
        (r#"{"success":false,"content":"c"}"#, (false, "c", Some(FAILED))),
        (r#"{"error":"said though it went well"}"#, (true, "", None)),
    ] {
        assert_eq!(summary(&object(value)), expected, "{value}");
    }
}

#[test]
fn pairs_and_other_values_follow_the_table() {
    for (value, text, expected) in [
        (r#"[true,"已禁言"]"#, "已禁言", (true, "已禁言", None)),
        (r#"[true,"已禁言",2]"#, "已禁言", (true, "已禁言", None)),
        (r#"[false,"没有权限"]"#, "没有权限", (false, "", Some("没有权限"))),
        (r#"[true]"#, "", (true, "", None)),
        (r#"[false,null]"#, "", (false, "", Some(FAILED))),
        (r#"[]"#, "[]", (true, "[]", None)),
        (r#"[1,"a"]"#, "(1, 'a')", (true, "(1, 'a')", None)),
        (r#"["a"]"#, "['a']", (true, "['a']", None)),
        ("7", "7", (true, "7", None)),
        ("1.50", "1.5", (true, "1.5", None)),
        ("true", "True", (true, "True", None)),
        ("null", "", (true, "", None)),
    ] {
        assert_eq!(summary(&result(value, Some(text))), expected, "{value}");
    }
    assert_eq!(summary(&object(r#""晴""#)), (true, "晴", None));
    assert_eq!(summary(&object(r#""""#)), (true, "", None));
}

#[test]
fn the_whole_return_is_what_the_model_gets_without_a_content() {
    let found = object(r#"{"results":[{"标题":"晴"}],"count":12345678901234567890123}"#);
    assert_eq!(found.history_content("c1"), r#"{"results":[{"标题":"晴"}],"count":12345678901234567890123}"#);
    let failed = object(r#"{"success":false,"error":"x"}"#);
    assert_eq!(failed.history_content("c1"), r#"{"success":false,"error":"x"}"#);
    let said = object(r#"{"content":"两条结果","results":[1,2]}"#);
    assert_eq!(said.history_content("c1"), "两条结果");
    assert_eq!(said.structured_content.unwrap().as_str(), r#"{"content":"两条结果","results":[1,2]}"#);
}

#[test]
fn stopping_needs_a_boolean_and_a_success() {
    let stops = |value: &str| object(value).effects.stop_after_execution;
    assert!(stops(r#"{"success":true,"stop_after_execution":true}"#));
    assert!(!stops(r#"{"success":true,"stop_after_execution":false}"#));
    assert!(!stops(r#"{"content":"x"}"#));
    for value in [r#""true""#, "1", "null", "[]", "{}"] {
        let result = object(&format!(r#"{{"content":"x","stop_after_execution":{value}}}"#));
        assert!(!result.success && !result.effects.stop_after_execution, "{value}");
        assert!(result.error_message.unwrap().starts_with("`stop_after_execution`"), "{value}");
    }
    let failed = object(r#"{"success":false,"error":"e","stop_after_execution":"true"}"#);
    assert_eq!(summary(&failed), (false, "", Some("e")), "a failure stays what it was");
    assert!(!stops(r#"{"success":false,"stop_after_execution":true}"#));
}

#[test]
fn items_are_the_objects_of_the_list_and_stand_once() {
    let result = object(
        r#"{"content":"画好了","content_items":[
            {"type":"image","data":"iVBORw0KGgo=","mime_type":"image/png","name":"a.png","description":"d","metadata":{"k":1}},
            "no item", 7, null,
            {"content_type":"image","base64":"iVBORw0KGgo="},
            {"type":"image","uri":"data:image/png;base64,iVBORw0KGgo="},
            {"type":"hologram","name":"h"}]}"#,
    );
    let types: Vec<ContentType> = result.content_items.iter().map(|item| item.content_type).collect();
    assert_eq!(types, [ContentType::Image, ContentType::Image, ContentType::Image, ContentType::Unknown]);
    let first = &result.content_items[0];
    assert_eq!(
        (first.data.as_deref(), first.name.as_deref(), first.description.as_deref(), first.metadata["k"].as_u64()),
        (Some("iVBORw0KGgo="), Some("a.png"), Some("d"), Some(1))
    );
    assert_eq!(result.structured_content.unwrap().as_str(), r#"{"content":"画好了"}"#);
    let odd = object(r#"{"content_items":{"type":"image"}}"#);
    assert!(odd.content_items.is_empty());
    assert_eq!(odd.structured_content.unwrap().as_str(), r#"{"content_items":{"type":"image"}}"#);
}

#[test]
fn what_only_the_engine_knows_means_nothing_here() {
    let result =
        object(r#"{"content":"x","metadata":{"pause_execution":true},"post_history_messages":[{}],"isError":true}"#);
    assert!(result.success && result.metadata.is_empty() && result.post_history_messages.is_empty());
}

#[test]
fn a_report_that_makes_no_sense_is_a_failure() {
    for report in ["7", "{}", r#"{"text":"x"}"#] {
        assert!(!result_of(&JsonText::parse(report).unwrap()).success, "{report}");
    }
}
