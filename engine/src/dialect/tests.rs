use super::*;
use crate::call::RawArguments;
use serde_json::json;

fn openai(calls: &Value, finish_reason: &str) -> String {
    json!({"choices": [{"finish_reason": finish_reason, "message": {"content": "let me look", "tool_calls": calls}}]})
        .to_string()
}

fn text_of(arguments: &RawArguments) -> &str {
    match arguments {
        RawArguments::Absent => "absent",
        RawArguments::Text(text) | RawArguments::CutOff(text) => text,
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
    assert_eq!(texts, [r#"{"n": 653247040368672768123}"#, r#"{"n": 653247040368672768123}"#, "absent"]);
}

#[test]
fn only_the_last_call_of_a_reply_that_ran_out_of_tokens_is_cut_off() {
    let calls = json!([{"function": {"name": "a", "arguments": "{}"}}, {"function": {"name": "b", "arguments": "{}"}}]);
    let parsed = Dialect::OpenAiChat.parse(&openai(&calls, "length")).unwrap();
    assert!(matches!(parsed.calls[0].arguments, RawArguments::Text(_)));
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
