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
fn empty_results_say_so_in_every_form() {
    for form in HistoryForm::ALL {
        let empty = match form {
            HistoryForm::Gemini => history(form, &["c1", "c2"]).replace(r#"{"output":"done"}"#, "{}"),
            _ => history(form, &["c1", "c2"]).replace("done", " "),
        };
        let report = checked(form, &empty);
        assert_eq!(kinds(&report), [EmptyResult, EmptyResult], "{form}");
        assert_eq!(report.messages.as_str().matches("(no output)").count(), 2, "{form}");
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
fn names_that_a_vendor_refuses_become_legal() {
    for (form, name, legal) in [
        (HistoryForm::OpenAiChat, "a.b", "a_b"),
        (HistoryForm::OpenAiResponses, "a b", "a_b"),
        (HistoryForm::Anthropic, "a.b", "a_b"),
        (HistoryForm::Gemini, "a b", "a_b"),
        (HistoryForm::Gemini, "2f", "_2f"),
    ] {
        let text = history(form, &["c1", "c2"]).replace("\"f\"", &format!("\"{name}\""));
        let report = checked(form, &text);
        assert_eq!(kinds(&report), [IllegalName], "{form} {name}");
        let sound = history(form, &["c1", "c2"]).replace("\"f\"", &format!("\"{legal}\""));
        assert_eq!(value(&report), serde_json::from_str::<Value>(&sound).unwrap(), "{form} {name}");
    }
    let long = "2".repeat(80);
    let text = history(HistoryForm::Gemini, &["c1", "c2"]).replace("\"f\"", &format!("\"{long}\""));
    assert_eq!(kinds(&checked(HistoryForm::Gemini, &text)), [IllegalName]);
    for (form, name) in [(HistoryForm::Gemini, "a.b:c"), (HistoryForm::Ollama, "a b"), (HistoryForm::Native, "天气")]
    {
        let text = history(form, &["c1", "c2"]).replace("\"f\"", &format!("\"{name}\""));
        assert_eq!(found(&checked(form, &text)), [], "{form} {name}");
    }
}

#[test]
fn a_call_without_a_name_gets_one() {
    for form in HistoryForm::ALL {
        let text = history(form, &["c1", "c2"]).replace("\"f\"", "\"\"");
        assert!(kinds(&checked(form, &text)).contains(&IllegalName), "{form}");
    }
}

#[test]
fn a_result_names_the_tool_of_its_call() {
    let text = history(HistoryForm::Gemini, &["c1", "c2"]);
    let response = r#"{"functionResponse":{"id":"c1","name":"f""#;
    assert!(text.contains(response));
    for wrong in [r#"{"functionResponse":{"id":"c1","name":"other""#, r#"{"functionResponse":{"id":"c1""#] {
        let report = checked(HistoryForm::Gemini, &text.replace(response, wrong));
        assert_eq!(found(&report), [(NameDiffers, 2, Some("c1"))]);
        assert_eq!(value(&report), serde_json::from_str::<Value>(&text).unwrap());
    }
}

#[test]
fn an_ollama_result_with_neither_id_nor_name_names_its_tool() {
    let text = history(HistoryForm::Ollama, &["c1", "c2"]);
    let report = checked(HistoryForm::Ollama, &text.replacen(r#""tool_name":"g","#, "", 1));
    assert_eq!(found(&report), [(NameDiffers, 3, None)]);
    assert_eq!(value(&report), serde_json::from_str::<Value>(&text).unwrap());
}

#[test]
fn arguments_become_an_object_and_nothing_is_lost() {
    let cases = [
        (r#""{\"n\":653247040368672768123456789}""#, None),
        (r#""""#, Some("{}")),
        ("null", Some("{}")),
        (r#""null""#, Some("{}")),
        (r#"{"n":653247040368672768123456789}"#, Some(r#"{"n":653247040368672768123456789}"#)),
        (r#""\"{\\\"n\\\":1}\"""#, Some(r#"{"n":1}"#)),
        (r#""{\"n\":""#, Some(r#"{"invalid_arguments":"{\"n\":"}"#)),
        (r#""[1]""#, Some(r#"{"invalid_arguments":"[1]"}"#)),
        ("[1]", Some(r#"{"invalid_arguments":[1]}"#)),
    ];
    for (given, mended) in cases {
        let history = format!(
            r#"[{{"role":"assistant","tool_calls":[{{"id":"c","function":{{"name":"f","arguments":{given}}}}}]}},
                {{"role":"tool","tool_call_id":"c","content":"x"}}]"#
        );
        let report = checked(HistoryForm::OpenAiChat, &history);
        match mended {
            None => assert_eq!(report.messages.as_str(), history),
            Some(mended) => {
                assert_eq!(found(&report), [(InvalidArguments, 0, Some("c"))], "{given}");
                assert_eq!(value(&report)[0]["tool_calls"][0]["function"]["arguments"], mended, "{given}");
            }
        }
    }
}

#[test]
fn arguments_that_must_be_objects_are_read_out_of_text() {
    for (form, given, mended) in [
        (HistoryForm::Anthropic, r#""{\"n\":653247040368672768123}""#, r#""input":{"n":653247040368672768123}"#),
        (HistoryForm::Anthropic, "null", r#""input":{}"#),
        (HistoryForm::Gemini, r#""oops""#, r#""args":{"invalid_arguments":"oops"}"#),
        (HistoryForm::Ollama, r#""{\"n\":1}""#, r#""arguments":{"n":1}"#),
        (HistoryForm::Native, "[1]", r#""arguments":{"invalid_arguments":[1]}"#),
    ] {
        let sound = history(form, &["c1", "c2"]);
        let key = ["input", "args", "arguments"].into_iter().find(|key| sound.contains(&format!("\"{key}\":{{}}")));
        let empty = format!("\"{}\":{{}}", key.unwrap());
        let report = checked(form, &sound.replacen(&empty, &empty.replace("{}", given), 1));
        assert_eq!(kinds(&report), [InvalidArguments], "{form}");
        assert!(report.messages.as_str().contains(mended), "{form} {}", report.messages);
    }
}

#[test]
fn free_text_of_custom_tools_is_no_broken_argument() {
    let items = r#"[{"type":"custom_tool_call","call_id":"c","name":"run","input":"print(1)"}]"#;
    let report = checked(HistoryForm::OpenAiResponses, items);
    assert_eq!(kinds(&report), [UnansweredCall]);
    let output = json!({"type": "custom_tool_call_output", "call_id": "c", "output": NOT_EXECUTED});
    assert_eq!(value(&report)[1], output);
    let chat = r#"[{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"run","input":"x"}}]},
        {"role":"tool","tool_call_id":"c","content":"y"}]"#;
    assert_eq!(found(&checked(HistoryForm::OpenAiChat, chat)), []);
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

#[test]
fn a_gemini_response_that_is_no_object_is_put_into_one() {
    let text = history(HistoryForm::Gemini, &["c1", "c2"]).replace(r#"{"output":"done"}"#, "[1,2]");
    let report = checked(HistoryForm::Gemini, &text);
    assert_eq!(kinds(&report), [InvalidResult, InvalidResult]);
    assert_eq!(value(&report)[2]["parts"][0]["functionResponse"]["response"], json!({"output": [1, 2]}));
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
fn anthropic_server_tools_are_not_ours() {
    let history = r#"[{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search",
        "input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}]"#;
    assert_eq!(found(&checked(HistoryForm::Anthropic, history)), []);
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
fn blocks_of_blank_text_are_an_empty_result_and_pictures_are_none() {
    let result = |content: &str| {
        let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}"#;
        format!(
            r#"[{call},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":{content}}}]}}]"#
        )
    };
    for empty in ["[]", "null", r#"[{"type":"text","text":""}]"#] {
        assert_eq!(kinds(&checked(HistoryForm::Anthropic, &result(empty))), [EmptyResult], "{empty}");
    }
    let picture = result(r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]"#);
    assert_eq!(found(&checked(HistoryForm::Anthropic, &picture)), []);
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
