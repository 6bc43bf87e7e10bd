//! Blocks and their deltas.

use serde_json::{Value, json};

use super::{assemble, assemble_texts};
use crate::call::RawArguments;
use crate::dialect::Dialect;

fn tool_use(index: u64, id: &str) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": "f", "input": {}}})
}

fn input(index: u64, piece: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 4}})
}

#[test]
fn the_whole_form_is_what_the_vendor_sends_without_streaming() {
    let events = [
        r#"event: message_start"#,
        r#"data: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"c","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"b"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s\/+\u003d"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[]}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"cited_text":"x"}}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s1","name":"code","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 6532470403"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"68672768123}"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"redacted_thinking","data":"\u0041=="}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{},"caller":{"type":"direct"}}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
        r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let assembled = assemble_texts(Dialect::Anthropic, &events);
    assert_eq!(
        assembled.reply.as_str(),
        concat!(
            r#"{"type":"message","role":"assistant","id":"m1","model":"c","usage":{"output_tokens":9},"stop_reason":"tool_use","content":["#,
            r#"{"type":"thinking","thinking":"ab","signature":"s\/+\u003d"},"#,
            r#"{"type":"text","text":"hi","citations":[{"cited_text":"x"}]},"#,
            r#"{"type":"server_tool_use","id":"s1","name":"code","input":{"n": 653247040368672768123}},"#,
            r#"{"type":"redacted_thinking","data":"\u0041=="},"#,
            r#"{"type":"tool_use","id":"t1","name":"f","input":"{\"a\":1}","caller":{"type":"direct"}}]}"#
        )
    );
    assert!(assembled.ended && assembled.warnings.is_empty(), "{:?}", assembled.warnings);
}

#[test]
fn a_call_without_deltas_has_the_input_of_its_start() {
    for (deltas, expected) in
        [(vec![], json!({})), (vec![input(0, "")], json!({})), (vec![input(0, "{\"a\":1}")], json!("{\"a\":1}"))]
    {
        let events: Vec<Value> =
            [tool_use(0, "t")].into_iter().chain(deltas).chain([stop(0), end("tool_use")]).collect();
        let (reply, assembled) = assemble(Dialect::Anthropic, &events);
        assert_eq!(reply["content"][0]["input"], expected);
        assert!(assembled.ended);
    }
}

#[test]
fn a_call_without_an_id_stays_a_call() {
    let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "f", "input": {}}});
    let (reply, assembled) = assemble(Dialect::Anthropic, &[start, input(0, "{\"a\":1}"), stop(0), end("tool_use")]);
    assert_eq!(reply["content"], json!([{"type": "tool_use", "name": "f", "input": "{\"a\":1}"}]));
    assert_eq!(Dialect::Anthropic.parse(assembled.reply.as_str()).unwrap().calls.len(), 1);
}

#[test]
fn an_index_that_starts_again_is_another_block() {
    let events =
        [tool_use(0, "a"), input(0, "{}"), stop(0), tool_use(0, "b"), input(0, "{ }"), stop(0), end("tool_use")];
    let (reply, _) = assemble(Dialect::Anthropic, &events);
    let inputs: Vec<&Value> = reply["content"].as_array().unwrap().iter().map(|block| &block["input"]).collect();
    assert_eq!(inputs, ["{}", "{ }"]);
}

#[test]
fn a_call_that_the_stream_broke_off_counts_as_cut_off() {
    for (events, reason) in [
        (vec![tool_use(0, "a")], json!("max_tokens")),
        (vec![tool_use(0, "a"), input(0, "{\"a\":1}")], json!("max_tokens")),
        (vec![tool_use(0, "a"), input(0, "{\"a\":1}"), stop(0)], json!(null)),
        (vec![tool_use(0, "a"), input(0, "{}"), end("tool_use")], json!("tool_use")),
        (
            vec![json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "h"}})],
            json!(null),
        ),
    ] {
        let (reply, assembled) = assemble(Dialect::Anthropic, &events);
        assert_eq!(reply["stop_reason"], reason, "{events:?}");
        assert_eq!(assembled.ended, reason == "tool_use");
    }
    let (_, assembled) = assemble(Dialect::Anthropic, &[tool_use(0, "a")]);
    let calls = Dialect::Anthropic.parse(assembled.reply.as_str()).unwrap().calls;
    assert!(matches!(calls[0].arguments, RawArguments::CutOff(_)));
}

#[test]
fn deltas_of_no_block_or_no_known_type_are_left_out_with_a_warning() {
    let odd = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "odd_delta", "text": "x"}});
    let (reply, assembled) =
        assemble(Dialect::Anthropic, &[input(3, "{}"), tool_use(0, "a"), odd, stop(0), end("tool_use")]);
    assert_eq!(reply["content"], json!([{"type": "tool_use", "id": "a", "name": "f", "input": {}}]));
    assert_eq!(assembled.warnings.len(), 2);
    assert!(assembled.warnings[1].contains("odd_delta"));
}

#[test]
fn text_may_come_without_a_start_and_a_reply_may_come_whole() {
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}});
    let (reply, _) = assemble(Dialect::Anthropic, &[delta.clone(), delta]);
    assert_eq!(reply["content"], json!([{"type": "text", "text": "xx"}]));
    let whole = json!({"type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"a": 1}}], "stop_reason": "tool_use"});
    let (reply, assembled) = assemble(Dialect::Anthropic, std::slice::from_ref(&whole));
    assert_eq!(reply, whole);
    assert!(assembled.ended);
}

#[test]
fn calls_that_stand_in_the_start_of_a_message_are_kept_whole() {
    let call = r#"{"type":"tool_use","id":"t1","name":"f","input":{"n": 65324704036867276812300},"caller":{"type":"code_execution_20250825","tool_id":"s1"}}"#;
    let events = [
        format!(
            r#"{{"type":"message_start","message":{{"id":"m1","type":"message","role":"assistant","content":[{call}],"stop_reason":"tool_use"}}}}"#
        ),
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#.to_owned(),
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}"#.to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ];
    for seen in [2, 3, 4] {
        let assembled = assemble_texts(Dialect::Anthropic, &events[..seen]);
        assert!(assembled.reply.as_str().contains(call), "{}", assembled.reply.as_str());
        let parsed = Dialect::Anthropic.parse(assembled.reply.as_str()).unwrap();
        assert_eq!(parsed.calls.len(), 1);
        assert!(matches!(parsed.calls[0].arguments, RawArguments::Encoded(_)), "it came whole");
        assert_eq!(parsed.reasoning, if seen == 2 { "" } else { "hi" });
    }
}
