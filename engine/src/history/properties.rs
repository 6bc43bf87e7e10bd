//! Broken histories of every form: after repair nothing is left to find, and each call has one result right after it.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::*;

/// Stands in everything that a repair must keep; more digits than any number type has.
const KEPT: &str = "653247040368672768123456789";

/// A step of a generated conversation.
#[derive(Clone, Debug)]
enum Step {
    Said,
    Reasoned,
    Called(Vec<[&'static str; 3]>),
    /// Results, and `None` for text between them.
    Answered(Vec<Option<[&'static str; 3]>>),
}

fn step() -> impl Strategy<Value = Step> {
    let id = || select(vec!["\"a\"", "\"b\"", "\"c\"", "\"a.b\"", "\"a|b\"", "\"\"", "null", "7", "\"a_2\""]);
    let name = || select(vec!["\"f\"", "\"f\"", "\"g\"", "\"a b\"", "\"\"", "null"]);
    let arguments =
        select(vec!["{}", "\"{}\"", "\"\"", "null", "[1]", "\"{\\\"n\\\":\"", "{\"n\":1.0}", "\"\\ud800\""]);
    let content = select(vec!["\"done\"", "\"\"", "null", "[]", "{\"x\":1}", "[{\"type\":\"text\",\"text\":\"\"}]"]);
    let call = (id(), name(), arguments).prop_map(|(id, name, arguments)| [id, name, arguments]);
    let result = (id(), name(), content).prop_map(|(id, name, content)| [id, name, content]);
    let results = prop::collection::vec(prop::option::weighted(0.8, result), 1..4);
    prop_oneof![
        1 => Just(Step::Said),
        1 => Just(Step::Reasoned),
        3 => prop::collection::vec(call, 1..4).prop_map(Step::Called),
        4 => results.prop_map(Step::Answered),
    ]
}

fn said(role: &str) -> String {
    format!(r#"{{ "type":"message","role":"{role}","content":"hi","parts":[{{"text":"hi"}}],"kept":{KEPT}}}"#)
}

fn write(form: HistoryForm, steps: &[Step]) -> String {
    let messages: Vec<String> = steps.iter().flat_map(|step| write_step(form, step)).collect();
    format!("[{}]", messages.join(", "))
}

fn write_step(form: HistoryForm, step: &Step) -> Vec<String> {
    match step {
        Step::Said => vec![said("user")],
        Step::Reasoned if form == HistoryForm::OpenAiResponses => {
            vec![format!(r#"{{"type":"reasoning","summary":[],"kept":{KEPT}}}"#)]
        }
        Step::Reasoned => vec![said("assistant")],
        Step::Called(calls) => {
            let calls: Vec<String> = calls.iter().map(|call| write_call(form, call)).collect();
            let joined = calls.join(",");
            match form {
                HistoryForm::OpenAiResponses => calls,
                HistoryForm::Anthropic => vec![format!(r#"{{"role":"assistant","content":[{joined}]}}"#)],
                HistoryForm::Gemini => vec![format!(r#"{{"role":"model","parts":[{joined}]}}"#)],
                HistoryForm::Native => vec![format!(r#"{{"role":"assistant","calls":[{joined}]}}"#)],
                _ => vec![format!(r#"{{"role":"assistant","tool_calls":[{joined}]}}"#)],
            }
        }
        Step::Answered(results) => {
            let write = |result: &Option<_>| result.as_ref().map(|result| write_result(form, result));
            let in_body = |text: &str| results.iter().map(|r| write(r).unwrap_or(text.to_owned())).collect::<Vec<_>>();
            match form {
                HistoryForm::Anthropic => {
                    let blocks = in_body(r#"{"type":"text","text":"so"}"#).join(",");
                    vec![format!(r#"{{"role":"user","content":[{blocks}]}}"#)]
                }
                HistoryForm::Gemini => {
                    let parts = in_body(r#"{"text":"so"}"#).join(",");
                    vec![format!(r#"{{"role":"user","parts":[{parts}]}}"#)]
                }
                _ => in_body(&said("user")),
            }
        }
    }
}

fn write_call(form: HistoryForm, [id, name, arguments]: &[&str; 3]) -> String {
    match form {
        HistoryForm::OpenAiChat | HistoryForm::Ollama => {
            format!(r#"{{"id":{id},"function":{{"name":{name},"arguments":{arguments}}},"kept":{KEPT}}}"#)
        }
        HistoryForm::OpenAiResponses => {
            format!(r#"{{"type":"function_call","call_id":{id},"name":{name},"arguments":{arguments},"kept":{KEPT}}}"#)
        }
        HistoryForm::Anthropic => {
            format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{arguments},"kept":{KEPT}}}"#)
        }
        HistoryForm::Gemini => {
            format!(r#"{{"functionCall":{{"id":{id},"name":{name},"args":{arguments}}},"kept":{KEPT}}}"#)
        }
        HistoryForm::Native => format!(r#"{{"call_id":{id},"tool":{name},"arguments":{arguments},"kept":{KEPT}}}"#),
    }
}

fn write_result(form: HistoryForm, [id, name, content]: &[&str; 3]) -> String {
    match form {
        HistoryForm::OpenAiChat => format!(r#"{{"role":"tool","tool_call_id":{id},"content":{content}}}"#),
        HistoryForm::OpenAiResponses => {
            format!(r#"{{"type":"function_call_output","call_id":{id},"output":{content}}}"#)
        }
        HistoryForm::Anthropic => format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{content}}}"#),
        HistoryForm::Gemini => {
            format!(r#"{{"functionResponse":{{"id":{id},"name":{name},"response":{content}}}}}"#)
        }
        HistoryForm::Ollama => {
            format!(r#"{{"role":"tool","tool_call_id":{id},"tool_name":{name},"content":{content}}}"#)
        }
        HistoryForm::Native => format!(r#"{{"role":"tool","call_id":{id},"tool":{name},"content":{content}}}"#),
    }
}

/// What stands in a repaired history, read without any of the code under test.
#[derive(Debug, PartialEq)]
enum Seen {
    Call(Value),
    Result(Value),
    /// The end of a message that held results, in forms where they must be in one.
    End,
    Other,
}

fn seen(form: HistoryForm, message: &Value) -> Vec<Seen> {
    let list = |key: &str| message[key].as_array().cloned().unwrap_or_default();
    let chat = |key: &str, id: fn(&Value) -> Value| match list(key) {
        calls if calls.is_empty() => vec![Seen::Other],
        calls => calls.iter().map(|call| Seen::Call(id(call))).collect(),
    };
    let blocks = |key: &str, read: fn(&Value) -> Seen| {
        let mut seen: Vec<Seen> = list(key).iter().map(read).collect();
        let has_results = seen.iter().any(|seen| matches!(seen, Seen::Result(_)));
        seen.extend(has_results.then_some(Seen::End));
        if seen.is_empty() { vec![Seen::Other] } else { seen }
    };
    match form {
        HistoryForm::OpenAiChat if message["role"] == "tool" => vec![Seen::Result(message["tool_call_id"].clone())],
        HistoryForm::OpenAiChat => chat("tool_calls", |call| call["id"].clone()),
        HistoryForm::Ollama if message["role"] == "tool" => vec![Seen::Result(message["tool_name"].clone())],
        HistoryForm::Ollama => chat("tool_calls", |call| call["function"]["name"].clone()),
        HistoryForm::Native if message["role"] == "tool" => vec![Seen::Result(message["call_id"].clone())],
        HistoryForm::Native => chat("calls", |call| call["call_id"].clone()),
        HistoryForm::OpenAiResponses => match message["type"].as_str() {
            Some("function_call") => vec![Seen::Call(message["call_id"].clone())],
            Some("function_call_output") => vec![Seen::Result(message["call_id"].clone())],
            Some("reasoning") => vec![],
            _ if message["role"] == "assistant" => vec![],
            _ => vec![Seen::Other],
        },
        HistoryForm::Anthropic => blocks("content", |block| match block["type"].as_str() {
            Some("tool_use") => Seen::Call(block["id"].clone()),
            Some("tool_result") => Seen::Result(block["tool_use_id"].clone()),
            _ => Seen::Other,
        }),
        HistoryForm::Gemini => blocks("parts", |part| {
            if part["functionCall"].is_object() {
                Seen::Call(part["functionCall"]["name"].clone())
            } else if part["functionResponse"].is_object() {
                Seen::Result(part["functionResponse"]["name"].clone())
            } else {
                Seen::Other
            }
        }),
    }
}

/// Every call has exactly one result, right after its turn and in call order; returns the ids.
fn assert_paired(form: HistoryForm, messages: &[Value]) -> Vec<Value> {
    let mut due = Vec::new();
    let mut ids = Vec::new();
    let mut is_answering = false;
    let joins = form == HistoryForm::OpenAiResponses;
    for (number, message) in messages.iter().enumerate() {
        for (place, seen) in seen(form, message).into_iter().enumerate() {
            match seen {
                Seen::Call(id) => {
                    let is_same_turn = (joins && !is_answering) || place > 0;
                    assert!(due.is_empty() || is_same_turn, "unanswered before {number}: {messages:?}");
                    is_answering = false;
                    due.push(id.clone());
                    ids.push(id);
                }
                Seen::Result(id) => {
                    is_answering = true;
                    // Ollama may name no tool in a result that has an id.
                    assert!(!due.is_empty(), "a result too much in {number}: {messages:?}");
                    let call = due.remove(0);
                    let is_nameless = form == HistoryForm::Ollama && (id.is_null() || id == "");
                    assert!(call == id || is_nameless, "{call} {id}: {messages:?}");
                }
                Seen::End | Seen::Other => assert!(due.is_empty(), "unanswered before {number}: {messages:?}"),
            }
        }
    }
    assert!(due.is_empty(), "unanswered at the end: {messages:?}");
    ids
}

fn check_again(form: HistoryForm, options: HistoryOptions, text: &str) -> Result<HistoryReport, TestCaseError> {
    let report = check_history(form, options, text).unwrap();
    let again = check_history(form, options, report.messages.as_str()).unwrap();
    prop_assert_eq!(&again.problems, &[], "{}: {} became {}", form, text, report.messages);
    prop_assert_eq!(&again.messages, &report.messages);
    if report.problems.is_empty() {
        prop_assert_eq!(report.messages.as_str(), text);
    }
    Ok(report)
}

/// Any JSON with the words of the forms in it.
fn any_json() -> impl Strategy<Value = Value> {
    let words = vec![
        "role",
        "tool",
        "assistant",
        "user",
        "model",
        "tool_calls",
        "id",
        "function",
        "custom",
        "name",
        "arguments",
        "tool_call_id",
        "tool_name",
        "content",
        "type",
        "tool_use",
        "tool_result",
        "tool_use_id",
        "input",
        "text",
        "parts",
        "functionCall",
        "functionResponse",
        "response",
        "args",
        "calls",
        "call_id",
        "function_call",
        "function_call_output",
        "output",
        "reasoning",
        "messages",
        "contents",
        "",
        "{}",
    ];
    let word = select(words.clone()).prop_map(Value::from);
    let leaf = prop_oneof![4 => word, 1 => Just(Value::Null), 1 => any::<u8>().prop_map(Value::from)];
    leaf.prop_recursive(6, 80, 6, move |inner| {
        let members = prop::collection::vec((select(words.clone()), inner.clone()), 0..6);
        let object =
            members.prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        prop_oneof![prop::collection::vec(inner, 0..5).prop_map(Value::Array), object.prop_map(Value::Object)]
    })
}

proptest! {
    #[test]
    fn a_repaired_history_has_no_problems_and_one_result_right_after_each_call(
        steps in prop::collection::vec(step(), 0..10),
        rule in select(IdRule::ALL.to_vec()),
    ) {
        for form in HistoryForm::ALL {
            let text = write(form, &steps);
            let report = check_again(form, HistoryOptions::of(form).with_ids(rule), &text)?;
            let messages: Vec<Value> = report.messages.to().unwrap();
            let ids = assert_paired(form, &messages);
            if form.needs_ids() {
                prop_assert!(ids.iter().all(|id| id.as_str().is_some_and(|id| rule.is_legal(id))), "{ids:?}");
                let distinct: HashSet<&str> = ids.iter().filter_map(Value::as_str).collect();
                prop_assert_eq!(distinct.len(), ids.len(), "{}: {:?}", form, ids);
            }
        }
    }

    #[test]
    fn what_is_said_and_called_is_kept_digit_for_digit(steps in prop::collection::vec(step(), 0..10)) {
        for form in HistoryForm::ALL {
            let text = write(form, &steps);
            let report = check_again(form, HistoryOptions::of(form), &text)?;
            let count = |text: &str| text.matches(KEPT).count();
            prop_assert_eq!(count(report.messages.as_str()), count(&text), "{}: {}", form, text);
        }
    }

    #[test]
    fn any_json_is_repaired_or_refused(list in prop::collection::vec(any_json(), 0..6)) {
        let text = json!(list).to_string();
        for form in HistoryForm::ALL {
            check_again(form, HistoryOptions::of(form), &text)?;
        }
    }

    #[test]
    fn any_text_is_repaired_or_refused(text in ".{0,40}") {
        for form in HistoryForm::ALL {
            check_history(form, HistoryOptions::of(form), &text).ok();
        }
    }
}
