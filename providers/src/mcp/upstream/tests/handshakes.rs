//! Which era is spoken, and what finding out costs.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::server::{Bench, discovered};
use crate::mcp::upstream::transport::SendFailure;

fn nothing() -> Value {
    json!({})
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_the_newer_era_is_opened_in_the_older_and_not_asked_again() {
    let bench = Bench::new(json!({}));
    let begun = Instant::now();
    let (_server, session) = bench.legacy(nothing()).await;
    assert_eq!(&*session.server().opened.revision, "2025-11-25");
    assert_eq!(begun.elapsed(), Duration::ZERO);
    let (mut server, opens) = bench.begin().await;
    server.initialize(&nothing()).await;
    opens.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_to_the_newer_era_costs_two_seconds_once() {
    let bench = Bench::new(json!({}));
    let begun = Instant::now();
    let (mut server, opens) = bench.begin().await;
    server.request("server/discover").await;
    server.initialize(&nothing()).await;
    opens.await.unwrap().unwrap();
    assert_eq!(begun.elapsed().as_secs(), 2);
    server.silence().await;

    let begun = Instant::now();
    let (mut server, opens) = bench.begin().await;
    server.initialize(&nothing()).await;
    opens.await.unwrap().unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_server_of_the_newer_era_is_told_who_asks_in_every_request() {
    let bench = Bench::new(json!({"offers": ["elicitation"]}));
    let (mut server, opens) = bench.begin().await;
    let probe = server.request("server/discover").await;
    let meta = &probe["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "toolyard");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({"elicitation": {}}));
    server.answer(&probe, &discovered(&nothing()));
    let session = opens.await.unwrap().unwrap();
    assert!(session.is_modern());
    assert_eq!(server.opened().await, "2026-07-28");
    let listing = tokio::spawn(async move { crate::mcp::upstream::listing::list(&session).await });
    let list = server.request("tools/list").await;
    assert_eq!(list["params"]["_meta"], *meta);
    server.answer(&list, &json!({"tools": []}));
    listing.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_only_slow_is_opened_as_it_was_asked_last_and_known_next_time() {
    let bench = Bench::new(json!({}));
    let (mut server, opens) = bench.begin().await;
    let probe = server.request("server/discover").await;
    let initialize = server.request("initialize").await;
    server.answer(&probe, &discovered(&nothing()));
    server.answer(&initialize, &json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
    let session = opens.await.unwrap().unwrap();
    assert_eq!(&*session.server().opened.revision, "2025-06-18");
    let (mut server, _opens) = bench.begin().await;
    server.request("server/discover").await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_without_the_older_era_is_opened_in_the_newer() {
    let bench = Bench::new(json!({}));
    let (mut server, opens) = bench.begin().await;
    let probe = server.request("server/discover").await;
    let initialize = server.request("initialize").await;
    server.answer(&probe, &discovered(&nothing()));
    server.refuse(&initialize, -32601);
    assert!(opens.await.unwrap().unwrap().is_modern());
}

#[tokio::test(start_paused = true)]
async fn a_wrong_memory_is_corrected() {
    let bench = Bench::new(json!({}));
    drop(bench.legacy(nothing()).await);
    let (mut server, opens) = bench.begin().await;
    let initialize = server.request("initialize").await;
    server.refuse(&initialize, -32601);
    let probe = server.request("server/discover").await;
    server.answer(&probe, &discovered(&nothing()));
    assert!(opens.await.unwrap().unwrap().is_modern());

    let (mut server, opens) = bench.begin().await;
    let probe = server.request("server/discover").await;
    server.fail(&probe, SendFailure::WrongEra("no".to_owned()));
    server.initialize(&nothing()).await;
    assert!(!opens.await.unwrap().unwrap().is_modern());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_the_probe_kills_is_opened_without_it_the_next_time() {
    let bench = Bench::new(json!({}));
    let (mut server, opens) = bench.begin().await;
    server.request("server/discover").await;
    server.end();
    let failure = opens.await.unwrap().unwrap_err();
    assert_eq!(failure.message, "it broke", "its end says more than the handshake");
    let (mut server, opens) = bench.begin().await;
    server.initialize(&nothing()).await;
    opens.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_revision_that_nobody_knows_is_refused() {
    let bench = Bench::new(json!({"era": "legacy"}));
    let (mut server, opens) = bench.begin().await;
    let initialize = server.request("initialize").await;
    assert_eq!(initialize["params"]["protocolVersion"], "2025-11-25");
    server.answer(&initialize, &json!({"protocolVersion": "1999-01-01", "capabilities": {}}));
    let failure = opens.await.unwrap().unwrap_err();
    assert!(failure.message.contains("1999-01-01"), "{}", failure.message);
}
