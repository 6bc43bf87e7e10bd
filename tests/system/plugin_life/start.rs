//! Many plugins at once.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolyard::ProviderState;

use crate::plugin_fleet::{Fleet, QUIET, gone, last_pid};
use crate::plugin_maibot::until;

#[tokio::test(flavor = "multi_thread")]
async fn many_plugins_start_side_by_side_and_none_waits_for_a_slow_one() {
    let _alone = QUIET.write().await;
    let fleet = Fleet::start().await;
    let began = Instant::now();
    let slow = fleet.launch("slow", json!({"at_import": {"deed": "block"}}), |_tuning| {}).await;
    let names: Vec<String> = (1..=12).map(|number| format!("p{number}")).collect();
    for name in &names {
        fleet.launch(name, json!({}), |_tuning| {}).await;
    }
    assert!(began.elapsed() < Duration::from_secs(2), "launching waits for nobody: {:?}", began.elapsed());
    fleet.neighbours_answer().await;
    let up = async || names.iter().all(|name| fleet.status(name).state == ProviderState::Up);
    until("twelve plugins", up).await;
    assert_eq!(fleet.status("slow").state, ProviderState::Starting);
    for name in &names {
        assert_eq!(fleet.value(name, "answer", json!(name)).await, json!(name));
    }
    fleet.registry.unregister("slow").await.unwrap();
    gone(last_pid(&slow)).await;
    fleet.close().await;
}
