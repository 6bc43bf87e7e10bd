use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::plugin::capability::desk::tests::{ask, desk};
use crate::plugin::capability::table::{By, CAPABILITIES};

fn request(capability: &str, payload: &str) -> HostRequest {
    HostRequest {
        capability: capability.to_owned(),
        payload: JsonText::parse(payload).unwrap(),
        provider: "demo".into(),
        caller: None,
        deadline: Instant::now() + Duration::from_secs(1),
    }
}

async fn answer(host: &SimulatedHost, capability: &str, payload: &str) -> Value {
    host.request(request(capability, payload)).await.unwrap().to().unwrap()
}

#[tokio::test]
async fn every_capability_of_the_bot_has_an_answer_that_the_desk_takes() {
    let desk = desk(Arc::new(SimulatedHost::new()));
    for capability in CAPABILITIES.iter().filter(|capability| capability.by == By::Bot) {
        match desk.answer(ask(capability.name, "{}")).await {
            Ok(answer) => assert!(answer.as_str().contains(r#""simulated":true"#), "{}: {answer}", capability.name),
            // What nobody can make up is a failure, and says that it is simulated.
            Err(refusal) => assert!(refusal.message.contains("simulated"), "{}: {refusal}", capability.name),
        }
    }
}

#[tokio::test]
async fn what_is_sent_is_kept_within_bounds() {
    let host = SimulatedHost::new();
    let first = answer(&host, "send.text", r#"{"text":"hi"}"#).await;
    assert_eq!(first, json!({"success": true, "sent": true, "message_id": "simulated-1", "simulated": true}));
    let kept = host.sent();
    assert_eq!((kept[0].capability.as_str(), kept[0].payload.as_str()), ("send.text", r#"{"text":"hi"}"#));
    let long = json!({"text": "x".repeat(9000)}).to_string();
    for _ in 0..MAX_SENT {
        answer(&host, "send.image", &long).await;
    }
    let kept = host.sent();
    assert_eq!((kept.len(), kept[0].number), (MAX_SENT, 2));
    assert_eq!(kept[0].payload.chars().count(), MAX_PAYLOAD_CHARS);
    answer(&host, "message.get_recent", "{}").await;
    assert_eq!(host.sent().len(), MAX_SENT, "asking is not sending");
}

#[tokio::test]
async fn recorded_answers_go_before_plausible_ones_and_are_marked() {
    let recording = r#"{"message.get_recent":{"success":true,"messages":[1]},"message.count_new":7,"my.own":"x"}"#;
    let host = SimulatedHost::with_recording(recording).unwrap();
    let messages = answer(&host, "message.get_recent", "{}").await;
    assert_eq!(messages, json!({"success": true, "messages": [1], "simulated": true}));
    assert_eq!(answer(&host, "message.count_new", "{}").await, json!(7));
    assert_eq!(answer(&host, "my.own", "{}").await, json!("x"));
    let unknown = host.request(request("my.other", "{}")).await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::ToolUnavailable);
    assert!(SimulatedHost::with_recording("[1]").is_err());
    assert!(SimulatedHost::from_file(Path::new("/nowhere/answers.json")).is_err());
}

#[tokio::test]
async fn equal_texts_have_equal_vectors_of_length_one() {
    let host = SimulatedHost::new();
    let one = answer(&host, "llm.embed", r#"{"text":"天气"}"#).await;
    let many = answer(&host, "llm.embed", r#"{"text":null,"texts":["天气","x"]}"#).await;
    assert_eq!(one["embedding"], many["results"][0]["embedding"]);
    assert_ne!(one["embedding"], many["results"][1]["embedding"]);
    let square: f64 = one["embedding"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap().powi(2)).sum();
    assert!((square - 1.0).abs() < 1e-9);
}

#[tokio::test]
async fn lenbots_names_get_what_its_side_takes_as_it_is() {
    let host = SimulatedHost::new();
    let sent = answer(&host, "lenbot.send", r#"{"text":"hi"}"#).await;
    assert_eq!((&sent["status"], &sent["message_ids"]), (&json!("simulated"), &json!([])));
    assert_eq!(host.sent().len(), 1);
    assert_eq!(answer(&host, "lenbot.messages_between", "{}").await, json!([]));
    assert_eq!(answer(&host, "lenbot.message", "{}").await, json!(null));
    for name in ["lenbot.generate", "lenbot.memory", "lenbot.delegate"] {
        assert!(host.request(request(name, "{}")).await.is_err(), "{name}");
    }
}
