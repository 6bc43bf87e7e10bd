//! Counters: one per call and status, from closed sets of labels.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use toolyard::CallStatus;
use toolyard::{ErrorCode, FunctionTool, ToolBatch, ToolExecutionContext, ToolFailure, ToolSpec};

use crate::fixture::{Probe, Script, batch, call, call_with, failing, hanging, ms, registry, run, saying, settings};
use crate::fixture::{status_of, statuses, until};

/// Runs work on this thread alone, so that the recorder of this thread sees all of it.
fn recorded<F: Future<Output = ()>>(work: impl FnOnce(PrometheusHandle) -> F) {
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    metrics::with_local_recorder(&recorder, || runtime.block_on(work(handle)));
}

/// The values of one metric, by its labels as they are printed.
fn series(handle: &PrometheusHandle, metric: &str) -> BTreeMap<String, f64> {
    let text = handle.render();
    let lines = text.lines().filter_map(|line| line.strip_prefix(metric)?.strip_prefix('{'));
    lines
        .map(|line| {
            let (labels, value) = line.rsplit_once("} ").unwrap();
            (labels.to_owned(), value.parse().unwrap())
        })
        .collect()
}

/// The sum of one metric over the series that carry this label.
fn total(handle: &PrometheusHandle, metric: &str, label: &str) -> f64 {
    series(handle, metric).iter().filter(|(labels, _)| labels.contains(label)).map(|(_, value)| value).sum()
}

fn panicking(name: &str) -> FunctionTool {
    FunctionTool::from_fn(name, "", |_| async { panic!("in the tool") })
}

fn breaking(name: &str) -> FunctionTool {
    FunctionTool::new(ToolSpec::new(name, ""), |_, _| {
        std::future::ready(Err(ToolFailure::new(ErrorCode::ProviderProtocol, "garbled")))
    })
}

#[test]
fn every_call_is_counted_once_under_its_status() {
    recorded(|handle| async move {
        let probe = Probe::default();
        let tools = [saying("say", "hi"), failing("fail"), hanging("hang", &probe), panicking("panic")];
        let registry = registry(tools).await;
        let mut calls: Vec<_> = ["say", "fail", "hang", "panic", "nothing", "say"]
            .iter()
            .enumerate()
            .map(|(index, tool)| call(&format!("c{index}"), tool))
            .collect();
        calls.push(call_with("bad", "say", &serde_json::json!([])));
        let outcome = registry.dispatch(ToolBatch::new(calls).with_deadline(ms(100))).await;
        registry.publish_metrics();
        let mut expected: HashMap<CallStatus, f64> = HashMap::default();
        for status in statuses(&outcome) {
            *expected.entry(status).or_default() += 1.0;
        }
        assert_eq!(expected.len(), 5);
        for status in CallStatus::ALL {
            let label = format!("status=\"{status}\"");
            let counted = total(&handle, "toolyard_calls_total", &label);
            assert_eq!(counted, expected.get(&status).copied().unwrap_or_default(), "{status}");
        }
        assert_eq!(total(&handle, "toolyard_calls_total", ""), 7.0);
        assert_eq!(total(&handle, "toolyard_call_refusals_total", ""), 2.0);
    });
}

#[test]
fn failures_are_told_apart_by_how_they_came_about() {
    recorded(|handle| async move {
        let registry = registry([failing("fail"), breaking("break"), panicking("panic")]).await;
        let script = Script::new("a", ["hang"]);
        script.launch(&registry, settings(|_| ())).await;
        let held = registry.start(batch(["hang"; 4])).await.unwrap();
        until("they hang", || status_of(&registry, "a").in_flight == 4).await;
        script.crash();
        held.outcome().await.unwrap();
        run(&registry, ["fail", "break", "break", "panic", "panic", "panic"]).await;
        registry.publish_metrics();
        for (kind, count) in [("reported", 1.0), ("exception", 2.0), ("panic", 3.0), ("crash", 4.0)] {
            let label = format!("kind=\"{kind}\"");
            assert_eq!(total(&handle, "toolyard_call_failures_total", &label), count, "{kind}");
        }
        assert_eq!(total(&handle, "toolyard_call_failures_total", ""), 10.0);
    });
}

#[test]
fn names_that_models_make_up_add_a_fixed_number_of_series() {
    recorded(|handle| async move {
        let registry = registry([saying("say", "hi")]).await;
        run(&registry, ["say", "nothing"]).await;
        registry.publish_metrics();
        let before = handle.render().lines().count();
        for round in 0..100 {
            let names: Vec<_> = (0..100).map(|n| format!("made_up_{round}_{n}")).collect();
            run(&registry, names.iter().map(String::as_str)).await;
        }
        registry.publish_metrics();
        assert_eq!(handle.render().lines().count(), before);
        assert_eq!(total(&handle, "toolyard_calls_total", "tool=\"_unknown\""), 10_001.0);
    });
}

#[test]
fn labels_carry_nothing_of_the_call_but_names_of_tools() {
    recorded(|handle| async move {
        let probe = Probe::default();
        let registry = registry([failing("fail"), hanging("hang", &probe), saying("say", "SECRET_RESULT")]).await;
        let context = ToolExecutionContext {
            user_id: "SECRET_USER".to_owned(),
            session_id: "SECRET_SESSION".to_owned(),
            ..ToolExecutionContext::default()
        };
        let secret = serde_json::json!({"key": "SECRET_ARGUMENT"});
        let calls =
            ["fail", "hang", "say", "SECRET_NAME"].map(|tool| call_with(&format!("SECRET_{tool}"), tool, &secret));
        let batch = ToolBatch::new(calls.into()).with_context(Arc::new(context)).with_deadline(ms(10));
        registry.dispatch(batch).await;
        registry.publish_metrics();
        let text = handle.render();
        assert!(!text.contains("SECRET") && !text.contains("no luck"), "{text}");
        assert!(text.contains("tool=\"fail\"") && text.contains("tool=\"_unknown\""), "{text}");
    });
}

#[test]
fn gauges_show_what_is_up_and_in_flight() {
    recorded(|handle| async move {
        let probe = Probe::default();
        let registry = registry([hanging("hang", &probe)]).await;
        let script = Script::new("gone", ["t"]).starts_with([crate::fixture::Start::Fails]);
        script.launch(&registry, settings(|_| ())).await;
        let held = registry.start(batch(["hang"; 3])).await.unwrap();
        until("they hang", || probe.inside() == 3).await;
        registry.publish_metrics();
        assert_eq!(total(&handle, "toolyard_provider_up", "provider=\"p\""), 1.0);
        assert_eq!(total(&handle, "toolyard_provider_up", "provider=\"gone\""), 0.0);
        assert_eq!(total(&handle, "toolyard_calls_in_flight", "provider=\"p\""), 3.0);
        assert_eq!(total(&handle, "toolyard_provider_starts_total", "outcome=\"failed\""), 1.0);
        held.cancel();
        held.outcome().await.unwrap();
        until("they are gone", || probe.inside() == 0).await;
        registry.publish_metrics();
        assert_eq!(total(&handle, "toolyard_calls_in_flight", "provider=\"p\""), 0.0);
    });
}
