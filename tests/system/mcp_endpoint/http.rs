//! The wire: sessions, headers, digits, errors, hosts and origins.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::client::{Answer, Client};
use super::daemon;

const BIG: &str = "123456789012345678901234567890";

#[tokio::test]
async fn an_older_client_lists_and_calls_in_a_session_until_it_ends() {
    let daemon = daemon("").await;
    let client = Client::open(&daemon, json!({})).await;
    let listed = client.ask("tools/list", json!({})).await;
    let echo = listed.result()["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "asking__echo").unwrap();
    assert_eq!(echo["x-unknown"], json!({"n": [1, 2]}), "what nobody knows is passed on");
    assert_eq!(listed.result().get("resultType"), None);

    let unknown = client.ask("tools/call", json!({"name": "nothing"})).await;
    assert_eq!((unknown.status, &unknown.error()["code"]), (200, &json!(-32602)));
    let refused = client.call("refuse", json!({})).await;
    assert_eq!(*refused.error(), json!({"code": -32042, "message": "not today", "data": {"until": "tomorrow"}}));
    let wrong = client.ask("tools/call", json!({"name": "asking__echo", "arguments": [1]})).await;
    assert_eq!(wrong.result()["isError"], true, "a fault in the arguments is for the model to mend");
    assert_eq!(client.ask("ping", json!({})).await.result(), &json!({}));
    assert_eq!(client.ask("no/method", json!({})).await.error()["code"], -32601);

    assert_eq!(client.leave().await, 204);
    assert_eq!(client.ask("tools/list", json!({})).await.status, 404);
}

#[tokio::test]
async fn digits_and_unknown_parts_survive_both_ways_in_both_eras() {
    let daemon = daemon("").await;
    let older = Client::open(&daemon, json!({})).await;
    let newer = Client::modern(&daemon, json!({}));
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"é\"1","method":"tools/call","params":{{"name":"asking__echo","arguments":{arguments},{meta}}}}}"#
        )
    };
    let older_call = call(&format!(r#"{{"n":{BIG}}}"#)).replace(meta, r#""x":1"#);
    let answer = Answer::read(older.post(&older_call, &[]).await).await;
    assert_eq!((answer.words(), &answer.messages[0]["id"]), (&*format!(r#"{{"n": {BIG}}}"#), &json!("é\"1")));
    let headers = [("mcp-method", "tools/call"), ("mcp-name", "asking__echo")];
    let answer = Answer::read(newer.post(&call(&format!(r#"{{"n":{BIG}}}"#)), &headers).await).await;
    assert_eq!(answer.words(), format!(r#"{{"n": {BIG}}}"#));

    let odd = concat!(
        r#""content":[{"type":"text","text":"odd","x":12345678901234567890123}],"#,
        r#""structuredContent":{"big":12345678901234567890123},"_meta":{"a/b":[1]},"y":null}"#
    );
    let whole = older.call("odd", json!({})).await.text;
    assert_eq!(whole, format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{{odd}}}"#));
    let whole = newer.call("odd", json!({})).await.text;
    assert_eq!(whole, format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"complete",{odd}}}"#));
}

#[tokio::test]
async fn a_newer_client_needs_no_session_and_its_headers_must_be_right() {
    let daemon = daemon("").await;
    let client = Client::modern(&daemon, json!({}));
    let discovered = client.ask("server/discover", json!({})).await;
    assert_eq!(discovered.result()["supportedVersions"][0], "2026-07-28");
    assert_eq!(discovered.result()["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolyard");
    let listed = client.ask("tools/list", json!({})).await;
    assert_eq!(
        (&listed.result()["resultType"], &listed.result()["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
    assert!(listed.result()["ttlMs"].is_u64());
    assert_eq!(client.call("echo", json!({"a": "b"})).await.words(), r#"{"a": "b"}"#);

    let params = || json!({"name": "asking__echo", "arguments": {}});
    for (header, value, code) in [
        ("mcp-method", "tools/list", -32020),
        ("mcp-method", "", -32020),
        ("mcp-name", "other", -32020),
        ("mcp-name", "", -32020),
        ("mcp-protocol-version", "2025-11-25", -32020),
    ] {
        let answer = Answer::read(client.send("tools/call", params(), &[(header, value)]).await).await;
        assert_eq!((answer.status, &answer.error()["code"]), (400, &json!(code)), "{header}: {value}");
        assert_eq!(answer.messages[0]["id"], 7);
    }
    let future = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2999-01-01"}});
    let answer = client.send("tools/list", future, &[("mcp-protocol-version", "2999-01-01")]).await;
    let answer = Answer::read(answer).await;
    assert_eq!((answer.status, &answer.error()["code"]), (400, &json!(-32022)));
    assert_eq!(answer.error()["data"]["requested"], "2999-01-01");
    let bare = json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": null}});
    let answer = Answer::read(client.send("tools/list", bare, &[]).await).await;
    assert_eq!((answer.status, &answer.error()["code"]), (400, &json!(-32602)));
    for gone in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "no/method"] {
        let answer = client.ask(gone, json!({})).await;
        assert_eq!((answer.status, &answer.error()["code"]), (404, &json!(-32601)), "{gone}");
    }
}

#[tokio::test]
async fn what_is_no_message_and_who_is_nobody_is_refused() {
    let daemon =
        daemon("[mcp]\nallowed_hosts = [\"bot.example\"]\nallowed_origins = [\"https://chat.example\"]\n").await;
    let client = Client::open(&daemon, json!({})).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (headers, status) in [
        (vec![("host", "evil.example")], 403),
        (vec![("host", "bot.example")], 200),
        (vec![("origin", "http://evil.example")], 403),
        (vec![("origin", "https://chat.example")], 200),
        (vec![("origin", &*daemon.address)], 200),
        (vec![("mcp-protocol-version", "1999-01-01")], 400),
    ] {
        assert_eq!(client.post(list, &headers).await.status(), status, "{headers:?}");
    }
    for (body, code) in [("{", -32700), ("[]", -32600), (r#"{"jsonrpc":"2.0","id":1}"#, -32600)] {
        let answer = Answer::read(client.post(body, &[]).await).await;
        assert_eq!((answer.status, &answer.error()["code"]), (400, &json!(code)), "{body}");
    }
    let url = format!("{}/mcp", daemon.address);
    let nobody = daemon.client.post(&url).header("accept", "*/*").header("content-type", "application/json").body(list);
    assert_eq!(nobody.send().await.unwrap().status(), 400, "there is no session");
    let plain = daemon.client.post(&url).header("accept", "*/*").body(list).send().await.unwrap();
    assert_eq!(plain.status(), 415);
    assert_eq!(daemon.client.put(&url).send().await.unwrap().status(), 405);
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(5 << 20));
    assert_eq!(client.post(&large, &[]).await.status(), 413);
}

#[tokio::test]
async fn sessions_are_bounded_and_end_when_they_are_idle() {
    let daemon = daemon("[mcp]\nmax_sessions = 1\nsession_idle_ms = 3000\n").await;
    let client = Client::open(&daemon, json!({})).await;
    let opening = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    assert_eq!(client.post(opening, &[]).await.status(), 503);
    let ended = async {
        while client.post(opening, &[]).await.status() != 200 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(super::PATIENCE, ended).await.expect("the session did not end");
    assert_eq!(client.ask("tools/list", json!({})).await.status, 404);
}

#[tokio::test]
async fn lists_come_at_once_while_a_server_hangs() {
    let hanging = "[[providers]]\nname = \"hangs\"\nkind = \"mcp\"\ncommand = \"sleep\"\nargs = [\"600\"]\n";
    let daemon = daemon(hanging).await;
    let client = Client::modern(&daemon, json!({}));
    client.ask("tools/list", json!({})).await;
    let mut fastest = Duration::MAX;
    // The machine of the tests may be busy; a list that waited for the server would never be quick.
    for _ in 0..10 {
        let asked = Instant::now();
        assert!(!client.ask("tools/list", json!({})).await.result()["tools"].as_array().unwrap().is_empty());
        fastest = fastest.min(asked.elapsed());
    }
    assert!(fastest < Duration::from_millis(50), "{fastest:?}");
    assert_eq!(client.ask("prompts/list", json!({})).await.result()["prompts"][0]["name"], "asking__greet");
}
