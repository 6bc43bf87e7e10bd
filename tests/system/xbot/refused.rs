//! Plugins that cannot be run are refused with a sentence, in the daemon, and leave the others up.

use toolyard_tests::{Daemon, children_of};

use super::*;

#[tokio::test]
async fn the_daemon_runs_a_plugin_and_says_why_it_refuses_others() {
    let (good, native, silent) = (plugin(PLAIN), plugin(PLAIN), plugin("import sys\nsys.stdin.read()"));
    let rewrite = |folder: &TempDir, key: &str, value: Value| {
        let path = folder.path().join("plugin.json");
        let mut manifest: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        manifest[key] = value;
        std::fs::write(path, manifest.to_string()).unwrap();
    };
    rewrite(&native, "runtime", json!("native"));
    rewrite(&silent, "timeout", json!("500ms"));
    let mut config = String::new();
    for (name, folder) in [("native", &native), ("silent", &silent), ("good", &good)] {
        let path = folder.path();
        config.push_str(&format!("[[providers]]\nname = {name:?}\nkind = \"xbot\"\npath = {path:?}\n"));
    }
    config.push_str("required = true\nprefix_descriptions = false\n");
    let daemon = Daemon::start(&config).await;
    let providers = eventually("one is up, and the others say why not", async || {
        let (_, providers) = daemon.get("/v1/providers").await;
        let is_told = daemon.get("/readyz").await.0 == 200 && providers.contains("within 500ms");
        if is_told { Ok(providers) } else { Err(providers) }
    })
    .await;
    assert!(providers.contains("inside xbot itself"), "{providers}");
    assert!(providers.contains("did not answer `activate` within 500ms"), "{providers}");
    let request = json!({"calls": [{"call_id": "a", "tool": "echo", "arguments": {"text": "x"}}]});
    let (_, document) = daemon.batch(&request).await;
    assert_eq!(document["results"][0]["status"], "ok", "{document:#}");
    let silent_path = silent.path().display().to_string();
    let of_silent = |process: &toolyard_tests::Process| {
        std::fs::read_link(format!("/proc/{}/cwd", process.pid))
            .is_ok_and(|cwd| cwd.display().to_string() == silent_path)
    };
    assert!(children_of(daemon.pid()).iter().filter(|process| of_silent(process)).count() <= 1, "attempts pile up");
}
