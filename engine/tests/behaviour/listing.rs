//! Tools that come and go while their provider is up.

use std::sync::atomic::Ordering;

use serde_json::json;
use toolyard::CallStatus::UnknownTool;
use toolyard::{ErrorCode, ToolBatch, ToolRegistry, ToolSpec};

use crate::fixture::{
    OK, Script, call_with, code_of, limits, ms, run_one, settings, status_of, statuses, timed, until,
};

#[tokio::test(start_paused = true)]
async fn a_change_of_tools_is_listed_again() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["old", "stays"]);
    script.launch(&registry, settings(|_| ())).await;
    script.set_tools(["stays", "new"]);
    script.tools_changed();
    until("the new tool is there", || registry.has_tool("new")).await;
    assert_eq!((run_one(&registry, "new").await.status, run_one(&registry, "stays").await.status), (OK, OK));
    let old = run_one(&registry, "old").await;
    assert_eq!((old.status, code_of(&old)), (UnknownTool, Some(ErrorCode::ToolRemoved)));
    assert_eq!((script.attempts(), status_of(&registry, "a").starts), (1, 1), "it is the same incarnation");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_removed_in_mid_call_finishes_that_call_and_what_is_disabled_stays_so() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t", "secret"]);
    script.launch(&registry, settings(|settings| settings.disabled_tools = vec!["secret".to_owned()])).await;
    let running = call_with("c1", "t", &json!({"ms": 100}));
    let running = registry.start(ToolBatch::new(vec![running])).await.unwrap();
    until("the call is in flight", || status_of(&registry, "a").in_flight == 1).await;
    script.set_tools(["secret", "new"]);
    script.tools_changed();
    until("the new tool is there", || registry.has_tool("new")).await;
    assert!(!registry.has_tool("secret") && status_of(&registry, "a").in_flight == 1);
    let gone = run_one(&registry, "t").await;
    assert_eq!((gone.status, code_of(&gone)), (UnknownTool, Some(ErrorCode::ToolRemoved)));
    assert!(gone.history_content().contains("was removed"));
    assert_eq!(statuses(&running.outcome().await.unwrap()), [OK]);
}

#[tokio::test(start_paused = true)]
async fn a_change_during_a_listing_leads_to_a_second_one() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["one"]);
    script.launch(&registry, settings(|_| ())).await;
    script.lists_within(ms(100));
    script.set_tools(["one", "two"]);
    script.tools_changed();
    tokio::time::sleep(ms(50)).await;
    // Twice: however often they change, one more listing is enough.
    script.set_tools(["one", "two", "three"]);
    script.tools_changed();
    script.tools_changed();
    until("the last change is seen", || registry.has_tool("three")).await;
    tokio::time::sleep(ms(500)).await;
    assert_eq!(script.listings.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_slow_listing_delays_no_call() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]);
    script.launch(&registry, settings(|_| ())).await;
    script.lists_within(ms(10_000));
    script.tools_changed();
    let (result, time) = timed(run_one(&registry, "t")).await;
    assert_eq!((result.status, time), (OK, ms(0)));
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_fails_leaves_the_tools_as_they_were() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", ["t"]);
    script.launch(&registry, settings(|settings| settings.start_timeout = ms(200))).await;
    script.set_tools(["u"]);
    script.lists_within(ms(1000));
    script.tools_changed();
    tokio::time::sleep(ms(500)).await;
    assert_eq!(run_one(&registry, "t").await.status, OK);
    script.lists_within(ms(0));
    script.tools_changed();
    until("the next listing is taken", || registry.has_tool("u")).await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_did_not_change_keeps_its_queue_through_a_new_listing() {
    let registry = ToolRegistry::new(limits(|_| ()));
    let script = Script::new("a", []);
    let serial = ToolSpec::new("serial", "").with_max_in_flight(std::num::NonZeroUsize::MIN);
    script.set_specs(vec![serial.clone()]);
    script.launch(&registry, settings(|_| ())).await;
    let slow = || ToolBatch::new(vec![call_with("c1", "serial", &json!({"ms": 100}))]);
    let first = registry.start(slow()).await.unwrap();
    until("it is in flight", || status_of(&registry, "a").in_flight == 1).await;
    script.set_specs(vec![serial, ToolSpec::new("new", "")]);
    script.tools_changed();
    until("the new tool is there", || registry.has_tool("new")).await;
    let second = registry.dispatch(slow()).await;
    assert!(second.results[0].duration > ms(150), "{:?}", second.results[0].duration);
    assert_eq!(statuses(&first.outcome().await.unwrap()), [OK]);
}
