//! Replies, streams, definitions and conversations in every vendor's form, through the command line and the API.

use serde_json::{Value, json};
use toolyard_tests::{Daemon, dispatch, run_cli};

const TOOLS: &str = r#"[
    {"name": "get_weather", "description": "d", "inputSchema": {"type": "object",
        "properties": {"city": {"type": "string"}}, "required": ["city"]}},
    {"type": "function", "function": {"name": "sum", "parameters": {"type": "object",
        "properties": {"n": {"type": "integer"}, "t": {"type": ["string", "number"]}}}}},
    {"name": "天气", "input_schema": {"type": "dict", "properties": {"x": {"type": "list"}}}},
    {"name": "lost", "schema": {"type": "object"}},
    {"name": "null", "inputSchema": null}
]"#;

struct Files {
    folder: tempfile::TempDir,
}

// === impl Files ===

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        files.write("tools.json", TOOLS);
        files
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn tools(&self) -> String {
        self.folder.path().join("tools.json").to_str().unwrap().to_owned()
    }
}

async fn printed(arguments: &[&str]) -> (Value, String) {
    let output = run_cli(arguments).await;
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    (serde_json::from_slice(&output.stdout).unwrap(), errors)
}

/// A whole reply of each form that calls `get_weather` for `city`.
fn whole(format: &str) -> Value {
    let text = r#"{"city":"rome"}"#;
    let object = json!({"city": "rome"});
    match format {
        "openai-chat" => {
            json!({"choices": [{"message": {"tool_calls": [{"id": "c1", "function": {"name": "get_weather", "arguments": text}}]}}]})
        }
        "openai-responses" => {
            json!({"output": [{"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": text}]})
        }
        "anthropic" => json!({"content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": object}]}),
        "gemini" => {
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "get_weather", "args": object}}]}}]})
        }
        "ollama" => {
            json!({"message": {"role": "assistant", "tool_calls": [{"function": {"name": "get_weather", "arguments": object}}]}})
        }
        "bedrock" => {
            json!({"output": {"message": {"content": [{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": object}}]}}})
        }
        "mcp" => {
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_weather", "arguments": object}})
        }
        _ => json!({"calls": [{"call_id": "c1", "tool": "get_weather", "arguments": object}]}),
    }
}

const FORMATS: [&str; 8] =
    ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "bedrock", "mcp", "native"];

#[tokio::test]
async fn every_form_runs_is_told_by_its_shape_and_answered_in_its_own_form() {
    let files = Files::new();
    for format in FORMATS {
        let (code, document, errors) = dispatch(&whole(format).to_string(), &["--echo-tools", &files.tools()]).await;
        let document = document.unwrap_or_else(|| panic!("{format}: {errors}"));
        assert_eq!((code, &document["results"][0]["status"]), (0, &json!("ok")), "{format}: {document:#}");
        assert_eq!(document["results"][0]["structured_content"], json!({"city": "rome"}), "{format}");
        assert!(document["messages"][0].to_string().contains("rome"), "{format}: {document:#}");
        let has_turn = !["mcp", "native"].contains(&format);
        assert_eq!(document["assistant"].is_array(), has_turn, "{format}");
    }
}

#[tokio::test]
async fn a_stream_is_put_together_line_by_line() {
    let files = Files::new();
    let chat = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\":\"}}]}}]}\n\n\
        data: {\"unexpected\": true}\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"rome\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n\
        data: [DONE]\n";
    let anthropic = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"get_weather\",\"input\":{}}}\n\
        data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"city\\\":\\\"rome\\\"}\"}}\n\
        data: {\"type\":\"content_block_stop\",\"index\":0}\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n";
    for (format, stream) in [("openai-chat", chat), ("anthropic", anthropic)] {
        let arguments = ["--echo-tools", &files.tools(), "--format", format, "--stream"];
        let (_, document, errors) = dispatch(stream, &arguments).await;
        let result = &document.unwrap_or_else(|| panic!("{format}: {errors}"))["results"][0];
        assert_eq!((&result["status"], &result["call_id"]), (&json!("ok"), &json!("t1")), "{format}");
    }
    let (code, _, errors) = dispatch(chat, &["--echo-tools", &files.tools(), "--stream"]).await;
    assert!(code == 2 && errors.contains("--format"), "{errors}");
}

#[tokio::test]
async fn parse_shows_calls_and_repairs_and_runs_nothing() {
    let files = Files::new();
    let calls = json!([
        {"id": "a", "function": {"name": "get_weather", "arguments": "{\"city\":\"rome\"} ok?"}},
        {"id": "b", "function": {"name": "sum", "arguments": "{\"n\":\"7\"}"}},
        {"id": "c", "function": {"name": "get_wether", "arguments": "{}"}}
    ]);
    let reply = files.write("reply.json", &json!({"choices": [{"message": {"tool_calls": calls}}]}).to_string());
    let (document, _) = printed(&["parse", &reply, "--echo-tools", &files.tools()]).await;
    let calls = document["calls"].as_array().unwrap();
    let runs: Vec<bool> = calls.iter().map(|call| call["runs"].as_bool().unwrap()).collect();
    assert_eq!(runs, [true, true, false], "{document:#}");
    assert_eq!(calls[0]["repairs"], json!([{"kind": "trailing_text", "pointer": ""}]));
    assert_eq!((&calls[1]["arguments"], &calls[1]["repairs"][0]["pointer"]), (&json!({"n": 7}), &json!("/n")));
    assert!(calls[2]["error"]["message"].as_str().unwrap().contains("`get_weather`"));

    let (document, _) = printed(&["parse", &reply]).await;
    assert_eq!(document["calls"][1]["arguments"], json!({"n": "7"}), "without tools nothing is coerced");
    let (strict, _) = printed(&["parse", &reply, "--profile", "strict"]).await;
    assert_eq!(strict["calls"][0]["error"]["code"], "arguments.syntax");
}

#[tokio::test]
async fn definitions_come_in_every_form_and_what_they_lose_is_told() {
    let files = Files::new();
    for format in FORMATS.into_iter().chain(["openai-strict", "gemini-schema"]) {
        let arguments = ["tools", "--format", format, "--echo-tools", &files.tools()];
        let (document, errors) = printed(&arguments).await;
        assert!(document.to_string().contains("get_weather"), "{format}: {document:#}");
        assert!(!document.to_string().contains("lost"), "a tool whose parameters would be lost: {document:#}");
        assert!(errors.contains("lost") && errors.contains("null") && errors.contains("dict"), "{errors}");
        assert_eq!(printed(&arguments).await.0, document, "{format}: the same every time");
    }
    let (report, _) =
        printed(&["tools", "--report", "--format", "gemini-schema", "--echo-tools", &files.tools()]).await;
    assert!(report["tokens"].as_u64().unwrap() > 20, "{report:#}");
    let tools = report["providers"]["echo"]["tools"].as_array().unwrap();
    let sum = tools.iter().find(|tool| tool["name"] == "sum").unwrap();
    assert!(sum["tokens"].as_u64().unwrap() > 5 && sum["losses"].is_array(), "{report:#}");
}

#[tokio::test]
async fn a_broken_conversation_is_told_and_repaired() {
    let files = Files::new();
    let broken = json!([
        {"role": "user", "content": "x"},
        {"role": "tool", "tool_call_id": "ghost", "content": "y"},
        {"role": "assistant", "tool_calls": [{"id": "k1", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "user", "content": "next"}
    ]);
    let path = files.write("chat.json", &broken.to_string());
    let (report, _) = printed(&["history", "--format", "openai-chat", &path]).await;
    let text = report["problems"].to_string();
    assert!(text.contains("ghost") && text.contains("k1"), "{report:#}");
    let repaired = report["messages"].as_array().unwrap();
    assert_eq!(repaired.len(), 4);
    assert_eq!((&repaired[2]["role"], &repaired[2]["tool_call_id"]), (&json!("tool"), &json!("k1")));
    let path = files.write("repaired.json", &report["messages"].to_string());
    let (again, _) = printed(&["history", "--format", "openai-chat", &path]).await;
    assert_eq!(again["problems"], json!([]));
}

#[tokio::test]
async fn the_api_takes_chunks_policies_and_ids_and_serves_what_was_cut() {
    let daemon = Daemon::start(
        "[limits]\nmax_result_chars = 200\n[policy]\nlenient_names = true\n[[providers]]\nname = \"s\"\nkind = \"scripted\"\n\
         [[providers.tools]]\nname = \"echo\"\nparameters = { type = \"object\", properties = { n = { type = \"integer\" } } }\n",
    )
    .await;
    let chunk = json!({"message": {"role": "assistant", "tool_calls": [{"function": {"name": "functions.echo", "arguments": {"n": "5"}}}]}, "done": true});
    let (status, document) = daemon.batch(&json!({"format": "ollama", "chunks": [chunk, chunk.to_string()]})).await;
    assert_eq!((status, document["results"].as_array().unwrap().len()), (200, 2), "{document:#}");
    let kinds: Vec<&Value> =
        document["results"][0]["repairs"].as_array().unwrap().iter().map(|repair| &repair["kind"]).collect();
    assert_eq!(kinds, ["tool_name", "string_to_integer"]);

    let chat = json!({"choices": [{"message": {"tool_calls": [{"id": "call_Q1|fc_0f0d", "function": {"name": "echo", "arguments": "{}"}}]}}]});
    let (_, document) = daemon.batch(&json!({"response": chat, "ids": "mistral"})).await;
    let id = document["messages"][0]["tool_call_id"].as_str().unwrap();
    assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    assert_eq!(document["assistant"][0]["tool_calls"][0]["id"], id);
    assert_eq!(document["results"][0]["call_id"], "call_Q1|fc_0f0d", "what is stored is not rewritten");

    let policy = json!({"profile": "strict"});
    let calls = json!([{"call_id": "a", "tool": "echo", "arguments": {"n": "5"}}]);
    let (_, document) = daemon.batch(&json!({"calls": calls, "policy": policy})).await;
    assert_eq!(document["results"][0]["status"], "invalid_arguments");

    let long = "x".repeat(1000);
    let calls = json!([{"call_id": "a", "tool": "echo", "arguments": {"long": long}}]);
    let (_, document) = daemon.batch(&json!({"calls": calls})).await;
    let result = &document["results"][0];
    assert_eq!(result["truncated"], true, "{document:#}");
    let content = document["messages"][0]["content"].as_str().unwrap();
    assert!(content.chars().count() <= 200, "{content}");
    let (status, kept) = daemon.get(&format!("/v1/results/{}", result["reference"].as_str().unwrap())).await;
    assert!(status == 200 && kept.contains(&long), "{kept}");
    assert_eq!(daemon.get("/v1/results/result_nothing").await.0, 404);
}

#[tokio::test]
async fn the_api_checks_conversations() {
    let daemon = Daemon::start("").await;
    let messages =
        json!([{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}]);
    let url = format!("{}/v1/history", daemon.address);
    let request = json!({"format": "anthropic", "messages": messages});
    let report: Value = daemon.client.post(&url).json(&request).send().await.unwrap().json().await.unwrap();
    assert!(report["problems"].to_string().contains("t1"), "{report:#}");
    assert_eq!(report["messages"].as_array().unwrap().len(), 2);
    let wrong = daemon.client.post(url).json(&json!({"format": "anthropic", "messages": 7})).send().await.unwrap();
    assert_eq!(wrong.status().as_u16(), 400);
}
