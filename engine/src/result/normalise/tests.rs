use super::*;
use proptest::prelude::*;
use serde_json::json;

fn read_text(text: &str) -> ToolExecutionResult {
    result_from_json(&JsonText::parse(text).unwrap())
}

fn read(value: Value) -> ToolExecutionResult {
    read_text(&value.to_string())
}

fn structured(result: &ToolExecutionResult) -> Option<&str> {
    result.structured_content.as_ref().map(JsonText::as_str)
}

#[test]
fn stop_must_be_a_boolean_on_a_success() {
    assert!(read(json!({"stop_after_execution": true})).effects.stop_after_execution);
    assert!(!read(json!({"success": false, "stop_after_execution": true})).effects.stop_after_execution);
    assert!(!read(json!({"isError": true, "stop_after_execution": true})).effects.stop_after_execution);
    for wrong in [json!("true"), json!(1), json!(null), json!([true])] {
        let result = read(json!({"content": "done", "stop_after_execution": wrong}));
        assert!(!result.success && !result.effects.stop_after_execution, "{wrong}");
        assert!(result.error_message.unwrap().contains("stop_after_execution"));
    }
}

#[test]
fn a_nested_stop_flag_means_nothing() {
    assert!(!read(json!({"data": {"stop_after_execution": true}})).effects.stop_after_execution);
}

#[test]
fn content_falls_back_to_message_and_other_keys_keep_their_digits() {
    let result = read_text(r#"{"message": "done", "count": 653247040368672768123456789}"#);
    assert_eq!(result.content, "done");
    assert_eq!(structured(&result), Some(r#"{"count":653247040368672768123456789}"#));
}

#[test]
fn digits_survive_wherever_they_stand() {
    let big = "653247040368672768123456789";
    assert_eq!(structured(&read_text(big)), Some(big));
    assert_eq!(read_text(&format!("{{\"content\": {big}}}")).content, big);
    assert_eq!(structured(&read_text(&format!("{{\"structuredContent\": [{big}]}}"))), Some(&*format!("[{big}]")));
    let messages = read_text(&format!("{{\"post_history_messages\": [{{\"id\": {big}}}]}}")).post_history_messages;
    assert_eq!(messages[0].as_str(), format!("{{\"id\": {big}}}"));
}

#[test]
fn a_call_tool_result_of_mcp_is_understood() {
    let result = read(json!({
        "resultType": "complete",
        "content": [
            {"type": "text", "text": "2 rows"},
            {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
            {"type": "text", "text": "in all"}
        ],
        "structuredContent": [{"id": "1"}, {"id": "2"}],
        "_meta": {"trace": 7}
    }));
    assert!(result.success);
    assert_eq!(result.content, "2 rows\nin all");
    assert_eq!(structured(&result), Some(r#"[{"id":"1"},{"id":"2"}]"#));
    assert_eq!(result.content_items[0].image_base64(), Some(("image/png", "iVBORw0KGgo=")));
    assert_eq!((&result.metadata["_meta"]["trace"], &result.metadata["resultType"]), (&json!(7), &json!("complete")));
}

#[test]
fn success_is_what_the_flag_says_and_never_guessed_from_text() {
    for (value, success) in [
        (json!({"content": [{"type": "text", "text": "done"}]}), true),
        (json!({"content": [{"type": "text", "text": "{\"status\":\"error\"}"}], "isError": false}), true),
        (json!({"content": [{"type": "text", "text": "{\"status\":\"error\"}"}], "isError": null}), true),
        (json!({"content": "Error: no such file"}), true),
        (json!({"error": "not found"}), true),
        (json!({"content": [{"type": "text", "text": "no"}], "isError": true}), false),
        (json!({"content": "no", "is_error": true, "metadata": {"a": "b"}}), false),
        (json!({"success": true, "isError": true}), false),
        (json!({"success": false, "message": "no"}), false),
        (json!({"content": [], "isError": "true"}), false),
    ] {
        assert_eq!(read(value.clone()).success, success, "{value}");
    }
    let prose = read(json!({"content": [{"type": "text", "text": "{\"status\":\"error\"}"}], "isError": false}));
    assert_eq!(prose.history_content("c1"), r#"{"status":"error"}"#);
    let failed = read(json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
    assert_eq!((failed.error_message.as_deref(), failed.content.as_str()), (Some("no"), "no"));
}

#[test]
fn states_that_are_no_failures_pass_through_whole() {
    for value in [
        json!({"status": "started", "task_id": "t1"}),
        json!({"status": "verification_required", "url": "https://x/verify"}),
        json!({"account_read": "账号读取未开启"}),
        json!({"source": "cache", "fetched_at": "2026-01-01T00:00:00Z", "stale": true}),
        json!({"error": "not found", "code": 404}),
    ] {
        let result = read(value.clone());
        assert!(result.success && result.error_message.is_none(), "{value}");
        assert_eq!(result.history_content("c1"), value.to_string());
    }
}

#[test]
fn nothing_to_say_is_a_success_with_a_placeholder() {
    for value in [
        json!(null),
        json!(""),
        json!("   "),
        json!({}),
        json!({"content": []}),
        json!({"content": [{"type": "text", "text": ""}]}),
        json!({"content": null, "error": null, "structured_content": null}),
        json!({"content_items": [{"type": "text", "text": " "}]}),
    ] {
        let result = read(value.clone());
        assert!(result.success, "{value}");
        assert_eq!(result.history_content("c1"), "(no output)", "{value}");
    }
    assert_eq!(structured(&read(json!(null))), Some("null"));
    assert_eq!(structured(&read(json!(""))), None);
}

#[test]
fn a_block_that_cannot_be_read_fails_nothing() {
    let result = read(json!({"content": [
        {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "f://x", "blob": "AA=="}},
        {"type": "hologram", "z": 1}
    ]}));
    assert!(result.success);
    assert_eq!(
        result.history_content("c1"),
        "[audio tool_result:c1:1, audio/wav, 1 bytes]\n\
         [resource tool_result:c1:2, 1 bytes, f://x]\n\
         [hologram tool_result:c1:3, cannot be shown, 25 bytes]"
    );
}

#[test]
fn an_item_that_cannot_be_read_fails_nothing_either() {
    for items in [json!([{"type": "hologram"}]), json!([7]), json!({"type": "hologram"}), json!(true)] {
        let result = read(json!({"content": "drawn", "content_items": items}));
        assert!(result.success, "{items}");
        assert!(result.history_content("c1").contains("tool_result:c1:1, cannot be shown"), "{items}");
    }
    let single = read(json!({"content_items": {"type": "image", "base64": "AAAA", "mime_type": "image/png"}}));
    assert_eq!(single.content_items[0].image_base64(), Some(("image/png", "AAAA")));
}

#[test]
fn a_list_that_is_no_list_of_blocks_is_text_as_before() {
    assert_eq!(read(json!({"content": ["a", "b"]})).content, r#"["a","b"]"#);
    assert_eq!(read(json!({"content": [{"id": 1}]})).content, r#"[{"id":1}]"#);
    assert_eq!(structured(&read(json!({"content": [], "results": [1]}))), Some(r#"{"results":[1]}"#));
}

#[test]
fn nothing_beside_structured_content_is_lost() {
    let result = read(json!({"content": "a", "message": "b", "structured_content": {"x": 1}, "extra": [2]}));
    assert_eq!(structured(&result), Some(r#"{"x":1}"#));
    assert_eq!((&result.metadata["message"], &result.metadata["extra"]), (&json!("b"), &json!([2])));
    let result = read(json!({"content": "a", "structured_content": null, "extra": 2, "metadata": ["odd"]}));
    assert_eq!((structured(&result), &result.metadata["metadata"]), (Some(r#"{"extra":2}"#), &json!(["odd"])));
}

#[test]
fn media_in_structured_content_become_items() {
    let result = read(json!({"a": ["data:image/png;base64,AAAA", "see data:image/png;base64,AAAA here"]}));
    assert_eq!(result.content_items[0].image_base64(), Some(("image/png", "AAAA")));
    assert_eq!(
        result.history_content("c1"),
        "{\"a\":[\"[image 1: image/png, 3 bytes]\",\"see data:image/png;base64,AAAA here\"]}\n\
         [image tool_result:c1:1, image/png, 3 bytes]"
    );
    assert_eq!(read(json!("data:image/png;base64,AAAA")).content_items.len(), 1);
}

#[test]
fn messages_for_the_history_must_be_a_list_of_reasonable_length() {
    for wrong in [json!({"role": "user"}), json!("x"), json!(vec![1; MAX_POST_HISTORY_MESSAGES + 1])] {
        let result = read(json!({"post_history_messages": wrong}));
        assert!(!result.success && result.error_message.unwrap().contains("post_history_messages"));
    }
}

#[test]
fn a_server_of_mcp_cannot_ask_for_more_than_mcp_knows() {
    let sent = json!({"content": [{"type": "text", "text": "a"}], "stop_after_execution": true,
        "post_history_messages": [{"role": "system"}], "success": false, "ttlMs": 5});
    let result = result_from_mcp(&JsonText::from(sent));
    assert!(result.success && !result.effects.stop_after_execution && result.post_history_messages.is_empty());
    assert_eq!((result.content.as_str(), &result.metadata["ttlMs"]), ("a", &json!(5)));
    assert_eq!(structured(&result), None);
}

#[test]
fn half_a_surrogate_pair_costs_one_character() {
    for json in
        [r#""a\ud83db""#, r#"{"content": "a\ud83db"}"#, r#"{"content": [{"type": "text", "text": "a\ud83db"}]}"#]
    {
        let content = read_text(json).content;
        assert!(content.starts_with('a') && content.ends_with('b'), "{content:?}");
    }
}

#[test]
fn a_result_of_any_depth_is_read() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for json in [
        deep.clone(),
        format!("{{\"x\": {deep}}}"),
        format!("{{\"content\": {deep}, \"metadata\": {deep}, \"content_items\": {deep}}}"),
        format!("{{\"content\": [{{\"type\": \"image\", \"resource\": {deep}, \"metadata\": {deep}}}]}}"),
    ] {
        assert!(!result_from_json(&JsonText::trusted(json.into())).history_content("c1").is_empty());
    }
}

/// JSON whose objects often have keys that mean something.
fn any_json() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "content",
        "type",
        "text",
        "data",
        "uri",
        "resource",
        "isError",
        "success",
        "structuredContent",
        "error",
        "content_items",
        "post_history_messages",
        "metadata",
        "_meta",
        "mimeType",
        "blob",
        "message",
        "x",
    ]);
    let word = prop::sample::select(vec!["text", "image", "resource", "AAAA", "data:image/png;base64,AAAA", "", "字"]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_gives_a_result_whose_text_is_not_empty_and_without_media(value in any_json()) {
        let json = JsonText::from(&value);
        for result in [result_from_json(&json), result_from_mcp(&json)] {
            let history = result.history_content("c1");
            prop_assert!(!history.trim().is_empty());
            prop_assert!(!history.contains("\"data:image/png;base64,AAAA\""), "{}", history);
            prop_assert!(result.success || result.error_message.is_some() || result.content.is_empty());
            if let Some(structured) = &result.structured_content {
                prop_assert!(serde_json::from_str::<Value>(structured.as_str()).is_ok());
            }
        }
    }
}
