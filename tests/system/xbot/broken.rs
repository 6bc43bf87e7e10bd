//! What a plugin does wrong costs the call that it does it to, and nobody else.

use super::*;

async fn protocol_failure(host: &Host, tool: &str, part: &str) {
    let result = host.call(tool, json!({})).await;
    assert_eq!(code(&result), Some(ErrorCode::ProviderProtocol), "{tool}: {result:#?}");
    assert!(message(&result).contains(part), "{tool}: {}", message(&result));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_broken_answer_fails_its_call_at_once_and_the_process_goes_on() {
    let host = Host::start(PLAIN).await;
    let before = host.pid().await;
    for (tool, part) in [("nan", "no valid JSON"), ("bad_utf8", "not UTF-8"), ("huge", "at most 1048576")] {
        protocol_failure(&host, tool, part).await;
        assert_eq!(host.pid().await, before, "{tool}");
    }
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_line_that_may_not_be_the_answer_costs_the_process_and_no_later_call() {
    let host = Host::start(PLAIN).await;
    let mut before = host.pid().await;
    for (tool, part) in [("broken", "no valid JSON"), ("wrong_key", "only: output")] {
        protocol_failure(&host, tool, part).await;
        let now = host.pid().await;
        assert_ne!(now, before, "{tool}");
        before = now;
    }
    assert_eq!(host.status().starts, 1, "the provider was up all the time");
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_second_answer_never_becomes_the_answer_to_another_call() {
    let host = Host::start(PLAIN).await;
    let calls = batch(&[("twice", json!({})), ("echo", json!({"text": "mine"}))]);
    let outcome = host.registry.dispatch(calls).await;
    assert_eq!(outcome.results[0].history_content(), "first");
    assert!(!outcome.results[1].history_content().contains("second"), "{outcome:#?}");
    until("the plugin is back", async || host.status().starts == 2).await;
    assert_eq!(host.call("echo", json!({"text": "mine"})).await.history_content(), "echo: mine");
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn endless_output_ends_the_plugin_and_it_comes_back() {
    let host = Host::start(PLAIN).await;
    for (starts, (tool, part)) in [("flood", "no answer"), ("endless", "without end")].into_iter().enumerate() {
        let result = host.call(tool, json!({})).await;
        assert_eq!(result.status, CallStatus::Unavailable, "{result:#?}");
        assert!(message(&result).contains(part), "{tool}: {}", message(&result));
        let starts = u32::try_from(starts).unwrap() + 2;
        until("the plugin is back", async || host.status().starts == starts).await;
        host.pid().await;
    }
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_plugin_that_exits_says_how_without_its_secrets() {
    let secret = |config: &mut XbotConfig| {
        config.env.insert("PASSWORD".to_owned(), "hunter2-hunter2".to_owned());
    };
    let host = Host::start_with(PLAIN, secret).await;
    let result = host.call("dying", json!({})).await;
    assert_eq!(code(&result), Some(ErrorCode::ProviderCrashed), "{result:#?}");
    let said = message(&result);
    assert!(said.contains("exit status: 3") && said.contains("cannot log in with ***"), "{said}");
    assert!(!format!("{result:?} {:?}", host.status()).contains("hunter2"));
    host.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_plugin_fails_its_call_at_once_and_comes_back() {
    let host = Host::start(PLAIN).await;
    let pid = host.pid().await;
    let calls = batch(&[("hold", json!({})), ("echo", json!({"text": "x"}))]);
    let mut running = host.registry.start(calls).await.unwrap();
    host.holds(2).await;
    let target = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(target, rustix::process::Signal::KILL).unwrap();
    let outcome = in_time("the outcome", running.wait()).await.unwrap();
    assert_eq!(code(&outcome.results[0]), Some(ErrorCode::ProviderCrashed), "{outcome:#?}");
    assert!(message(&outcome.results[0]).contains("signal: 9"), "{}", message(&outcome.results[0]));
    assert_eq!(code(&outcome.results[1]), Some(ErrorCode::ProviderDown), "{outcome:#?}");
    assert_eq!(outcome.results[1].executed, toolyard::Executed::No);
    until("the plugin is back", async || host.status().starts == 2).await;
    assert_ne!(host.pid().await, pid);
    host.close().await;
}
