//! The command line.

use serde_json::{Value, json};
use toolyard_tests::{Environment, dispatch, run_cli};

const ECHO_TOOLS: &str = r#"[
    {"name": "get_weather", "description": "d", "inputSchema": {"type": "object",
        "properties": {"city": {"type": "string"}}, "required": ["city"]}},
    {"name": "anything", "inputSchema": {"type": "object"}},
    {"name": "broken", "inputSchema": {"type": "nonsense"}}
]"#;

struct Echo {
    _folder: tempfile::TempDir,
    path: String,
}

fn echo_tools() -> Echo {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.json");
    std::fs::write(&path, ECHO_TOOLS).unwrap();
    Echo { path: path.to_str().unwrap().to_owned(), _folder: folder }
}

fn openai(calls: &Value) -> String {
    json!({"choices": [{"message": {"tool_calls": calls}}]}).to_string()
}

fn function(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[tokio::test]
async fn the_recorded_openai_reply_runs_on_one_provider_of_each_kind() {
    // The example as it stands, with its server from the test environment instead of from npx.
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let script = Environment::get().node_modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let config = std::fs::read_to_string(root.join("examples/openai-batch.toml")).unwrap();
    let start = config.find("command = \"npx\"").expect("the example starts its server by npx");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let server = format!("command = \"node\"\nargs = [{:?}, \"stdio\"]\n", script.to_str().unwrap());
    std::fs::write(&path, format!("{}{server}", &config[..start])).unwrap();
    let reply = root.join("examples/openai-batch.json");
    let output = run_cli(&["dispatch", reply.to_str().unwrap(), "--config", path.to_str().unwrap()]).await;
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let providers: Vec<&str> =
        document["results"].as_array().unwrap().iter().map(|result| result["provider"].as_str().unwrap()).collect();
    assert_eq!(providers, ["scripted", "demo", "everything", "builtin"]);
    assert!(document["results"].as_array().unwrap().iter().all(|result| result["status"] == "ok"), "{document:#}");
    assert_eq!(document["stop"], true);
}

#[tokio::test]
async fn a_reply_against_echo_tools_runs_nothing_real_and_tells_each_fault() {
    let tools = echo_tools();
    let calls = json!([
        function("a", "get_weather", "{\"city\":\"paris\"}"),
        function("b", "get_weather", ""),
        function("c", "get_weather", "{\"city\":\"par"),
        function("d", "anything", "[1]"),
        function("e", "unheard_of", "{}"),
        function("f", "broken", "{}"),
        function("g", "anything", "{\"a\":1,\"a\":2}"),
    ]);
    let (code, document, errors) =
        dispatch(&openai(&calls), &["--echo-tools", &tools.path, "--format", "openai-chat"]).await;
    let document = document.unwrap();
    let results = document["results"].as_array().unwrap();
    let statuses: Vec<&str> = results.iter().map(|result| result["status"].as_str().unwrap()).collect();
    let expected = [
        "ok",
        "invalid_arguments",
        "truncated",
        "invalid_arguments",
        "unknown_tool",
        "unknown_tool",
        "invalid_arguments",
    ];
    assert_eq!((code, statuses), (0, expected.to_vec()), "{document:#}");
    assert_eq!(results[0]["structured_content"], json!({"city": "paris"}));
    assert_eq!(results[1]["error"]["pointer"], "/city");
    let message = results[1]["error"]["message"].as_str().unwrap();
    assert!(!message.contains("EOF") && !message.contains("column 0"), "{message}");
    assert!(errors.contains("broken") && errors.contains("schema"), "{errors}");
    assert_eq!(document["messages"].as_array().unwrap().len(), 7, "every call is answered");
}

#[tokio::test]
async fn the_profile_decides_how_arguments_are_read() {
    let tools = echo_tools();
    let twice = openai(&json!([function("a", "get_weather", "\"{\\\"city\\\":\\\"x\\\"}\"")]));
    let (_, lenient, _) = dispatch(&twice, &["--echo-tools", &tools.path]).await;
    assert_eq!(lenient.unwrap()["results"][0]["repairs"], json!([{"kind": "double_encoded_root", "pointer": ""}]));
    let (_, strict, _) = dispatch(&twice, &["--echo-tools", &tools.path, "--profile", "strict"]).await;
    assert_eq!(strict.unwrap()["results"][0]["error"]["code"], "arguments.not_object");
}

#[tokio::test]
async fn input_that_cannot_be_used_exits_with_2_and_names_the_place() {
    let tools = echo_tools();
    for (reply, named) in [("{\n  nonsense", "line 2"), ("{\"a\": 1}", "--format"), ("{\"choices\": 7}", "openai-chat")]
    {
        let (code, document, errors) = dispatch(reply, &["--echo-tools", &tools.path]).await;
        assert_eq!((code, document), (2, None), "{reply}");
        assert!(errors.contains(named) && errors.contains("reply.json"), "{errors}");
    }
    let missing = run_cli(&["dispatch", "/nowhere/reply.json"]).await;
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/nowhere/reply.json"));
}

#[tokio::test]
async fn context_gives_the_language_of_the_engines_own_texts() {
    let tools = echo_tools();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("context.json");
    std::fs::write(&path, r#"{"locale": "zh", "user_id": "u1", "is_group_chat": true}"#).unwrap();
    let reply = openai(&json!([function("a", "nope", "{}")]));
    let arguments = ["--echo-tools", &tools.path, "--context", path.to_str().unwrap()];
    let (_, document, _) = dispatch(&reply, &arguments).await;
    assert_eq!(document.unwrap()["results"][0]["error"]["message"], "未找到工具：nope");
    std::fs::write(&path, r#"{"lokale": "zh"}"#).unwrap();
    let (code, _, errors) = dispatch(&reply, &arguments).await;
    assert!(code == 2 && errors.contains("lokale"), "{errors}");
}

#[tokio::test]
async fn tools_prints_the_same_bytes_every_time() {
    for format in ["native", "openai-chat", "anthropic"] {
        let first = run_cli(&["tools", "--format", format]).await;
        let second = run_cli(&["tools", "--format", format]).await;
        assert_eq!(first.status.code(), Some(0));
        assert!(!first.stdout.is_empty() && first.stdout == second.stdout, "{format}");
    }
}
