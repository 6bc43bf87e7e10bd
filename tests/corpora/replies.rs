//! Replies of models, whole and streamed: their calls, their answers, and the history after them.

mod opaque;
mod recorded;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::{
    BatchOutcome, Dialect, FunctionProvider, FunctionTool, HistoryForm, HistoryOptions, JsonText, Limits,
    MessageOptions, ParsedReply, Profile, ProviderSettings, ReplyError, StreamAssembler, ToolBatch, ToolCall,
    ToolExecutionResult, ToolRegistry, ToolSpec, check_history,
};

use recorded::Recorded;
use table::{NOT_READ, OTHER_GENERATIONS, RECORDINGS};

const MAX_BYTES: usize = 1 << 20;

/// Names and arguments as values, so that white space and the order of keys do not count.
fn calls(calls: &[ToolCall]) -> Vec<(String, Value)> {
    let one = |call: &ToolCall| {
        let (arguments, repairs) = call.read(Profile::Strict, &Limits::default()).unwrap();
        let empty = arguments.text() == "{}";
        assert!(repairs.is_empty() || empty, "{}: {repairs:?}", call.name);
        (call.name.to_string(), arguments.value().clone())
    };
    calls.iter().map(one).collect()
}

async fn echoes() -> ToolRegistry {
    let names: BTreeSet<&str> = RECORDINGS
        .iter()
        .flat_map(|(_, files)| files.iter())
        .flat_map(|(_, calls)| calls.iter())
        .map(|it| it.0)
        .collect();
    let echo = |name: &str| {
        FunctionTool::new(ToolSpec::new(name, "Says what it was given."), |invocation, _| {
            ready(Ok(ToolExecutionResult::success(invocation.arguments().text())))
        })
    };
    let provider = names.into_iter().map(echo).fold(FunctionProvider::new("echo"), FunctionProvider::with_tool);
    let registry = ToolRegistry::new(Limits::default());
    registry.register(Arc::new(provider), ProviderSettings::default()).await.unwrap();
    registry
}

#[test]
fn every_recording_is_in_the_table() {
    let listed = RECORDINGS.iter().flat_map(|(_, files)| files.iter().map(|(file, _)| *file));
    let listed: BTreeSet<String> = listed.chain(NOT_READ.map(|(file, _)| file)).map(str::to_owned).collect();
    assert_eq!(recorded::files(), listed, "a recording is new, or gone");
}

#[test]
fn every_recording_gives_exactly_its_calls() {
    for recorded in Recorded::all() {
        let expected: Vec<(String, Value)> = recorded
            .calls
            .iter()
            .map(|(tool, arguments)| ((*tool).to_owned(), serde_json::from_str(arguments).unwrap()))
            .collect();
        let file = recorded.file;
        let each: Vec<ParsedReply> = recorded.replies().iter().map(|reply| recorded.parse(reply)).collect();
        let found: Vec<(String, Value)> = each.iter().flat_map(|reply| calls(&reply.calls)).collect();
        assert_eq!(found, expected, "{file}");
        assert_eq!(calls(&recorded.parse(&recorded.text).calls), expected, "{file}: replies in a row");
        if !recorded.is_stream() {
            assert_eq!(Dialect::detect(&recorded.text).unwrap(), recorded.dialect, "{file}");
        }
    }
}

#[test]
fn what_the_backend_has_to_answer_itself_is_told_and_nothing_else_is_odd() {
    for recorded in Recorded::all() {
        for reply in recorded.replies() {
            let asks = ["mcp_approval_request", "tool_search_call"].into_iter().filter(|kind| {
                let is_asked =
                    reply.contains(&format!(r#""type":"{kind}""#)) || reply.contains(&format!(r#""type": "{kind}""#));
                is_asked && (*kind != "tool_search_call" || recorded.file.starts_with("openai-client-"))
            });
            let asks: Vec<&str> = asks.collect();
            let told = recorded.parse(&reply).warnings;
            // One stream stops in the middle of its last event.
            let told: Vec<&String> =
                told.iter().filter(|_| recorded.file != "parallel-tool-call-wrapper.1.chunks.txt").collect();
            assert_eq!(told.len(), asks.len(), "{}: {told:?}", recorded.file);
            assert!(told.iter().zip(asks).all(|(told, ask)| told.contains(ask)), "{}: {told:?}", recorded.file);
        }
    }
}

#[test]
fn a_stream_reads_the_same_however_it_is_cut() {
    for recorded in Recorded::all().into_iter().filter(Recorded::is_stream) {
        let whole = recorded.parse(&recorded.text);
        for frames in [1, 3] {
            let mut assembler = StreamAssembler::new(recorded.dialect, MAX_BYTES).unwrap();
            let lines: Vec<&str> = recorded.text.lines().collect();
            lines.chunks(frames).for_each(|lines| assembler.push(&lines.join("\n")));
            let cut = recorded.dialect.parse_assembled(assembler.finish().unwrap()).unwrap();
            assert_eq!(calls(&cut.calls), calls(&whole.calls), "{}", recorded.file);
            let ids = |reply: &ParsedReply| reply.calls.iter().map(|call| call.call_id.clone()).collect::<Vec<_>>();
            assert_eq!((ids(&cut), cut.reasoning), (ids(&whole), whole.reasoning.clone()), "{}", recorded.file);
        }
    }
}

#[test]
fn a_stream_is_the_whole_reply_that_its_last_event_holds() {
    let mut compared = 0;
    for recorded in Recorded::all().into_iter().filter(Recorded::is_stream) {
        let Some(whole) = opaque::completed(&recorded.text) else { continue };
        let whole = recorded.dialect.parse(&whole).unwrap();
        let streamed = recorded.parse(&recorded.text);
        assert_eq!(format!("{:?}", streamed.calls), format!("{:?}", whole.calls), "{}", recorded.file);
        assert_eq!(streamed.reasoning, whole.reasoning, "{}", recorded.file);
        assert_eq!(format!("{:?}", streamed.turn), format!("{:?}", whole.turn), "{}", recorded.file);
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} streams end with their whole reply");
}

#[test]
fn a_stream_calls_what_its_twin_calls() {
    let mut twins: BTreeMap<String, Vec<Vec<(String, Value)>>> = BTreeMap::new();
    for recorded in Recorded::all() {
        let stem = recorded.file.trim_end_matches(".json").trim_end_matches(".chunks.txt").to_owned();
        twins.entry(stem).or_default().push(calls(&recorded.parse(&recorded.text).calls));
    }
    twins.retain(|_, twins| twins.len() == 2);
    assert!(twins.len() > 25, "only {} replies have a twin", twins.len());
    let other = twins.iter().filter(|(_, twins)| twins[0] != twins[1]).map(|(stem, _)| stem.as_str());
    assert_eq!(other.collect::<Vec<_>>(), OTHER_GENERATIONS);
}

#[tokio::test]
async fn every_call_is_answered_and_the_history_after_it_is_one_that_vendors_take() {
    let registry = echoes().await;
    let mut kept = 0;
    for recorded in Recorded::all() {
        for reply in recorded.replies() {
            let parsed = recorded.parse(&reply);
            let batch = ToolBatch::new(parsed.calls.clone());
            let ids: Vec<String> = batch.calls.iter().map(|call| call.call_id.to_string()).collect();
            let distinct: BTreeSet<&String> = ids.iter().collect();
            assert!(distinct.len() == ids.len() && ids.iter().all(|id| !id.is_empty()), "{}: {ids:?}", recorded.file);
            let outcome = registry.dispatch(batch).await;
            assert!(outcome.results.iter().all(toolyard::CallResult::is_success), "{}", recorded.file);
            let assistant = recorded.dialect.assistant(&parsed.turn, &outcome, MessageOptions::default());
            let messages = recorded.dialect.messages(&outcome, MessageOptions::default());
            answers_all(&recorded, &ids, &outcome, &messages);
            kept += count_kept(&recorded, &reply, &assistant);
            history_is_fine(&recorded, assistant, messages);
        }
    }
    assert!(kept > 100, "only {kept} things had to be kept");
}

fn answers_all(recorded: &Recorded, ids: &[String], outcome: &BatchOutcome, messages: &[JsonText]) {
    let messages: Vec<Value> = messages.iter().map(|message| message.to().unwrap()).collect();
    if recorded.dialect == Dialect::Gemini {
        // Calls came without ids, and are answered by name and place.
        let parts = messages.iter().flat_map(|message| message["parts"].as_array().unwrap());
        let answered: Vec<&str> = parts.map(|part| part["functionResponse"]["name"].as_str().unwrap()).collect();
        let called: Vec<&str> = outcome.results.iter().map(|result| &*result.tool).collect();
        assert_eq!(answered, called, "{}", recorded.file);
        return;
    }
    let keys = ["tool_call_id", "call_id", "tool_use_id", "toolUseId"];
    let mut answered = Vec::new();
    for message in &messages {
        opaque::each_member(message, &mut |key, value| {
            if keys.contains(&key) {
                answered.push(value.as_str().unwrap().to_owned());
            }
        });
    }
    assert_eq!(answered, ids, "{}", recorded.file);
}

/// Whatever the vendor wants back is in the turn byte for byte. How much that is.
fn count_kept(recorded: &Recorded, reply: &str, assistant: &[JsonText]) -> usize {
    let turn: String = assistant.iter().map(JsonText::as_str).collect::<Vec<_>>().join("\n");
    let found = opaque::found(recorded.dialect, recorded.is_stream(), reply);
    for kept in &found {
        assert!(turn.contains(kept), "{}: lost {kept}\nin {turn}", recorded.file);
    }
    found.len()
}

fn history_is_fine(recorded: &Recorded, assistant: Vec<JsonText>, messages: Vec<JsonText>) {
    let (form, user) = match recorded.dialect {
        Dialect::OpenAiChat => (HistoryForm::OpenAiChat, json!({"role": "user", "content": "x"})),
        Dialect::OpenAiResponses => (HistoryForm::OpenAiResponses, json!({"role": "user", "content": "x"})),
        Dialect::Anthropic => (HistoryForm::Anthropic, json!({"role": "user", "content": "x"})),
        Dialect::Gemini => (HistoryForm::Gemini, json!({"role": "user", "parts": [{"text": "x"}]})),
        _ => return,
    };
    let user = JsonText::from_serialize(&user).unwrap();
    let history = JsonText::array(std::iter::once(user).chain(assistant).chain(messages));
    let report = check_history(form, HistoryOptions::of(form), history.as_str()).unwrap();
    assert_eq!(format!("{:?}", report.problems), "[]", "{}", recorded.file);
    assert_eq!(report.messages.as_str(), history.as_str(), "{}", recorded.file);
}

#[test]
fn a_form_that_is_not_spoken_is_refused_and_gives_no_calls() {
    for (file, reason) in NOT_READ {
        let text = recorded::text(file);
        if file.ends_with(".json") {
            assert!(matches!(Dialect::detect(&text), Err(ReplyError::UnknownShape)), "{file}: {reason}");
            continue;
        }
        for dialect in Dialect::ALL {
            let Ok(parsed) = dialect.parse_stream(&text, MAX_BYTES) else { continue };
            assert!(parsed.calls.is_empty() && !parsed.warnings.is_empty(), "{file} as {dialect}: {reason}");
        }
    }
}
