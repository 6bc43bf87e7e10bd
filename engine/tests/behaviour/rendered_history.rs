//! Whatever became of the calls: the model's turn and the answers to it are a history that every vendor takes.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use toolyard::{
    BatchOutcome, CallStatus, ContentItem, ContentType, Dialect, HistoryForm, HistoryOptions, JsonText, MediaMode,
    MessageOptions, ParsedReply, ToolBatch, ToolExecutionResult, ToolRegistry, check_history,
};

use crate::fixture::{Probe, failing, giving, hanging, ms, registry, saying};

/// A call as a model makes it: id, tool, arguments.
type Called = (&'static str, &'static str, &'static str);

fn called() -> impl Strategy<Value = Called> {
    (
        select(vec!["", "c1", "c1", "call_Q1|fc_0f0d", "functions.say:3", "天", "long-id-".repeat(12).leak()]),
        select(vec!["say", "fail", "draw", "nothing", "hang", "missing", "functions.say", "天气", ""]),
        select(vec!["{}", "", "null", "{\"n\": 1}", "{broken", "{\"cut\":\"of", "[1]", "\"{}\"", "{\"a\":1,\"a\":2}"]),
    )
}

/// The reply of a dialect with these calls.
fn reply(dialect: Dialect, calls: &[Called], is_cut_off: bool) -> Value {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!(text));
    let each = |make: &dyn Fn(&Called) -> Value| calls.iter().map(make).collect::<Vec<Value>>();
    match dialect {
        Dialect::OpenAiChat => {
            let calls = each(
                &|(id, tool, text)| json!({"id": id, "type": "function", "function": {"name": tool, "arguments": text}}),
            );
            let reason = if is_cut_off { "length" } else { "tool_calls" };
            json!({"choices": [{"finish_reason": reason, "message": {"role": "assistant", "content": null, "tool_calls": calls}}]})
        }
        Dialect::OpenAiResponses => {
            let status = if is_cut_off { "incomplete" } else { "completed" };
            json!({"status": status, "output": each(&|(id, tool, text)| json!({"type": "function_call", "call_id": id, "name": tool, "arguments": text}))})
        }
        Dialect::Anthropic => {
            let reason = if is_cut_off { "max_tokens" } else { "tool_use" };
            let calls =
                each(&|(id, tool, text)| json!({"type": "tool_use", "id": id, "name": tool, "input": value(text)}));
            json!({"role": "assistant", "stop_reason": reason, "content": calls})
        }
        Dialect::Gemini => {
            let reason = if is_cut_off { "MAX_TOKENS" } else { "STOP" };
            let parts = each(&|(_, tool, text)| json!({"functionCall": {"name": tool, "args": value(text)}}));
            json!({"candidates": [{"finishReason": reason, "content": {"role": "model", "parts": parts}}]})
        }
        Dialect::Ollama => {
            let reason = if is_cut_off { "length" } else { "stop" };
            let calls = each(&|(_, tool, text)| json!({"function": {"name": tool, "arguments": value(text)}}));
            json!({"done": true, "done_reason": reason, "message": {"role": "assistant", "content": "", "tool_calls": calls}})
        }
        _ => {
            let reason = if is_cut_off { "max_tokens" } else { "tool_use" };
            let calls =
                each(&|(id, tool, text)| json!({"toolUse": {"toolUseId": id, "name": tool, "input": value(text)}}));
            json!({"stopReason": reason, "output": {"message": {"role": "assistant", "content": calls}}})
        }
    }
}

async fn tools() -> ToolRegistry {
    let picture = || ContentItem {
        content_type: ContentType::Image,
        data: Some("iVBORw0KGgo=".into()),
        mime_type: Some("image/png".into()),
        ..ContentItem::default()
    };
    registry([
        saying("say", "said"),
        failing("fail"),
        giving("draw", move || ToolExecutionResult {
            content_items: vec![picture()],
            ..ToolExecutionResult::success("drawn")
        }),
        giving("nothing", || ToolExecutionResult::success(" ")),
        hanging("hang", &Probe::default()),
    ])
    .await
}

/// Runs the calls; those that hang end at the deadline, or when the host gives the turn up.
async fn outcome(parsed: &ParsedReply, is_cancelled: bool) -> BatchOutcome {
    let registry = tools().await;
    let batch = ToolBatch::new(parsed.calls.clone()).with_deadline(ms(50));
    let handle = registry.start(batch).await.unwrap();
    tokio::time::sleep(ms(5)).await;
    if is_cancelled {
        handle.cancel();
    }
    handle.outcome().await.unwrap()
}

fn forms(dialect: Dialect) -> Option<HistoryForm> {
    Some(match dialect {
        Dialect::OpenAiChat => HistoryForm::OpenAiChat,
        Dialect::OpenAiResponses => HistoryForm::OpenAiResponses,
        Dialect::Anthropic => HistoryForm::Anthropic,
        Dialect::Gemini => HistoryForm::Gemini,
        Dialect::Ollama => HistoryForm::Ollama,
        _ => return None,
    })
}

fn ids(messages: &[Value], key: &str, inner: &str) -> Vec<Value> {
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    blocks.filter_map(|block| block.get(key)).map(|block| block[inner].clone()).collect()
}

async fn hold(dialect: Dialect, calls: &[Called], is_cut_off: bool, is_cancelled: bool, media: MediaMode) {
    let parsed = dialect.parse(&reply(dialect, calls, is_cut_off).to_string()).unwrap();
    let outcome = outcome(&parsed, is_cancelled).await;
    assert_eq!(outcome.results.len(), calls.len());
    let form = forms(dialect);
    let options = MessageOptions::default().with_media(media);
    let options = form.map_or(options, |form| options.with_ids(form.id_rule()));
    let rendered = [dialect.assistant(&parsed.turn, &outcome, options), dialect.messages(&outcome, options)].concat();
    let text = JsonText::array(rendered).as_str().to_owned();
    let Some(form) = form else {
        let messages: Vec<Value> = serde_json::from_str(&text).unwrap();
        let asked = ids(&messages, "toolUse", "toolUseId");
        assert_eq!((asked.len(), &asked), (calls.len(), &ids(&messages, "toolResult", "toolUseId")), "{text}");
        return;
    };
    let report = check_history(form, HistoryOptions::of(form), &text).unwrap();
    assert_eq!(report.problems, [], "{dialect}: {text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_turn_and_its_answers_have_no_problem_in_any_dialect(
        calls in prop::collection::vec(called(), 1..6),
        is_cut_off in any::<bool>(),
        is_cancelled in any::<bool>(),
        media in select(vec![MediaMode::Together, MediaMode::Each, MediaMode::None]),
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        for dialect in Dialect::ALL {
            if !matches!(dialect, Dialect::Mcp | Dialect::Native) {
                runtime.block_on(hold(dialect, &calls, is_cut_off, is_cancelled, media));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_given_up_answers_what_ran_and_what_did_not() {
    for dialect in [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama]
    {
        let calls = [("c1", "say", "{}"), ("c2", "hang", "{}")];
        let parsed = dialect.parse(&reply(dialect, &calls, false).to_string()).unwrap();
        let outcome = outcome(&parsed, true).await;
        let ended: Vec<CallStatus> = outcome.results.iter().map(|result| result.status).collect();
        assert_eq!(ended, [CallStatus::Ok, CallStatus::Cancelled], "{dialect}");
        assert!(!outcome.results[1].history_content().is_empty());
        hold(dialect, &calls, false, true, MediaMode::Together).await;
    }
}
