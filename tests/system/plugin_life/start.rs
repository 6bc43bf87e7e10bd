//! Many plugins at once.

use serde_json::json;
use toolyard::ProviderState;
use toolyard_tests::{HANG, until};

use crate::plugin_fleet::{Fleet, gone, last_pid};

#[tokio::test(flavor = "multi_thread")]
async fn many_plugins_start_side_by_side_and_none_waits_for_a_slow_one() {
    let fleet = Fleet::start().await;
    // Whoever waited for it would wait longer than this test does.
    let for_ever = |tuning: &mut crate::plugin_fleet::Tuning| tuning.settings.start_timeout = 20 * HANG;
    let slow = fleet.launch("slow", json!({"at_import": {"deed": "block"}}), for_ever).await;
    assert_eq!(fleet.status("slow").state, ProviderState::Starting, "launching waits for nobody");
    let names: Vec<String> = (1..=12).map(|number| format!("p{number}")).collect();
    // Each is only imported once all of them are being imported: one after the other, none would come up.
    let meeting = tempfile::tempdir().unwrap();
    let meets = json!({"at_import": {"deed": "meet", "value": [meeting.path(), names.len()]}});
    for name in &names {
        fleet.launch(name, meets.clone(), |_tuning| {}).await;
    }
    fleet.neighbours_answer().await;
    let up = async || names.iter().all(|name| fleet.status(name).state == ProviderState::Up);
    until("twelve plugins", up).await;
    assert_eq!(fleet.status("slow").state, ProviderState::Starting);
    for name in &names {
        assert_eq!(fleet.value(name, "answer", json!(name)).await, json!(name));
    }
    let pid = last_pid(&slow).await;
    fleet.registry.unregister("slow").await.unwrap();
    gone(pid).await;
    fleet.close().await;
}
