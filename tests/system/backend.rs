//! The bot backend: the programs of docs/backend.md, asked by a real plugin.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use toolyard_tests::{Daemon, Environment, eventually, in_time, run_cli, until};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

const PLUGIN: &str = r#"
from maibot_sdk import MaiBotPlugin, Tool


class Greeter(MaiBotPlugin):
    async def on_load(self):
        pass

    async def on_unload(self):
        pass

    async def on_config_update(self, scope, config_data, version):
        pass

    @Tool("greet", description="Greets.", parameters={"text": {"type": "string", "required": True}})
    async def greet(self, text, stream_id="", **_rest):
        try:
            sent = await self.ctx.send.text(text, stream_id)
        except Exception as error:
            return {"success": False, "content": f"refused: {error}"}
        return {"content": f"sent {text}: {sent}"}


def create_plugin():
    return Greeter()
"#;

/// A plugin that sends what it is told to, and a backend in front of it.
struct Bot {
    folder: TempDir,
    config: String,
}

impl Bot {
    fn new(backend: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let manifest = json!({
            "manifest_version": 2, "id": "tests.greeter", "version": "1.0.0", "name": "Greeter", "description": "Greets.",
            "author": {"name": "tests", "url": "https://example.org"}, "license": "MIT",
            "urls": {"repository": "https://example.org/greeter"},
            "host_application": {"min_version": "1.0.0", "max_version": "1.9.9"},
            "sdk": {"min_version": "2.0.0", "max_version": "2.99.99"},
            "capabilities": ["send.text"], "i18n": {"default_locale": "en"}
        });
        std::fs::write(folder.path().join("_manifest.json"), manifest.to_string()).unwrap();
        std::fs::write(folder.path().join("plugin.py"), PLUGIN).unwrap();
        let (path, python) = (folder.path(), Environment::get().python);
        let plugin =
            format!("[[providers]]\nname = \"greeter\"\nkind = \"maibot\"\npath = {path:?}\npython = {python:?}\n");
        Self { config: format!("{backend}\n{plugin}"), folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    async fn daemon(&self) -> Daemon {
        let daemon = Daemon::start(&self.config).await;
        eventually("the plugin is up", async || {
            let (_, providers) = daemon.get("/v1/providers").await;
            let listed: Value = serde_json::from_str(&providers).unwrap();
            let greeter = listed["providers"].as_array().unwrap().iter().find(|p| p["name"] == "greeter");
            if greeter.is_some_and(|greeter| greeter["state"] == "up") { Ok(()) } else { Err(providers) }
        })
        .await;
        daemon
    }
}

/// A program that docs/backend.md shows: the n-th one in this language.
fn shown(language: &str, n: usize) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs/backend.md");
    let document = std::fs::read_to_string(path).unwrap();
    let fence = format!("```{language}\n");
    let block = document.split(&fence).nth(n + 1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

/// Runs a program that is shown.
fn run(command: &str, folder: &Path, name: &str, program: &str, argument: &str) -> Child {
    let path = folder.join(name);
    std::fs::File::create(&path).unwrap().write_all(program.as_bytes()).unwrap();
    let mut command = Command::new(command);
    command.arg(path).arg(argument).env("TOOLYARD_BACKEND_SECRET", SECRET).stdin(Stdio::null());
    command.stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap()
}

/// Waits until a process listens, and gives the port.
async fn port_of(process: &Child) -> u16 {
    let pid = process.id().unwrap();
    eventually("the backend listens", async || {
        let links = std::fs::read_dir(format!("/proc/{pid}/fd")).map_err(|error| error.to_string())?;
        let links =
            links.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()?.into_os_string().into_string().ok());
        let own: Vec<String> = links.collect();
        let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).map_err(|error| error.to_string())?;
        let port = table.lines().find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (address, state, inode) = (fields.get(1)?, *fields.get(3)?, fields.get(9)?);
            let is_its = state == "0A" && own.contains(&format!("socket:[{inode}]"));
            is_its.then(|| u16::from_str_radix(address.rsplit(':').next()?, 16).ok()).flatten()
        });
        port.ok_or_else(|| "it does not".to_owned())
    })
    .await
}

async fn greet(daemon: &Daemon, text: &str) -> Value {
    let call = json!({"call_id": "c1", "tool": "greet", "arguments": {"text": text}});
    let (_, document) = daemon.batch(&json!({"calls": [call], "context": {"stream_id": "s1"}})).await;
    document["results"][0].clone()
}

/// Waits until greeting works, as the backend is only starting.
async fn greeted(daemon: &Daemon) -> Value {
    eventually("a greeting", async || {
        let result = greet(daemon, "hello").await;
        if result["status"] == "ok" { Ok(result) } else { Err(result) }
    })
    .await
}

async fn calls_shown_backend(command: &str, language: &str) {
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), SECRET).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let backend = run(command, folder.path(), "backend", &shown(language, 0), "0");
    let port = port_of(&backend).await;
    let section = format!(
        "[backend]\nkind = \"http\"\nurl = \"http://127.0.0.1:{port}/toolyard\"\nsecret = {{ file = {:?} }}\n",
        secret.path()
    );
    let bot = Bot::new(&section);
    let daemon = bot.daemon().await;
    let result = greeted(&daemon).await;
    assert!(result["content"].as_str().unwrap().contains("sent hello: True"), "{result}");
    let unsigned = daemon.client.post(format!("http://127.0.0.1:{port}/")).body("{}").send().await.unwrap();
    assert_eq!(unsigned.status(), 401);
    let (_, metrics) = daemon.get("/metrics").await;
    let counted = "toolyard_backend_requests_total{capability_family=\"send\",outcome=\"ok\"} 1";
    assert!(metrics.contains(counted), "{metrics}");
    assert!(metrics.contains("toolyard_backend_requests_in_flight 0"), "{metrics}");
}

#[tokio::test]
async fn the_shown_backend_in_python_checks_signatures_and_answers() {
    let python = Environment::get().python;
    calls_shown_backend(python.to_str().unwrap(), "python").await;
}

#[tokio::test]
async fn the_shown_backend_in_node_checks_signatures_and_answers() {
    calls_shown_backend("node", "js").await;
}

#[tokio::test]
async fn the_shown_backend_that_connects_itself_answers() {
    let bot = Bot::new("[backend]\nkind = \"events\"\nconnect_grace_ms = 600000\n");
    let daemon = bot.daemon().await;
    let python = Environment::get().python;
    let _backend = run(python.to_str().unwrap(), bot.path(), "events.py", &shown("python", 1), &daemon.address);
    let result = greeted(&daemon).await;
    assert!(result["content"].as_str().unwrap().contains("sent hello: True"), "{result}");
    assert_eq!(daemon.get("/readyz").await.0, 200);
}

#[tokio::test]
async fn without_a_backend_the_plugin_is_told_so_and_the_daemon_stays_ready() {
    for backend in ["", "[backend]\nkind = \"events\"\n"] {
        let daemon = Bot::new(backend).daemon().await;
        let result = greet(&daemon, "hello").await;
        assert!(result["content"].as_str().unwrap().contains("backend"), "{result}");
        assert_eq!(daemon.get("/readyz").await.0, 200);
        let (_, metrics) = daemon.get("/metrics").await;
        assert!(metrics.contains("{capability_family=\"send\",outcome=\"unavailable\"} 1"), "{metrics}");
    }
}

#[tokio::test]
async fn a_backend_that_dies_with_a_request_in_its_hands_fails_it_at_once() {
    let daemon = Bot::new("[backend]\nkind = \"events\"\n").daemon().await;
    let mut stream = daemon.client.get(format!("{}/v1/backend/events", daemon.address)).send().await.unwrap();
    let asking = greet(&daemon, "hello");
    let dying = async {
        let mut text = String::new();
        while !text.contains("send.text") {
            text.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
        }
        drop(stream);
    };
    // Were it not failed, the call would end by its deadline.
    let (result, ()) = in_time("the end of the call", async { tokio::join!(asking, dying) }).await;
    assert_eq!(result["status"], "tool_error", "{result}");
    assert!(result["content"].as_str().unwrap().contains("not known"), "{result}");
}

#[tokio::test]
async fn a_daemon_that_stops_still_takes_the_answers_that_its_calls_wait_for() {
    let grace = "[server]\nshutdown_grace_ms = 3600000\n\n";
    let config = format!("{grace}[backend]\nkind = \"events\"\nconnect_grace_ms = 600000\n");
    let mut daemon = Bot::new(&config).daemon().await;
    let asking = {
        let (client, address) = (daemon.client.clone(), daemon.address.clone());
        let call = json!({"call_id": "c1", "tool": "greet", "arguments": {"text": "hello"}});
        tokio::spawn(async move {
            let sent = client.post(format!("{address}/v1/batches")).json(&json!({"calls": [call]})).send().await;
            sent.unwrap().json::<Value>().await.unwrap()
        })
    };
    // The request waits for somebody who takes it.
    let request = eventually("the request", async || {
        let (_, polled) = daemon.get("/v1/backend/requests?wait_ms=60000").await;
        let polled: Value = serde_json::from_str(&polled).unwrap();
        polled["requests"].get(0).cloned().ok_or(polled)
    })
    .await;
    daemon.signal(Signal::TERM);
    until("new batches are refused", async || daemon.batch(&json!({"calls": []})).await.0 == 503).await;
    let answer = json!({"id": request["id"], "value": {"success": true}});
    let taken = daemon.client.post(format!("{}/v1/backend/answers", daemon.address)).json(&answer).send().await;
    assert_eq!(taken.unwrap().status(), 204);
    let document = in_time("the outcome", asking).await.unwrap();
    assert_eq!(document["results"][0]["status"], "ok", "{document}");
    assert!(daemon.ended().await.success());
}

#[tokio::test]
async fn connected_backends_do_not_keep_a_daemon_from_stopping() {
    let config = "[server]\nshutdown_grace_ms = 3600000\n\n[backend]\nkind = \"events\"\n";
    let mut daemon = Daemon::start(config).await;
    let mut stream = daemon.client.get(format!("{}/v1/backend/events", daemon.address)).send().await.unwrap();
    daemon.signal(Signal::TERM);
    in_time("the end of the stream", async { while stream.chunk().await.unwrap().is_some() {} }).await;
    assert!(daemon.ended().await.success());
}

#[tokio::test]
async fn a_backend_that_cannot_be_used_is_said_before_anything_starts() {
    let refused = async |section: &str| {
        let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        std::fs::write(file.path(), section).unwrap();
        let output = run_cli(&["serve", "--listen", "127.0.0.1:0", "--config", file.path().to_str().unwrap()]).await;
        assert_ne!(output.status.code(), Some(0), "{section}");
        String::from_utf8(output.stderr).unwrap()
    };
    let errors =
        refused("[backend]\nkind = \"http\"\nurl = \"http://127.0.0.1:1\"\nsecret = \"in plain sight\"\n").await;
    assert!(errors.contains(".toml:4:10") && !errors.contains("plain sight"), "{errors}");
    let unset =
        "[backend]\nkind = \"http\"\nurl = \"http://127.0.0.1:1\"\nsecret = { env = \"TOOLYARD_TEST_UNSET\" }\n";
    let errors = refused(unset).await;
    assert!(errors.contains("TOOLYARD_TEST_UNSET"), "{errors}");
}
