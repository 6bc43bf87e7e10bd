//! Parts, and arguments in pieces.

use serde_json::{Value, json};

use super::{assemble, assemble_texts};
use crate::dialect::stream::{AssembledReply, Dialect};

fn chunk(parts: &Value) -> Value {
    json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}]})
}

fn call(function: &Value) -> Value {
    chunk(&json!([{"functionCall": function}]))
}

fn end(reason: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": reason}]})
}

fn parts(chunks: &[Value]) -> (Value, AssembledReply) {
    let (reply, assembled) = assemble(Dialect::Gemini, chunks);
    (reply["candidates"][0]["content"]["parts"].clone(), assembled)
}

/// The arguments of a call whose pieces these are.
fn arguments(pieces: &[Value], reason: &str) -> Value {
    let pieces = pieces.iter().map(|piece| call(&json!({"partialArgs": [piece], "willContinue": true})));
    let start = call(&json!({"name": "f", "willContinue": true}));
    let chunks: Vec<Value> = [start].into_iter().chain(pieces).chain([call(&json!({})), end(reason)]).collect();
    parts(&chunks).0[0]["functionCall"]["args"].clone()
}

#[test]
fn parts_keep_their_order_and_their_bytes() {
    let chunks = [
        r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":653247040368672768123}},"thoughtSignature":"a\/b\u003d"}]}}]}"#,
        r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"city":"moab"}}}]},"finishReason":"STOP"}],"responseId":"r"}"#,
    ];
    let assembled = assemble_texts(Dialect::Gemini, &chunks);
    assert_eq!(
        assembled.reply.as_str(),
        concat!(
            r#"{"candidates":[{"content":{"role":"model","parts":["#,
            r#"{"functionCall":{"name":"f","args":{"n":653247040368672768123}},"thoughtSignature":"a\/b\u003d"},"#,
            r#"{"functionCall":{"name":"f","args":{"city":"moab"}}}]},"finishReason":"STOP"}],"responseId":"r"}"#
        )
    );
    assert!(assembled.ended && assembled.warnings.is_empty());
}

#[test]
fn only_pieces_of_one_text_are_joined() {
    let text = |text: &str| chunk(&json!([{"text": text}]));
    let (parts, _) = parts(&[
        chunk(&json!([{"text": "t", "thought": true}, {"text": "h", "thought": true}])),
        text("a"),
        text("b"),
        chunk(&json!([{"text": "", "thoughtSignature": "S"}])),
        text("c"),
        call(&json!({"name": "f", "args": {}})),
        text("d"),
        chunk(&json!([{"executableCode": {"code": "1"}}])),
        text("e"),
        end("STOP"),
    ]);
    assert_eq!(
        parts,
        json!([
            {"text": "th", "thought": true}, {"text": "ab"}, {"text": "", "thoughtSignature": "S"}, {"text": "c"},
            {"functionCall": {"name": "f", "args": {}}}, {"text": "d"}, {"executableCode": {"code": "1"}}, {"text": "e"},
        ])
    );
}

#[test]
fn arguments_in_pieces_are_put_together() {
    let text =
        |path: &str, text: &str, more: bool| json!({"jsonPath": path, "stringValue": text, "willContinue": more});
    for (pieces, expected) in [
        (vec![], json!({})),
        (
            vec![text("$.a", "Bos", true), text("$.a", "ton", true), json!({"jsonPath": "$.a", "stringValue": ""})],
            json!({"a": "Boston"}),
        ),
        (vec![text("$.a", "x", true), json!({"jsonPath": "$.a"})], json!({"a": "x"})),
        (vec![text("$.a", "x", false), text("$.a", "", false)], json!({"a": "x"})),
        (
            vec![
                text("$.l[0].a", "x", false),
                json!({"jsonPath": "$.l[0].n", "numberValue": 0.5}),
                text("$.l[1].a", "y", false),
            ],
            json!({"l": [{"a": "x", "n": 0.5}, {"a": "y"}]}),
        ),
        (
            vec![json!({"jsonPath": "$.a.b", "boolValue": false}), json!({"jsonPath": "$.a.c", "nullValue": null})],
            json!({"a": {"b": false, "c": null}}),
        ),
        (vec![json!({"jsonPath": "$.z", "nullValue": "NULL_VALUE"})], json!({"z": null})),
        (
            vec![json!({"jsonPath": "$['a.b'][\"c]\"]['\\'d'][0][0]", "numberValue": -7})],
            json!({"a.b": {"c]": {"'d": [[-7]]}}}),
        ),
        (vec![json!({"jsonPath": "$.名", "boolValue": true})], json!({"名": true})),
    ] {
        assert_eq!(arguments(&pieces, "STOP"), expected, "{pieces:?}");
    }
}

#[test]
fn digits_and_signatures_of_a_call_in_pieces_stay() {
    let chunks = [
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"id":"i","name":"f","willContinue":true},"thoughtSignature":"a\/b"}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.n","numberValue":653247040368672768123}],"willContinue":true}}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{}}]},"finishReason":"STOP"}]}"#,
    ];
    let assembled = assemble_texts(Dialect::Gemini, &chunks);
    let part = r#"{"functionCall":{"id":"i","name":"f","args":{"n":653247040368672768123}},"thoughtSignature":"a\/b"}"#;
    assert!(assembled.reply.as_str().contains(part), "{assembled:?}");
}

#[test]
fn pieces_that_cannot_be_placed_make_arguments_that_do_not_run() {
    let deep = format!("${}", ".a".repeat(65));
    for piece in [
        json!({"jsonPath": "$", "stringValue": "x"}),
        json!({"jsonPath": "", "stringValue": "x"}),
        json!({"jsonPath": "$.l[3]", "stringValue": "x"}),
        json!({"jsonPath": "$.l[99999999999999999999]", "stringValue": "x"}),
        json!({"jsonPath": "$..a", "stringValue": "x"}),
        json!({"jsonPath": "$.a[*]", "stringValue": "x"}),
        json!({"jsonPath": "$['a", "stringValue": "x"}),
        json!({"jsonPath": "$[0]", "stringValue": "x"}),
        json!({"jsonPath": "$.ok.deeper", "stringValue": "x"}),
        json!({"jsonPath": "$.ok", "numberValue": 1}),
        json!({"jsonPath": "$.ok", "stringValue": "again"}),
        json!({"jsonPath": "$.a", "numberValue": "NaN"}),
        json!({"jsonPath": "$.a", "mysteryValue": 1}),
        json!({"jsonPath": "$.a", "mysteryValue": 1, "willContinue": true}),
        json!({"jsonPath": "$.a", "stringValue": 7}),
        json!({"jsonPath": deep, "stringValue": "x"}),
        json!(7),
    ] {
        let given = arguments(&[json!({"jsonPath": "$.ok", "stringValue": "x"}), piece.clone()], "STOP");
        let text = given.as_str().unwrap_or_else(|| panic!("{piece} gave {given}"));
        assert!(serde_json::from_str::<Value>(text).unwrap_err().is_eof(), "{piece} gave {text}");
    }
}

#[test]
fn several_calls_in_pieces_stay_apart() {
    let piece =
        |text: &str| call(&json!({"partialArgs": [{"jsonPath": "$.a", "stringValue": text}], "willContinue": true}));
    let start = call(&json!({"name": "f", "willContinue": true}));
    let (parts, _) =
        parts(&[start.clone(), piece("x"), call(&json!({})), start, piece("y"), call(&json!({})), end("STOP")]);
    let call = |text: &str| json!({"functionCall": {"name": "f", "args": {"a": text}}});
    assert_eq!(parts, json!([call("x"), call("y")]));
}

#[test]
fn another_name_or_id_ends_an_open_call() {
    let open = |name: &str, id: &str| call(&json!({"name": name, "id": id, "willContinue": true}));
    for (chunks, count) in [
        ([open("f", ""), open("g", "")], 2),
        ([open("f", "1"), open("f", "2")], 2),
        ([open("f", "1"), open("f", "1")], 1),
        ([open("f", ""), open("f", "")], 1),
    ] {
        let chunks: Vec<Value> = chunks.into_iter().chain([end("STOP")]).collect();
        assert_eq!(parts(&chunks).0.as_array().unwrap().len(), count, "{chunks:?}");
    }
}

#[test]
fn a_call_left_open_is_complete_only_when_the_reply_stopped_by_itself() {
    let start = call(&json!({"name": "f", "willContinue": true}));
    let whole = call(&json!({"partialArgs": [{"jsonPath": "$.a", "numberValue": 1}], "willContinue": true}));
    let half = call(
        &json!({"partialArgs": [{"jsonPath": "$.a", "stringValue": "x", "willContinue": true}], "willContinue": true}),
    );
    let closed = call(&json!({"partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]}));
    for (piece, ends, args, reason) in [
        (&whole, Some("STOP"), json!({"a": 1}), "STOP"),
        (&whole, Some("MAX_TOKENS"), json!("{\"a\":1"), "MAX_TOKENS"),
        (&whole, Some("SAFETY"), json!("{\"a\":1"), "SAFETY"),
        (&whole, None, json!("{\"a\":1"), "MAX_TOKENS"),
        (&half, Some("STOP"), json!("{\"a\":\"x\""), "STOP"),
        (&closed, Some("STOP"), json!({"a": 1}), "STOP"),
    ] {
        let chunks: Vec<Value> = [start.clone(), piece.clone()].into_iter().chain(ends.map(end)).collect();
        let (reply, assembled) = assemble(Dialect::Gemini, &chunks);
        let candidate = &reply["candidates"][0];
        assert_eq!(candidate["content"]["parts"][0]["functionCall"]["args"], args, "{ends:?}");
        assert_eq!((candidate["finishReason"].as_str(), assembled.ended), (Some(reason), ends.is_some()));
    }
}

#[test]
fn a_blocked_prompt_is_an_end() {
    let (reply, assembled) = assemble(Dialect::Gemini, &[json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
    assert_eq!(reply["promptFeedback"]["blockReason"], "SAFETY");
    assert!(assembled.ended && assembled.warnings.is_empty());
}

#[test]
fn chunks_may_be_wrapped_and_other_candidates_are_not_read() {
    let other = json!({"candidates": [{"index": 1, "content": {"parts": [{"text": "other"}]}}, {"index": 0, "content": {"parts": [{"text": "b"}]}}]});
    let (parts, _) = parts(&[json!({"response": chunk(&json!([{"text": "a"}]))}), other]);
    assert_eq!(parts, json!([{"text": "ab"}]));
}
