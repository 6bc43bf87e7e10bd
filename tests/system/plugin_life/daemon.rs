//! The daemon with plugins: how it starts, and what is left of it.

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolyard_tests::{Daemon, Environment, children_of, until};

use crate::plugin_fleet::set_case;
use crate::plugin_maibot::copy_of;

fn plugins(cases: &[(&str, Value)]) -> (Vec<TempDir>, String) {
    let python = Environment::get().python;
    let mut config = String::new();
    let folders = cases.iter().map(|(name, case)| {
        let folder = copy_of("hostile");
        set_case(folder.path(), name, case.clone());
        let path = folder.path();
        config += &format!(
            "[[providers]]\nname = \"{name}\"\nkind = \"maibot\"\npath = {path:?}\npython = {python:?}\n\
             breaker = {{ failures = 0 }}\n\n"
        );
        folder
    });
    (folders.collect(), config)
}

async fn state(daemon: &Daemon, name: &str) -> Value {
    let (_, document) = daemon.get(&format!("/v1/providers/{name}")).await;
    serde_json::from_str::<Value>(&document).unwrap()["state"].clone()
}

async fn result_of(daemon: &Daemon, tool: &str, deed: &str, value: Value) -> Value {
    let calls = json!([{"call_id": "c", "tool": tool, "arguments": {"deed": deed, "value": value}}]);
    daemon.batch(&json!({"calls": calls})).await.1["results"][0].clone()
}

/// A daemon in the middle of everything: calls that run, a grandchild, a plugin that is still imported.
async fn nothing_is_left(signal: Signal) {
    let cases = [
        ("a", json!({})),
        ("b", json!({"on_unload": {"deed": "block"}})),
        ("c", json!({"at_import": {"deed": "block"}})),
    ];
    let (_folders, config) = plugins(&cases);
    let mut daemon = Daemon::start(&config).await;
    for name in ["a", "b"] {
        until(name, async || state(&daemon, name).await == json!("up")).await;
    }
    assert_eq!(result_of(&daemon, "a", "grandchild", json!(null)).await["status"], "ok");
    let calls = json!([{"call_id": "c", "tool": "a", "arguments": {"deed": "slow", "value": 3600}},
        {"call_id": "d", "tool": "b", "arguments": {"deed": "block"}}]);
    let (client, address) = (daemon.client.clone(), daemon.address.clone());
    let in_flight = tokio::spawn(async move {
        client.post(format!("{address}/v1/batches")).json(&json!({"calls": calls})).send().await
    });
    until("both calls in flight", async || {
        let (_, metrics) = daemon.get("/metrics").await;
        ["a", "b"].iter().all(|name| metrics.contains(&format!("calls_in_flight{{provider=\"{name}\"}} 1")))
    })
    .await;
    until("three plugins and a grandchild", async || children_of(daemon.pid()).len() >= 4).await;
    let children = children_of(daemon.pid());
    daemon.signal(signal);
    daemon.ended().await;
    // None of them would end by itself.
    until("the end of every child", async || children.iter().all(|child| !child.is_alive())).await;
    in_flight.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_daemon_leaves_no_child() {
    nothing_is_left(Signal::KILL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_daemon_leaves_no_child() {
    nothing_is_left(Signal::TERM).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_daemon_leaves_in_the_temporary_folder_is_removed_at_the_next_start() {
    let temp = tempfile::tempdir().unwrap();
    let left = || {
        let paths = std::fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.to_string_lossy().contains("/toolyard-runner-")).collect::<Vec<_>>()
    };
    let (_folders, config) = plugins(&[("a", json!({}))]);
    let mut killed = Daemon::start_with_temp(&config, temp.path()).await;
    let of_killed = left();
    assert_eq!(of_killed.len(), 1);
    let neighbour = Daemon::start_with_temp(&config, temp.path()).await;
    assert_eq!(left().len(), 2);
    killed.signal(Signal::KILL);
    killed.ended().await;
    assert!(of_killed[0].exists());

    let _next = Daemon::start_with_temp(&config, temp.path()).await;
    assert!(!of_killed[0].exists());
    assert_eq!(left().len(), 2, "those of the living stay");
    until("a", async || state(&neighbour, "a").await == json!("up")).await;
    let path = "/v1/providers/a/reload";
    let reloaded = neighbour.client.post(format!("{}{path}", neighbour.address)).send().await.unwrap();
    assert_eq!(reloaded.status(), 200, "it starts processes from its folder as before");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_is_ready_while_a_plugin_is_still_imported() {
    let mut cases = vec![("slow", json!({"at_import": {"deed": "block"}}))];
    let names: Vec<String> = (1..=4).map(|number| format!("p{number}")).collect();
    cases.extend(names.iter().map(|name| (name.as_str(), json!({}))));
    let (_folders, config) = plugins(&cases);
    let daemon = Daemon::start(&config).await;
    for name in &names {
        until(name, async || state(&daemon, name).await == json!("up")).await;
        assert_eq!(result_of(&daemon, name, "answer", json!(1)).await["status"], "ok");
    }
    assert_eq!(state(&daemon, "slow").await, json!("starting"));
    assert_eq!(daemon.get("/healthz").await.0, 200);
}
