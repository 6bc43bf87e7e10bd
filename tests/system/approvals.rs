//! Approvals over HTTP: a call stops, a person decides, the call runs once.

use std::time::Duration;

use serde_json::{Value, json};
use toolyard_tests::Daemon;

const TOOLS: &str = r#"
[[providers]]
name = "s"
kind = "scripted"
[[providers.tools]]
name = "read"
[[providers.tools]]
name = "pay"
title = "Pay somebody"
description = "Moves money. Only for the model."
effect = "money"
latency_ms = 20
[[providers.tools]]
name = "hang"
effect = "write"
latency_ms = 60000
"#;

fn batch(tool: &str, more: &Value) -> Value {
    let mut batch = json!({"tenant": "t", "session": "s", "calls": [
        {"call_id": "a", "tool": tool, "arguments": {"cents": 12_345_678_901_234_567_890_u64}},
        {"call_id": "b", "tool": "read", "arguments": {}},
    ]});
    let more = more.as_object().unwrap().clone();
    batch.as_object_mut().unwrap().extend(more);
    batch
}

async fn get(daemon: &Daemon, path: &str) -> (u16, Value) {
    let (status, text) = daemon.get(path).await;
    (status, serde_json::from_str(&text).unwrap())
}

async fn post(daemon: &Daemon, path: &str, body: &Value) -> (u16, Value) {
    let sent = daemon.client.post(format!("{}{path}", daemon.address)).json(body).send().await.unwrap();
    (sent.status().as_u16(), sent.json().await.unwrap())
}

/// The id of the approval of the first call.
async fn ask(daemon: &Daemon, tool: &str) -> String {
    let (status, document) = daemon.batch(&batch(tool, &json!({}))).await;
    assert_eq!(status, 200, "{document:#}");
    document["results"][0]["approval"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_call_stops_is_shown_approved_and_runs_once() {
    let daemon = Daemon::start(TOOLS).await;
    let (_, document) = daemon.batch(&batch("pay", &json!({}))).await;
    let [first, second] = [&document["results"][0], &document["results"][1]];
    assert_eq!((&first["status"], &first["executed"]), (&json!("approval_required"), &json!(false)), "{document:#}");
    assert_eq!(first["error"]["code"], "policy.approval_required");
    assert_eq!((&first["approval"]["title"], &first["approval"]["effect"]), (&json!("Pay somebody"), &json!("money")));
    assert_eq!(second["status"], "ok");
    let id = first["approval"]["id"].as_str().unwrap();

    let (_, listed) = get(&daemon, "/v1/approvals?tenant=t&session=s").await;
    let shown = &listed["approvals"][0];
    assert_eq!((&shown["id"], &shown["state"], &shown["reason"]), (&json!(id), &json!("pending"), &json!("effect")));
    assert_eq!(shown["arguments"].to_string(), r#"{"cents":12345678901234567890}"#);
    assert!(!listed.to_string().contains("Only for the model"));
    assert_eq!(get(&daemon, "/v1/approvals?tenant=other").await.1, json!({"approvals": []}));
    let (_, metrics) = daemon.get("/metrics").await;
    assert!(metrics.contains("toolyard_approvals_pending 1"), "{metrics}");

    let path = format!("/v1/approvals/{id}/approve");
    let decided = json!({"by": "ann", "wait_ms": 10_000});
    let (one, two) = tokio::join!(post(&daemon, &path, &decided), post(&daemon, &path, &decided));
    let (approved, refused) = if one.0 == 200 { (one, two) } else { (two, one) };
    assert_eq!((approved.0, &approved.1["state"]), (200, &json!("settled")), "{:#}", approved.1);
    assert_eq!((refused.0, &refused.1["code"]), (409, &json!("approval.decided")), "{:#}", refused.1);
    let outcome = &approved.1["outcome"];
    assert_eq!((&outcome["status"], &outcome["document"]["call_id"]), (&json!("ok"), &json!("a")));
    assert!(outcome["text"].as_str().unwrap().contains("12345678901234567890"));
    let (status, kept) = get(&daemon, &format!("/v1/approvals/{id}")).await;
    assert_eq!((status, &kept["outcome"], &kept["decision"]["by"]), (200, outcome, &json!("ann")));
    let (_, metrics) = daemon.get("/metrics").await;
    assert!(metrics.contains("toolyard_approvals_pending 0"));
    assert!(metrics.contains("toolyard_approval_decisions_total{outcome=\"approved\"} 1"), "{metrics}");
    assert!(metrics.contains("toolyard_calls_total{provider=\"s\",tool=\"pay\",status=\"ok\"} 1"), "{metrics}");
}

#[tokio::test]
async fn a_denied_call_never_runs_and_its_reason_is_for_the_model() {
    let daemon = Daemon::start(TOOLS).await;
    let id = ask(&daemon, "pay").await;
    let (status, denied) =
        post(&daemon, &format!("/v1/approvals/{id}/deny"), &json!({"by": "ann", "reason": "too much"})).await;
    assert_eq!((status, &denied["state"]), (200, &json!("denied")), "{denied:#}");
    assert!(denied["outcome"]["text"].as_str().unwrap().contains("too much"));
    let (status, refused) = post(&daemon, &format!("/v1/approvals/{id}/approve"), &json!({})).await;
    assert_eq!((status, &refused["code"]), (409, &json!("approval.decided")));
    assert_eq!(get(&daemon, "/v1/approvals?state=denied").await.1["approvals"][0]["id"], id);
}

#[tokio::test]
async fn a_batch_can_wait_for_the_decision_and_a_session_be_agreed_to() {
    let daemon = Daemon::start(TOOLS).await;
    let decide = async {
        loop {
            let (_, listed) = get(&daemon, "/v1/approvals").await;
            if let Some(id) = listed["approvals"][0]["id"].as_str() {
                let path = format!("/v1/approvals/{id}/approve");
                return post(&daemon, &path, &json!({"scope": "session"})).await;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waiting = batch("pay", &json!({"approvals": "wait"}));
    let ((status, document), decided) = tokio::join!(daemon.batch(&waiting), decide);
    assert_eq!((status, decided.0), (200, 200), "{:#}", decided.1);
    assert_eq!((&document["results"][0]["status"], &document["results"][1]["status"]), (&json!("ok"), &json!("ok")));
    let (_, again) = daemon.batch(&batch("pay", &json!({}))).await;
    assert_eq!(again["results"][0]["status"], "ok", "the session was agreed to");
    let (_, other) = daemon.batch(&batch("hang", &json!({}))).await;
    assert_eq!(other["results"][0]["status"], "approval_required", "for this tool alone");
}

#[tokio::test]
async fn a_client_that_leaves_takes_what_it_asked_for_along() {
    let daemon = Daemon::start(TOOLS).await;
    let waiting = batch("pay", &json!({"approvals": "wait"}));
    let left = tokio::time::timeout(Duration::from_millis(300), daemon.batch(&waiting)).await;
    assert!(left.is_err());
    let mut withdrawn = json!({});
    for _ in 0..200 {
        withdrawn = get(&daemon, "/v1/approvals?state=withdrawn").await.1;
        if withdrawn["approvals"][0].is_object() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(withdrawn["approvals"][0]["outcome"]["status"], "cancelled", "{withdrawn:#}");
}

#[tokio::test]
async fn what_cannot_be_decided_says_why() {
    let daemon = Daemon::start(TOOLS).await;
    let id = ask(&daemon, "pay").await;
    let unknown = "/v1/approvals/approval_0/approve";
    let known = format!("/v1/approvals/{id}/approve");
    let deny = format!("/v1/approvals/{id}/deny");
    let cases = [
        (unknown, json!({}), 404, "approval.unknown"),
        (known.as_str(), json!({"reason": "x"}), 400, "request.invalid"),
        (known.as_str(), json!({"scope": "always"}), 400, "request.invalid"),
        (deny.as_str(), json!({"scope": "session"}), 400, "request.invalid"),
        (known.as_str(), json!({"whom": "x"}), 400, "request.invalid"),
    ];
    for (path, body, status, code) in cases {
        let (given, problem) = post(&daemon, path, &body).await;
        assert_eq!((given, problem["code"].as_str()), (status, Some(code)), "{path} {body}");
    }
    // A form of a page elsewhere is not what approves.
    let form = daemon.client.post(format!("{}{known}", daemon.address)).body("{}").send().await.unwrap();
    assert_eq!(form.status().as_u16(), 415);
    assert_eq!(get(&daemon, "/v1/approvals?state=maybe").await.0, 400);
    assert_eq!(get(&daemon, &format!("/v1/approvals/{id}")).await.1["state"], "pending", "nothing was decided");
    let alone = json!({"calls": [{"call_id": "a", "tool": "pay", "arguments": {}}]});
    let (_, document) = daemon.batch(&alone).await;
    let id = document["results"][0]["approval"]["id"].as_str().unwrap();
    let (status, problem) = post(&daemon, &format!("/v1/approvals/{id}/approve"), &json!({"scope": "session"})).await;
    assert_eq!((status, &problem["code"]), (400, &json!("approval.no_session")));
}
