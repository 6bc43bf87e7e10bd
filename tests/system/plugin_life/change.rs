//! New code and new configurations.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use toolyard::{CallStatus, ErrorCode, ProviderState, ToolExecutionContext};
use toolyard_tests::{HANG, replace_file, until};

use crate::plugin_fleet::{Fleet, Gate, Tuning, given, gone};

fn watched(tuning: &mut Tuning) {
    tuning.runner.watch = true;
    patient(tuning);
}

/// Calls in flight have all the time that they want.
fn patient(tuning: &mut Tuning) {
    tuning.settings.drain = 20 * HANG;
}

/// Changes the code of a deed.
fn rewrite(folder: &Path, from: &str, to: &str) {
    let path = folder.join("deeds.py");
    let code = std::fs::read_to_string(&path).unwrap();
    assert!(code.contains(from), "{from}");
    replace_file(&path, &code.replace(from, to));
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_code_answers_while_calls_in_flight_finish_on_the_old_one() {
    let fleet = Fleet::start().await;
    let folder = fleet.up("p", json!({}), watched).await;
    let (pid, gate) = (fleet.pid("p").await, Gate::new());
    let (old, ()) = tokio::join!(fleet.call("p", "hold", gate.value()), async {
        gate.holds().await;
        rewrite(&folder, "return {\"value\": \"slept\"}", "return {\"value\": \"slept anew\"}");
        until("the new code", async || fleet.value("p", "slow", json!(0)).await == json!("slept anew")).await;
        gate.open();
    });
    assert_eq!(given(&old), json!("let go"));
    gone(pid).await;

    let pid = fleet.pid("p").await;
    rewrite(&folder, "async def do_answer", "import no_such_module\nasync def do_answer");
    until("the reason", async || fleet.status("p").reason.is_some_and(|reason| reason.contains("no_such_module")))
        .await;
    assert_eq!(fleet.status("p").state, ProviderState::Up, "the old one stays");
    assert_eq!(fleet.pid("p").await, pid);
    fleet.neighbours_answer().await;
    rewrite(&folder, "import no_such_module\n", "");
    until("the mended code", async || fleet.pid("p").await != pid).await;
    until("no reason", async || fleet.status("p").reason.is_none()).await;
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_tools_come_in_one_step_and_no_other_tool_is_missing_for_a_moment() {
    let fleet = Fleet::start().await;
    let folder = fleet.up("x", json!({}), patient).await;
    let path = folder.join("plugin.py");
    let code = std::fs::read_to_string(&path).unwrap();
    let more = |name: &str, said: &str| {
        format!(
            "\n    @Tool(\"{name}\", description=\"d\", parameters={{}})\n    async def handle_{name}(self, **kwargs):\n        \
             return {{\"value\": \"{said}\"}}\n\n\ndef create_plugin"
        )
    };
    let with = |name: &str, said: &str| std::fs::write(&path, code.replace("\n\ndef create_plugin", &more(name, said)));
    with("y", "old y").unwrap();
    fleet.registry.reload("x").await.unwrap();
    assert!(fleet.registry.has_tool("x") && fleet.registry.has_tool("y"));

    let renamed = code.replace("CASE[\"name\"],", "\"z\",").replace("\n\ndef create_plugin", &more("y", "new y"));
    std::fs::write(&path, renamed).unwrap();
    let gate = Gate::new();
    let (old, seen) = tokio::join!(fleet.call("x", "hold", gate.value()), async {
        gate.holds().await;
        let reload = fleet.registry.reload("x");
        tokio::pin!(reload);
        let mut seen = Vec::new();
        loop {
            let context = ToolExecutionContext::default();
            let mut names: Vec<String> =
                fleet.registry.list_tools(&context).into_iter().map(|tool| tool.model_name.to_string()).collect();
            names.sort();
            if seen.last() != Some(&names) {
                seen.push(names);
            }
            tokio::select! {
                done = &mut reload => break done.unwrap(),
                () = tokio::time::sleep(Duration::from_millis(1)) => {}
            }
        }
        until("the new tools", async || fleet.registry.has_tool("z")).await;
        let removed = fleet.call("x", "answer", json!(1)).await;
        assert_eq!(removed.status, CallStatus::UnknownTool);
        assert_eq!(removed.error.unwrap().code, ErrorCode::ToolRemoved);
        assert_eq!(given(&fleet.call("y", "", json!(null)).await), json!("new y"));
        gate.open();
        seen
    });
    assert_eq!(given(&old), json!("let go"), "it finished on the old code");
    let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(seen[0], names(&["good", "inside", "x", "y"]));
    for step in &seen[1..] {
        assert_eq!(step, &names(&["good", "inside", "y", "z"]), "{seen:?}");
    }
    fleet.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_configuration_reaches_the_plugin_and_no_new_process_is_made() {
    let fleet = Fleet::start().await;
    let folder = fleet.up("p", json!({}), watched).await;
    let pid = fleet.pid("p").await;
    replace_file(&folder.join("config.toml"), "[plugin]\nenabled = true\nlevel = 3\n");
    until("the update", async || fleet.value("p", "updates", json!(null)).await == json!(1)).await;
    assert_eq!((fleet.pid("p").await, fleet.status("p").starts), (pid, 1));
    fleet.close().await;
}
