//! How a plugin comes, changes and goes.

use std::time::Duration;

use serde_json::{Value, json};
use toolyard::{CallStatus, ProviderState};
use toolyard_tests::{Environment, in_time, replace_file, until};

use super::{Yard, copy_of};

/// A plugin whose `on_load` is this.
fn with_on_load(body: &str) -> String {
    format!(
        "from maibot_sdk import MaiBotPlugin\n\
         class P(MaiBotPlugin):\n\
         \x20   async def on_load(self):\n\
         \x20       {body}\n\
         \x20   async def on_unload(self): pass\n\
         \x20   async def on_config_update(self, scope, config_data, version): pass\n\
         def create_plugin(): return P()\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_that_do_not_load_say_where_and_why() {
    let package =
        json!({"dependencies": [{"type": "python_package", "name": "no-such-package", "version_spec": ">=1"}]});
    let conflict = json!({"dependencies": [{"type": "python_package", "name": "pydantic", "version_spec": "<2"}]});
    let raising = with_on_load("raise ValueError('no key')");
    let exiting = with_on_load("raise SystemExit(3)");
    let leaving = with_on_load("__import__('os')._exit(7)");
    let fine = with_on_load("pass");
    let bare = "from maibot_sdk import MaiBotPlugin\ndef create_plugin(): return MaiBotPlugin()";
    for (code, manifest, expected) in [
        ("import no_such_package", &package, "no_such_package"),
        ("import no_such_package", &package, "pip install 'no-such-package>=1'"),
        ("def broken(:", &json!({}), "SyntaxError"),
        ("raise RuntimeError('at import')", &json!({}), "RuntimeError: at import"),
        ("x = 1", &json!({}), "neither create_plugin() nor"),
        ("def create_plugin(): return None", &json!({}), "gave nothing back"),
        (bare, &json!({}), "must override on_load(), on_unload(), on_config_update()"),
        (raising.as_str(), &json!({}), "ValueError: no key"),
        (exiting.as_str(), &json!({}), "SystemExit: 3"),
        (leaving.as_str(), &json!({}), "exit status: 7"),
        (fine.as_str(), &conflict, "the manifest asks for <2"),
        (fine.as_str(), &json!({"version": "1"}), "`version` `1` is no version"),
        (fine.as_str(), &json!({"manifest_version": 1}), "`manifest_version` is 1"),
    ] {
        let yard = Yard::with_code(code, manifest).await;
        let reason = yard.refusal();
        assert!(reason.contains(expected), "{expected}: {reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_package_that_is_not_imported_is_told_and_stops_nothing() {
    let package = json!({"dependencies": [{"type": "python_package", "name": "no-such-package"}]});
    let yard = Yard::with_code(&with_on_load("pass"), &package).await;
    assert_eq!(yard.status().state, ProviderState::Up);
    assert!(yard.remarks("toolyard.tests-tools")[0].starts_with("not installed: no-such-package"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_made_from_the_model_and_handed_over_when_it_changes() {
    let yard = Yard::with_plugin("configured").await;
    let path = yard.folder.path().join("config.toml");
    let made = std::fs::read_to_string(&path).unwrap();
    assert!(made.contains("config_version = \"1.1.0\"") && made.contains("city = \"上海\""), "{made}");
    let config = async || yard.value("config", json!({}), json!({})).await;
    assert_eq!(config().await["city"], "上海");

    let changed = "[plugin]\nconfig_version = \"1.1.0\"\n[search]\ncity = \"北京\"\nunknown = 3\n";
    replace_file(&path, changed);
    until("the new city", async || config().await["city"] == "北京").await;
    let last = config().await["updates"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!(["self", "北京", "1.1.0"]));
    let completed = std::fs::read_to_string(&path).unwrap();
    assert!(completed.contains("unknown = 3") && completed.contains("limit = 5"), "{completed}");

    replace_file(&path, &completed.replace("enabled = true", "enabled = false"));
    until("no tools", async || !yard.registry.has_tool("config")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_configuration_is_brought_up_to_date() {
    let folder = copy_of("configured");
    let old = "[plugin]\nconfig_version = \"1.0.0\"\n[search]\ncity = \"广州\"\nlimit = \"many\"\ngone = 1\n";
    std::fs::write(folder.path().join("config.toml"), old).unwrap();
    let yard = Yard::started(folder, json!({})).await;
    let config = yard.value("config", json!({}), json!({})).await;
    assert_eq!((&config["city"], &config["limit"]), (&json!("广州"), &json!(5)), "the same types are kept");
    let written = std::fs::read_to_string(yard.folder.path().join("config.toml")).unwrap();
    assert!(written.contains("config_version = \"1.1.0\"") && written.contains("gone = 1"), "{written}");
    assert_eq!(std::fs::read_to_string(yard.folder.path().join("config.toml.bak")).unwrap(), old);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_cannot_be_used_says_so_without_its_values() {
    for (config, expected) in [
        ("[search]\ncity = \"x\"\n", "config_version"),
        ("[plugin\n", "config.toml is not TOML"),
        ("[plugin]\nconfig_version = \"1.1.0\"\n[search]\nlimit = \"a secret\"\n", "search.limit"),
    ] {
        let folder = copy_of("configured");
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        let reason = Yard::started(folder, json!({})).await.refusal();
        assert!(reason.contains(expected) && !reason.contains("a secret"), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_is_switched_off_is_inactive() {
    for word in ["false", "\"No\"", "\"0\""] {
        let folder = copy_of("tools");
        std::fs::write(folder.path().join("config.toml"), format!("[plugin]\nenabled = {word}\n")).unwrap();
        let yard = Yard::started(folder, json!({})).await;
        assert_eq!((yard.status().state, yard.status().tools), (ProviderState::Up, 0), "{word}");
        let remarks = yard.remarks("toolyard.tests-tools");
        assert!(remarks.iter().any(|remark| remark.contains("inactive")), "{remarks:?}");
        assert_eq!(yard.bot.asked.lock().unwrap().len(), 0, "on_load did not run");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_come_at_run_time_are_listed_and_found_by_the_last_rung() {
    let yard = Yard::with_plugin("dynamic").await;
    assert_eq!(yard.names(json!({})), ["from-on-load", "grow"]);
    assert_eq!(yard.text("from-on-load", json!({})).await, "from-on-load in s");
    assert_eq!(yard.text("grow", json!({"name": "third"})).await, "grown: True");
    until("the third tool", async || yard.registry.has_tool("third")).await;
    assert_eq!(yard.text("third", json!({})).await, "third in s");
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_of_the_old_system_run_in_the_sdks_adapter() {
    let yard = Yard::with_plugin("legacy").await;
    let add = yard.registry.get_tool_spec("add").unwrap();
    assert_eq!(add.parameters_schema["required"], json!(["a"]));
    assert_eq!(add.parameters_schema["properties"]["b"], json!({"type": "integer", "description": "second"}));
    assert_eq!(yard.text("add", json!({"a": 1, "b": 2})).await, "3");
    let context = json!({"stream_id": "s", "reasoning": "it is polite"});
    let greeted = yard.call_in("greet", json!({"who": "bob"}), context).await;
    assert_eq!(greeted.history_content(), "hello bob because it is polite");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_is_unloaded_when_the_registry_closes() {
    let yard = Yard::with_plugin("tools").await;
    assert_eq!(yard.call("strict", json!({"q": "x"})).await.status, CallStatus::Ok);
    in_time("the end", yard.registry.close(Duration::ZERO)).await;
    let left = std::fs::read_to_string(yard.folder.path().join("data/unloaded")).unwrap();
    assert_eq!(left, "yes");
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_are_configuration() {
    let config: Value = json!({"host_version": "2.0.0"});
    let reason = Yard::started(copy_of("tools"), config).await.refusal();
    assert!(reason.contains("admits MaiBot 1.0.0 to 1.99.99, and 2.0.0 is claimed"), "{reason}");
}

#[test]
fn the_runners_own_tests_pass() {
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../providers/python");
    let tests = std::process::Command::new(Environment::get().python)
        .args(["-B", "-m", "unittest", "discover", "--start-directory", "tests", "--pattern", "test_maibot_*.py"])
        .env("PYTHONPATH", &package)
        .current_dir(&package)
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&tests.stderr);
    assert!(tests.status.success() && report.contains("OK") && !report.contains("Ran 0 tests"), "{report}");
}
