use std::sync::Arc;

use indexmap::IndexMap;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;
use crate::call::RawArguments;
use crate::json::lossy;
use crate::json::outline::{Outline, any_json};
use crate::result::{CallError, CallResult, ErrorCode, ToolExecutionResult};

fn openai(calls: &Value, finish_reason: &str) -> String {
    json!({"choices": [{"finish_reason": finish_reason, "message": {"content": "let me look", "tool_calls": calls}}]})
        .to_string()
}

fn text_of(arguments: &RawArguments) -> &str {
    match arguments {
        RawArguments::Absent => "absent",
        RawArguments::Text(text) | RawArguments::Encoded(text) | RawArguments::CutOff(text) => text,
    }
}

#[test]
fn the_form_of_a_reply_is_told_by_its_shape() {
    for (reply, dialect) in [
        (r#"{"choices": []}"#, Dialect::OpenAiChat),
        (r#"{"content": []}"#, Dialect::Anthropic),
        (r#"{"calls": []}"#, Dialect::Native),
        ("[]", Dialect::Native),
    ] {
        assert_eq!(Dialect::detect(reply).unwrap(), dialect, "{reply}");
    }
    assert!(matches!(Dialect::detect("{}"), Err(ReplyError::UnknownShape)));
    assert!(matches!(Dialect::detect("{\n]"), Err(ReplyError::NotJson { line: 2, column: 1 })));
}

#[test]
fn arguments_keep_their_text_whether_they_come_as_string_or_object() {
    let reply = r#"{"choices": [{"message": {"tool_calls": [
        {"id": "a", "function": {"name": "f", "arguments": "{\"n\": 653247040368672768123}"}},
        {"id": "b", "function": {"name": "f", "arguments": {"n": 653247040368672768123}}},
        {"id": "c", "function": {"name": "f"}}
    ]}}]}"#;
    let calls = Dialect::OpenAiChat.parse(reply).unwrap().calls;
    let texts: Vec<&str> = calls.iter().map(|call| text_of(&call.arguments)).collect();
    assert_eq!(texts, [r#""{\"n\": 653247040368672768123}""#, r#"{"n": 653247040368672768123}"#, "absent"]);
}

#[test]
fn only_the_last_call_of_a_reply_that_ran_out_of_tokens_is_cut_off() {
    let calls = json!([{"function": {"name": "a", "arguments": "{}"}}, {"function": {"name": "b", "arguments": "{}"}}]);
    let parsed = Dialect::OpenAiChat.parse(&openai(&calls, "length")).unwrap();
    assert!(matches!(parsed.calls[0].arguments, RawArguments::Encoded(_)));
    assert!(matches!(parsed.calls[1].arguments, RawArguments::CutOff(_)));
    let reply = json!({"content": [{"type": "tool_use", "name": "a", "input": {}}], "stop_reason": "max_tokens"});
    let parsed = Dialect::Anthropic.parse(&reply.to_string()).unwrap();
    assert!(matches!(parsed.calls[0].arguments, RawArguments::CutOff(_)));
}

#[test]
fn a_call_that_cannot_be_read_costs_no_sibling() {
    let calls = json!([7, {"id": "b", "function": {"name": "f", "arguments": "{}"}}]);
    let parsed = Dialect::OpenAiChat.parse(&openai(&calls, "tool_calls")).unwrap();
    let names: Vec<&str> = parsed.calls.iter().map(|call| &*call.name).collect();
    assert_eq!(names, ["", "f"]);
}

#[test]
fn text_beside_the_calls_is_the_reasoning_unless_the_reply_has_some() {
    assert_eq!(Dialect::OpenAiChat.parse(&openai(&json!([]), "stop")).unwrap().reasoning, "let me look");
    let reply = json!({"content": [{"type": "thinking", "thinking": "deep"}, {"type": "text", "text": "said"}]});
    assert_eq!(Dialect::Anthropic.parse(&reply.to_string()).unwrap().reasoning, "deep");
}

#[test]
fn a_document_of_another_form_says_what_is_missing() {
    let error = Dialect::Anthropic.parse(r#"{"choices": []}"#).unwrap_err().to_string();
    assert!(error.contains("anthropic") && error.contains("content"), "{error}");
}

#[test]
fn one_odd_field_costs_neither_its_call_nor_a_sibling() {
    let blocks = r#"{"content": [
        {"type": "tool_use", "id": 7, "name": "a", "input": {}},
        {"type": "tool_use", "id": "b", "name": "echo\ud800", "input": {}},
        {"type": "tool_use", "id": "c", "name": "c", "input": {}, "text": 5},
        {"type": "tool_use", "id": "d", "id": "e", "name": "d", "input": {}}
    ], "stop_reason": 4}"#;
    let calls = Dialect::Anthropic.parse(blocks).unwrap().calls;
    let ids: Vec<&str> = calls.iter().map(|call| call.call_id.as_str()).collect();
    assert_eq!(ids, ["7", "b", "c", "e"]);
    let reply = r#"{"choices": [{"finish_reason": 5, "message": {"reasoning": "r", "reasoning_content": "r", "tool_calls": [
        {"id": "x", "function": null}, {"id": 5, "function": {"name": "echo", "arguments": "{}"}}
    ]}}, {"message": null}]}"#;
    let parsed = Dialect::OpenAiChat.parse(reply).unwrap();
    let calls: Vec<(&str, &str)> = parsed.calls.iter().map(|call| (call.call_id.as_str(), &*call.name)).collect();
    assert_eq!(calls, [("x", ""), ("5", "echo")]);
}

#[test]
fn a_reply_that_ran_out_of_context_is_cut_off_too() {
    let reply = r#"{"content": [{"type": "tool_use", "name": "a", "input": {}}], "stop_reason": "model_context_window_exceeded"}"#;
    let parsed = Dialect::Anthropic.parse(reply).unwrap();
    assert!(matches!(parsed.calls[0].arguments, RawArguments::CutOff(_)));
}

#[test]
fn an_old_function_call_is_a_call() {
    let reply = r#"{"choices": [{"message": {"function_call": {"name": "f", "arguments": "{\"a\":1}"}}}]}"#;
    let parsed = Dialect::OpenAiChat.parse(reply).unwrap();
    assert_eq!((&*parsed.calls[0].name, text_of(&parsed.calls[0].arguments)), ("f", r#""{\"a\":1}""#));
}

#[test]
fn bedrock_gets_a_description_only_where_there_is_one() {
    let tool = |description: &str| crate::registry::ListedTool {
        model_name: "f".into(),
        given_name: "f".into(),
        spec: crate::tool::ToolSpec::new("f", description),
    };
    let described = |description| {
        let defined = DefinitionForm::Bedrock.define(&[tool(description)], None);
        defined.document[0]["toolSpec"].get("description").cloned()
    };
    assert_eq!((described(""), described("d")), (None, Some(json!("d"))));
}

/// The members of an object as serde reads them, for comparison.
type Read<'a> = IndexMap<String, &'a RawValue>;

fn text_read(fields: &Read<'_>, key: &str) -> String {
    let raw = fields.get(key).map_or("", |raw| raw.get());
    if raw == "null" {
        String::new()
    } else {
        lossy::string(raw).map_or_else(|| raw.to_owned(), |text| text.into_owned())
    }
}

fn opaque_read(fields: &Read<'_>, known: &[&str]) -> Option<String> {
    let others = fields.iter().filter(|(key, raw)| !known.contains(&key.as_str()) && raw.get() != "null");
    let others: Vec<String> =
        others.map(|(key, raw)| format!("{}:{}", Value::from(key.as_str()), lossy::whole(raw.get()))).collect();
    (!others.is_empty()).then(|| format!("{{{}}}", others.join(",")))
}

/// A result of a call that said this, with nothing else in it.
fn said(call_id: &str, text: &str, is_success: bool) -> CallResult {
    let error = CallError::new(ErrorCode::ToolFailed, "");
    let mut result = CallResult::without_batch(&Arc::from("f"), None, error);
    result.call_id = call_id.into();
    if is_success {
        result.status = crate::result::CallStatus::Ok;
        *result.result = ToolExecutionResult::success(text);
    } else {
        *result.result = ToolExecutionResult::failure(text);
    }
    result
}

proptest! {
    #[test]
    fn fields_are_what_serde_reads_of_an_object(json in any_json()) {
        let outline = Outline::of(&json);
        let fields = Fields::of(outline.root());
        let read: Read<'_> = serde_json::from_str(&json).unwrap_or_default();
        for key in ["", "a", "{[,:\\", "\"]}\\\"", "图😀/"] {
            prop_assert_eq!(fields.text(key), text_read(&read, key));
            prop_assert_eq!(fields.get(key).map(Node::raw), read.get(key).map(|raw| raw.get()).filter(|raw| *raw != "null"));
            prop_assert_eq!(fields.is_null(key), read.get(key).is_some_and(|raw| raw.get() == "null"));
            let opaque = fields.opaque(&["a", key]);
            prop_assert_eq!(opaque.map(|opaque| opaque.to_string()), opaque_read(&read, &["a", key]));
        }
    }

    #[test]
    fn messages_are_the_bytes_that_serde_prints(
        results in prop::collection::vec(("(?s).{0,20}", "(?s)[\\x00-\\x22\\\\a-z图😀]{0,80}", any::<bool>()), 0..4),
    ) {
        let results = results.iter().map(|(id, text, is_success)| said(id, text, *is_success)).collect();
        let outcome = BatchOutcome { batch_id: "b".into(), stop: false, stop_requested_by: Vec::new(), results };
        for dialect in Dialect::ALL {
            for message in dialect.messages(&outcome, MessageOptions::default()) {
                let printed = message.to::<Value>().unwrap().to_string();
                prop_assert_eq!(message.as_str(), printed, "{}", dialect);
            }
        }
    }
}
