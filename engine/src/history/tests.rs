mod content;
mod ids;
mod layout;

use serde_json::{Value, json};

use super::ProblemKind::*;
use super::*;

fn checked(form: HistoryForm, history: &str) -> HistoryReport {
    let report = check_history(form, HistoryOptions::of(form), history).unwrap();
    let again = check_history(form, HistoryOptions::of(form), report.messages.as_str()).unwrap();
    assert_eq!(again.problems, [], "{}", report.messages);
    report
}

fn found(report: &HistoryReport) -> Vec<(ProblemKind, usize, Option<&str>)> {
    report.problems.iter().map(|problem| (problem.kind, problem.message, problem.call_id.as_deref())).collect()
}

fn kinds(report: &HistoryReport) -> Vec<ProblemKind> {
    report.problems.iter().map(|problem| problem.kind).collect()
}

fn value(report: &HistoryReport) -> Value {
    report.messages.to().unwrap()
}

const NOT_EXECUTED: &str = "not executed: no result was recorded for this call";

/// Two calls `c1` of `f` and `c2` of `g`, and results of the given calls, in each form.
fn history(form: HistoryForm, results: &[&str]) -> String {
    let (calls, result): (Value, fn(&str) -> Value) = match form {
        HistoryForm::OpenAiChat => (
            json!([{"role": "assistant", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ]}]),
            |id| json!({"role": "tool", "tool_call_id": id, "content": "done"}),
        ),
        HistoryForm::OpenAiResponses => (
            json!([
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}"},
            ]),
            |id| json!({"type": "function_call_output", "call_id": id, "output": "done"}),
        ),
        HistoryForm::Anthropic => (
            json!([{"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
                {"type": "tool_use", "id": "c2", "name": "g", "input": {}},
            ]}]),
            |id| json!({"type": "tool_result", "tool_use_id": id, "content": "done"}),
        ),
        HistoryForm::Gemini => (
            json!([{"role": "model", "parts": [
                {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "c2", "name": "g", "args": {}}},
            ]}]),
            |id| json!({"functionResponse": {"id": id, "name": tool(id), "response": {"output": "done"}}}),
        ),
        HistoryForm::Ollama => (
            json!([{"role": "assistant", "tool_calls": [
                {"function": {"name": "f", "arguments": {}}},
                {"function": {"name": "g", "arguments": {}}},
            ]}]),
            |id| json!({"role": "tool", "tool_name": tool(id), "content": "done"}),
        ),
        HistoryForm::Native => (
            json!([{"role": "assistant", "calls": [
                {"call_id": "c1", "tool": "f", "arguments": {}},
                {"call_id": "c2", "tool": "g", "arguments": {}},
            ]}]),
            |id| json!({"role": "tool", "call_id": id, "tool": tool(id), "content": "done", "is_error": false}),
        ),
    };
    let results: Vec<Value> = results.iter().map(|id| result(id)).collect();
    let mut messages = vec![json!({"role": "user", "content": "hi", "parts": [{"text": "hi"}]})];
    messages.extend(calls.as_array().unwrap().iter().cloned());
    match form {
        HistoryForm::Anthropic if !results.is_empty() => messages.push(json!({"role": "user", "content": results})),
        HistoryForm::Gemini if !results.is_empty() => messages.push(json!({"role": "user", "parts": results})),
        _ => messages.extend(results),
    }
    json!(messages).to_string()
}

fn tool(id: &str) -> &str {
    match id {
        "c1" => "f",
        "c2" => "g",
        other => other,
    }
}

#[test]
fn forms_are_read_and_printed_by_name() {
    for form in HistoryForm::ALL {
        assert_eq!(form.to_string().parse::<HistoryForm>().unwrap(), form);
    }
    assert!(matches!("xml".parse::<HistoryForm>(), Err(HistoryError::UnknownForm(name)) if name == "xml"));
}

#[test]
fn a_sound_history_comes_back_as_it_was_given() {
    for form in HistoryForm::ALL {
        let text = history(form, &["c1", "c2"]).replace(',', " ,\n");
        let report = checked(form, &text);
        assert_eq!((found(&report), report.messages.as_str()), (vec![], text.as_str()), "{form}");
    }
}

#[test]
fn a_turn_that_was_aborted_gets_the_missing_result_in_every_form() {
    for form in HistoryForm::ALL {
        let report = checked(form, &history(form, &["c1"]));
        assert_eq!(kinds(&report), [UnansweredCall], "{form}");
        let whole: Value = serde_json::from_str(&history(form, &["c1", "c2"])).unwrap();
        let repaired = value(&report);
        assert_eq!(repaired.as_array().unwrap().len(), whole.as_array().unwrap().len(), "{form}");
        let last = repaired.as_array().unwrap().last().unwrap().to_string();
        assert!(last.contains(NOT_EXECUTED), "{form} {last}");
    }
}

#[test]
fn a_call_at_the_very_end_is_unanswered_in_every_form() {
    for form in HistoryForm::ALL {
        let report = checked(form, &history(form, &[]));
        assert_eq!(kinds(&report), [UnansweredCall, UnansweredCall], "{form}");
        assert_eq!(report.messages.as_str().matches(NOT_EXECUTED).count(), 2, "{form}");
    }
}

#[test]
fn a_result_without_call_is_dropped_in_every_form() {
    for form in HistoryForm::ALL {
        let report = checked(form, &history(form, &["c1", "ghost", "c2"]));
        assert_eq!(kinds(&report), [OrphanResult], "{form}");
        let sound: Value = serde_json::from_str(&history(form, &["c1", "c2"])).unwrap();
        assert_eq!(value(&report), sound, "{form}");
    }
}

#[test]
fn a_second_result_of_one_call_is_dropped_in_every_form() {
    for form in HistoryForm::ALL {
        let report = checked(form, &history(form, &["c1", "c2", "c1"]));
        assert_eq!(kinds(&report), [RepeatedResult], "{form}");
        let sound: Value = serde_json::from_str(&history(form, &["c1", "c2"])).unwrap();
        assert_eq!(value(&report), sound, "{form}");
    }
}

#[test]
fn a_ghost_is_dropped_and_a_dangling_call_answered() {
    let history = json!([
        {"role": "user", "content": "x"},
        {"role": "tool", "tool_call_id": "ghost", "content": "y"},
        {"role": "assistant", "tool_calls": [{"id": "k1", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "user", "content": "next"},
    ]);
    let report = checked(HistoryForm::OpenAiChat, &history.to_string());
    assert_eq!(found(&report), [(OrphanResult, 1, Some("ghost")), (UnansweredCall, 2, Some("k1"))]);
    let repaired = json!([
        history[0],
        history[2],
        {"role": "tool", "tool_call_id": "k1", "content": NOT_EXECUTED},
        history[3],
    ]);
    assert_eq!(value(&report), repaired);
}

#[test]
fn anthropic_server_tools_are_not_ours() {
    let history = r#"[{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search",
        "input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}]"#;
    assert_eq!(found(&checked(HistoryForm::Anthropic, history)), []);
}

#[test]
fn a_request_object_keeps_everything_but_its_messages_byte_for_byte() {
    let head = "{ \"model\" : \"m\",\n \"seed\":653247040368672768123456789, ";
    for (form, key) in [
        (HistoryForm::OpenAiChat, "messages"),
        (HistoryForm::OpenAiResponses, "input"),
        (HistoryForm::Gemini, "contents"),
        (HistoryForm::Native, "input"),
    ] {
        let request = |list: &str| format!("{head}\"{key}\" : {list}, \"tools\":[ ] }}");
        let report = checked(form, &request(&history(form, &["c1"])));
        assert_eq!(kinds(&report), [UnansweredCall]);
        let (start, end) = (format!("{head}\"{key}\" : ["), "], \"tools\":[ ] }");
        assert!(report.messages.as_str().starts_with(&start) && report.messages.as_str().ends_with(end), "{form}");
    }
}

#[test]
fn what_does_not_have_to_change_stays_byte_for_byte() {
    let call = r#"{ "functionCall" : {"name":"a b", "args":{"n":653247040368672768123456789, "x":1.10}}, "thoughtSignature":"\u0063+/==" }"#;
    let history = format!(r#"[{{"role":"model","parts":[{call}],"extra":1e400}}]"#);
    let report = checked(HistoryForm::Gemini, &history);
    assert_eq!(kinds(&report), [UnansweredCall, IllegalName]);
    let mended = call.replace("a b", "a_b");
    let first = format!(r#"[{{"role":"model","parts":[{mended}],"extra":1e400}},"#);
    assert!(report.messages.as_str().starts_with(&first), "{}", report.messages);
}

#[test]
fn results_that_are_made_are_in_the_language_asked_for() {
    let options = HistoryOptions::of(HistoryForm::Native).with_locale(Locale::Zh);
    let report = check_history(HistoryForm::Native, options, &history(HistoryForm::Native, &[])).unwrap();
    assert_eq!(value(&report)[2]["content"], "未执行：没有记录到该调用的结果");
}

#[test]
fn what_is_no_history_is_refused() {
    let check = |text| check_history(HistoryForm::OpenAiChat, HistoryOptions::of(HistoryForm::OpenAiChat), text);
    assert!(matches!(check("[").unwrap_err(), HistoryError::NotJson { line: 1, column: 1 }));
    for text in ["{}", "1", "null", r#"{"messages":{}}"#, r#"{"input":"hi"}"#] {
        assert!(matches!(check(text), Err(HistoryError::NoMessages)), "{text}");
    }
    let said = r#"{"input":"hi"}"#;
    assert_eq!(checked(HistoryForm::OpenAiResponses, said).messages.as_str(), said);
    assert_eq!(check("\u{feff}[ ]").unwrap().messages.as_str(), "[ ]");
}

#[test]
fn problems_serialise_with_their_published_names() {
    let report = checked(HistoryForm::OpenAiChat, &history(HistoryForm::OpenAiChat, &["c1"]));
    let problem = serde_json::to_value(&report.problems[0]).unwrap();
    assert_eq!(
        (&problem["kind"], &problem["message"], &problem["call_id"]),
        (&json!("unanswered_call"), &json!(1), &json!("c2"))
    );
    assert!(problem["detail"].as_str().unwrap().contains("no result"));
}
