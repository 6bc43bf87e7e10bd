//! Which delta is whose, in the ways that servers are known to send them.

use serde_json::{Value, json};

use super::{assemble, assemble_texts};
use crate::call::RawArguments;
use crate::dialect::Dialect;
use crate::dialect::stream::AssembledReply;

/// Chunks of one choice: deltas of calls, then the end.
fn chunks(deltas: &[Value]) -> Vec<Value> {
    let chunk =
        |call: &Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    deltas.iter().map(chunk).chain([end]).collect()
}

fn message(chunks: &[Value]) -> (Value, AssembledReply) {
    let (reply, assembled) = assemble(Dialect::OpenAiChat, chunks);
    (reply["choices"][0]["message"].clone(), assembled)
}

/// Of each call the id, the name and the arguments.
fn calls(deltas: &[Value]) -> Vec<[String; 3]> {
    let (message, _) = message(&chunks(deltas));
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let row = |call: &Value| [&call["id"], &call["function"]["name"], &call["function"]["arguments"]].map(text);
    calls.iter().map(row).collect()
}

#[test]
fn each_delta_goes_to_its_call() {
    let (a, b) = (r#"{"city":"a"}"#, r#"{"city":"b"}"#);
    let f = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let rest = |arguments: &str| json!({"arguments": arguments});
    for (what, deltas, expected) in [
        (
            "by index",
            vec![
                json!({"index": 0, "id": "t1", "type": "function", "function": {"name": "get_weather"}}),
                json!({"index": 0, "function": rest(r#"{"city":"#)}),
                json!({"index": 0, "function": rest(r#""a"}"#)}),
            ],
            vec![["t1", "get_weather", a]],
        ),
        (
            "another id at the same index",
            vec![
                json!({"index": 0, "id": "t1", "function": f("get_weather", a)}),
                json!({"index": 0, "id": "t2", "function": f("get_weather", b)}),
            ],
            vec![["t1", "get_weather", a], ["t2", "get_weather", b]],
        ),
        (
            "ids without indexes",
            vec![
                json!({"id": "f1", "function": f("get_weather", a)}),
                json!({"id": "f2", "function": f("get_weather", b)}),
            ],
            vec![["f1", "get_weather", a], ["f2", "get_weather", b]],
        ),
        (
            "an id without an index continues",
            vec![
                json!({"id": "f1", "function": f("get_weather", r#"{"city":"#)}),
                json!({"id": "f1", "function": rest(r#""a"}"#)}),
            ],
            vec![["f1", "get_weather", a]],
        ),
        (
            "empty and null ids are none",
            vec![
                json!({"index": 0, "id": "t1", "type": "function", "function": f("get_weather", "")}),
                json!({"index": 0, "id": "", "type": "function", "function": rest(r#"{"city":"a"#)}),
                json!({"index": 0, "id": null, "function": rest("\"}")}),
            ],
            vec![["t1", "get_weather", a]],
        ),
        (
            "the first index is 1",
            vec![json!({"index": 1, "id": "t1", "function": f("get_weather", a)})],
            vec![["t1", "get_weather", a]],
        ),
        (
            "interleaved indexes",
            vec![
                json!({"index": 3, "id": "t1", "function": f("x", "{")}),
                json!({"index": 7, "id": "t2", "function": f("y", "{")}),
                json!({"index": 3, "function": rest("}")}),
                json!({"index": 7, "function": rest(" }")}),
            ],
            vec![["t1", "x", "{}"], ["t2", "y", "{ }"]],
        ),
        (
            "interleaved ids at one index",
            vec![
                json!({"index": 0, "id": "t1", "function": f("x", "{")}),
                json!({"index": 0, "id": "t2", "function": f("y", "{")}),
                json!({"index": 0, "id": "t1", "function": rest("}")}),
                json!({"index": 0, "id": "t2", "function": rest(" }")}),
            ],
            vec![["t1", "x", "{}"], ["t2", "y", "{ }"]],
        ),
        (
            "neither id nor index: the latest call",
            vec![
                json!({"function": {"name": "get_weather"}}),
                json!({"function": rest(r#"{"city":"#)}),
                json!({"function": rest(r#""a"}"#)}),
            ],
            vec![["null", "get_weather", a]],
        ),
        (
            "whole calls with neither",
            vec![json!({"function": f("x", a)}), json!({"function": f("y", b)}), json!({"function": f("y", b)})],
            vec![["null", "x", a], ["null", "y", b], ["null", "y", b]],
        ),
        (
            "whole calls at one index without ids",
            vec![
                json!({"index": 0, "function": f("x", a)}),
                json!({"index": 0, "function": f("x", b)}),
                json!({"index": 0, "function": f("y", b)}),
            ],
            vec![["null", "x", a], ["null", "x", b], ["null", "y", b]],
        ),
        (
            "a call that comes twice at its index",
            vec![json!({"index": 0, "function": f("x", a)}), json!({"index": 0, "function": f("x", a)})],
            vec![["null", "x", a]],
        ),
        (
            "a call that comes twice under its id",
            vec![
                json!({"index": 0, "id": "t1", "function": f("x", a)}),
                json!({"index": 0, "id": "t1", "function": f("x", a)}),
            ],
            vec![["t1", "x", a]],
        ),
        (
            "one id for two calls with indexes of their own",
            vec![
                json!({"index": 0, "id": "t1", "function": f("x", a)}),
                json!({"index": 1, "id": "t1", "function": f("y", b)}),
            ],
            vec![["t1", "x", a], ["t1", "y", b]],
        ),
        (
            "a new id in each chunk of one call",
            vec![
                json!({"index": 0, "id": "r1", "function": f("x", "{\"ci")}),
                json!({"index": 0, "id": "r2", "function": rest("ty\":\"a\"")}),
                json!({"index": 0, "id": "r3", "function": rest("}")}),
            ],
            vec![["r1", "x", a]],
        ),
        (
            "an id that comes late",
            vec![json!({"index": 0, "function": {"name": "x"}}), json!({"index": 0, "id": "t1", "function": rest(a)})],
            vec![["t1", "x", a]],
        ),
        (
            "arguments at an index of their own",
            vec![json!({"index": 0, "id": "t1", "function": {"name": "x"}}), json!({"index": 1, "function": rest(a)})],
            vec![["t1", "x", a]],
        ),
        (
            "a numeric id and an index in quotes",
            vec![json!({"index": "0", "id": 7, "function": f("x", "{")}), json!({"index": 0, "function": rest("}")})],
            vec![["7", "x", "{}"]],
        ),
        (
            "nothing that a call could be made of",
            vec![json!({"index": 0}), json!({}), json!(7), json!({"type": "function", "function": {}})],
            vec![],
        ),
        (
            "arguments as an object",
            vec![json!({"index": 0, "id": "t1", "function": {"name": "x", "arguments": {"city": "a"}}})],
            vec![["t1", "x", a]],
        ),
        (
            "an empty object before the text",
            vec![
                json!({"index": 0, "id": "t1", "function": {"name": "x", "arguments": {}}}),
                json!({"index": 0, "function": rest(a)}),
            ],
            vec![["t1", "x", a]],
        ),
        (
            "a call without its function object",
            vec![json!({"index": 0, "id": "t1", "name": "x", "arguments": a})],
            vec![["t1", "x", a]],
        ),
    ] {
        assert_eq!(calls(&deltas), expected, "{what}");
    }
}

#[test]
fn names_are_joined_but_not_repeated() {
    let cases: [(&[&str], &str); 6] = [
        (&["get_", "weather"], "get_weather"),
        (&["get_weather", "get_weather"], "get_weather"),
        (&["get_", "get_weather"], "get_weather"),
        (&["get_weather", ""], "get_weather"),
        (&["", "get_weather"], "get_weather"),
        (&["g", "et_", "weather"], "get_weather"),
    ];
    for (pieces, expected) in cases {
        let deltas: Vec<Value> =
            pieces.iter().map(|name| json!({"index": 0, "id": "t", "function": {"name": name}})).collect();
        assert_eq!(calls(&deltas), [["t", expected, ""]], "{pieces:?}");
    }
}

#[test]
fn several_deltas_of_one_call_in_one_chunk_are_all_taken() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "t1", "function": {"name": "x", "arguments": "{\"a\""}},
        {"index": 0, "function": {"arguments": ":1}"}},
        {"index": 1, "id": "t2", "function": {"name": "y", "arguments": "{}"}},
    ]}, "finish_reason": "tool_calls"}]});
    let (message, _) = message(&[chunk]);
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{\"a\":1}");
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 2);
}

#[test]
fn the_whole_form_is_what_the_vendor_sends_without_streaming() {
    let chunks = [
        r#"{"id":"c1","model":"m","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"th"}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"ink","content":"h"}}]}"#,
        r#"{"id":"c1","choices":[{"index":1,"delta":{"content":"other choice"},"finish_reason":"stop"},{"index":0,"delta":{"content":"m"}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","extra_content":{"google":{"thought_signature":"a\/b+\u003d"}},"function":{"name":"f","arguments":"{\"n\":653247040368672768123}"}}]}}]}"#,
        r#"{"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"extra_content":null}]},"finish_reason":"tool_calls"}],"usage":null}"#,
        r#"{"id":"c1","choices":[],"usage":{"total_tokens":9}}"#,
        "[DONE]",
    ];
    let assembled = assemble_texts(Dialect::OpenAiChat, &chunks);
    assert_eq!(
        assembled.reply.as_str(),
        concat!(
            r#"{"id":"c1","model":"m","usage":{"total_tokens":9},"choices":[{"index":0,"message":{"role":"assistant","#,
            r#""content":"hm","reasoning_content":"think","tool_calls":[{"id":"t1","type":"function","function":{"name":"f","#,
            r#""arguments":"{\"n\":653247040368672768123}"},"extra_content":{"google":{"thought_signature":"a\/b+\u003d"}}}]},"#,
            r#""finish_reason":"tool_calls"}]}"#
        )
    );
    assert!(assembled.ended && assembled.warnings.is_empty());
}

#[test]
fn lists_of_a_message_are_joined_and_other_members_kept() {
    let (message, _) = message(&[
        json!({"choices": [{"delta": {"reasoning_details": [{"text": "a"}], "annotations": [], "provider_x": 1}}]}),
        json!({"choices": [{"delta": {"reasoning_details": [{"text": "b"}], "provider_x": 2, "refusal": "n"}}]}),
        json!({"choices": [{"delta": {"content": [{"type": "text", "text": "par"}, {"type": "text", "text": "ts"}], "refusal": "o"}}]}),
    ]);
    assert_eq!(message["reasoning_details"], json!([{"text": "a"}, {"text": "b"}]));
    assert_eq!(
        (&message["provider_x"], &message["refusal"], &message["content"]),
        (&json!(2), &json!("no"), &json!("parts"))
    );
}

#[test]
fn a_reply_that_comes_as_message_or_whole_is_read_the_same() {
    let whole = json!({"index": 0, "message": {"role": "assistant", "content": null, "tool_calls": [
        {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "t2", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ]}, "finish_reason": "tool_calls"});
    let (reply, _) = assemble(Dialect::OpenAiChat, &[json!({"choices": [whole]})]);
    assert_eq!(reply, json!({"choices": [whole]}));
}

#[test]
fn an_old_function_call_is_put_together() {
    let (message, _) = message(&[
        json!({"choices": [{"delta": {"function_call": {"name": "f", "arguments": ""}}}]}),
        json!({"choices": [{"delta": {"function_call": {"arguments": "{\"a\""}}}]}),
        json!({"choices": [{"delta": {"function_call": {"arguments": ":1}"}}, "finish_reason": "function_call"}]}),
    ]);
    assert_eq!(message["function_call"], json!({"name": "f", "arguments": "{\"a\":1}"}));
}

#[test]
fn the_input_of_a_custom_tool_is_put_together() {
    let (message, _) = message(&chunks(&[
        json!({"index": 0, "id": "t1", "type": "custom", "custom": {"name": "sql", "input": ""}}),
        json!({"index": 0, "custom": {"input": "SELECT "}}),
        json!({"index": 0, "custom": {"input": "1"}}),
    ]));
    assert_eq!(
        message["tool_calls"],
        json!([{"id": "t1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}])
    );
}

#[test]
fn an_unknown_frame_between_deltas_costs_nothing_but_a_warning() {
    let (reply, assembled) = assemble(
        Dialect::OpenAiChat,
        &[
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "t1", "function": {"name": "get_weather"}}]}}]}),
            json!({"unexpected": true}),
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{\"city\":\"a\"}"}}]}, "finish_reason": "tool_calls"}]}),
        ],
    );
    assert_eq!(reply["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{\"city\":\"a\"}");
    assert_eq!((assembled.warnings.len(), assembled.ended), (1, true));
}

#[test]
fn broken_arguments_stay_one_broken_call() {
    let deltas = [
        json!({"index": 0, "id": "t1", "function": {"name": "get_weather", "arguments": "{bad"}}),
        json!({"index": 0, "id": "t1", "function": {"arguments": ""}}),
    ];
    assert_eq!(calls(&deltas), [["t1", "get_weather", "{bad"]]);
}

#[test]
fn a_finish_reason_of_stop_suppresses_no_call() {
    let mut chunks = chunks(&[json!({"index": 0, "id": "t1", "function": {"name": "f", "arguments": "{}"}})]);
    chunks[1]["choices"][0]["finish_reason"] = json!("stop");
    let (reply, assembled) = assemble(Dialect::OpenAiChat, &chunks);
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    assert_eq!(Dialect::OpenAiChat.parse(assembled.reply.as_str()).unwrap().calls.len(), 1);
}

#[test]
fn a_call_that_the_stream_broke_off_counts_as_cut_off() {
    let call = |arguments: &str| json!({"choices": [{"delta": {"tool_calls": [{"id": "t", "function": {"name": "f", "arguments": arguments}}]}}]});
    for (arguments, is_cut) in
        [("", true), ("{\"a\":", true), ("{\"a\": \"}", true), ("{\"a\": 1}", false), (r#"{"a": "\"}"}"#, false)]
    {
        let (_, assembled) = assemble(Dialect::OpenAiChat, &[call(arguments)]);
        assert!(!assembled.ended);
        let calls = Dialect::OpenAiChat.parse(assembled.reply.as_str()).unwrap().calls;
        assert_eq!(matches!(calls[0].arguments, RawArguments::CutOff(_)), is_cut, "{arguments}");
    }
    let texts = [call("").to_string(), "[DONE]".to_owned()];
    let assembled = assemble_texts(Dialect::OpenAiChat, &texts);
    let calls = Dialect::OpenAiChat.parse(assembled.reply.as_str()).unwrap().calls;
    assert!(assembled.ended && matches!(&calls[0].arguments, RawArguments::Encoded(text) if &**text == "\"\""));
}

#[test]
fn a_call_that_an_error_broke_off_counts_as_cut_off_whatever_the_finish_reason() {
    for (arguments, reason) in [("", "length"), ("{}", "error")] {
        let call = json!([{"index": 0, "id": "t", "function": {"name": "f", "arguments": arguments}}]);
        let (reply, assembled) = assemble(
            Dialect::OpenAiChat,
            &[
                json!({"choices": [{"index": 0, "delta": {"tool_calls": call}}]}),
                json!({"error": {"code": 502}, "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}]}),
            ],
        );
        assert_eq!((reply["choices"][0]["finish_reason"].as_str(), assembled.ended), (Some(reason), false));
    }
}
