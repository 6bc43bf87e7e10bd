//! Plugins that do their worst while they are loaded or unloaded.

use std::time::Duration;

use serde_json::json;
use toolyard::ProviderState;
use toolyard_tests::{HANG, in_time, until};

use crate::plugin_fleet::{Fleet, Tuning, gone, last_pid, processes_in};

/// Not tried again within a test.
fn once(tuning: &mut Tuning) {
    tuning.settings.backoff.first = Duration::from_secs(600);
    tuning.settings.backoff.max = Duration::from_secs(600);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_while_loading_is_told_and_leaves_no_process() {
    let fleet = Fleet::start().await;
    let mut folders = Vec::new();
    let cases = [
        ("error_at_import", json!({"at_import": {"deed": "fail"}}), "ImportError: no module of this kind"),
        ("exit_at_import", json!({"at_import": {"deed": "exit"}}), "SystemExit"),
        ("end_at_import", json!({"at_import": {"deed": "leave"}}), "exit status: 5"),
        ("exit_in_on_load", json!({"on_load": {"deed": "exit"}}), "SystemExit: 6"),
        ("end_in_on_load", json!({"on_load": {"deed": "leave"}}), "exit status: 5"),
        ("kill_in_on_load", json!({"on_load": {"deed": "kill"}}), "signal: 9"),
        ("mute_in_on_load", json!({"on_load": {"deed": "raise", "value": "mute"}}), "Odd"),
        ("garbage_in_on_load", json!({"on_load": {"deed": "frame", "value": "garbage"}}), "not JSON"),
    ];
    for (name, case, _said) in &cases {
        folders.push(fleet.launch(name, case.clone(), once).await);
    }
    fleet.neighbours_answer().await;
    fleet.registry.wait_started(HANG).await;
    for (name, _case, said) in &cases {
        let status = fleet.status(name);
        assert_eq!(status.state, ProviderState::Down, "{name}: {status:?}");
        assert!(status.reason.as_deref().unwrap_or_default().contains(said), "{name}: {status:?}");
    }
    for folder in folders {
        gone(last_pid(&folder).await).await;
    }
    fleet.neighbours_answer().await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loading_without_end_is_ended_and_holds_nobody_up() {
    let fleet = Fleet::start().await;
    let tune = |tuning: &mut Tuning| {
        once(tuning);
        tuning.settings.start_timeout = Duration::from_secs(8);
    };
    let at_import = fleet.launch("bad", json!({"at_import": {"deed": "block"}}), tune).await;
    let in_on_load = fleet.launch("worse", json!({"on_load": {"deed": "slow", "value": 3600}}), tune).await;
    fleet.neighbours_answer().await;
    for name in ["bad", "worse"] {
        until("its process", async || fleet.status(name).state == ProviderState::Down).await;
        let reason = fleet.status(name).reason.unwrap();
        assert!(reason.contains("8"), "{reason}");
    }
    // On a busy machine their time may be over before their code runs.
    for folder in [at_import, in_on_load] {
        until("no process of it", async || processes_in(&folder).is_empty()).await;
    }
    fleet.neighbours_answer().await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unloading_without_end_is_ended_in_its_time() {
    let fleet = Fleet::start().await;
    let tune = |tuning: &mut Tuning| tuning.runner.unload_ms = 500;
    for (name, deed) in [("bad", json!({"deed": "block"})), ("worse", json!({"deed": "stubborn"}))] {
        fleet.up(name, json!({"on_unload": deed}), tune).await;
        let pid = fleet.pid(name).await;
        in_time("its end", fleet.registry.unregister(name)).await.unwrap();
        gone(pid).await;
    }
    fleet.neighbours_answer().await;
    fleet.close().await;
}
