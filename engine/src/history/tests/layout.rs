//! Where results stand.

use super::*;

#[test]
fn results_are_put_in_call_order_in_every_form() {
    for form in HistoryForm::ALL {
        let report = checked(form, &history(form, &["c2", "c1"]));
        assert_eq!(kinds(&report), [WrongOrder], "{form}");
        let sound: Value = serde_json::from_str(&history(form, &["c1", "c2"])).unwrap();
        assert_eq!(value(&report), sound, "{form}");
    }
}

#[test]
fn results_are_moved_right_after_their_calls_in_every_form() {
    for form in HistoryForm::ALL {
        let sound = history(form, &["c1", "c2"]);
        let mut messages: Vec<Value> = serde_json::from_str(&sound).unwrap();
        let results = if matches!(form, HistoryForm::Anthropic | HistoryForm::Gemini) { 1 } else { 2 };
        let said = json!({"type": "message", "role": "assistant", "content": "wait", "parts": [{"text": "wait"}]});
        messages.insert(messages.len() - results, said.clone());
        let report = checked(form, &json!(messages).to_string());
        assert_eq!(kinds(&report), [NotAdjacent, NotAdjacent], "{form}");
        let mut expected: Vec<Value> = serde_json::from_str(&sound).unwrap();
        expected.push(said);
        assert_eq!(value(&report), json!(expected), "{form}");
    }
}

#[test]
fn results_that_are_spread_over_messages_become_one() {
    for (form, key) in [(HistoryForm::Anthropic, "content"), (HistoryForm::Gemini, "parts")] {
        let sound: Value = serde_json::from_str(&history(form, &["c1", "c2"])).unwrap();
        let one = |n: usize| json!({"role": "user", key: [sound[2][key][n]]});
        let report = checked(form, &json!([sound[0], sound[1], one(0), one(1)]).to_string());
        assert_eq!(kinds(&report), [SplitResults], "{form}");
        assert_eq!(value(&report), sound, "{form}");
    }
}

#[test]
fn gemini_gets_three_responses_in_one_content_in_call_order() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let response = |name: &str| json!({"functionResponse": {"name": name, "response": {"output": name}}});
    let calls = json!({"role": "model", "parts": [call("c1"), call("c2"), call("c3")]});
    let text = json!({"role": "user", "parts": [{"text": "next"}]});
    let history = json!([calls, {"role": "function", "parts": [response("c3")]}, text, {"role": "user", "parts": [response("c1")]}]);
    let report = checked(HistoryForm::Gemini, &history.to_string());
    assert_eq!(found(&report), [(UnansweredCall, 0, None), (NotAdjacent, 3, None)]);
    let missing = json!({"functionResponse": {"name": "c2", "response": {"error": NOT_EXECUTED}}});
    let responses = json!({"role": "function", "parts": [response("c1"), missing, response("c3")]});
    assert_eq!(value(&report), json!([calls, responses, text]));
}

#[test]
fn anthropic_results_come_first_and_join_what_the_user_said_next() {
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]});
    let result =
        json!({"type": "tool_result", "tool_use_id": "t", "content": "x", "cache_control": {"type": "ephemeral"}});
    let said = json!({"type": "text", "text": "and?"});
    let repaired = json!([call, {"role": "user", "content": [result, said]}]);
    let behind = json!([call, {"role": "user", "content": [said, result]}]);
    let report = checked(HistoryForm::Anthropic, &behind.to_string());
    assert_eq!((kinds(&report), value(&report)), (vec![WrongOrder], repaired.clone()));
    let later = json!([call, {"role": "user", "content": "and?"}, {"role": "user", "content": [result]}]);
    let report = checked(HistoryForm::Anthropic, &later.to_string());
    assert_eq!((kinds(&report), value(&report)), (vec![NotAdjacent], repaired));
}

#[test]
fn reasoning_between_a_call_and_its_output_goes_behind() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "x"});
    let reasoning = json!({"type": "reasoning", "id": "rs_2", "encrypted_content": "opaque", "summary": []});
    let history = json!([call("a"), reasoning, output("a"), call("b"), output("b")]);
    let report = checked(HistoryForm::OpenAiResponses, &history.to_string());
    assert_eq!(found(&report), [(NotAdjacent, 2, Some("a"))]);
    assert_eq!(value(&report), json!([call("a"), output("a"), reasoning, call("b"), output("b")]));
    let next = json!([call("a"), output("a"), reasoning, call("b"), output("b")]);
    assert_eq!(found(&checked(HistoryForm::OpenAiResponses, &next.to_string())), []);
}

#[test]
fn a_long_turn_with_results_in_reverse_is_put_in_order() {
    const CALLS: usize = 20_000;
    let call = |n| json!({"call_id": format!("c{n}"), "tool": "f", "arguments": {}});
    let calls: Vec<Value> = (0..CALLS).map(call).collect();
    let mut messages = vec![json!({"role": "assistant", "calls": calls})];
    messages.extend((0..CALLS).rev().map(|n| json!({"role": "tool", "call_id": format!("c{n}"), "content": "x"})));
    let report = checked(HistoryForm::Native, &json!(messages).to_string());
    assert_eq!(report.problems.len(), CALLS - 1);
    let repaired = value(&report);
    assert!((0..CALLS).all(|n| repaired[n + 1]["call_id"] == format!("c{n}")));
}

#[test]
fn the_models_words_between_two_calls_of_one_reply_are_where_they_belong() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "done"});
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "and"}]});
    let history = json!([call("c1"), said, call("c2"), output("c1"), output("c2")]);
    assert_eq!(kinds(&checked(HistoryForm::OpenAiResponses, &history.to_string())), []);
}
