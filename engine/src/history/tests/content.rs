//! Names, arguments and contents.

use super::*;

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
fn a_gemini_response_that_is_no_object_is_put_into_one() {
    let text = history(HistoryForm::Gemini, &["c1", "c2"]).replace(r#"{"output":"done"}"#, "[1,2]");
    let report = checked(HistoryForm::Gemini, &text);
    assert_eq!(kinds(&report), [InvalidResult, InvalidResult]);
    assert_eq!(value(&report)[2]["parts"][0]["functionResponse"]["response"], json!({"output": [1, 2]}));
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
fn depth_is_no_concern() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for form in HistoryForm::ALL {
        let text = history(form, &["c1"]).replace("\"done\"", &deep).replacen(":{}", &format!(":{{\"n\":{deep}}}"), 1);
        let report = checked(form, &text);
        assert!(kinds(&report).contains(&UnansweredCall), "{form}");
        assert!(report.messages.as_str().contains(&deep), "{form}");
    }
}

#[test]
fn halves_of_characters_are_replaced_and_told() {
    for form in HistoryForm::ALL {
        let text = history(form, &["c1", "c2"]).replace("\"done\"", r#""a\ud83d \ud83d\ude00""#);
        let report = checked(form, &text);
        let places: Vec<ProblemKind> = kinds(&report);
        assert!(!places.is_empty() && places.iter().all(|kind| *kind == HalfCharacter), "{form}: {places:?}");
        assert_eq!(report.messages.as_str(), text.replace(r"a\ud83d", r"a\ufffd"), "{form}: nothing else changes");
    }
}
