//! What authors of plugins have: `plugin new` writes plugins that work, `plugin check` finds what is wrong with others.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolyard_tests::{Environment, run_cli};

/// What `plugin check --json` gave.
struct Checked {
    status: i32,
    report: Value,
    errors: String,
}

// === impl Checked ===

impl Checked {
    /// Codes and levels of what was found about a tool.
    fn found(&self, tool: &str) -> Vec<(String, String)> {
        let all = self.report["findings"].as_array().unwrap().iter();
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let own = all.filter(|finding| finding["tool"] == tool);
        own.map(|finding| (text(finding, "level"), text(finding, "code"))).collect()
    }

    fn codes(&self, tool: &str) -> Vec<String> {
        self.found(tool).into_iter().map(|(_, code)| code).collect()
    }
}

async fn check(path: &Path, more: &[&str]) -> Checked {
    let python = Environment::get().python;
    let mut arguments = vec!["plugin", "check", path.to_str().unwrap(), "--python", python.to_str().unwrap(), "--json"];
    arguments.extend(more);
    let output = run_cli(&arguments).await;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Checked { status: output.status.code().unwrap_or(-1), report, errors }
}

async fn new(dialect: &str, name: &str, folder: &Path) -> (i32, String) {
    let folder = folder.to_str().unwrap();
    let output = run_cli(&["plugin", "new", "--dialect", dialect, name, "--dir", folder]).await;
    let said = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.code().unwrap_or(-1), String::from_utf8(said).unwrap())
}

/// The keys of an xbot plugin that runs in the Python of the tests.
fn in_python() -> String {
    json!({"command": Environment::get().python, "args": ["main.py"]}).to_string()
}

fn copy_of(plugin: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("faulty");
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins").join(plugin)).unwrap() {
        let file = entry.unwrap().path();
        if file.is_file() {
            std::fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
    }
    (folder, copy)
}

/// A service that answers every request with this JSON, as long as it is there.
async fn service(answer: &'static str) -> (String, tokio::task::JoinHandle<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serve = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            if stream.read(&mut request).await.is_ok() {
                let length = answer.len();
                let head =
                    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
                stream.write_all(format!("{head}{answer}").as_bytes()).await.ok();
            }
        }
    });
    (address, serve)
}

#[tokio::test]
async fn written_plugins_load_and_answer_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    for (dialect, name) in [("maibot", "alice.dice"), ("maibot", "dice"), ("lenbot", "dice_2"), ("xbot", "dice-3")] {
        let (status, said) = new(dialect, name, folder.path()).await;
        assert_eq!(status, 0, "{said}");
        let path = folder.path().join(name);
        assert!(said.contains(&format!("toolyard plugin check {}", path.display())), "{said}");
        let options = if dialect == "xbot" { in_python() } else { "{}".to_owned() };
        let call = ["--strict", "--call", "roll_dice", "--arguments", r#"{"sides": 2}"#, "--options", &options];
        let checked = check(&path, &call).await;
        assert_eq!(checked.status, 0, "{dialect}: {} {}", checked.report, checked.errors);
        assert_eq!(checked.report["plugin"]["dialect"], dialect);
        let text = checked.report["call"]["text"].as_str().unwrap();
        assert!(text.contains('1') || text.contains('2'), "{text}");
    }
}

#[tokio::test]
async fn a_written_document_asks_its_service() {
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = new("http", "dice", folder.path()).await;
    assert_eq!(status, 0, "{said}");
    let path = folder.path().join("dice.toml");
    let (address, serving) = service(r#"{"value": 4, "sides": 6, "seed": 1}"#).await;
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("https://dice.example.com", &format!("http://{address}"))).unwrap();
    let options = json!({"allow_private": [address]}).to_string();
    let checked = check(&path, &["--strict", "--call", "rollDice", "--options", &options]).await;
    serving.abort();
    assert_eq!(checked.status, 0, "{} {}", checked.report, checked.errors);
    assert_eq!(checked.report["tools"][0]["model_name"], "dice__rollDice");
    assert_eq!(checked.report["call"]["result"]["structured_content"], json!({"value": 4, "sides": 6}));
}

#[tokio::test]
async fn nothing_is_overwritten_and_names_keep_their_rules() {
    let folder = tempfile::tempdir().unwrap();
    for dialect in ["maibot", "lenbot", "xbot", "http"] {
        let name = format!("dice_{dialect}");
        assert_eq!(new(dialect, &name, folder.path()).await.0, 0);
        let (status, error) = new(dialect, &name, folder.path()).await;
        assert_eq!(status, 2);
        assert!(error.contains("is there already, and nothing is overwritten"), "{error}");
        let (status, error) = new(dialect, "../dice", folder.path()).await;
        assert_eq!(status, 2);
        assert!(error.contains("`../dice` cannot be the name of a plugin: "), "{error}");
    }
}

#[tokio::test]
async fn each_fault_of_a_maibot_tool_is_found() {
    let (_folder, path) = copy_of("maibot/faulty");
    let checked = check(&path, &[]).await;
    assert_eq!(checked.status, 1, "{} {}", checked.report, checked.errors);
    for (tool, level, code) in [
        ("ghost", "error", "handler.missing"),
        ("refuses", "error", "handler.refuses_parameter"),
        ("undeclared", "error", "handler.undeclared_parameter"),
        ("optional", "error", "handler.optional_parameter"),
        ("unsaid", "warning", "visibility.deferred"),
        ("list", "warning", "schema.array_without_items"),
        ("object", "warning", "schema.object_without_properties"),
        ("poison", "error", "tool.rejected"),
        ("undescribed", "warning", "schema.undescribed"),
        ("wordless", "warning", "description.repeats_name"),
        ("天气", "warning", "name.changed"),
    ] {
        let found = checked.found(tool);
        let others = found.iter().filter(|(_, other)| other != "schema.unbounded").collect::<Vec<_>>();
        assert_eq!(others, [&(level.to_owned(), code.to_owned())], "{tool}");
    }
    assert_eq!(checked.codes("meant"), [""; 0]);
    assert_eq!(checked.found("refuses").last().unwrap(), &("note".to_owned(), "schema.unbounded".to_owned()));
    let tools = checked.report["tools"].as_array().unwrap();
    let meant = tools.iter().find(|tool| tool["name"] == "meant").unwrap();
    assert_eq!(meant["visibility"], "deferred");
}

#[tokio::test]
async fn each_fault_of_a_result_is_found() {
    let (_folder, path) = copy_of("maibot/faulty");
    for (kind, status, expected) in [
        ("results", 1, vec!["result.no_content"]),
        ("empty", 1, vec!["result.empty"]),
        ("stop", 2, vec!["result.stop_not_boolean"]),
        ("base64", 1, vec!["result.base64_in_content"]),
        ("letters", 1, vec!["result.base64_in_content"]),
        ("item", 1, vec!["result.broken_item"]),
        ("items", 1, vec!["result.broken_item"]),
        ("right", 1, vec![]),
    ] {
        let arguments = json!({"kind": kind}).to_string();
        let checked = check(&path, &["--call", "gives", "--arguments", &arguments]).await;
        assert_eq!(checked.status, status, "{kind}: {}", checked.errors);
        let codes: Vec<_> = checked.codes("gives").into_iter().filter(|code| code.starts_with("result.")).collect();
        assert_eq!(codes, expected, "{kind}: {}", checked.report["call"]);
    }
}

#[tokio::test]
async fn fields_without_limits_are_warned_of_where_they_can_be_declared() {
    let (_folder, path) = copy_of("xbot/faulty");
    let checked = check(&path, &["--options", &in_python()]).await;
    assert_eq!(checked.status, 1, "{} {}", checked.report, checked.errors);
    assert_eq!(checked.found("wordless"), [("error".to_owned(), "description.missing".to_owned())]);
    let findings = checked.report["findings"].as_array().unwrap();
    let unbounded = findings.iter().filter(|finding| finding["code"] == "schema.unbounded");
    let places: Vec<_> = unbounded.map(|finding| finding["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["/properties/text", "/properties/count", "/properties/tags"]);
}

#[tokio::test]
async fn a_documents_faults_have_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("food.toml");
    let request = "request = { url = \"https://example.com/\" }\n";
    let head = "plugin = \"food\"\ntitle = \"食堂\"\n";
    let untitled = format!("[[tools]]\nname = \"untitled\"\ndescription = \"Some.\"\n{request}");
    let english = format!(
        "[[tools]]\nname = \"english\"\ntitle = \"Food\"\nsummary = \"一句\"\ndescription = \"Some.\"\neffect = \"read\"\n{request}"
    );
    std::fs::write(&path, format!("{head}{untitled}{english}")).unwrap();
    let checked = check(&path, &[]).await;
    assert_eq!(checked.status, 1, "{}", checked.report);
    assert_eq!(checked.codes("untitled"), ["title.missing", "effect.missing"]);
    assert_eq!(checked.report["findings"][0]["place"], "3:1 tools/0");
    assert_eq!(
        checked.codes("english"),
        ["title.not_chinese", "title.english_missing", "summary.english_missing"],
        "{}",
        checked.report
    );
}

#[tokio::test]
async fn a_plugin_that_does_not_load_says_why() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(new("maibot", "dice", folder.path()).await.0, 0);
    let path = folder.path().join("dice");
    std::fs::write(path.join("plugin.py"), "import nothing_of_that_name\n").unwrap();
    let checked = check(&path, &[]).await;
    assert_eq!((checked.status, &checked.report["plugin"]["state"]), (2, &json!("down")), "{}", checked.errors);
    let reason = checked.report["plugin"]["reason"].as_str().unwrap();
    assert!(reason.contains("nothing_of_that_name"), "{reason}");

    let nothing = check(folder.path(), &[]).await;
    assert_eq!(nothing.status, 2);
    assert!(nothing.errors.contains("there is no _manifest.json, plugin.toml or plugin.json"), "{}", nothing.errors);
}

#[tokio::test]
async fn reports_are_the_same_each_time() {
    let (_folder, path) = copy_of("maibot/faulty");
    let (first, second) = (check(&path, &[]).await, check(&path, &[]).await);
    assert_eq!(first.report.to_string(), second.report.to_string());
    let members: Vec<_> = first.report.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["plugin", "tools", "findings"]);
    let members: Vec<_> = first.report["tools"][0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["name", "model_name", "visibility", "description", "parameters"]);
}

#[tokio::test]
async fn what_needs_the_bot_is_simulated_or_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(new("lenbot", "greeter", folder.path()).await.0, 0);
    let path = folder.path().join("greeter");
    let code = "from len_bot.plugin import Invocation, Plugin, tool\n\n\nclass Greeter(Plugin):\n    \
                @tool(\"greet\", \"Greets the chat.\")\n    async def greet(self, ctx: Invocation) -> str:\n        \
                return (await ctx.send(\"hi\")).report\n";
    std::fs::write(path.join("__init__.py"), code).unwrap();
    let simulated = check(&path, &["--call", "greet"]).await;
    assert_eq!(simulated.status, 0, "{} {}", simulated.report, simulated.errors);
    assert_eq!(simulated.report["sent"][0]["capability"], "lenbot.send");
    let without = check(&path, &["--call", "greet", "--backend", "none"]).await;
    assert_eq!(without.report["sent"], Value::Null);
    assert_ne!(without.report["call"]["text"], simulated.report["call"]["text"], "{}", without.report);
}

#[tokio::test]
async fn tools_that_cannot_be_used_in_a_chat_say_why() {
    let (_folder, path) = copy_of("maibot/tools");
    let context = r#"{"is_group_chat": false, "group_id": ""}"#;
    let checked = check(&path, &["--context", context]).await;
    let tools = checked.report["tools"].as_array().unwrap();
    let reason = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["unavailable"].as_str().map(str::to_owned)
    };
    assert!(reason("group-only").unwrap().contains("is not available here"), "{tools:?}");
    assert!(reason("hidden").unwrap().contains("is hidden"));
    assert_eq!(reason("search"), None);
}
