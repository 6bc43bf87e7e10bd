//! Which result answers which call, and under which id.

use super::*;

#[test]
fn an_id_that_comes_again_in_a_later_turn_is_renamed_on_call_and_result() {
    let call = json!({"id": "functions.eval:301", "function": {"name": "eval", "arguments": "{}"}});
    let history = json!([
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "functions.eval:301", "content": "first"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "functions.eval:301", "content": "second"},
    ]);
    let report = checked(HistoryForm::OpenAiChat, &history.to_string());
    assert_eq!(found(&report), [(RepeatedCallId, 2, Some("functions.eval:301"))]);
    let repaired = value(&report);
    assert_eq!((&repaired[0], &repaired[1]), (&history[0], &history[1]));
    assert_eq!(repaired[2]["tool_calls"][0]["id"], "functions.eval:301_2");
    assert_eq!(
        (&repaired[3]["tool_call_id"], &repaired[3]["content"]),
        (&json!("functions.eval:301_2"), &json!("second"))
    );
}

#[test]
fn the_same_id_twice_in_one_turn_pairs_by_order() {
    let call = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let history = json!([
        {"role": "assistant", "content": [call, call]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "one"},
            {"type": "tool_result", "tool_use_id": "t", "content": "two"},
        ]},
    ]);
    let report = checked(HistoryForm::Anthropic, &history.to_string());
    assert_eq!(kinds(&report), [RepeatedCallId]);
    let blocks = &value(&report)[1]["content"];
    assert_eq!(blocks[0], json!({"type": "tool_result", "tool_use_id": "t", "content": "one"}));
    assert_eq!(blocks[1], json!({"type": "tool_result", "tool_use_id": "t_2", "content": "two"}));
}

#[test]
fn renamed_ids_stay_the_same_as_the_history_grows() {
    let turn =
        r#"{"role":"assistant","calls":[{"call_id":"x","tool":"f"}]},{"role":"tool","call_id":"x","content":"1"}"#;
    let short = checked(HistoryForm::Native, &format!("[{turn},{turn}]"));
    let long = checked(HistoryForm::Native, &format!("[{turn},{turn},{turn},{}]", turn.replace("\"x\"", "\"x_2\"")));
    let (short, long) = (value(&short), value(&long));
    assert_eq!(short.as_array().unwrap()[..], long.as_array().unwrap()[..4]);
    let ids: Vec<&Value> = [1, 3, 5, 7].map(|n| &long[n]["call_id"]).into();
    assert_eq!(ids, ["x", "x_2", "x_3", "x_2_2"]);
}

#[test]
fn calls_without_ids_get_some_and_share_them_with_their_results() {
    for absent in ["\"id\":\"\",", "\"id\":null,", ""] {
        let history = format!(
            r#"[{{"role":"assistant","tool_calls":[{{{absent}"function":{{"name":"f","arguments":"{{}}"}}}},
                {{{absent}"function":{{"name":"g","arguments":"{{}}"}}}}]}},
                {{"role":"tool","content":"of f"}},{{"role":"tool","tool_call_id":"","content":"of g"}}]"#
        );
        let report = checked(HistoryForm::OpenAiChat, &history);
        assert_eq!(kinds(&report), [MissingId; 4], "{absent}");
        let repaired = value(&report);
        let ids = [&repaired[0]["tool_calls"][0]["id"], &repaired[0]["tool_calls"][1]["id"]];
        assert_eq!(ids, ["call_0_0", "call_0_1"]);
        assert_eq!([&repaired[1]["tool_call_id"], &repaired[2]["tool_call_id"]], ids);
    }
}

#[test]
fn a_call_without_id_takes_the_one_that_the_bot_gave_its_result() {
    let history = r#"[{"role":"assistant","tool_calls":[{"id":"","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"made_up","content":"x"}]"#;
    let report = checked(HistoryForm::OpenAiChat, history);
    assert_eq!(found(&report), [(MissingId, 0, None)]);
    assert_eq!(value(&report)[0]["tool_calls"][0]["id"], "made_up");
}

#[test]
fn ids_follow_the_rule_on_calls_and_results() {
    let history = history(HistoryForm::OpenAiChat, &["c1", "c2"]);
    for rule in IdRule::ALL {
        let options = HistoryOptions::of(HistoryForm::OpenAiChat).with_ids(rule);
        let report = check_history(HistoryForm::OpenAiChat, options, &history).unwrap();
        let repaired = value(&report);
        assert_eq!(repaired[1]["tool_calls"][1]["id"], *rule.apply("c2"), "{rule}");
        assert_eq!(repaired[3]["tool_call_id"], *rule.apply("c2"), "{rule}");
        assert_eq!(kinds(&report).contains(&IllegalId), rule == IdRule::Mistral, "{rule}");
    }
}

#[test]
fn an_id_that_is_no_text_becomes_one() {
    let history = r#"[{"role":"assistant","calls":[{"call_id":7,"tool":"f","arguments":{}}]},
        {"role":"tool","call_id":7,"content":"x"}]"#;
    let report = checked(HistoryForm::Native, history);
    assert_eq!(kinds(&report), [IllegalId, IllegalId]);
    assert_eq!(value(&report)[0]["calls"][0]["call_id"], "7");
    assert_eq!(value(&report)[1]["call_id"], "7");
}

#[test]
fn old_function_calls_pair_by_name_and_get_no_ids() {
    let call = json!({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}});
    let result = json!({"role": "function", "name": "f", "content": "x"});
    assert_eq!(found(&checked(HistoryForm::OpenAiChat, &json!([call, result]).to_string())), []);
    let orphan = json!({"role": "function", "name": "g", "content": "x"});
    let report = checked(HistoryForm::OpenAiChat, &json!([call, orphan]).to_string());
    assert_eq!(found(&report), [(UnansweredCall, 0, None), (OrphanResult, 1, None)]);
    assert_eq!(value(&report), json!([call, {"role": "function", "name": "f", "content": NOT_EXECUTED}]));
}

#[test]
fn a_late_result_takes_the_place_of_what_was_put_in_for_it() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "k", "function": {"name": "f", "arguments": "{}"}}]});
    let first = checked(HistoryForm::OpenAiChat, &json!([call]).to_string());
    let late = json!({"role": "tool", "tool_call_id": "k", "content": "late"});
    let mut messages: Vec<Value> = first.messages.to().unwrap();
    messages.push(late.clone());
    let report = checked(HistoryForm::OpenAiChat, &json!(messages).to_string());
    assert_eq!(found(&report), [(RepeatedResult, 1, Some("k"))]);
    assert_eq!(value(&report), json!([call, late]));
}

#[test]
fn outputs_of_calls_that_the_vendor_keeps_are_no_orphans() {
    let output = json!({"type": "function_call_output", "call_id": "kept", "output": "x"});
    let continued = json!({"previous_response_id": "resp_1", "input": [output]});
    assert_eq!(found(&checked(HistoryForm::OpenAiResponses, &continued.to_string())), []);
    let referred = json!([{"type": "item_reference", "id": "fc_1"}, output]);
    assert_eq!(found(&checked(HistoryForm::OpenAiResponses, &referred.to_string())), []);
    let alone = json!({"previous_response_id": null, "input": [output]});
    assert_eq!(kinds(&checked(HistoryForm::OpenAiResponses, &alone.to_string())), [OrphanResult]);
}

#[test]
fn gemini_pairs_calls_of_one_tool_by_order() {
    let history = json!([
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "f", "response": {"n": 1}}},
            {"functionResponse": {"name": "f", "response": {"n": 2}}},
        ]},
    ]);
    assert_eq!(found(&checked(HistoryForm::Gemini, &history.to_string())), []);
}
