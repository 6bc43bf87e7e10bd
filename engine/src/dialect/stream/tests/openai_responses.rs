//! Events of responses, and which of them win.

use serde_json::{Value, json};

use super::{assemble, assemble_texts};
use crate::dialect::stream::Dialect;

fn added(index: u64, n: u64) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": {
        "type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"), "name": "f", "arguments": "", "status": "in_progress"}})
}

fn delta(index: u64, n: u64, text: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": format!("fc_{n}"), "delta": text})
}

fn arguments_done(index: u64, n: u64, text: &str) -> Value {
    json!({"type": "response.function_call_arguments.done", "output_index": index, "item_id": format!("fc_{n}"), "arguments": text})
}

fn item(n: u64, text: &str, status: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"), "name": "f", "arguments": text, "status": status})
}

fn item_done(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

#[test]
fn what_is_more_final_wins() {
    let completed = json!({"type": "response.completed"});
    let with_output = json!({"type": "response.completed", "response": {"status": "completed", "output": [item(9, "{\"d\":4}", "completed")]}});
    let empty = json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
    let base = [added(0, 9), delta(0, 9, "{\"a"), delta(0, 9, "\":1}")];
    let done = arguments_done(0, 9, "{\"b\":2}");
    let whole = item_done(0, &item(9, "{\"c\":3}", "completed"));
    for (events, expected) in [
        (vec![completed.clone()], "{\"a\":1}"),
        (vec![done.clone(), completed.clone()], "{\"b\":2}"),
        (vec![done.clone(), whole.clone(), completed], "{\"c\":3}"),
        (vec![whole.clone(), done.clone(), empty], "{\"c\":3}"),
        (vec![done, whole, with_output], "{\"d\":4}"),
    ] {
        let events: Vec<Value> = base.iter().cloned().chain(events).collect();
        let (reply, assembled) = assemble(Dialect::OpenAiResponses, &events);
        assert_eq!(reply["output"], json!([item(9, expected, "completed")]), "{events:?}");
        assert_eq!(reply["status"], "completed");
        assert!(assembled.ended && assembled.warnings.is_empty());
    }
}

#[test]
fn items_and_responses_that_came_whole_stay_byte_for_byte() {
    let events = [
        r#"data: {"type":"response.created","response":{"id":"r","status":"in_progress","model":"g","output":[],"tools":[{"name":"f"}]}}"#,
        r#"data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning", "id":"rs","encrypted_content":"a\/b\u003d","summary":[]}}"#,
        r#"data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{\"n\":653247040368672768123}","big":653247040368672768123}}"#,
        r#"data: {"type":"response.completed","response":{"id":"r","status":"completed","incomplete_details":null,"output":[],"usage":{"total_tokens":9}}}"#,
    ];
    let assembled = assemble_texts(Dialect::OpenAiResponses, &events);
    assert_eq!(
        assembled.reply.as_str(),
        concat!(
            r#"{"id":"r","model":"g","status":"completed","usage":{"total_tokens":9},"incomplete_details":null,"output":["#,
            r#"{"type":"reasoning", "id":"rs","encrypted_content":"a\/b\u003d","summary":[]},"#,
            r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{\"n\":653247040368672768123}","big":653247040368672768123}]}"#
        )
    );
}

#[test]
fn a_response_that_ran_out_of_tokens_says_which_call_is_incomplete() {
    let events = [
        added(0, 1),
        delta(0, 1, "{\"city\":\"rome\"}"),
        arguments_done(0, 1, "{\"city\":\"rome\"}"),
        item_done(0, &item(1, "{\"city\":\"rome\"}", "completed")),
        added(1, 2),
        delta(1, 2, "{\"ci"),
        json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}}),
    ];
    let (reply, assembled) = assemble(Dialect::OpenAiResponses, &events);
    assert_eq!(
        reply,
        json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [
            item(1, "{\"city\":\"rome\"}", "completed"), item(2, "{\"ci", "incomplete")]})
    );
    assert!(assembled.ended);
}

#[test]
fn a_stream_without_its_last_event_is_complete_only_when_every_item_is_done() {
    let done = item_done(0, &item(1, "{}", "completed"));
    for (events, status) in [
        (vec![added(0, 1), done.clone()], "completed"),
        (vec![added(0, 1), done, added(1, 2)], "incomplete"),
        (vec![added(0, 1), arguments_done(0, 1, "{}")], "incomplete"),
        (vec![], "incomplete"),
    ] {
        let (reply, assembled) = assemble(Dialect::OpenAiResponses, &events);
        assert_eq!(reply["status"], status, "{events:?}");
        assert!(!assembled.ended);
    }
    let (reply, _) = assemble(Dialect::OpenAiResponses, &[added(0, 1), arguments_done(0, 1, "{}"), added(1, 2)]);
    let statuses: Vec<&Value> = reply["output"].as_array().unwrap().iter().map(|item| &item["status"]).collect();
    assert_eq!(statuses, ["completed", "incomplete"]);
}

#[test]
fn events_find_their_item_by_index_or_else_by_id() {
    let without = |mut event: Value, key: &str| {
        event.as_object_mut().unwrap().shift_remove(key);
        event
    };
    let both = vec![item(1, "{}", "incomplete"), item(2, "{ }", "incomplete")];
    for (what, events) in [
        (
            "index",
            vec![
                added(0, 1),
                added(1, 2),
                without(delta(1, 2, "{ }"), "item_id"),
                without(delta(0, 1, "{}"), "item_id"),
            ],
        ),
        (
            "id",
            vec![
                added(0, 1),
                added(1, 2),
                without(delta(1, 2, "{ }"), "output_index"),
                without(delta(0, 1, "{}"), "output_index"),
            ],
        ),
        ("an id that changes", vec![added(0, 1), delta(0, 7, "{"), delta(0, 8, "}"), added(1, 2), delta(1, 9, "{ }")]),
        ("index 0 for all", vec![added(0, 1), added(0, 2), delta(0, 2, "{ }"), delta(0, 1, "{}")]),
        (
            "neither",
            vec![
                without(added(0, 1), "output_index"),
                without(without(delta(0, 1, "{}"), "item_id"), "output_index"),
                without(added(1, 2), "output_index"),
                without(without(delta(0, 1, "{ }"), "item_id"), "output_index"),
            ],
        ),
    ] {
        let (reply, assembled) = assemble(Dialect::OpenAiResponses, &events);
        assert_eq!(reply["output"], json!(both), "{what}");
        assert_eq!(assembled.warnings, [""; 0], "{what}");
    }
}

#[test]
fn one_item_is_not_doubled_when_its_id_changes() {
    let mut done = item(1, "{}", "completed");
    done["id"] = json!("fc_other");
    let (reply, _) =
        assemble(Dialect::OpenAiResponses, &[added(0, 1), delta(0, 1, "{}"), item_done(0, &done), item_done(0, &done)]);
    assert_eq!(reply["output"], json!([done]));
}

#[test]
fn items_stand_in_the_order_of_their_indexes() {
    let events = [item_done(1, &item(2, "{}", "completed")), item_done(0, &item(1, "{}", "completed"))];
    let (reply, _) = assemble(Dialect::OpenAiResponses, &events);
    assert_eq!(reply["output"], json!([item(1, "{}", "completed"), item(2, "{}", "completed")]));
}

#[test]
fn text_reasoning_and_custom_input_are_put_together() {
    let start =
        |index: u64, item: &Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let piece = |name: &str, index: u64, text: &str| json!({"type": format!("response.{name}.delta"), "output_index": index, "content_index": 0, "delta": text});
    let events = [
        start(0, &json!({"type": "reasoning", "id": "r", "summary": []})),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "su"}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "delta": "m"}),
        piece("reasoning_text", 0, "th"),
        start(1, &json!({"type": "message", "role": "assistant", "content": []})),
        json!({"type": "response.content_part.added", "output_index": 1, "content_index": 0, "part": {}}),
        piece("output_text", 1, "h"),
        piece("output_text", 1, "m"),
        json!({"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": "hmm"}),
        start(2, &json!({"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": ""})),
        piece("custom_tool_call_input", 2, "SELECT "),
        piece("custom_tool_call_input", 2, "1"),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ];
    let (reply, assembled) = assemble(Dialect::OpenAiResponses, &events);
    assert_eq!(
        reply["output"],
        json!([
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "su"}, {"type": "summary_text", "text": "m"}],
                "content": [{"type": "reasoning_text", "text": "th"}], "status": "completed"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hmm"}], "status": "completed"},
            {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1", "status": "completed"},
        ])
    );
    assert_eq!(assembled.warnings, [""; 0]);
}

#[test]
fn pieces_of_an_item_that_never_started_are_left_out_with_a_warning() {
    let (reply, assembled) =
        assemble(Dialect::OpenAiResponses, &[delta(0, 1, "{}"), json!({"type": "response.completed"})]);
    assert_eq!((reply["output"].clone(), assembled.warnings.len()), (json!([]), 1));
    let (reply, assembled) =
        assemble(Dialect::OpenAiResponses, &[delta(0, 1, "{}"), added(0, 1), json!({"type": "response.completed"})]);
    assert_eq!((reply["output"].clone(), assembled.warnings.len()), (json!([item(1, "{}", "completed")]), 0));
}

#[test]
fn a_response_may_come_whole_and_events_may_be_new() {
    let whole = json!({"status": "completed", "incomplete_details": null, "output": [item(1, "{}", "completed")]});
    let (reply, assembled) =
        assemble(Dialect::OpenAiResponses, &[json!({"type": "response.brand_new"}), whole.clone()]);
    assert_eq!(reply, whole);
    assert!(assembled.ended);
    assert!(assembled.warnings[0].contains("brand_new"));
}
