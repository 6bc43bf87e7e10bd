//! What tools give back, as outcomes and histories show it.

use std::time::Duration;

use serde_json::{Value, json};
use toolyard::CallStatus::ToolError;
use toolyard::{
    CallResult, Dialect, ErrorCode, Executed, FunctionTool, JsonText, Limits, ToolExecutionResult, ToolRegistry,
    ToolSpec, result_from_json,
};

use crate::fixture::{OK, code_of, giving, limits, registry, registry_with, run, run_one, saying, settings, status_of};
use crate::fixture::{Script, batch, ms, statuses};

/// A tool that gives back this JSON.
fn returning(name: &str, json: &str) -> FunctionTool {
    let json = JsonText::parse(json).unwrap();
    giving(name, move || result_from_json(&json))
}

/// A tool with this output schema that gives back this JSON.
fn promising(name: &str, schema: Value, json: &str) -> FunctionTool {
    returning(name, json).map_spec(|spec| spec.with_output_schema(schema))
}

fn document(result: &CallResult) -> Value {
    serde_json::to_value(result).unwrap()
}

fn rows() -> Value {
    json!({"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}})
}

// === long results ===

#[tokio::test(start_paused = true)]
async fn a_long_result_is_cut_and_read_back_whole_until_its_time_is_over() {
    let text = format!("head{}tail", "字".repeat(1 << 20));
    let few = limits(|limits| {
        (limits.max_result_chars, limits.max_result_bytes, limits.kept_result_ttl) = (20_000, 16 << 20, ms(1000));
    });
    let registry = registry_with(few, settings(|_| ()), [saying("long", &text)]).await;
    let result = run_one(&registry, "long").await;
    let history = result.history_content();
    assert!(history.chars().count() <= 20_000 && history.starts_with("head") && history.ends_with("tail"));
    let reference = result.reference.clone().unwrap();
    assert!(history.contains("1048584 characters") && history.contains(&*reference), "the notice says what and where");
    assert_eq!((&document(&result)["truncated"], &document(&result)["reference"]), (&json!(true), &json!(reference)));
    assert_eq!(*registry.kept_result(&reference).unwrap().text, *text);
    tokio::time::sleep(ms(1000)).await;
    assert_eq!(registry.kept_result(&reference), None);
}

#[tokio::test(start_paused = true)]
async fn a_tool_has_a_limit_of_its_own_or_none() {
    let few = limits(|limits| limits.max_result_chars = 1000);
    let long = |name: &str| saying(name, &"x".repeat(5000));
    let tools = [
        long("default"),
        long("less").map_spec(|spec| spec.with_max_result_chars(500)),
        long("off").map_spec(|spec| spec.with_max_result_chars(0)),
    ];
    let outcome = run(&registry_with(few, settings(|_| ()), tools).await, ["default", "less", "off"]).await;
    let lengths: Vec<usize> = outcome.results.iter().map(|result| result.history_content().chars().count()).collect();
    assert!(lengths[0] > 900 && lengths[0] <= 1000 && lengths[1] > 400 && lengths[1] <= 500, "{lengths:?}");
    let truncated: Vec<bool> = outcome.results.iter().map(|result| result.truncated).collect();
    assert_eq!((lengths[2], truncated), (5000, vec![true, true, false]));
    assert!(outcome.results[2].reference.is_none());
}

#[tokio::test(start_paused = true)]
async fn only_so_much_is_kept_and_the_oldest_goes_first() {
    let little = limits(|limits| (limits.max_result_chars, limits.max_kept_result_bytes) = (1000, 2 * 6000));
    let tools = [saying("long", &"x".repeat(5000)), saying("huge", &"x".repeat(50_000))];
    let registry = registry_with(little, settings(|_| ()), tools).await;
    let outcome = run(&registry, ["long", "long", "long", "huge"]).await;
    let kept: Vec<bool> = outcome.results[..3]
        .iter()
        .map(|result| registry.kept_result(result.reference.as_ref().unwrap()).is_some())
        .collect();
    assert_eq!(kept.iter().filter(|there| **there).count(), 2, "{kept:?}");
    assert_eq!((outcome.results[3].truncated, outcome.results[3].reference.is_none()), (true, true));
}

#[tokio::test(start_paused = true)]
async fn pictures_are_not_cut() {
    let data = "A".repeat(40_000);
    let few = limits(|limits| limits.max_result_chars = 1000);
    let json =
        json!({"content": "drawn", "content_items": [{"type": "image", "data": data, "mime_type": "image/png"}]});
    let result =
        run_one(&registry_with(few, settings(|_| ()), [returning("draw", &json.to_string())]).await, "draw").await;
    assert_eq!(result.history_content(), "drawn\n[image tool_result:c1:1, image/png, 30000 bytes]");
    assert_eq!((result.result.content_items[0].image_base64(), result.truncated), (Some(("image/png", &*data)), false));
}

#[tokio::test(start_paused = true)]
async fn metadata_and_messages_count_for_the_size_of_a_result() {
    let small = limits(|limits| limits.max_result_bytes = 100);
    let long = "x".repeat(200);
    let tools = [
        returning("metadata", &json!({"content": "a", "metadata": {"k": [long]}}).to_string()),
        returning("messages", &json!({"content": "a", "post_history_messages": [long]}).to_string()),
        returning("fits", r#"{"content": "a", "metadata": {"k": "v"}}"#),
    ];
    let outcome = run(&registry_with(small, settings(|_| ()), tools).await, ["metadata", "messages", "fits"]).await;
    assert_eq!(statuses(&outcome), [ToolError, ToolError, OK]);
    assert_eq!(code_of(&outcome.results[1]), Some(ErrorCode::ToolResultInvalid));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_most_parsers_refuse_fails_its_call_and_costs_no_other_its_result() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let digits = "7".repeat(400);
    let (raw, message) = (JsonText::parse(&deep).unwrap(), JsonText::parse(&deep).unwrap());
    let nested = (0..120).fold(json!(1), |value, _| json!([value]));
    let tools = [
        returning("deep", &deep),
        returning("member", &format!(r#"{{"content": "a", "structured_content": {{"a": {deep}}}}}"#)),
        returning("exponent", r#"{"temperature": 1e999}"#),
        returning("digits", &format!(r#"{{"n": {digits}}}"#)),
        giving("made", move || ToolExecutionResult::structured(raw.clone())),
        giving("message", move || ToolExecutionResult {
            post_history_messages: vec![message.clone()],
            ..ToolExecutionResult::success("a")
        }),
        returning("metadata", &json!({"content": "a", "metadata": {"a": nested}}).to_string()),
        returning("item", &json!({"content_items": [{"type": "text", "text": "a", "x": nested}]}).to_string()),
    ];
    let bad = ["deep", "member", "exponent", "digits", "made", "message", "metadata", "item"];
    let fine = returning("fine", r#"{"n": 653247040368672768123456789, "a": [[[1.5e300]]], "half": "\ud83d!"}"#);
    let registry = registry(tools.into_iter().chain([fine, saying("say", "hi")])).await;
    let outcome = run(&registry, bad.into_iter().chain(["fine", "say"])).await;
    for result in &outcome.results[..bad.len()] {
        assert_eq!(code_of(result), Some(ErrorCode::ToolResultInvalid), "{}", result.tool);
        assert_eq!((result.status, result.executed), (ToolError, Executed::Yes));
        assert!(result.history_content().contains("cannot be used"), "{}", result.history_content());
    }
    assert!(outcome.results[0].history_content().contains("nested deeper than 100 levels"));
    assert_eq!(statuses(&outcome)[bad.len()..], [OK, OK]);
    let text = serde_json::to_string(&outcome).unwrap();
    assert!(text.contains("653247040368672768123456789"), "no digit is lost");
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&read["results"][8]["structured_content"]["half"], &read["results"][9]["content"]),
        (&json!("\u{fffd}!"), &json!("hi"))
    );
}

// === media ===

#[tokio::test(start_paused = true)]
async fn no_base64_reaches_the_model_as_text_however_a_tool_sends_it() {
    let uri = "data:image/png;base64,iVBORw0KGgo=";
    let rust_made = JsonText::from(json!({"chart": uri}));
    let tools = [
        returning("text", &json!(uri).to_string()),
        returning("structured", &json!({"a": [uri]}).to_string()),
        returning("item", &json!({"content_items": [{"type": "image", "uri": uri}]}).to_string()),
        returning(
            "block",
            &json!({"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}).to_string(),
        ),
        returning("json_text", &json!({"content": json!({"a": uri}).to_string()}).to_string()),
        giving("made", move || ToolExecutionResult::structured(rust_made.clone())),
    ];
    let names = ["text", "structured", "item", "block", "json_text", "made"];
    let outcome = run(&registry(tools).await, names).await;
    for result in &outcome.results {
        let history = result.history_content();
        assert!(!history.contains("iVBOR"), "{}: {history}", result.tool);
        assert!(history.contains("image/png, 8 bytes"), "{}: {history}", result.tool);
        assert_eq!(
            result.result.content_items[0].image_base64(),
            Some(("image/png", "iVBORw0KGgo=")),
            "{}",
            result.tool
        );
    }
}

#[tokio::test(start_paused = true)]
async fn messages_for_the_history_follow_the_results() {
    let tool =
        returning("note", r#"{"content": "a", "post_history_messages": [{"role": "user", "n": 653247040368672768}]}"#);
    let outcome = run(&registry([tool]).await, ["note"]).await;
    let messages =
        serde_json::to_value(Dialect::OpenAiChat.messages(&outcome, toolyard::MessageOptions::default())).unwrap();
    assert_eq!(messages[1], json!({"role": "user", "n": 653_247_040_368_672_768_u64}));
}

// === numbers ===

#[tokio::test(start_paused = true)]
async fn a_number_that_json_cannot_hold_fails_its_call_and_no_other() {
    let mean = |name: &str, mean: f64| {
        FunctionTool::from_json_fn(name, "", Vec::new(), move |_| {
            std::future::ready(Ok(std::collections::BTreeMap::from([("mean", mean)])))
        })
    };
    let outcome = run(&registry([mean("bad", f64::NAN), mean("good", 1.5)]).await, ["bad", "good"]).await;
    assert_eq!(statuses(&outcome), [ToolError, OK]);
    let bad = &outcome.results[0];
    assert_eq!((code_of(bad), bad.executed), (Some(ErrorCode::ToolResultInvalid), Executed::Yes));
    assert_eq!(bad.history_content(), "non-finite number in result");
    assert_eq!(outcome.results[1].history_content(), r#"{"mean":1.5}"#);
}

#[tokio::test(start_paused = true)]
async fn digits_of_any_number_stay_as_they_are() {
    let registry = registry([returning("id", r#"{"id": 653247040368672768123456789}"#)]).await;
    let result = run_one(&registry, "id").await;
    assert_eq!(result.history_content(), r#"{"id":653247040368672768123456789}"#);
    assert!(serde_json::to_string(&result).unwrap().contains(r#"{"id":653247040368672768123456789}"#));
}

// === output schemas ===

#[tokio::test(start_paused = true)]
async fn structured_content_that_does_not_fit_is_a_warning_unless_it_is_strict() {
    let tools = || {
        [
            promising(
                "fits",
                rows(),
                r#"{"resultType": "complete", "content": [], "structuredContent": [{"id": "1"}]}"#,
            ),
            promising("differs", rows(), r#"{"content": "2 rows", "structured_content": [{"id": 1}]}"#),
        ]
    };
    let outcome = run(&registry(tools()).await, ["fits", "differs"]).await;
    assert_eq!(statuses(&outcome), [OK, OK]);
    assert!(outcome.results[0].warnings.is_empty() && document(&outcome.results[0]).get("warnings").is_none());
    assert!(document(&outcome.results[1])["warnings"][0].as_str().unwrap().contains("`/0/id`"));
    assert_eq!(outcome.results[1].history_content(), "2 rows");

    let strict = settings(|settings| settings.strict_output = true);
    let outcome = run(&registry_with(Limits::default(), strict, tools()).await, ["fits", "differs"]).await;
    assert_eq!(statuses(&outcome), [OK, ToolError]);
    let failed = &outcome.results[1];
    assert_eq!((code_of(failed), failed.executed), (Some(ErrorCode::ToolResultInvalid), Executed::Yes));
}

#[tokio::test(start_paused = true)]
async fn what_promised_nothing_structured_is_not_checked() {
    let strict = settings(|settings| settings.strict_output = true);
    let tools = [
        promising("failed", rows(), r#"{"content": "no", "isError": true, "structuredContent": {"why": 1}}"#),
        promising("text", rows(), r#""just text""#),
        promising("null", rows(), "null"),
        promising("large", rows(), &format!("[{}1]", "1,".repeat(1 << 19))),
    ];
    let outcome =
        run(&registry_with(Limits::default(), strict, tools).await, ["failed", "text", "null", "large"]).await;
    assert_eq!(statuses(&outcome), [ToolError, OK, OK, OK]);
    assert_eq!(code_of(&outcome.results[0]), Some(ErrorCode::ToolFailed));
    let warnings: Vec<usize> = outcome.results.iter().map(|result| result.warnings.len()).collect();
    assert_eq!(warnings, [0, 0, 0, 1]);
    assert!(outcome.results[3].warnings[0].contains("too large"), "{:?}", outcome.results[3].warnings);
}

#[tokio::test(start_paused = true)]
async fn a_bad_output_schema_costs_its_checks_and_not_its_tool() {
    let registry = ToolRegistry::new(Limits::default());
    let script = Script::new("a", []);
    let good = ToolSpec::new("good", "").with_output_schema(rows());
    let bad = ToolSpec::new("bad", "").with_output_schema(json!({"type": "strin"}));
    script.set_specs(vec![good, bad]);
    script.launch(&registry, settings(|_| ())).await;
    let status = status_of(&registry, "a");
    assert_eq!((status.tools, status.rejected.len(), status.warnings.len()), (2, 0, 1));
    let warning = serde_json::to_value(&status).unwrap()["warnings"][0].clone();
    assert_eq!(warning["name"], "bad");
    assert!(warning["message"].as_str().unwrap().contains("output schema"), "{warning}");
    assert_eq!(statuses(&registry.dispatch(batch(["good", "bad"])).await), [OK, OK]);
}

#[tokio::test(start_paused = true)]
async fn warnings_go_when_the_tool_is_listed_without_its_fault() {
    let registry = ToolRegistry::new(Limits::default());
    let script = Script::new("a", []);
    script.set_specs(vec![ToolSpec::new("t", "").with_output_schema(json!(7))]);
    script.launch(&registry, settings(|_| ())).await;
    assert_eq!(status_of(&registry, "a").warnings.len(), 1);
    script.set_specs(vec![ToolSpec::new("t", "")]);
    script.tools_changed();
    crate::fixture::until("it is listed again", || status_of(&registry, "a").warnings.is_empty()).await;
}

// === successes that are none of the engine's business ===

#[tokio::test(start_paused = true)]
async fn states_that_a_tool_reports_are_successes() {
    let said = [
        r#"{"status":"started","task_id":"t1"}"#,
        r#"{"status":"verification_required","url":"https://x/verify"}"#,
        r#"{"source":"cache","fetched_at":"2026-01-01T00:00:00Z","stale":true}"#,
        r#"{"error":"not found"}"#,
    ];
    let names = ["started", "verification", "cached", "not_found"];
    let tools = names.into_iter().zip(said).map(|(name, json)| returning(name, json));
    let outcome = run(&registry(tools).await, names).await;
    for (result, json) in outcome.results.iter().zip(said) {
        assert_eq!((result.status, code_of(result)), (OK, None), "{json}");
        assert_eq!(result.history_content(), json);
    }
}

#[tokio::test(start_paused = true)]
async fn null_is_told_from_nothing_in_the_outcome_only() {
    let outcome =
        run(&registry([returning("null", "null"), returning("empty", "\"\"")]).await, ["null", "empty"]).await;
    let [null, empty] = &outcome.results[..] else { unreachable!("two calls") };
    assert_eq!((null.status, empty.status), (OK, OK));
    assert_eq!(null.history_content(), empty.history_content());
    assert_eq!(document(null).get("structured_content"), Some(&Value::Null));
    assert_eq!(document(empty).get("structured_content"), None);
}

#[tokio::test(start_paused = true)]
async fn why_a_call_failed_stands_apart_from_what_its_tool_said() {
    let tool = returning("fail", r#"{"success": false, "content": "a page", "error": "timeout", "partial": [1]}"#);
    let slow = FunctionTool::new(ToolSpec::new("slow", "").with_timeout(ms(10)), |_, _| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(ToolExecutionResult::success("late"))
    });
    let outcome = run(&registry([tool, slow]).await, ["fail", "slow"]).await;
    let failed = document(&outcome.results[0]);
    assert_eq!((&failed["error"]["code"], &failed["error"]["message"]), (&json!("tool.failed"), &json!("timeout")));
    assert_eq!((&failed["content"], &failed["structured_content"]["partial"]), (&json!("a page"), &json!([1])));
    assert_eq!(document(&outcome.results[1])["error"]["code"], "deadline.exceeded");
}

#[tokio::test(start_paused = true)]
async fn a_failure_without_a_word_is_still_told_from_an_empty_success() {
    let tools = [returning("bare", r#"{"success": false}"#), returning("mcp", r#"{"content": [], "isError": true}"#)];
    let outcome = run(&registry(tools).await, ["bare", "mcp"]).await;
    for result in &outcome.results {
        assert_eq!((result.status, code_of(result)), (ToolError, Some(ErrorCode::ToolFailed)));
        assert_eq!(result.history_content(), "the tool failed without saying why");
    }
}
