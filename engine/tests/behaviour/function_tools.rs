//! In-process tools, with and without the call context (seed 004: V1 and V2).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolyard::CallStatus::{InvalidArguments, ToolError};
use toolyard::{CallContext, FunctionTool, HandlerError, ToolExecutionContext, ToolParam};

use crate::fixture::{OK, batch, call, call_with, registry, run_one, statuses};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// The first addend.
    left: i64,
    right: Option<i64>,
}

#[derive(Serialize)]
struct Total {
    total: i64,
}

async fn add(sum: Sum) -> Result<Total, HandlerError> {
    let right = sum.right.unwrap_or(1);
    let total = sum.left.checked_add(right).ok_or("too large")?;
    Ok(Total { total })
}

/// A context whose user is `ann`.
fn ann() -> Arc<ToolExecutionContext> {
    Arc::new(ToolExecutionContext { user_id: "ann".to_owned(), ..ToolExecutionContext::default() })
}

#[tokio::test(start_paused = true)]
async fn plain_functions_take_the_arguments_as_text_and_give_text() {
    let echo = FunctionTool::from_fn("echo", "", |text| async move { Ok(text) });
    let fail = FunctionTool::from_fn("fail", "", |_| async { Err("no luck".into()) });
    let greet = FunctionTool::from_fn_with_context("greet", "", |context: CallContext, text| async move {
        Ok(format!("{} {text}", context.execution().user_id))
    });
    let registry = registry([echo, fail, greet]).await;
    let outcome = registry.dispatch(batch(["echo", "fail", "greet"]).with_context(ann())).await;
    assert_eq!(statuses(&outcome), [OK, ToolError, OK]);
    let said: Vec<_> = outcome.results.iter().map(|result| result.history_content()).collect();
    assert_eq!(said, ["{}", "no luck", "ann {}"]);
}

#[tokio::test(start_paused = true)]
async fn json_functions_have_a_schema_from_their_parameters_and_give_json() {
    let parameters = || vec![ToolParam::required("n", "integer", "how many"), ToolParam::optional("x", "string", "")];
    let plain = FunctionTool::from_json_fn("plain", "", parameters(), |json| async move {
        Ok(json!({"got": json.to::<serde_json::Value>()?}))
    });
    let fail = FunctionTool::from_json_fn::<(), _, _>("fail", "", parameters(), |_| async { Err("no luck".into()) });
    let with_context = FunctionTool::from_json_fn_with_context("context", "", parameters(), |context, _| async move {
        Ok(json!({"content": context.execution().user_id, "stop_after_execution": true}))
    });
    assert_eq!(plain.spec().parameters_schema["required"], json!(["n"]));
    let registry = registry([plain, fail, with_context]).await;
    let arguments = json!({"n": 1});
    let calls = vec![
        call_with("a", "plain", &arguments),
        call_with("b", "fail", &arguments),
        call_with("c", "context", &arguments),
        call("d", "plain"),
    ];
    let outcome = registry.dispatch(toolyard::ToolBatch::new(calls).with_context(ann())).await;
    assert_eq!(statuses(&outcome), [OK, ToolError, OK, InvalidArguments]);
    assert_eq!(outcome.results[0].history_content(), r#"{"got":{"n":1}}"#);
    assert_eq!((outcome.results[2].history_content().as_str(), outcome.stop), ("ann", true));
}

#[tokio::test(start_paused = true)]
async fn typed_functions_have_the_schema_of_their_type() {
    let plain = FunctionTool::typed("add", "", add);
    let with_context = FunctionTool::typed_with_context("who", "", |context: CallContext, sum: Sum| async move {
        Ok(format!("{} {}", context.execution().user_id, sum.left))
    });
    let schema = &plain.spec().parameters_schema;
    assert_eq!(schema["required"], json!(["left"]));
    assert_eq!(schema["properties"]["left"]["description"], "The first addend.");
    let registry = registry([plain, with_context]).await;
    let calls = vec![
        call_with("a", "add", &json!({"left": 2, "right": 3})),
        call_with("b", "add", &json!({"left": 2})),
        call_with("c", "add", &json!({"left": "two"})),
        call_with("d", "add", &json!({"left": i64::MAX})),
        call_with("e", "who", &json!({"left": 7})),
    ];
    let outcome = registry.dispatch(toolyard::ToolBatch::new(calls).with_context(ann())).await;
    assert_eq!(statuses(&outcome), [OK, OK, InvalidArguments, ToolError, OK]);
    let said: Vec<_> = outcome.results.iter().map(|result| result.history_content()).collect();
    assert_eq!((said[0].as_str(), said[1].as_str()), (r#"{"total":5}"#, r#"{"total":3}"#));
    assert_eq!((said[3].as_str(), said[4].as_str()), ("too large", "ann 7"));
}

#[tokio::test(start_paused = true)]
async fn arguments_that_pass_the_schema_but_not_the_type_fail_their_call() {
    let tool = FunctionTool::typed("add", "", add);
    // A schema that promises less than the type needs.
    let registry = registry([tool.map_spec(|spec| spec.with_parameters(json!({"type": "object"})))]).await;
    let result = run_one(&registry, "add").await;
    assert_eq!(result.status, ToolError);
    assert!(result.history_content().contains("left"), "{}", result.history_content());
}

#[tokio::test(start_paused = true)]
async fn the_first_of_two_tools_with_one_name_is_used() {
    let tools = ["first", "second"].map(|text| crate::fixture::saying("same", text));
    assert_eq!(run_one(&registry(tools).await, "same").await.history_content(), "first");
}
