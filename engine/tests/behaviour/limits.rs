//! Every limit refuses or cuts only what is beyond it.

use serde_json::json;
use toolyard::CallStatus::{InvalidArguments, Overloaded, ToolError};
use toolyard::{ContentItem, ErrorCode, Executed, JsonText, RawArguments, ToolBatch, ToolCall, ToolExecutionResult};

use crate::fixture::{HOUR, OK, Probe, call, call_with, code_of, codes, failing, giving, hanging, limits, ms};
use crate::fixture::{registry_with, run, run_one, saying, settings, sleeper, statuses, until};

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_length_of_a_batch_are_overloaded_and_the_others_run() {
    let probe = Probe::default();
    let few = limits(|limits| limits.max_batch_calls = 3);
    let registry = registry_with(few, settings(|_| ()), [sleeper("sleep", ms(10), &probe)]).await;
    let outcome = run(&registry, ["sleep"; 5]).await;
    assert_eq!(statuses(&outcome), [OK, OK, OK, Overloaded, Overloaded]);
    let beyond = Some(ErrorCode::LimitBatch);
    assert_eq!(codes(&outcome), [None, None, None, beyond, beyond]);
    assert_eq!((outcome.results[4].executed, probe.entered()), (Executed::No, 3));
}

#[tokio::test(start_paused = true)]
async fn arguments_beyond_their_size_or_depth_never_run() {
    let probe = Probe::default();
    let small = limits(|limits| (limits.max_argument_bytes, limits.max_argument_depth) = (100, 4));
    let registry = registry_with(small, settings(|_| ()), [sleeper("sleep", ms(0), &probe)]).await;
    let exactly = format!(r#"{{"a":"{}"}}"#, "x".repeat(100 - 8));
    assert_eq!(exactly.len(), 100);
    let calls = [
        exactly.clone(),
        format!("{}x\"}}", &exactly[..98]),
        r#"{"a":[[[1]]]}"#.to_owned(),
        r#"{"a":[[[[1]]]]}"#.to_owned(),
    ];
    let calls = calls.map(|text| ToolCall::new("", "sleep", RawArguments::text(text)));
    let outcome = registry.dispatch(ToolBatch::new(calls.into())).await;
    assert_eq!(statuses(&outcome), [OK, InvalidArguments, OK, InvalidArguments]);
    let (large, deep) = (Some(ErrorCode::ArgumentsTooLarge), Some(ErrorCode::ArgumentsTooDeep));
    assert_eq!(codes(&outcome), [None, large, None, deep]);
    assert_eq!(probe.entered(), 2);
}

#[tokio::test(start_paused = true)]
async fn long_text_keeps_its_head_and_tail() {
    let text = format!("head{}tail", "x".repeat(10_000));
    let short = limits(|limits| limits.max_result_text_bytes = 1000);
    let tools = [saying("long", &text), saying("short", &"x".repeat(1000))];
    let registry = registry_with(short, settings(|_| ()), tools).await;
    let outcome = run(&registry, ["long", "short"]).await;
    let [cut, whole] = &outcome.results[..] else { unreachable!("two calls") };
    let content = cut.history_content();
    assert!(content.len() <= 1000 && content.starts_with("head") && content.ends_with("tail"), "{content}");
    assert_eq!((cut.status, cut.truncated, whole.truncated), (OK, true, false));
    assert_eq!(serde_json::to_value(cut).unwrap()["truncated"], true);
    assert!(serde_json::to_value(whole).unwrap().get("truncated").is_none());
}

#[tokio::test(start_paused = true)]
async fn structured_content_items_and_errors_are_cut_too() {
    let short = limits(|limits| limits.max_result_text_bytes = 200);
    let long = "x".repeat(1000);
    let [structured, item, failure] = [long.clone(), long.clone(), long];
    let tools = [
        giving("structured", move || {
            ToolExecutionResult::structured(JsonText::from_serialize(&[&structured]).unwrap())
        }),
        giving("item", move || ToolExecutionResult {
            content_items: vec![ContentItem::text(item.clone())],
            ..ToolExecutionResult::success("")
        }),
        giving("failure", move || ToolExecutionResult::failure(failure.clone())),
    ];
    let registry = registry_with(short, settings(|_| ()), tools).await;
    for tool in ["structured", "item", "failure"] {
        let result = run_one(&registry, tool).await;
        assert!(result.truncated && result.history_content().len() <= 200, "{tool}: {}", result.history_content());
        let message = result.error.map(|error| error.message.len());
        assert!(message.is_none_or(|length| length <= 200), "{tool}: {message:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_message_of_a_broken_provider_is_cut_as_well() {
    use toolyard::{FunctionTool, ToolFailure, ToolSpec};
    let short = limits(|limits| limits.max_result_text_bytes = 200);
    let broken = FunctionTool::new(ToolSpec::new("broken", ""), |_, _| {
        std::future::ready(Err(ToolFailure::new(ErrorCode::ProviderProtocol, "x".repeat(1000))))
    });
    let registry = registry_with(short, settings(|_| ()), [broken]).await;
    let result = run_one(&registry, "broken").await;
    assert!(result.history_content().len() <= 200, "{}", result.history_content());
    assert!(result.error.unwrap().message.len() <= 200);
}

#[tokio::test(start_paused = true)]
async fn a_result_beyond_its_size_fails_its_call() {
    let small = limits(|limits| limits.max_result_bytes = 100);
    let picture = giving("picture", || ToolExecutionResult {
        content_items: vec![ContentItem { data: Some("A".repeat(100)), ..ContentItem::default() }],
        ..ToolExecutionResult::success("y").stopping()
    });
    let registry = registry_with(small, settings(|_| ()), [picture, saying("fits", &"x".repeat(100))]).await;
    let outcome = run(&registry, ["picture", "fits"]).await;
    assert_eq!(statuses(&outcome), [ToolError, OK]);
    assert_eq!(codes(&outcome), [Some(ErrorCode::ToolResultInvalid), None]);
    assert_eq!((outcome.results[0].executed, outcome.stop), (Executed::Yes, false));
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_are_limited_in_all_and_room_comes_back() {
    let probe = Probe::default();
    let few = limits(|limits| limits.max_in_flight = 3);
    let tools = [hanging("hang", &probe), saying("say", "hi")];
    let registry = registry_with(few, settings(|_| ()), tools).await;
    let holder = registry.start(crate::fixture::batch(["hang"; 2])).await.unwrap();
    until("they hang", || probe.inside() == 2).await;
    let outcome = run(&registry, ["say", "say", "nothing"]).await;
    let unknown = toolyard::CallStatus::UnknownTool;
    assert_eq!(statuses(&outcome), [OK, Overloaded, unknown]);
    assert_eq!(code_of(&outcome.results[1]), Some(ErrorCode::LimitInFlight));
    assert_eq!(outcome.results[1].executed, Executed::No);
    holder.cancel();
    holder.outcome().await.unwrap();
    assert_eq!(statuses(&run(&registry, ["say"; 4]).await), [OK, OK, OK, Overloaded]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_dispatch_gives_its_room_back() {
    let probe = Probe::default();
    let few = limits(|limits| limits.max_in_flight = 2);
    let registry = registry_with(few, settings(|_| ()), [sleeper("sleep", HOUR, &probe), failing("fail")]).await;
    for _ in 0..5 {
        assert!(tokio::time::timeout(ms(10), run(&registry, ["sleep"; 2])).await.is_err());
    }
    assert_eq!(statuses(&run(&registry, ["fail"; 2]).await), [ToolError; 2]);
}

#[tokio::test(start_paused = true)]
async fn tools_beyond_a_providers_number_are_left_out_with_a_reason() {
    let few = limits(|limits| limits.max_tools_per_provider = 2);
    let registry = registry_with(few, settings(|_| ()), ["a", "b", "c"].map(|name| saying(name, "hi"))).await;
    assert!(registry.has_tool("b") && !registry.has_tool("c"));
    let rejected = crate::fixture::status_of(&registry, "p").rejected;
    assert_eq!(rejected[0].name, "c");
    assert!(rejected[0].reason.contains("more than 2"), "{}", rejected[0].reason);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_refused_takes_no_room_from_its_siblings() {
    let few = limits(|limits| limits.max_in_flight = 3);
    let registry = registry_with(few, settings(|_| ()), [saying("say", "hi")]).await;
    let calls = vec![call("a", "nothing"), call_with("b", "say", &json!([])), call("c", "say")];
    let outcome = registry.dispatch(ToolBatch::new(calls)).await;
    assert_eq!(statuses(&outcome)[2], OK);
}
