//! What holds for every form; each form's own tests stand beside this file.

mod anthropic;
mod bedrock;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
mod properties;

use serde_json::{Value, json};

use super::*;

const FORMS: [Dialect; 6] = [
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
    Dialect::Anthropic,
    Dialect::Gemini,
    Dialect::Ollama,
    Dialect::Bedrock,
];

fn assemble_texts<T: AsRef<str>>(form: Dialect, chunks: &[T]) -> AssembledReply {
    let mut assembler = StreamAssembler::new(form, 1 << 20).unwrap();
    chunks.iter().for_each(|chunk| assembler.push(chunk.as_ref()));
    assembler.finish().unwrap()
}

/// The reply as a value, beside everything else.
fn assemble(form: Dialect, chunks: &[Value]) -> (Value, AssembledReply) {
    let texts: Vec<String> = chunks.iter().map(Value::to_string).collect();
    let assembled = assemble_texts(form, &texts);
    (assembled.reply.to().unwrap(), assembled)
}

#[test]
fn lines_of_server_sent_events_are_chunks() {
    let chunk = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string();
    let end = r#"{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}"#;
    let spread = chunk("c").replace(":[", ":\ndata: [");
    for chunks in [
        vec![chunk("a"), chunk("b"), chunk("c"), end.to_owned()],
        vec![
            format!("data: {}\n\ndata:{}\r\n\r\n", chunk("a"), chunk("b")),
            format!("data: {}", chunk("c")),
            end.into(),
        ],
        vec![format!("{}\n{}\n{}\n{end}\n", chunk("a"), chunk("b"), chunk("c"))],
        vec![format!("\u{feff}: hello\nevent: x\nid: 7\nretry: 3\ndata: {}\n", chunk("a")), String::new(), "\n".into()]
            .into_iter()
            .chain([chunk("b"), format!("data: {spread}\n\n"), format!("data: {end}"), "data: [DONE]".into()])
            .collect(),
        vec![format!("[{},\n{},{},{end}]", chunk("a"), chunk("b"), chunk("c"))],
        vec![serde_json::to_string_pretty(&serde_json::from_str::<Value>(&chunk("abc")).unwrap()).unwrap(), end.into()],
    ] {
        let assembled = assemble_texts(Dialect::OpenAiChat, &chunks);
        let reply: Value = assembled.reply.to().unwrap();
        assert_eq!(reply["choices"][0]["message"]["content"], "abc", "{chunks:?}");
        assert_eq!(assembled.warnings, [""; 0], "{chunks:?}");
        assert!(assembled.ended, "{chunks:?}");
    }
}

#[test]
fn what_cannot_be_read_is_left_out_with_a_warning_and_ends_nothing() {
    for form in FORMS {
        for bad in ["{", "data: {\"a\":", "nonsense", "7", "null", "[1]", "{\"a\": NaN}", r#"{"unexpected": true}"#] {
            let assembled = assemble_texts(form, &[bad]);
            assert_eq!(assembled.warnings.len(), 1, "{form:?} {bad}");
            assert!(!assembled.ended, "{form:?} {bad}");
        }
    }
}

#[test]
fn warnings_are_few() {
    let assembled = assemble_texts(Dialect::Gemini, &vec!["x"; 500]);
    assert_eq!(assembled.warnings.len(), 33);
}

#[test]
fn an_error_of_the_vendor_is_a_warning_that_holds_its_type_only() {
    let secret = "sk-secret";
    for (form, chunk, kind) in [
        (Dialect::OpenAiChat, json!({"error": {"message": secret, "type": "server_error"}}), "server_error"),
        (Dialect::OpenAiChat, json!({"error": {"message": secret, "type": secret.repeat(9)}}), "no known type"),
        (Dialect::OpenAiChat, json!({"error": {"message": secret, "code": 502}}), "502"),
        (
            Dialect::Anthropic,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": secret}}),
            "overloaded_error",
        ),
        (Dialect::OpenAiResponses, json!({"type": "error", "code": "server_error", "message": secret}), "server_error"),
        (
            Dialect::OpenAiResponses,
            json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": secret}}}),
            "rate_limit_exceeded",
        ),
        (
            Dialect::Gemini,
            json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": secret}}]),
            "RESOURCE_EXHAUSTED",
        ),
        (Dialect::Ollama, json!({"error": secret}), "no known type"),
        (Dialect::Bedrock, json!({"throttlingException": {"message": secret}}), "exception"),
    ] {
        let assembled = assemble_texts(form, &[chunk.to_string(), "data: [DONE]".to_owned()]);
        assert_eq!(assembled.warnings.len(), 1, "{chunk}");
        assert!(assembled.warnings[0].contains(kind), "{:?}", assembled.warnings);
        assert!(!format!("{assembled:?}").contains(secret), "{assembled:?}");
        assert!(!assembled.ended, "{chunk}");
    }
}

#[test]
fn a_reply_larger_than_allowed_is_an_error() {
    let chunks = [
        (
            Dialect::OpenAiChat,
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "aaaaaaaaaaaaaaaa"}}]}}]}),
        ),
        (
            Dialect::OpenAiResponses,
            json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "aaaaaaaaaaaaaaaa"}),
        ),
        (
            Dialect::Anthropic,
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "aaaaaaaaaaaaaaaa"}}),
        ),
        (Dialect::Gemini, json!({"candidates": [{"content": {"parts": [{"text": "aaaaaaaaaaaaaaaa"}]}}]})),
        (Dialect::Ollama, json!({"message": {"content": "aaaaaaaaaaaaaaaa"}, "done": false})),
        (
            Dialect::Bedrock,
            json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "aaaaaaaaaaaaaaaa"}}}),
        ),
    ];
    for (form, chunk) in chunks {
        let mut assembler = StreamAssembler::new(form, 1000).unwrap();
        assembler.push(&chunk.to_string());
        let mut fits = StreamAssembler::new(form, 1000).unwrap();
        fits.push(&chunk.to_string());
        assert!(fits.finish().is_ok(), "{form:?}");
        (0..100).for_each(|_| assembler.push(&chunk.to_string()));
        assert_eq!(assembler.finish(), Err(StreamError::TooLarge), "{form:?}");
        assembler.push("{}");
        assert_eq!(assembler.finish(), Err(StreamError::TooLarge), "{form:?}");
    }
}

#[test]
fn more_calls_than_allowed_are_an_error() {
    let call =
        |index: usize| json!({"choices": [{"delta": {"tool_calls": [{"index": index, "function": {"name": "f"}}]}}]});
    let start =
        |index: usize| json!({"type": "content_block_start", "index": index, "content_block": {"type": "text"}});
    let added = |index: usize| json!({"type": "response.output_item.added", "output_index": index, "item": {"type": "function_call"}});
    let one = json!({"message": {"tool_calls": [{"function": {"name": "f"}}]}, "done": false});
    let part = json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]});
    for count in [1024, 1025] {
        for (form, chunk) in [
            (Dialect::OpenAiChat, &call as &dyn Fn(usize) -> Value),
            (Dialect::Anthropic, &start),
            (Dialect::OpenAiResponses, &added),
            (Dialect::Ollama, &|_| one.clone()),
            (Dialect::Gemini, &|_| part.clone()),
        ] {
            let mut assembler = StreamAssembler::new(form, 1 << 20).unwrap();
            (0..count).for_each(|index| assembler.push(&chunk(index).to_string()));
            assert_eq!(assembler.finish().is_ok(), count == 1024, "{form:?} {count}");
        }
    }
}

#[test]
fn values_that_are_replaced_or_come_again_whole_count_once() {
    let mut assembler = StreamAssembler::new(Dialect::OpenAiChat, 2000).unwrap();
    let chunk = json!({"model": "m".repeat(300), "choices": [{"index": 0, "delta": {"content": "a"}}]}).to_string();
    (0..100).for_each(|_| assembler.push(&chunk));
    assert!(assembler.finish().is_ok());

    let mut assembler = StreamAssembler::new(Dialect::OpenAiResponses, 1500).unwrap();
    let item = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "x".repeat(1000)});
    for chunk in [
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "call_id": "c"}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "x".repeat(1000)}),
        json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "x".repeat(1000)}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"output": [item]}}),
    ] {
        assembler.push(&chunk.to_string());
    }
    assert!(assembler.finish().is_ok());
}

#[test]
fn finishing_twice_gives_the_same_and_what_comes_later_is_left_out() {
    for form in FORMS {
        let mut assembler = StreamAssembler::new(form, 1 << 20).unwrap();
        let first = assembler.finish().unwrap();
        assert_eq!(assembler.finish().unwrap(), first);
        assembler.push(r#"{"choices": [{"index": 0, "delta": {"content": "late"}}]}"#);
        let later = assembler.finish().unwrap();
        assert_eq!((&later.reply, later.ended), (&first.reply, first.ended), "{form:?}");
        assert_eq!(later.warnings.len(), first.warnings.len() + 1, "{form:?}");
    }
}

#[test]
fn a_character_cut_in_two_between_chunks_stays_whole() {
    let halves = [r"\ud83d", r"\ude00"];
    for (form, chunk) in [
        (Dialect::OpenAiChat, r#"{"choices":[{"delta":{"content":"@"}}]}"#),
        (Dialect::Anthropic, r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@"}}"#),
        (Dialect::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"@"}]}}]}"#),
        (Dialect::Ollama, r#"{"message":{"content":"@"}}"#),
        (Dialect::Bedrock, r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"@"}}}"#),
    ] {
        let assembled = assemble_texts(form, &halves.map(|half| chunk.replace('@', half)));
        let reply: Value = assembled.reply.to().unwrap();
        assert!(reply.to_string().contains('\u{1f600}'), "{form:?} {reply}");
    }
}

#[test]
fn deep_nesting_is_no_danger() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let object = format!("{}1{}", "{\"choices\":".repeat(100_000), "}".repeat(100_000));
    for form in FORMS {
        for chunk in
            [&deep, &object, &format!(r#"{{"type":"message_delta","delta":{{"a":{deep}}},"message":{{"a":{deep}}}}}"#)]
        {
            let assembled = assemble_texts(form, &[chunk]);
            assert!(JsonText::parse(assembled.reply.as_str()).is_ok(), "{form:?}");
        }
    }
}
