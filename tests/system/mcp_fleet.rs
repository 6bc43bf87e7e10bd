//! Seven reference servers of the Model Context Protocol behind one daemon: Node and Python, old revisions and new ones.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolyard_tests::{Daemon, Environment};

/// Every server with the number of tools that its pinned version has.
const SERVERS: [(&str, usize); 7] =
    [("everything", 13), ("fetch", 1), ("files", 14), ("git", 12), ("memory", 9), ("thinking", 1), ("time", 2)];
/// Seven interpreters start on what may be a busy machine.
const START: Duration = Duration::from_secs(90);

/// What the servers work on.
struct Ground {
    folder: tempfile::TempDir,
    page: String,
}

// === impl Ground ===

impl Ground {
    async fn prepare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("files")).unwrap();
        std::fs::write(folder.path().join("files/note.txt"), "the kettle is on").unwrap();
        let made = std::process::Command::new("git")
            .args(["init", "--quiet", "--initial-branch", "trunk", "repository"])
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(made.success());
        Self { folder, page: serve_page().await }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
    }

    fn config(&self) -> String {
        let environment = Environment::get();
        let script = |name: &str| {
            let script = environment.node_modules.join("@modelcontextprotocol").join(name).join("dist/index.js");
            script.to_str().unwrap().to_owned()
        };
        let node = |name: &str, package: &str, more: &[&str]| {
            let script = script(package);
            let args = std::iter::once(&*script).chain(more.iter().copied());
            provider(name, Path::new("node"), &args.collect::<Vec<_>>())
        };
        let python = |name: &str, args: &[&str]| provider(name, &environment.python, args);
        let memory = self.path("memory.jsonl");
        [
            node("everything", "server-everything", &["stdio"]),
            node("files", "server-filesystem", &[&self.path("files")]),
            node("memory", "server-memory", &[]) + &format!("env = {{ MEMORY_FILE_PATH = {memory:?} }}\n"),
            node("thinking", "server-sequential-thinking", &[]),
            python("time", &["-m", "mcp_server_time", "--local-timezone", "UTC"]),
            python("git", &["-m", "mcp_server_git", "--repository", &self.path("repository")]),
            python("fetch", &["-m", "mcp_server_fetch", "--allow-private-ips"]),
        ]
        .concat()
    }
}

fn provider(name: &str, command: &Path, args: &[&str]) -> String {
    format!("[[providers]]\nname = {name:?}\nkind = \"mcp\"\ncommand = {command:?}\nargs = {args:?}\n")
}

/// A page on loopback, and no rules for robots.
async fn serve_page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            let read = stream.read(&mut request).await.unwrap_or_default();
            let (status, body) = if request[..read].starts_with(b"GET /page ") {
                ("200 OK", "the tide table of Bergen")
            } else {
                ("404 Not Found", "")
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.ok();
        }
    });
    format!("http://{address}/page")
}

async fn listed(daemon: &Daemon) -> Vec<String> {
    let (_, body) = daemon.get("/v1/tools?format=mcp").await;
    let document: Value = serde_json::from_str(&body).unwrap();
    let tools = document["tools"].as_array().unwrap_or_else(|| panic!("no list: {body}"));
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .filter(|name| name.contains("__"))
        .map(str::to_owned)
        .collect()
}

/// One call of each kind: every server, and every shape of result that they have between them.
fn calls(ground: &Ground) -> Vec<(&'static str, Value, &'static str)> {
    let entity = json!({"name": "Kari", "entityType": "person", "observations": ["likes tea"]});
    vec![
        ("everything__echo", json!({"message": "你好"}), "你好"),
        ("everything__get-sum", json!({"a": 2, "b": 40}), "42"),
        ("everything__get-tiny-image", json!({}), "image"),
        ("everything__get-structured-content", json!({"location": "New York"}), "temperature"),
        ("everything__get-annotated-message", json!({"messageType": "error"}), "rror"),
        ("everything__get-resource-links", json!({"count": 2}), "resource"),
        ("everything__get-resource-reference", json!({"resourceType": "Text", "resourceId": 1}), "demo://"),
        ("everything__trigger-long-running-operation", json!({"duration": 0.2, "steps": 2}), "completed"),
        ("files__read_text_file", json!({"path": ground.path("files/note.txt")}), "the kettle is on"),
        ("memory__create_entities", json!({"entities": [entity]}), "Kari"),
        (
            "thinking__sequentialthinking",
            json!({"thought": "first", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}),
            "thoughtHistoryLength",
        ),
        ("time__get_current_time", json!({"timezone": "Europe/Oslo"}), "Europe/Oslo"),
        ("git__git_status", json!({"repo_path": ground.path("repository")}), "trunk"),
        ("fetch__fetch", json!({"url": ground.page}), "the tide table of Bergen"),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn seven_reference_servers_list_52_tools_and_answer_in_one_batch() {
    let ground = Ground::prepare().await;
    let daemon = Daemon::start(&ground.config()).await;
    let total: usize = SERVERS.iter().map(|(_, tools)| tools).sum();
    let deadline = tokio::time::Instant::now() + START;
    let mut names = listed(&daemon).await;
    while names.len() < total && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(50)).await;
        names = listed(&daemon).await;
    }
    for (server, tools) in SERVERS {
        let of_it = names.iter().filter(|name| name.starts_with(&format!("{server}__"))).count();
        assert_eq!(of_it, tools, "{server}: {names:?}\n{}", daemon.get("/v1/providers").await.1);
    }
    assert_eq!(names.len(), 52, "{names:?}");

    let calls = calls(&ground);
    let batch: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (tool, arguments, _))| json!({"call_id": format!("c{index}"), "tool": tool, "arguments": arguments}))
        .collect();
    let (status, document) = daemon.batch(&json!({"calls": batch})).await;
    assert_eq!(status, 200, "{document}");
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), calls.len());
    for (result, (tool, _, part)) in results.iter().zip(&calls) {
        assert_eq!((&result["status"], &result["tool"]), (&json!("ok"), &json!(tool)), "{result:#}");
        assert!(result.to_string().contains(part), "{tool} gave no {part:?}: {result:#}");
    }
}
