//! From a model's reply, whole or in a stream, to results and the history.

use serde_json::{Value, json};
use toolyard::CallStatus::{InvalidArguments, Truncated};
use toolyard::{
    BatchOutcome, Dialect, FunctionTool, HistoryForm, HistoryOptions, MessageOptions, ParsedReply, RawArguments,
    ToolBatch, ToolCall, ToolRegistry, ToolSpec, check_history,
};

use crate::fixture::{OK, registry, statuses};

/// Two tools that give their arguments back.
async fn echoes() -> ToolRegistry {
    let city = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let echo = |name: &str, parameters: &Value| {
        FunctionTool::new(ToolSpec::new(name, "").with_parameters(parameters.clone()), |invocation, _| {
            let text = invocation.arguments().text().to_owned();
            std::future::ready(Ok(toolyard::ToolExecutionResult::success(text)))
        })
    };
    registry([echo("get_weather", &city), echo("list_regions", &json!({"type": "object", "properties": {}}))]).await
}

struct Answered {
    parsed: ParsedReply,
    outcome: BatchOutcome,
    assistant: Vec<Value>,
    messages: Vec<Value>,
}

async fn answer(dialect: Dialect, parsed: ParsedReply) -> Answered {
    let outcome = echoes().await.dispatch(ToolBatch::new(parsed.calls.clone())).await;
    let values = |texts: Vec<toolyard::JsonText>| texts.iter().map(|text| text.to().unwrap()).collect();
    let assistant = values(dialect.assistant(&parsed.turn, &outcome, MessageOptions::default()));
    let messages = values(dialect.messages(&outcome, MessageOptions::default()));
    Answered { parsed, outcome, assistant, messages }
}

async fn reply(dialect: Dialect, reply: &str) -> Answered {
    answer(dialect, dialect.parse(reply).unwrap()).await
}

async fn stream(dialect: Dialect, chunks: &[Value]) -> Answered {
    let lines: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n")).collect();
    answer(dialect, dialect.parse_stream(&lines.concat(), 1 << 20).unwrap()).await
}

// === impl Answered ===

impl Answered {
    /// The id of each call and what its tool got.
    fn ran(&self) -> Vec<(&str, String)> {
        let results = self.outcome.results.iter();
        results.map(|result| (result.call_id.as_str(), result.history_content())).collect()
    }
}

fn chunk(call: &Value, finish_reason: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": finish_reason}]})
}

/// Deltas of calls, and the chunk that ends them.
fn deltas(calls: &[Value], finish_reason: &str) -> Vec<Value> {
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]});
    calls.iter().map(|call| chunk(call, &Value::Null)).chain([end]).collect()
}

#[tokio::test(start_paused = true)]
async fn calls_in_a_chat_stream_run_with_what_their_deltas_say() {
    let weather = |arguments: &str| json!({"name": "get_weather", "arguments": arguments});
    let rest = |arguments: &str| json!({"arguments": arguments});
    let (a, b) = (r#"{"city":"a"}"#, r#"{"city":"b"}"#);
    for (calls, finish_reason, ran) in [
        (
            vec![
                json!({"index": 0, "id": "t1", "type": "function", "function": {"name": "get_weather"}}),
                json!({"index": 0, "function": rest("{\"city\":")}),
                json!({"index": 0, "function": rest("\"a\"}")}),
            ],
            "tool_calls",
            vec![("t1", a)],
        ),
        (
            vec![
                json!({"index": 0, "id": "t1", "function": weather(a)}),
                json!({"index": 0, "id": "t2", "function": weather(b)}),
            ],
            "stop",
            vec![("t1", a), ("t2", b)],
        ),
        (
            vec![
                json!({"id": "f1", "type": "function", "function": weather(a)}),
                json!({"id": "f2", "type": "function", "function": weather(b)}),
            ],
            "tool_calls",
            vec![("f1", a), ("f2", b)],
        ),
        (
            vec![
                json!({"index": 0, "id": "t1", "type": "function", "function": weather("")}),
                json!({"index": 0, "id": "", "type": "function", "function": rest("{\"city\":\"a")}),
                json!({"index": 0, "id": "", "function": rest("\"}")}),
            ],
            "tool_calls",
            vec![("t1", a)],
        ),
        (vec![json!({"index": 1, "id": "t1", "function": weather(a)})], "tool_calls", vec![("t1", a)]),
        (
            vec![
                json!({"index": 0, "id": "t1", "function": {"name": "get_", "arguments": ""}}),
                json!({"index": 0, "function": {"name": "weather", "arguments": a}}),
            ],
            "tool_calls",
            vec![("t1", a)],
        ),
        (
            vec![
                json!({"index": 0, "id": "t1", "function": weather("")}),
                json!({"index": 0, "function": {"name": "get_weather", "arguments": a}}),
            ],
            "tool_calls",
            vec![("t1", a)],
        ),
    ] {
        let answered = stream(Dialect::OpenAiChat, &deltas(&calls, finish_reason)).await;
        let expected: Vec<(&str, String)> = ran.into_iter().map(|(id, text)| (id, text.to_owned())).collect();
        assert_eq!(answered.ran(), expected, "{calls:?}");
        assert!(answered.outcome.results.iter().all(|result| result.status == OK), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_frame_costs_a_warning_and_broken_arguments_one_outcome() {
    let weather = json!({"index": 0, "id": "t1", "function": {"name": "get_weather"}});
    let chunks = [
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [weather]}}]}),
        json!({"unexpected": true}),
        chunk(&json!({"index": 0, "function": {"arguments": "{\"city\":\"a\"}"}}), &json!("tool_calls")),
    ];
    let answered = stream(Dialect::OpenAiChat, &chunks).await;
    assert_eq!(answered.ran(), [("t1", r#"{"city":"a"}"#.to_owned())]);
    assert_eq!(answered.parsed.warnings.len(), 1, "{:?}", answered.parsed.warnings);

    let bad = [
        json!({"index": 0, "id": "t1", "function": {"name": "get_weather", "arguments": "{bad"}}),
        json!({"index": 0, "id": "t1", "function": {"arguments": ""}}),
    ];
    let answered = stream(Dialect::OpenAiChat, &deltas(&bad, "tool_calls")).await;
    assert_eq!((statuses(&answered.outcome), answered.messages.len()), (vec![InvalidArguments], 1));
}

#[tokio::test(start_paused = true)]
async fn streams_of_the_other_vendors_run_too() {
    let block = |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    let piece = json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": "{\"city\":\"a\"}"}});
    let stop = json!({"type": "content_block_stop", "index": 0});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "list_regions", "input": {}});
    let answered = stream(Dialect::Anthropic, &[block(call), stop.clone(), end.clone()]).await;
    assert_eq!(answered.ran(), [("toolu_1", "{}".to_owned())], "no delta at all means no arguments");

    let call = json!({"type": "tool_use", "name": "get_weather", "input": {}});
    let answered = stream(Dialect::Anthropic, &[block(call), piece, stop, end]).await;
    let id = &answered.messages[0]["content"][0]["tool_use_id"];
    assert_eq!(answered.outcome.results[0].status, OK);
    assert!(id.as_str().is_some_and(|id| !id.is_empty()) && answered.assistant[0]["content"][0]["id"] == *id);

    let part = |city: &str| json!({"functionCall": {"name": "get_weather", "args": {"city": city}}});
    let mut signed = part("denver");
    signed["thoughtSignature"] = json!("U0lH");
    let answered = stream(
        Dialect::Gemini,
        &[
            json!({"candidates": [{"content": {"role": "model", "parts": [signed]}}]}),
            json!({"candidates": [{"content": {"role": "model", "parts": [part("moab")]}, "finishReason": "STOP"}]}),
        ],
    )
    .await;
    assert_eq!(statuses(&answered.outcome), [OK, OK]);
    assert_ne!(answered.outcome.results[0].call_id, answered.outcome.results[1].call_id);
    assert_eq!(answered.assistant[0]["parts"], json!([signed, part("moab")]));

    let item =
        json!({"type": "function_call", "id": "fc_9", "call_id": "call_9", "name": "get_weather", "arguments": ""});
    let event = |kind: &str, key: &str, value: &str| json!({"type": format!("response.function_call_arguments.{kind}"), "output_index": 0, "item_id": "fc_9", key: value});
    let answered = stream(
        Dialect::OpenAiResponses,
        &[
            json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
            event("delta", "delta", "{\"city\":\"a"),
            event("done", "arguments", "{\"city\":\"ab\"}"),
            json!({"type": "response.completed"}),
        ],
    )
    .await;
    let output = json!({"type": "function_call_output", "call_id": "call_9", "output": "{\"city\":\"ab\"}"});
    assert_eq!(answered.messages, [output], "the last word wins, and no id is copied from the call");
}

#[tokio::test(start_paused = true)]
async fn what_the_output_limit_cut_off_does_not_run_in_any_dialect() {
    let text = |arguments: &str| json!({"name": "get_weather", "arguments": arguments});
    let chat = |reason: &str, arguments: &str| {
        json!({"choices": [{"finish_reason": reason, "message": {"tool_calls": [
        {"id": "c1", "function": text(r#"{"city":"rome"}"#)}, {"id": "c2", "function": text(arguments)}]}}]})
    };
    let item = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "get_weather", "arguments": arguments});
    let rome = json!({"city": "rome"});
    let weather = |key: &str, input: &Value| json!({"name": "get_weather", key: input});
    let used = |id: &str, input: &Value| json!({"type": "tool_use", "id": id, "name": "get_weather", "input": input});
    let part = |input: &Value| json!({"functionCall": weather("args", input)});
    let bedrock =
        |id: &str, input: &Value| json!({"toolUse": {"toolUseId": id, "name": "get_weather", "input": input}});
    let none = json!({});
    for (dialect, cut) in [
        (Dialect::OpenAiChat, chat("length", "{\"city\":\"half a sen")),
        (Dialect::OpenAiChat, chat("length", "{}")),
        (Dialect::OpenAiChat, chat("tool_calls", "{\"city\":\"half")),
        (
            Dialect::OpenAiResponses,
            json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
                "output": [item("c1", r#"{"city":"rome"}"#), item("c2", "{\"ci")]}),
        ),
        (
            Dialect::Anthropic,
            json!({"role": "assistant", "stop_reason": "max_tokens", "content": [used("c1", &rome), used("c2", &none)]}),
        ),
        (
            Dialect::Gemini,
            json!({"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": [part(&rome), part(&none)]}}]}),
        ),
        (
            Dialect::Ollama,
            json!({"done": true, "done_reason": "length", "message": {"role": "assistant", "content": "", "tool_calls": [
                {"function": weather("arguments", &rome)}, {"function": weather("arguments", &none)}]}}),
        ),
        (
            Dialect::Bedrock,
            json!({"stopReason": "max_tokens", "output": {"message": {"role": "assistant", "content": [bedrock("c1", &rome), bedrock("c2", &none)]}}}),
        ),
    ] {
        let answered = reply(dialect, &cut.to_string()).await;
        assert_eq!(statuses(&answered.outcome), [OK, Truncated], "{dialect}: {cut}");
        let told = answered.outcome.results[1].history_content();
        assert!(told.contains("output limit") && told.contains("smaller"), "{told}");
        assert_eq!(json!(answered.messages).to_string().matches(&told).count(), 1, "{dialect}: both are answered");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_without_ids_get_unique_ones_and_answers_with_them() {
    let call = |id: Option<Value>, city: &str| {
        let mut call = json!({"type": "function", "function": {"name": "get_weather", "arguments": json!({"city": city}).to_string()}});
        if let Some(id) = id {
            call["id"] = id;
        }
        call
    };
    for id in [Some(json!("")), Some(Value::Null), None] {
        let calls = [call(id.clone(), "a"), call(id.clone(), "b")];
        let answered =
            reply(Dialect::OpenAiChat, &json!({"choices": [{"message": {"tool_calls": calls}}]}).to_string()).await;
        let asked = &answered.assistant[0]["tool_calls"];
        assert_ne!(asked[0]["id"], asked[1]["id"], "{id:?}");
        for (index, content) in [r#"{"city":"a"}"#, r#"{"city":"b"}"#].into_iter().enumerate() {
            let expected = json!({"role": "tool", "tool_call_id": asked[index]["id"], "content": content});
            assert_eq!(answered.messages[index], expected, "{id:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_comes_again_in_a_later_turn_runs_again() {
    let call =
        json!({"id": "functions.eval:301", "function": {"name": "get_weather", "arguments": "{\"city\":\"a\"}"}});
    let said = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}).to_string();
    let (first, second) = (reply(Dialect::OpenAiChat, &said).await, reply(Dialect::OpenAiChat, &said).await);
    assert_eq!((statuses(&first.outcome), statuses(&second.outcome)), (vec![OK], vec![OK]));
    let history = [first.assistant, first.messages, second.assistant, second.messages].concat();
    let form = HistoryForm::OpenAiChat;
    let report = check_history(form, HistoryOptions::of(form), &json!(history).to_string()).unwrap();
    let repaired: Value = report.messages.to().unwrap();
    assert_eq!(repaired[2]["tool_calls"][0]["id"], repaired[3]["tool_call_id"]);
    assert_ne!(repaired[1]["tool_call_id"], repaired[3]["tool_call_id"]);
}

#[tokio::test(start_paused = true)]
async fn half_a_character_is_named_where_it_stands_and_never_reaches_the_history() {
    // The escape stands in the arguments' text, or in the JSON of the reply around it.
    for (dialect, said) in [
        (
            Dialect::OpenAiChat,
            r#"{"choices":[{"message":{"tool_calls":[{"id":"c1","function":{"name":"get_weather","arguments":"{\"city\":\"a\\ud83d b\"}"}}]}}]}"#,
        ),
        (
            Dialect::OpenAiChat,
            r#"{"choices":[{"message":{"content":"t\ud83d","x":["\udc00"],"tool_calls":[{"id":"c1","function":{"name":"get_weather","arguments":"{\"city\":\"a\ud83d b\"}"}}]}}]}"#,
        ),
        (
            Dialect::Anthropic,
            r#"{"role":"assistant","content":[{"type":"text","text":"\ud83d"},{"type":"tool_use","id":"a","name":"get_weather","input":{"city":"a\ud83d b"}}]}"#,
        ),
        (
            Dialect::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"text":"\udc00"},{"functionCall":{"name":"get_weather","args":{"city":"a\ud83d b"}}}]}}]}"#,
        ),
        (
            Dialect::Ollama,
            r#"{"message":{"role":"assistant","content":"\udc00","tool_calls":[{"function":{"name":"get_weather","arguments":{"city":"a\ud83d b"}}}]}}"#,
        ),
        (
            Dialect::OpenAiResponses,
            r#"{"output":[{"type":"message","content":[{"type":"output_text","text":"\ud83d"}]},{"type":"function_call","call_id":"c1","name":"get_weather","arguments":"{\"city\":\"a\ud83d b\"}"}]}"#,
        ),
    ] {
        // `to` reads with a parser that refuses half a character.
        let answered = reply(dialect, said).await;
        let result = &answered.outcome.results[0];
        assert_eq!(result.status, InvalidArguments, "{said}");
        assert_eq!(result.error.as_ref().unwrap().pointer.as_deref(), Some("/city"), "{said}");
        assert!(json!(answered.assistant).to_string().contains(r"a\\"), "what was refused is shown: {said}");
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_beyond_the_limit_are_refused_unread_and_cost_no_sibling() {
    let huge = format!(r#"{{"city":"{}"}}"#, "x".repeat(4 << 20));
    let calls = [("c1", huge.as_str()), ("c2", r#"{"city":"a"}"#)]
        .map(|(id, arguments)| json!({"id": id, "function": {"name": "get_weather", "arguments": arguments}}));
    let answered =
        reply(Dialect::OpenAiChat, &json!({"choices": [{"message": {"tool_calls": calls}}]}).to_string()).await;
    assert_eq!(statuses(&answered.outcome), [InvalidArguments, OK]);
    let error = answered.outcome.results[0].error.as_ref().unwrap();
    assert!(error.message.contains("1048576 bytes"), "{}", error.message);
    assert!(json!(answered.assistant).to_string().len() < 1 << 18, "the history is not flooded");
}

#[tokio::test(start_paused = true)]
async fn ids_and_names_of_one_reply_do_not_depend_on_another() {
    let registry = echoes().await;
    let call = || ToolCall::new("", "get_weather", RawArguments::text(r#"{"city":"a"}"#));
    let ids = async |calls: Vec<ToolCall>| {
        let outcome = registry.dispatch(ToolBatch::new(calls)).await;
        outcome.results.iter().map(|result| result.call_id.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(vec![call(), call()]).await, ids(vec![call(), call()]).await);
}
