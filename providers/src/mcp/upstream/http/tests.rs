mod addresses;
mod legacy_sse;
mod oauth;
mod server;

use std::sync::Arc;
use std::time::Duration;

use toolyard::JsonText;

use super::*;
use crate::http::{AllowRule, SystemResolver};
use crate::mcp::upstream::transport::{Era, Opened, Outgoing, OutgoingKind, Transport};
use crate::mcp::value::McpValue;
use server::{Received, Seen, Server, Step, answer, json, stream};

const MAX: usize = 1_000;

fn config(server: &Server) -> McpHttpConfig {
    let mut config = McpHttpConfig::new(server.url());
    config.allow_private = vec![AllowRule::nearby()];
    config.headers = vec![("x-key".parse().unwrap(), McpValue::text("s3cret-key"))];
    config
}

fn transport(config: &McpHttpConfig) -> (HttpTransport, Arc<Received>) {
    let received = Arc::new(Received::default());
    let inbox = Arc::clone(&received) as _;
    (HttpTransport::new(config, MAX, Arc::new(SystemResolver), inbox).unwrap(), received)
}

/// In the middle of a dialogue with a session.
async fn opened(server: &Server) -> (HttpTransport, Arc<Received>) {
    let (transport, received) = transport(&config(server));
    transport.send(request(0, "initialize")).await.unwrap();
    received.wait(1, 0).await;
    transport.opened(&Opened { era: Era::Legacy, revision: "2025-11-25".into() });
    received.messages.lock().unwrap().clear();
    (transport, received)
}

fn request(id: u64, method: &str) -> Outgoing {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
    let kind = OutgoingKind::Request { id, method: method.into(), name: None, mirrored: Vec::new() };
    Outgoing { text: JsonText::parse(&text).unwrap(), kind }
}

fn initialized() -> Outgoing {
    Outgoing {
        text: JsonText::object([]),
        kind: OutgoingKind::Other { method: Some("notifications/initialized".into()) },
    }
}

fn result(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// Answers the handshake and refuses the stream; everything else is as the test says.
fn serving(other: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> impl Fn(&Seen) -> Vec<Step> + Send + Sync {
    move |seen| match seen.line.as_str() {
        "POST /mcp" if seen.body.contains("\"initialize\"") => {
            answer("200 OK", "content-type: application/json\r\nmcp-session-id: s1\r\n", result(0))
        }
        "GET /mcp" if seen.header("last-event-id").is_none() => answer("405 Method Not Allowed", "", ""),
        _ => other(seen),
    }
}

#[tokio::test]
async fn a_session_is_spoken_in_and_given_back() {
    let server = Server::start(serving(|seen| match seen.body.contains("\"id\":") {
        true => json(result(1)),
        false => answer("202 Accepted", "", ""),
    }))
    .await;
    let (transport, received) = opened(&server).await;
    transport.send(initialized()).await.unwrap();
    transport.send(request(1, "tools/list")).await.unwrap();
    received.wait(1, 0).await;
    assert_eq!(received.messages(), [(result(1), Some(1))]);
    transport.close().await;
    let seen = server.seen();
    assert_eq!(seen[0].header("mcp-session-id"), None);
    assert_eq!(seen[0].header("x-key"), Some("s3cret-key"));
    let call = seen.iter().find(|seen| seen.body.contains("tools/list")).unwrap();
    assert_eq!(call.header("mcp-session-id"), Some("s1"));
    assert_eq!(call.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(call.header("accept"), Some("application/json, text/event-stream"));
    let last = seen.last().unwrap();
    assert_eq!((last.line.as_str(), last.header("mcp-session-id")), ("DELETE /mcp", Some("s1")));
    assert_eq!(transport.ended().await, "it was closed");
}

#[tokio::test]
async fn what_comes_in_a_requests_own_stream_is_told_apart() {
    let server = Server::start(serving(|_| {
        stream(&format!(
            ": hi\n\ndata: {{\"method\":\"notifications/progress\"}}\n\ndata: {}\n\ndata: {}\n\n",
            result(1),
            result(1)
        ))
    }))
    .await;
    let (transport, received) = opened(&server).await;
    transport.send(request(1, "tools/call")).await.unwrap();
    received.wait(3, 0).await;
    assert!(received.messages().iter().all(|(_, answering)| *answering == Some(1)));
    assert_eq!(received.failures(), []);
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_fails_its_request_and_no_other() {
    let server = Server::start(serving(|seen| {
        let long = "x".repeat(MAX);
        match seen.body.as_str() {
            body if body.contains("json-long") => json(format!("{{\"id\":1,\"result\":\"{long}\"}}")),
            body if body.contains("event-long") => stream(&format!("data: {{\"id\":2,\"result\":\"{long}\"}}\n\n")),
            body if body.contains("endless-line") => {
                let mut steps = stream("data: ");
                steps.extend(vec![Step::Write(long.into_bytes()); 50]);
                steps.push(Step::Write(b"\n\n".to_vec()));
                steps
            }
            body if body.contains("other-id") => json(result(77)),
            body if body.contains("html") => answer("200 OK", "content-type: text/html\r\n", "<p>"),
            body if body.contains("accepted") => answer("202 Accepted", "", ""),
            body if body.contains("packed") => {
                answer("200 OK", "content-type: application/json\r\ncontent-encoding: gzip\r\n", "x")
            }
            body if body.contains("cut") => vec![Step::Write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"id\"".to_vec(),
            )],
            body if body.contains("unfinished") => stream(&format!("data: {{\"id\":9,\"result\":\"{long}")),
            body if body.contains("unending") => {
                let mut steps = stream(&format!("data: {{\"id\":10,\"result\":\"{long}"));
                steps.push(Step::Hold);
                steps
            }
            body if body.contains("ended") => stream("data: {\"method\":\"x\"}\n\n"),
            body if body.contains("torn") => vec![Step::Write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\ndata: {".to_vec(),
            )],
            body if body.contains("hangs-up") => vec![],
            _ => json(result(20)),
        }
    }))
    .await;
    let (transport, received) = opened(&server).await;
    let kinds = [
        ("json-long", "tool.result_invalid: the server's answer is larger than 1000 bytes"),
        ("event-long", "tool.result_invalid: the server's answer is larger than 1000 bytes"),
        ("endless-line", "tool.result_invalid: the server's answer is larger than 1000 bytes"),
        ("other-id", "tool.failed: the server's answer holds no answer"),
        ("html", "tool.result_invalid: the server answers with `text/html`"),
        ("accepted", "tool.failed: the server accepted the request without answering"),
        ("packed", "tool.result_invalid: the server packs its answer (gzip)"),
        ("cut", "provider.crashed: the server's answer broke off; the outcome is unknown"),
        ("unfinished", "tool.result_invalid: the server's answer is larger than 1000 bytes"),
        ("unending", "tool.result_invalid: the server's answer is larger than 1000 bytes"),
        ("ended", "tool.failed: the stream of its answer ended before the answer"),
        ("torn", "provider.crashed: the stream of its answer ended before the answer"),
        ("hangs-up", "provider.crashed: the connection to 127.0.0.1:"),
    ];
    for (number, (kind, expected)) in (1..).zip(kinds) {
        transport.send(request(number, kind)).await.unwrap();
        received.wait(0, usize::try_from(number).unwrap()).await;
        let (id, failure) = received.failures().pop().unwrap();
        assert!(id == number && failure.starts_with(expected), "{kind}: {failure}");
    }
    received.messages.lock().unwrap().clear();
    transport.send(request(20, "good")).await.unwrap();
    received.wait(1, 0).await;
    assert_eq!(received.messages(), [(result(20), Some(20))]);
}

#[tokio::test]
async fn what_is_no_json_is_handed_on_with_the_request_that_it_stands_for() {
    let server = Server::start(serving(|seen| match seen.body.contains("stream") {
        true => {
            let mut steps = stream("data: {\"id\":1,\"result\":NaN}\n\n");
            steps.push(Step::Hold);
            steps
        }
        false => json(b"{\"id\":2,\"result\":\"\xff\xfe\"}"),
    }))
    .await;
    let (transport, received) = opened(&server).await;
    transport.send(request(1, "stream")).await.unwrap();
    received.wait(1, 1).await;
    transport.send(request(2, "whole")).await.unwrap();
    received.wait(2, 1).await;
    let answering: Vec<Option<u64>> = received.messages().iter().map(|(_, answering)| *answering).collect();
    assert_eq!(answering, [Some(1), Some(2)]);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_where_it_was() {
    let server = Server::start(serving(|seen| match seen.header("last-event-id") {
        None => stream("id: e7\nretry: 60\ndata:\n\n"),
        Some("e7") => stream(&format!("id: e8\ndata: {}\n\n", result(1))),
        Some(_) => answer("400 Bad Request", "", ""),
    }))
    .await;
    let (transport, received) = opened(&server).await;
    let begun = tokio::time::Instant::now();
    transport.send(request(1, "tools/call")).await.unwrap();
    received.wait(1, 0).await;
    assert_eq!(received.messages(), [(result(1), Some(1))]);
    assert!(begun.elapsed() >= Duration::from_millis(60), "the server's pause is kept");
    let again = server.seen().into_iter().find(|seen| seen.header("last-event-id").is_some()).unwrap();
    assert_eq!((again.line.as_str(), again.header("mcp-session-id")), ("GET /mcp", Some("s1")));
}

#[tokio::test]
async fn a_stream_that_gives_nothing_again_and_again_fails_its_request() {
    let server = Server::start(serving(|seen| match seen.header("last-event-id") {
        None => stream("id: e7\nretry: 50\ndata: {\"method\":\"x\"}\n\n"),
        Some(_) => answer("503 Service Unavailable", "", ""),
    }))
    .await;
    let (transport, received) = opened(&server).await;
    transport.send(request(1, "tools/call")).await.unwrap();
    received.wait(0, 1).await;
    assert!(received.failures()[0].1.starts_with("provider.crashed"), "{received:?}");
}

#[tokio::test]
async fn a_session_that_the_server_has_forgotten_is_said_to_be_lost() {
    let server = Server::start(serving(|_| answer("404 Not Found", "", "no such session"))).await;
    let (transport, received) = opened(&server).await;
    transport.send(request(1, "tools/call")).await.unwrap();
    received.wait(0, 1).await;
    assert_eq!(received.failures(), [(1, "session lost".to_owned())]);
    assert!(matches!(
        transport.send(initialized()).await,
        Err(crate::mcp::upstream::transport::SendFailure::SessionLost)
    ));
    transport.send(request(0, "initialize")).await.unwrap();
    received.wait(1, 1).await;
    assert_eq!(server.seen().last().unwrap().header("mcp-session-id"), None, "a new session begins without the old");
}

#[tokio::test]
async fn redirects_lead_to_the_same_service_only() {
    let server = Server::start(serving(|seen| {
        let to = |status: &str, target: &str| answer(status, &format!("location: {target}\r\n"), "");
        match seen.line.as_str() {
            "POST /moved" => json(result(1)),
            _ if seen.body.contains("same") => to("307 Temporary Redirect", "/moved"),
            _ if seen.body.contains("metadata") => to("307 Temporary Redirect", "http://169.254.169.254/latest"),
            _ if seen.body.contains("elsewhere") => to("308 Permanent Redirect", "http://127.0.0.2/mcp"),
            _ if seen.body.contains("found") => to("302 Found", "/moved"),
            _ => to("307 Temporary Redirect", "/mcp"),
        }
    }))
    .await;
    let (transport, received) = opened(&server).await;
    transport.send(request(1, "same")).await.unwrap();
    received.wait(1, 0).await;
    for (number, (kind, said)) in (1..).zip([
        ("metadata", "169.254.169.254, which is not on the public internet"),
        ("elsewhere", "redirects to http://127.0.0.2"),
        ("found", "redirects with 302"),
        ("loop", "more than 5 times"),
    ]) {
        transport.send(request(number, kind)).await.unwrap();
        received.wait(0, usize::try_from(number).unwrap()).await;
        let failure = received.failures().pop().unwrap().1;
        assert!(failure.contains(said), "{kind}: {failure}");
    }
}

#[tokio::test]
async fn a_cancelled_request_is_given_up_in_the_way_of_its_era() {
    let server = Server::start(serving(|seen| match seen.body.contains("cancelled") {
        true => answer("202 Accepted", "", ""),
        false => vec![Step::Hold],
    }))
    .await;
    let (transport, received) = opened(&server).await;
    let count = |part: &str| server.seen().iter().filter(|seen| seen.body.contains(part)).count();
    for (era, revision, said) in [(Era::Legacy, "2025-11-25", 1), (Era::Modern, "2026-07-28", 1)] {
        transport.opened(&Opened { era, revision: revision.into() });
        transport.send(request(5, "slow")).await.unwrap();
        let begun = count("slow");
        while count("slow") == begun {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        transport.cancel(5, "nobody waits");
        transport.cancel(5, "nobody waits");
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(count("notifications/cancelled"), said, "{revision}");
    }
    let cancel = server.seen().into_iter().find(|seen| seen.body.contains("cancelled")).unwrap();
    assert!(cancel.body.contains(r#""requestId":5,"reason":"nobody waits""#), "{}", cancel.body);
    assert!(received.failures().is_empty());
}

#[tokio::test]
async fn the_servers_own_stream_is_heard_and_taken_up_again() {
    let server = Server::start(|seen| match (seen.line.as_str(), seen.header("last-event-id")) {
        ("GET /mcp", None) => stream("retry: 50\nid: 1\ndata: {\"method\":\"a\"}\n\n"),
        ("GET /mcp", Some("1")) => {
            let mut steps = stream("data: {\"method\":\"b\"}\n\n");
            steps.push(Step::Hold);
            steps
        }
        _ => answer("200 OK", "content-type: application/json\r\nmcp-session-id: s1\r\n", result(0)),
    })
    .await;
    let (transport, received) = opened(&server).await;
    received.wait(2, 0).await;
    let expected = ["a", "b"].map(|method| (format!("{{\"method\":\"{method}\"}}"), None));
    assert_eq!(received.messages(), expected);
    tokio::time::timeout(Duration::from_secs(5), transport.close()).await.unwrap();
}

#[tokio::test]
async fn refusals_say_what_to_do_and_keep_secrets() {
    let server = Server::start(serving(|seen| match seen.body.as_str() {
        body if body.contains("who") => answer("401 Unauthorized", "www-authenticate: Bearer\r\n", "bad s3cret-key"),
        body if body.contains("scope") => answer("403 Forbidden", "www-authenticate: Bearer scope=\"mail\"\r\n", ""),
        _ => answer("500 Oops", "", "the key s3cret-key is wrong"),
    }))
    .await;
    let (transport, received) = opened(&server).await;
    for (number, (kind, said)) in (1..).zip([("who", "give `oauth`"), ("scope", "`mail`"), ("oops", "the key *** is")])
    {
        transport.send(request(number, kind)).await.unwrap();
        received.wait(0, usize::try_from(number).unwrap()).await;
        let failure = received.failures().pop().unwrap().1;
        assert!(failure.contains(said) && !failure.contains("s3cret"), "{failure}");
    }
    assert!(!format!("{transport:?}").contains("s3cret"), "{transport:?}");
}

#[tokio::test]
async fn a_server_of_another_era_says_so_in_its_own_way() {
    let server = Server::start(|seen| match seen.header("mcp-method") {
        Some("server/discover") => {
            answer("400 Bad Request", "", r#"{"id":null,"error":{"code":-32000,"message":"no session"}}"#)
        }
        Some(_) => answer(
            "404 Not Found",
            "content-type: application/json\r\n",
            r#"{"id":1,"error":{"code":-32601,"message":"x"}}"#,
        ),
        None => answer("500 Oops", "", ""),
    })
    .await;
    let (transport, received) = transport(&config(&server));
    let meta = r#"{"method":"M","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    for method in ["server/discover", "server/other"] {
        let mut question = request(1, method);
        question.text = JsonText::parse(&meta.replace('M', method)).unwrap();
        transport.send(question).await.unwrap();
        received.wait(usize::from(method.ends_with("other")), 1).await;
    }
    assert_eq!(received.failures(), [(1, "wrong era: the server answered with HTTP 400: no session".to_owned())]);
    assert!(received.messages()[0].0.contains("-32601"));
    assert_eq!(server.seen()[0].header("mcp-protocol-version"), Some("2026-07-28"));
}
