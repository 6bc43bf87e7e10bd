//! What holds for any chunks.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{FORMS, assemble};
use crate::dialect::stream::{Dialect, JsonText, StreamAssembler};

/// Chunks that have keys which the forms look at, with values of any kind.
fn chunk() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "choices",
        "delta",
        "message",
        "tool_calls",
        "function",
        "function_call",
        "custom",
        "name",
        "arguments",
        "input",
        "id",
        "index",
        "content",
        "text",
        "type",
        "response",
        "output",
        "item",
        "output_index",
        "item_id",
        "content_block",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_start",
        "message_delta",
        "tool_use",
        "input_json_delta",
        "partial_json",
        "text_delta",
        "candidates",
        "parts",
        "functionCall",
        "partialArgs",
        "jsonPath",
        "willContinue",
        "stringValue",
        "numberValue",
        "args",
        "$.a[0].b",
        "$.a",
        "$['b']",
        "done",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockIndex",
        "start",
        "toolUse",
        "error",
        "finishReason",
        "finish_reason",
        "status",
        "response.output_item.added",
        "response.output_item.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.completed",
        "response.output_text.delta",
        "STOP",
        "",
        "{\"a\":1}",
    ]);
    let leaf = prop_oneof![
        4 => word.clone().prop_map(Value::from),
        2 => (0_u64..3).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<f64>().prop_map(|number| json!(number)),
        1 => ".*".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            3 => prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    });
    prop_oneof![
        8 => value.prop_map(|value| value.to_string()),
        1 => ".{0,40}",
        1 => Just("data: [DONE]".to_owned()),
        1 => Just("{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"willContinue\":true}}]}}]}".to_owned()),
    ]
}

/// Chunks that are well formed, with little sense in their order.
fn frame() -> impl Strategy<Value = Value> {
    let index = prop::option::of(0_u64..3);
    let id = prop::sample::select(vec![Value::Null, json!(""), json!("a"), json!("b")]);
    let name = prop::sample::select(vec!["", "f", "g"]);
    let piece = prop::sample::select(vec!["", "{", "}", "{}", "\"", "{\"a\":", "1}", "\\"]);
    let path = prop::sample::select(vec!["$.a", "$.a[0]", "$.a[1].b", "$.a.b", "$['c']", "$", "$.a["]);
    (0..9_usize, index, id, name, piece, path, any::<[bool; 3]>()).prop_map(|(kind, index, id, name, piece, path, on)| {
        let [more, goes_on, ends] = on;
        let item_id = json!({"type": "function_call", "id": id, "call_id": id, "name": name, "arguments": piece});
        match kind {
            0 => json!({"choices": [{"delta": {"tool_calls": [
                {"index": index, "id": id, "function": {"name": name, "arguments": piece}}]}, "finish_reason": ends.then_some("stop")}]}),
            1 => json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": name, "id": id, "willContinue": more}}]}}]}),
            2 => json!({"candidates": [{"content": {"parts": [{"functionCall": {"willContinue": more, "partialArgs": [
                {"jsonPath": path, "stringValue": piece, "willContinue": goes_on}]}}]}, "finishReason": ends.then_some("STOP")}]}),
            3 => json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}),
            4 => json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": piece}}),
            5 => json!({"type": "content_block_stop", "index": index}),
            6 => json!({"type": if more { "response.output_item.added" } else { "response.output_item.done" }, "output_index": index, "item": item_id}),
            7 => json!({"type": if more { "response.function_call_arguments.delta" } else { "response.function_call_arguments.done" },
                "output_index": index, "item_id": id, "delta": piece, "arguments": piece}),
            _ => json!({"type": "response.completed", "response": {"output": if ends { json!([item_id]) } else { json!([]) }}}),
        }
    })
}

/// Where to cut a text, in characters.
fn cut(text: &str, at: &[prop::sample::Index]) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut ends: Vec<usize> = at.iter().map(|index| index.index(chars.len() + 1)).collect();
    ends.extend([0, chars.len()]);
    ends.sort_unstable();
    ends.windows(2).map(|ends| chars[ends[0]..ends[1]].iter().collect()).collect()
}

proptest! {
    #[test]
    fn no_sequence_of_chunks_panics_or_gives_what_is_no_json(chunks in prop::collection::vec(chunk(), 0..12)) {
        for form in FORMS {
            let mut assembler = StreamAssembler::new(form, 1 << 16).unwrap();
            chunks.iter().for_each(|chunk| assembler.push(chunk));
            let finished = assembler.finish();
            prop_assert_eq!(&finished, &assembler.finish());
            if let Ok(assembled) = finished {
                prop_assert!(JsonText::parse(assembled.reply.as_str()).is_ok(), "{:?}", assembled);
            }
        }
    }

    #[test]
    fn calls_are_no_more_than_their_chunks_and_arguments_complete_or_cut(frames in prop::collection::vec(frame(), 0..16)) {
        let count = |key: &str| frames.iter().filter(|frame| frame.to_string().contains(key)).count();
        let list = |reply: &Value, path: &str| reply.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default();

        let (reply, _) = assemble(Dialect::OpenAiChat, &frames);
        prop_assert!(list(&reply, "/choices/0/message/tool_calls").len() <= count("tool_calls"));

        let (reply, _) = assemble(Dialect::Anthropic, &frames);
        prop_assert_eq!(list(&reply, "/content").len(), count("content_block_start"));

        let (reply, _) = assemble(Dialect::OpenAiResponses, &frames);
        prop_assert!(list(&reply, "/output").len() <= count("call_id"));

        let (reply, _) = assemble(Dialect::Gemini, &frames);
        let parts = list(&reply, "/candidates/0/content/parts");
        prop_assert!(parts.len() <= count("functionCall"));
        for arguments in parts.iter().filter_map(|part| part["functionCall"].get("args")) {
            let is_cut = |text: &str| serde_json::from_str::<Value>(text).is_err_and(|error| error.is_eof());
            prop_assert!(arguments.is_object() || arguments.as_str().is_some_and(is_cut), "{}", arguments);
        }
    }

    #[test]
    fn arguments_are_the_same_wherever_they_are_cut(
        text in prop_oneof![any::<String>(), "\\{\"[a-z\\\\\"]{0,8}\": ?\\[\\{\\}, -?[0-9]{1,30}\\]\\}"],
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        name in "[a-z_]{1,6}",
    ) {
        let pieces = cut(&text, &at);
        let chat = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
        let mut chunks = vec![chat(json!({"index": 0, "id": "a", "function": {"name": name}}))];
        chunks.extend(pieces.iter().map(|piece| chat(json!({"index": 0, "function": {"arguments": piece}}))));
        let (reply, _) = assemble(Dialect::OpenAiChat, &chunks);
        let calls = &reply["choices"][0]["message"]["tool_calls"];
        prop_assert_eq!(calls, &json!([{"id": "a", "type": "function", "function": {"name": name, "arguments": text}}]));

        let mut events = vec![json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "input": {}}})];
        let delta = |piece| json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": piece}});
        events.extend(pieces.iter().map(delta));
        let (reply, _) = assemble(Dialect::Anthropic, &events);
        prop_assert_eq!(&reply["content"][0]["input"], &if text.is_empty() { json!({}) } else { json!(text) });

        let mut events = vec![json!({"type": "response.output_item.added", "output_index": 2, "item": {"type": "function_call"}})];
        let delta = |piece| json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": piece});
        events.extend(pieces.iter().map(delta));
        let (reply, _) = assemble(Dialect::OpenAiResponses, &events);
        prop_assert_eq!(&reply["output"][0]["arguments"], &json!(text));

        let gemini = |function: Value| json!({"candidates": [{"content": {"parts": [{"functionCall": function}]}}]});
        let piece = |piece: &str| json!({"partialArgs": [{"jsonPath": "$.a", "stringValue": piece, "willContinue": true}], "willContinue": true});
        let mut chunks = vec![gemini(json!({"name": name, "willContinue": true}))];
        chunks.extend(pieces.iter().map(|text| gemini(piece(text))));
        chunks.push(gemini(json!({"partialArgs": [{"jsonPath": "$.a", "stringValue": ""}]})));
        let (reply, _) = assemble(Dialect::Gemini, &chunks);
        prop_assert_eq!(&reply["candidates"][0]["content"]["parts"][0]["functionCall"], &json!({"name": name, "args": {"a": text}}));
    }
}
