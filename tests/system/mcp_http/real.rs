//! A real server of another project.

use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use toolyard_tests::{Daemon, Environment};

use super::{outcomes, ready};

/// Makes a Node server that listens everywhere listen on loopback only, and say where.
const LOOPBACK: &str = "const net = require('net');
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function () {
  this.once('listening', () => console.error('LISTENS ' + this.address().port));
  const callback = [...arguments].find((argument) => typeof argument === 'function');
  return listen.call(this, { port: 0, host: '127.0.0.1' }, callback);
};
";

/// server-everything over this transport, and its port.
async fn everything(transport: &str, folder: &std::path::Path) -> (Child, u16) {
    let preload = folder.join("loopback.cjs");
    std::fs::write(&preload, LOOPBACK).unwrap();
    let script = Environment::get().node_modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let mut child = Command::new("node")
        .arg("--require")
        .arg(&preload)
        .arg(script)
        .arg(transport)
        .env("PORT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let listening = async {
        loop {
            let line = lines.next_line().await.unwrap().expect("the server ended before it listened");
            if let Some(port) = line.strip_prefix("LISTENS ") {
                return port.trim().parse().unwrap();
            }
        }
    };
    let port = tokio::time::timeout(Duration::from_secs(60), listening).await.expect("it does not listen");
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, port)
}

#[tokio::test]
async fn a_real_server_is_used_over_both_transports() {
    let folder = tempfile::tempdir().unwrap();
    let (mut new, new_port) = everything("streamableHttp", folder.path()).await;
    let (_old, old_port) = everything("sse", folder.path()).await;
    let config = format!(
        "[[providers]]\nname = \"new\"\nkind = \"mcp\"\nurl = \"http://127.0.0.1:{new_port}/mcp\"\nallow_private = [\"127.0.0.1:{new_port}\"]\n\
         [[providers]]\nname = \"old\"\nkind = \"mcp\"\nurl = \"http://127.0.0.1:{old_port}/sse\"\nallow_private = true\n"
    );
    let daemon = Daemon::start(&config).await;
    ready(&daemon, &["new__echo", "old__echo"]).await;
    let calls: Vec<serde_json::Value> = ["new", "old"]
        .iter()
        .flat_map(|server| {
            [
                json!({"call_id": format!("{server}1"), "tool": format!("{server}__echo"), "arguments": {"message": "你好"}}),
                json!({"call_id": format!("{server}2"), "tool": format!("{server}__get-sum"), "arguments": {"a": 2, "b": 40}}),
                json!({"call_id": format!("{server}3"), "tool": format!("{server}__get-tiny-image"), "arguments": {}}),
                json!({"call_id": format!("{server}4"), "tool": format!("{server}__trigger-long-running-operation"), "arguments": {"duration": 1, "steps": 4}}),
            ]
        })
        .collect();
    let document = daemon.batch(&json!({"calls": calls})).await.1;
    let outcomes = outcomes(&document);
    assert!(outcomes.iter().all(|outcome| outcome.0 == "ok"), "{document:#}");
    assert!(outcomes[0].2.contains("你好") && outcomes[5].2.contains("42"), "{outcomes:?}");

    new.kill().await.unwrap();
    let echo = json!({"calls": [
        {"call_id": "a", "tool": "new__echo", "arguments": {"message": "x"}},
        {"call_id": "b", "tool": "old__echo", "arguments": {"message": "x"}},
    ]});
    let after = super::outcomes(&daemon.batch(&echo).await.1);
    assert_eq!((after[0].0.as_str(), after[1].0.as_str()), ("unavailable", "ok"), "{after:?}");
}
