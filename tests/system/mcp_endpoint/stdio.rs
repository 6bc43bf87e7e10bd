//! `toolyard mcp`: one client over standard input and output.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use toolyard_tests::{Environment, children_of};

use super::{PATIENCE, asking};

struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    _config: tempfile::NamedTempFile,
}

impl Program {
    fn start() -> Self {
        let config = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        std::fs::write(config.path(), asking()).unwrap();
        let mut child = Command::new(Environment::get().binary)
            .args(["mcp", "--config"])
            .arg(config.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()).lines());
        Self { child, input, output, _config: config }
    }

    async fn say(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.input.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
    }

    /// The next line, which must be a message.
    async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await.expect("nothing was said");
        serde_json::from_str(&line.unwrap().expect("it ended")).unwrap()
    }

    /// The next answer to this request.
    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Sends a request of 2026-07-28 until its result says what it has to.
    async fn until(&mut self, id: u64, method: &str, params: Value, says: &str) -> Value {
        loop {
            self.say(modern(id, method, params.clone())).await;
            let answer = self.answer(id).await;
            if answer.to_string().contains(says) {
                return answer;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn one_client_is_served_in_both_eras_and_everything_ends_with_its_input() {
    let mut program = Program::start();
    program.until(1, "tools/list", json!({}), "asking__echo").await;
    let echo = json!({"name": "asking__echo", "arguments": {"a": 1}});
    program.say(modern(2, "tools/call", echo)).await;
    assert_eq!(program.answer(2).await["result"]["content"][0]["text"], r#"{"a": 1}"#);
    program.say(modern(3, "tools/call", json!({"name": "asking__ask"}))).await;
    let asked = program.answer(3).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required");
    let answers = json!({"input_1": {"action": "cancel"}});
    let back = json!({"name": "asking__ask", "requestState": asked["requestState"], "inputResponses": answers});
    program.say(modern(3, "tools/call", back)).await;
    assert_eq!(program.answer(3).await["result"]["content"][0]["text"], r#"{"action": "cancel"}"#);

    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {}});
    program.say(json!({"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": params})).await;
    assert_eq!(program.answer(4).await["result"]["protocolVersion"], "2025-06-18");
    program.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    program.say(json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "asking__ask"}})).await;
    let question = loop {
        let message = program.hear().await;
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    let answer = json!({"action": "decline"});
    program.say(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
    assert_eq!(program.answer(5).await["result"]["content"][0]["text"], r#"{"action": "decline"}"#);

    let slow = json!({"name": "asking__slow"});
    program.say(json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": slow})).await;
    program.until(7, "tools/call", json!({"name": "asking__cancelled"}), "0 of 1").await;
    program.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 6}})).await;
    program.until(8, "tools/call", json!({"name": "asking__cancelled"}), "1 of 1").await;

    let children = children_of(program.child.id().unwrap());
    assert!(children.iter().any(|child| child.command_line.contains("asking_mcp")), "{children:?}");
    drop(program.input.take());
    let ended = tokio::time::timeout(PATIENCE, program.child.wait()).await.expect("it did not end").unwrap();
    assert!(ended.success());
    while let Some(line) = program.output.next_line().await.unwrap() {
        let message: Value = serde_json::from_str(&line).expect("only the protocol is written");
        assert_ne!(message["id"], 6, "a cancelled request is not answered");
    }
    toolyard_tests::wait_until("the children are gone", PATIENCE, || children.iter().all(|child| !child.is_alive()))
        .await;
}

#[tokio::test]
async fn what_is_under_way_when_the_input_ends_is_answered_before_the_program_ends() {
    let mut program = Program::start();
    program.until(1, "tools/list", json!({}), "asking__echo").await;
    let changes = json!({"notifications": {"toolsListChanged": true}});
    program.say(modern(3, "subscriptions/listen", changes)).await;
    program.say(modern(2, "tools/call", json!({"name": "asking__steps"}))).await;
    drop(program.input.take());
    let answer = program.answer(2).await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    let ended = tokio::time::timeout(PATIENCE, program.child.wait()).await.expect("it did not end").unwrap();
    assert!(ended.success());
}
