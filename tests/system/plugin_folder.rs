//! A folder of plugins in the daemon: each is a provider, and they know of one another.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolyard_tests::{Daemon, Environment, eventually};

/// Writes a plugin with one tool.
fn write(folder: &Path, name: &str, id: &str, needs: &[&str]) {
    let folder = folder.join(name);
    std::fs::create_dir(&folder).unwrap();
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/maibot/tools/_manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(original).unwrap()).unwrap();
    manifest["id"] = json!(id);
    let needs = needs.iter().map(|id| json!({"type": "plugin", "id": id, "version_spec": ">=1.0.0"}));
    manifest["dependencies"] = needs.collect();
    std::fs::write(folder.join("_manifest.json"), manifest.to_string()).unwrap();
    let code = format!(
        "from maibot_sdk import MaiBotPlugin, Tool\n\n\nclass Plugin(MaiBotPlugin):\n\
         \x20   async def on_load(self): pass\n    async def on_unload(self): pass\n\
         \x20   async def on_config_update(self, *args): pass\n\n\
         \x20   @Tool(\"{name}\", description=\"Says its name.\")\n    async def run(self, **kwargs):\n\
         \x20       return \"{name}\"\n\n\ndef create_plugin():\n    return Plugin()\n"
    );
    std::fs::write(folder.join("plugin.py"), code).unwrap();
}

async fn states(daemon: &Daemon) -> Value {
    let (_, document) = daemon.get("/v1/providers").await;
    let document: Value = serde_json::from_str(&document).unwrap();
    let providers = document["providers"].as_array().unwrap().iter();
    providers.map(|p| (p["name"].as_str().unwrap().to_owned(), p.clone())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_of_a_folder_start_side_by_side_and_those_that_cannot_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let plugins: PathBuf = folder.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    write(&plugins, "base", "tests.base", &[]);
    write(&plugins, "above", "tests.above", &["tests.base"]);
    write(&plugins, "first_copy", "tests.copy", &[]);
    write(&plugins, "second_copy", "tests.copy", &[]);
    write(&plugins, "lonely", "tests.lonely", &["tests.nowhere"]);
    write(&plugins, "ring", "tests.ring", &["tests.round"]);
    write(&plugins, "round", "tests.round", &["tests.ring"]);
    let python = Environment::get().python;
    let config = format!(
        "[[providers]]\nname = \"all\"\nkind = \"maibot\"\nfolder = \"{}\"\npython = \"{}\"\n",
        plugins.display(),
        python.display()
    );
    let daemon = Daemon::start(&config).await;
    let all = eventually("each has come up or says why not", async || {
        let all = states(&daemon).await;
        let is_up = |name: &str| all[name]["state"] == "up";
        let is_refused = |name: &str| all[name]["reason"].is_string();
        let refused = ["first_copy", "second_copy", "lonely", "ring", "round"];
        if is_up("base") && is_up("above") && refused.into_iter().all(is_refused) { Ok(all) } else { Err(all) }
    })
    .await;
    for (name, said) in [
        ("first_copy", "first_copy, second_copy"),
        ("second_copy", "first_copy, second_copy"),
        ("lonely", "`tests.nowhere`"),
        ("ring", "tests.ring → tests.round → tests.ring"),
        ("round", "tests.round → tests.ring → tests.round"),
    ] {
        let reason = all[name]["reason"].as_str().unwrap();
        assert!(reason.contains(said), "{name}: {reason}");
    }
    let calls = json!({"calls": [
        {"call_id": "1", "tool": "base", "arguments": {}},
        {"call_id": "2", "tool": "above", "arguments": {}},
    ]});
    let (_, outcome) = daemon.batch(&calls).await;
    assert_eq!(
        (&outcome["results"][0]["content"], &outcome["results"][1]["content"]),
        (&json!("base"), &json!("above"))
    );
}

#[test]
fn nothing_is_left_in_the_temporary_folder() {
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), "base", "tests.base", &[]);
    let config = folder.path().join("toolyard.toml");
    let python = Environment::get().python;
    let text =
        format!("[[providers]]\nname = \"a\"\nkind = \"maibot\"\npath = \"base\"\npython = \"{}\"\n", python.display());
    std::fs::write(&config, text).unwrap();
    for arguments in [&["tools", "--config"][..], &["plugin", "check"][..]] {
        let mut command = std::process::Command::new(Environment::get().binary);
        command.args(arguments).env("TMPDIR", temporary.path());
        match arguments[0] {
            "tools" => command.arg(&config),
            _ => command.arg(folder.path().join("base")).arg("--python").arg(&python),
        };
        let done = command.output().unwrap();
        assert!(String::from_utf8_lossy(&done.stdout).contains("base"), "{done:?}");
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "{arguments:?}");
    }
}
