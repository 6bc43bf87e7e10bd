//! What happens while a call runs: progress, log lines, questions to the client, cancellation.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use super::{PATIENCE, daemon};

const ADA: &str = r#"{"action": "accept", "content": {"name": "Ada"}}"#;

async fn cancelled(client: &Client<'_>, expected: &str) {
    let seen = async {
        while client.call("cancelled", json!({})).await.words() != expected {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, seen).await.expect("the server did not see it");
}

fn adas() -> Value {
    json!({"action": "accept", "content": {"name": "Ada"}})
}

#[tokio::test]
async fn progress_comes_under_the_clients_own_token_and_ends_with_the_call() {
    let daemon = daemon("").await;
    for client in [Client::open(&daemon, json!({})).await, Client::modern(&daemon, json!({}))] {
        let params = json!({"name": "asking__steps", "_meta": {"progressToken": "mine"}});
        let answer = client.ask("tools/call", params).await;
        assert_eq!(answer.kind, "text/event-stream");
        assert_eq!(answer.methods(), ["notifications/progress"; 3]);
        let told: Vec<&Value> = answer.messages[..3].iter().map(|message| &message["params"]).collect();
        assert!(told.iter().all(|params| params["progressToken"] == "mine" && params["total"] == 3.0), "{told:?}");
        let done: Vec<f64> = told.iter().map(|params| params["progress"].as_f64().unwrap()).collect();
        assert_eq!((done, answer.words()), (vec![1.0, 2.0, 3.0], "done"));
    }
}

#[tokio::test]
async fn log_lines_come_from_the_level_that_was_asked_for() {
    let daemon = daemon("").await;
    let older = Client::open(&daemon, json!({})).await;
    assert_eq!(older.ask("logging/setLevel", json!({"level": "loud"})).await.error()["code"], -32602);
    assert_eq!(older.ask("logging/setLevel", json!({"level": "warning"})).await.result(), &json!({}));
    let answer = older.call("log", json!({})).await;
    assert_eq!(
        (answer.methods(), &answer.messages[0]["params"]["data"]),
        (vec!["notifications/message"], &json!("error"))
    );

    let newer = Client::modern(&daemon, json!({}));
    assert_eq!(newer.call("log", json!({})).await.methods(), Vec::<&str>::new());
    let level = json!({"name": "asking__log", "_meta": {"io.modelcontextprotocol/logLevel": "debug"}});
    assert_eq!(newer.ask("tools/call", level).await.methods(), ["notifications/message"; 2]);
}

#[tokio::test]
async fn an_older_client_is_asked_on_the_stream_of_its_own_call() {
    let daemon = daemon("").await;
    let client = Client::open(&daemon, json!({"elicitation": {}})).await;
    let mut stream = client.begin("tools/call", json!({"name": "asking__ask"})).await;
    let question = stream.next().await.unwrap();
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("What is your name?"))
    );
    client.respond(&question["id"], adas()).await;
    let answer = stream.next().await.unwrap();
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(7), &json!(ADA)));
    assert_eq!(stream.next().await, None);

    let refused = client.call("sample", json!({})).await;
    assert!(refused.words().contains("sampling"), "the server gets an error, not the client a question: {refused:?}");
    assert_eq!(refused.methods(), Vec::<&str>::new());
}

#[tokio::test]
async fn a_newer_client_is_asked_by_a_result_and_comes_back_with_the_answer() {
    let daemon = daemon("").await;
    let client = Client::modern(&daemon, json!({"elicitation": {}}));
    let asked = client.call("ask", json!({})).await;
    let result = asked.result();
    assert_eq!(result["resultType"], "input_required");
    let (key, question) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let state = result["requestState"].as_str().unwrap();
    let back = |tool: &str, state: &str, answers: Value| json!({"name": format!("asking__{tool}"), "requestState": state, "inputResponses": answers});
    for (tool, state) in [("ask", format!("{state}-TAMPERED")), ("echo", state.to_owned())] {
        let forged = client.ask("tools/call", back(tool, &state, json!({key: adas()}))).await;
        assert_eq!(forged.error()["code"], -32602, "{tool} {state}");
    }
    let again = client.ask("tools/call", back("ask", state, json!({"other": adas()}))).await;
    let newer = again.result()["requestState"].as_str().unwrap();
    assert_ne!(newer, state);
    assert!(again.result()["inputRequests"].get(key).is_some(), "asked again: {again:?}");
    let done = client.ask("tools/call", back("ask", newer, json!({key: adas()}))).await;
    assert_eq!((done.words(), &done.result()["resultType"]), (ADA, &json!("complete")));
    let used = client.ask("tools/call", back("ask", newer, json!({key: adas()}))).await;
    assert_eq!(used.error()["code"], -32602);
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_its_server_and_not_answered() {
    let daemon = daemon("").await;
    let client = Client::open(&daemon, json!({})).await;
    let slow = client.call("slow", json!({}));
    let cancel = async {
        cancelled(&Client::modern(&daemon, json!({})), "0 of 1").await;
        client.notify("notifications/cancelled", json!({"requestId": 7})).await;
    };
    let (answer, ()) = tokio::join!(slow, cancel);
    assert_eq!((answer.status, &*answer.kind, answer.messages.len()), (200, "text/event-stream", 0));
    cancelled(&client, "1 of 1").await;
}

#[tokio::test]
async fn a_newer_client_that_leaves_cancels_its_call_and_an_older_one_does_not() {
    let daemon = daemon("").await;
    let older = Client::open(&daemon, json!({})).await;
    let newer = Client::modern(&daemon, json!({}));
    tokio::select! {
        _ = newer.call("slow", json!({})) => panic!("it ended"),
        () = cancelled(&older, "0 of 1") => {}
    }
    cancelled(&older, "1 of 1").await;
    tokio::select! {
        _ = older.call("slow", json!({})) => panic!("it ended"),
        () = cancelled(&newer, "1 of 2") => {}
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(newer.call("cancelled", json!({})).await.words(), "1 of 2");
    assert_eq!(older.leave().await, 204);
    cancelled(&newer, "2 of 2").await;
}
