//! Arguments: checked before the tool runs, told where they are wrong, kept digit for digit.

use std::sync::Arc;

use serde_json::json;
use toolyard::CallStatus::{InvalidArguments, Truncated, UnknownTool};
use toolyard::{ErrorCode, Executed, FunctionTool, Locale, RawArguments, ToolCall, ToolExecutionContext, ToolRegistry};

use crate::fixture::{OK, Probe, call, call_with, code_of, ms, registry, run_one, sleeper};

const BIG: &str = r#"{"id": 653247040368672768123456789, "list": [18446744073709551617, -0.1000]}"#;

async fn weather(probe: &Probe) -> ToolRegistry {
    let schema = json!({"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}, "units": {"enum": ["c", "f"]}}});
    registry([sleeper("weather", ms(1), probe).map_spec(|spec| spec.with_parameters(schema))]).await
}

#[tokio::test(start_paused = true)]
async fn a_misfit_names_its_place_and_what_is_expected_and_never_runs() {
    let probe = Probe::default();
    let registry = weather(&probe).await;
    for (arguments, pointer, expectation) in [
        (json!({}), "/city", "required"),
        (json!({"city": [7]}), "/city", "of type string"),
        (json!({"city": "Bonn", "days": 0}), "/days", "at least 1"),
        (json!({"city": "Bonn", "units": "kelvin"}), "/units", r#"one of "c", "f""#),
    ] {
        let result = registry.invoke(call_with("c1", "weather", &arguments), Arc::default()).await.unwrap();
        assert_eq!((result.status, code_of(&result)), (InvalidArguments, Some(ErrorCode::ArgumentsSchema)));
        let error = result.error.clone().unwrap();
        assert_eq!(error.pointer.as_deref(), Some(pointer), "{arguments}");
        assert!(error.message.contains(expectation) && !error.message.contains("kelvin"), "{}", error.message);
        assert!(result.history_content().contains(expectation), "the model is told");
        assert_eq!(result.executed, Executed::No);
    }
    assert_eq!(probe.entered(), 0);
    let fits = call_with("c1", "weather", &json!({"city": "Bonn", "days": 2}));
    assert_eq!(registry.invoke(fits, Arc::default()).await.unwrap().status, OK);
}

#[tokio::test(start_paused = true)]
async fn text_that_is_no_object_is_never_mended_to_one() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(0), &probe)]).await;
    for (text, code) in [
        ("{'a': 1}", ErrorCode::ArgumentsSyntax),
        ("{} {}", ErrorCode::ArgumentsSyntax),
        ("[1]", ErrorCode::ArgumentsNotObject),
        ("\"text\"", ErrorCode::ArgumentsNotObject),
        (r#"{"a": 1, "a": 2}"#, ErrorCode::ArgumentsDuplicateKey),
    ] {
        let call = ToolCall::new("c1", "sleep", RawArguments::text(text));
        let result = registry.invoke(call, Arc::default()).await.unwrap();
        assert_eq!((result.status, code_of(&result)), (InvalidArguments, Some(code)), "{text}");
    }
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn absent_arguments_are_an_empty_object_and_the_result_says_so() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(0), &probe)]).await;
    for arguments in [RawArguments::Absent, RawArguments::text(""), RawArguments::text("null")] {
        let result = registry.invoke(ToolCall::new("c1", "sleep", arguments), Arc::default()).await.unwrap();
        assert_eq!(result.status, OK);
        let document = serde_json::to_value(&result).unwrap();
        assert_eq!(document["arguments"], json!({}));
        assert_eq!(document["repairs"], json!([{"kind": "empty_arguments", "pointer": ""}]));
    }
}

#[tokio::test(start_paused = true)]
async fn big_integers_keep_their_digits_to_the_tool_and_into_the_document() {
    let echo = FunctionTool::from_fn("echo", "", |text| std::future::ready(Ok(text)));
    let json = FunctionTool::from_json_fn("json", "", Vec::new(), |json| std::future::ready(Ok(json)));
    let registry = registry([echo, json]).await;
    for tool in ["echo", "json"] {
        let call = ToolCall::new("c1", tool, RawArguments::text(BIG));
        let result = registry.invoke(call, Arc::default()).await.unwrap();
        let document = serde_json::to_string(&result).unwrap();
        let came_back = result.history_content();
        for digits in ["653247040368672768123456789", "18446744073709551617", "-0.1000"] {
            assert!(came_back.contains(digits), "{tool}: {came_back}");
            assert_eq!(document.matches(digits).count(), 2, "{tool}: {document}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn cut_off_arguments_are_truncated_and_never_run() {
    let probe = Probe::default();
    let registry = registry([sleeper("sleep", ms(0), &probe)]).await;
    // Whole by chance, yet the reply ended there: the model may have wanted to say more.
    let told = RawArguments::CutOff("{}".into());
    let seen = RawArguments::text(r#"{"path": "/tmp/a"#);
    for arguments in [told, seen] {
        let result = registry.invoke(ToolCall::new("c1", "sleep", arguments), Arc::default()).await.unwrap();
        assert_eq!((result.status, code_of(&result)), (Truncated, Some(ErrorCode::ArgumentsTruncated)));
        assert_eq!(result.executed, Executed::No);
    }
    assert_eq!(probe.entered(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_leads_nowhere_is_an_unknown_tool_in_the_persons_language() {
    let registry = registry([]).await;
    let result = run_one(&registry, "nothing").await;
    assert_eq!((result.status, code_of(&result)), (UnknownTool, Some(ErrorCode::ToolUnknown)));
    assert!(result.history_content().contains("`nothing`") && result.origin.is_none());

    let chinese = Arc::new(ToolExecutionContext { locale: Locale::Zh, ..ToolExecutionContext::default() });
    let result = registry.invoke(call("c1", "查天气"), chinese).await.unwrap();
    assert_eq!(result.history_content(), "未找到工具：查天气");
}
