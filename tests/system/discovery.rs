//! Finding tools through the daemon: catalogue, search, guides, preview, and what a batch may call.

use std::time::Duration;

use serde_json::{Value, json};
use toolyard_tests::{Daemon, Environment, run_cli};

const SCENE: &str = "onebot:group:80001";

const DOCUMENT: &str = r#"
plugin = "canteen"
title = "食堂"
instructions = "问食堂人多不多，用 crowd。"

[[tools]]
name = "crowd"
title = "食堂拥挤度"
description = "Gives the people in the canteen."
effect = "read"
onDemand = true
request = { url = "https://example.org/" }
"#;

/// A document on demand, and a LenBot plugin whose tools are deferred.
fn config(folder: &std::path::Path) -> String {
    let document = folder.join("canteen.toml");
    std::fs::write(&document, DOCUMENT).unwrap();
    let plugin = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/lenbot/group_notes");
    format!(
        "[[providers]]\nname = \"canteen\"\nkind = \"http\"\nfile = {document:?}\n\
         [[providers]]\nname = \"group_notes\"\nkind = \"lenbot\"\npath = {plugin:?}\npython = {:?}\n\
         start_timeout_ms = 120000\ndata_dir = {:?}\n",
        Environment::get().python,
        folder.join("data"),
    )
}

async fn post(daemon: &Daemon, path: &str, body: &Value) -> (u16, Value) {
    let sent = daemon.client.post(format!("{}{path}", daemon.address)).json(body).send().await.unwrap();
    (sent.status().as_u16(), sent.json().await.unwrap())
}

async fn view(daemon: &Daemon, path: &str, session: &str) -> Value {
    let (status, document) = post(daemon, path, &json!({"session": session, "context": {"stream_id": SCENE}})).await;
    assert_eq!(status, 200, "{path}: {document}");
    document
}

async fn ready(daemon: &Daemon) {
    for _ in 0..2400 {
        let (status, _) = daemon.get("/readyz").await;
        if status == 200 && daemon.get("/v1/tools").await.1.contains("give_back") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the plugins did not come up: {}", daemon.get("/v1/providers").await.1);
}

async fn run(daemon: &Daemon, session: &str, calls: &[(&str, Value)]) -> Vec<(String, String)> {
    let calls = calls.iter().map(|(tool, arguments)| json!({"call_id": tool, "tool": tool, "arguments": arguments}));
    let calls: Vec<_> = calls.collect();
    let (status, document) =
        daemon.batch(&json!({"session": session, "calls": calls, "context": {"stream_id": SCENE}})).await;
    assert_eq!(status, 200, "{document}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = document["messages"].as_array().unwrap().iter();
    let results = document["results"].as_array().unwrap().iter();
    results.zip(messages).map(|(result, message)| (text(&result["status"]), message.to_string())).collect()
}

fn names(definitions: &Value) -> Vec<String> {
    let tools = definitions["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["model_name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_finds_loads_and_calls_what_is_deferred() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(&config(folder.path())).await;
    ready(&daemon).await;
    let without: Value = serde_json::from_str(&daemon.get("/v1/tools").await.1).unwrap();
    let without = names(&without);
    assert!(without.contains(&"canteen__crowd".to_owned()) && !without.contains(&"tool_search".to_owned()));

    assert_eq!(names(&view(&daemon, "/v1/tools/definitions", "s").await), ["plugins_use", "tool_search"]);
    let catalogue = view(&daemon, "/v1/tools/catalogue", "s").await;
    let text = catalogue["text"].as_str().unwrap();
    assert!(text.contains(" recent_count [插件 group_notes]: 查询本群最近几小时的消息数\n"), "{text}");
    assert!(text.contains("with `plugins_use`") && text.contains("- canteen\n  - canteen__crowd: "), "{text}");
    let guides = view(&daemon, "/v1/tools/guides", "s").await;
    let told: Vec<_> = guides["guides"].as_array().unwrap().iter().map(|guide| &guide["provider"]).collect();
    assert_eq!(told, ["canteen"], "a document's instructions go with every request");

    let ask = json!({"session": "s", "context": {"stream_id": SCENE}, "query": "give_back"});
    let (_, found) = post(&daemon, "/v1/tools/search", &ask).await;
    assert_eq!((&found["tools"][0]["name"], &found["tools"][0]["is_new"]), (&json!("give_back"), &json!(true)));
    let blank = json!({"session": "s", "query": " "});
    assert_eq!(post(&daemon, "/v1/tools/search", &blank).await.0, 400);

    let both = [("tool_search", json!({"query": "give_back"})), ("give_back", json!({"kind": "number"}))];
    let results = run(&daemon, "s", &both).await;
    assert!(results[0].0 == "ok" && results[0].1.contains("- give_back (found now)"), "{results:?}");
    assert_eq!(results[1].0, "denied", "not in the same batch: {results:?}");
    let results = run(&daemon, "s", &both[1..]).await;
    assert_eq!(results[0].0, "ok", "{results:?}");
    assert_eq!(run(&daemon, "other", &both[1..]).await[0].0, "denied", "another session has found nothing");

    let results = run(&daemon, "s", &[("plugins_use", json!({"plugin": "canteen"}))]).await;
    assert!(results[0].1.contains("- canteen__crowd: Gives the people"), "{results:?}");
    let defined = names(&view(&daemon, "/v1/tools/definitions", "s").await);
    assert_eq!(defined, ["canteen__crowd", "give_back", "plugins_use", "tool_search"]);
    let guides = view(&daemon, "/v1/tools/guides", "s").await;
    assert!(guides["text"].as_str().unwrap().contains("<tool_guide source=\"group_notes\" kind=\"lenbot\">\n先用"));
    let catalogue = view(&daemon, "/v1/tools/catalogue", "s").await;
    assert_eq!(catalogue["catalogue"]["plugins"], json!([]));
    assert!(!catalogue["text"].as_str().unwrap().contains("give_back"));

    let preview = view(&daemon, "/v1/tools/preview", "s").await;
    let of = |name: &str| {
        let mut tools = preview["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["model_name"] == name).unwrap_or_else(|| panic!("{name}: {preview:#}")).clone()
    };
    assert_eq!((of("give_back")["state"].clone(), of("give_back")["guide"].clone()), (json!("listed"), json!(true)));
    assert_eq!(of("recent_count")["reason"]["code"], "policy.not_loaded");
    assert_eq!(of("account_read")["state"], "refused");
    assert!(of("account_read")["reason"]["message"].as_str().unwrap().contains("账号读取未开启"));

    let (status, context) = post(&daemon, "/v1/context", &json!({"session": "s", "text": "hello"})).await;
    assert_eq!((status, &context["facts"], &context["text"]), (200, &json!([]), &json!("")));
    let (status, problem) = post(&daemon, "/v1/tools/preview", &json!({"sesion": "s"})).await;
    assert!(status == 400 && problem["detail"].as_str().unwrap().contains("sesion"), "{problem}");
}

#[tokio::test]
async fn the_built_in_provider_is_there_by_default_and_can_be_chosen_or_switched_off() {
    let scripted = "[[providers]]\nname = \"s\"\nkind = \"scripted\"\n[[providers.tools]]\nname = \"wait\"\n";
    for (extra, kinds, wait_of) in [
        ("", vec!["scripted", "builtin"], "s"),
        ("[builtin]\nenabled = false\n", vec!["scripted"], "s"),
        ("[builtin]\ntools = [\"finish\", \"wait\"]\n", vec!["scripted", "builtin"], "builtin"),
        ("[[providers]]\nname = \"own\"\nkind = \"builtin\"\ntools = [\"wait\"]\n", vec!["scripted", "builtin"], "own"),
    ] {
        let daemon = Daemon::start(&format!("{scripted}{extra}")).await;
        let providers: Value = serde_json::from_str(&daemon.get("/v1/providers").await.1).unwrap();
        let seen: Vec<_> = providers["providers"].as_array().unwrap().iter().map(|p| p["kind"].clone()).collect();
        assert_eq!(seen, kinds, "{extra}");
        let tools: Value = serde_json::from_str(&daemon.get("/v1/tools").await.1).unwrap();
        let wait = tools["tools"].as_array().unwrap().iter().find(|tool| tool["model_name"] == "wait").unwrap();
        assert_eq!(wait["provider_name"], wait_of, "{extra}");
    }
}

#[tokio::test]
async fn the_command_line_previews_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("canteen.toml");
    std::fs::write(&document, DOCUMENT).unwrap();
    let file = folder.path().join("toolyard.toml");
    std::fs::write(&file, format!("[[providers]]\nname = \"canteen\"\nkind = \"http\"\nfile = {document:?}\n"))
        .unwrap();
    let file = file.to_str().unwrap();
    let preview = async |more: &[&str]| -> Value {
        let arguments = [&["tools", "--preview", "--format", "anthropic", "--config", file], more].concat();
        let output = run_cli(&arguments).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let state_of = |preview: &Value, name: &str| {
        let mut tools = preview["tools"].as_array().unwrap().iter();
        tools.find(|tool| tool["model_name"] == name).unwrap()["state"].as_str().unwrap().to_owned()
    };
    let all = preview(&[]).await;
    assert_eq!([state_of(&all, "canteen__crowd"), state_of(&all, "plugins_use")], ["listed", "refused"]);
    let of_session = preview(&["--session", "s", "--context", r#"{"locale": "zh"}"#]).await;
    assert_eq!([state_of(&of_session, "canteen__crowd"), state_of(&of_session, "plugins_use")], ["findable", "listed"]);
    let tools = of_session["tools"].as_array().unwrap();
    let crowd = tools.iter().find(|tool| tool["model_name"] == "canteen__crowd").unwrap();
    assert!(crowd["reason"]["message"].as_str().unwrap().contains("请先用 plugins_use 加载 canteen"), "{crowd:#}");
    assert!(crowd["definition"][0]["input_schema"].is_object(), "{crowd:#}");
    assert_eq!(of_session["guides"][0]["text"], "问食堂人多不多，用 crowd。");
    assert_eq!(of_session["catalogue"]["plugins"][0]["name"], "canteen");
    let refused = run_cli(&["tools", "--preview", "--config", file, "--context", "{\"rol\": 1}"]).await;
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("rol"));
}
