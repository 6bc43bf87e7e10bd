use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use toolyard::{ErrorCode, HostCaller, Sent, ToolExecutionContext};

use super::*;
use crate::config::{Config, SecretText};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// No request ends by its deadline but where a test makes it.
const HOUR: Duration = Duration::from_secs(3600);
/// After this time a test says that something hangs. It measures nothing: a busy machine takes its time.
const HANG: Duration = Duration::from_secs(180);

fn backend(section: &str) -> Arc<Backend> {
    Arc::new(Backend::start(Config::parse(section).backend).unwrap())
}

/// A backend that is called at this address, with further settings.
fn http(address: &str, settings: &str) -> Arc<Backend> {
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), SECRET).unwrap();
    backend(&format!(
        "[backend]\nkind = \"http\"\nurl = \"http://{address}/bot?key=1\"\nsecret = {{ file = {:?} }}\n{settings}",
        secret.path()
    ))
}

fn request(within: Duration) -> HostRequest {
    let context = ToolExecutionContext { stream_id: "s1".to_owned(), ..ToolExecutionContext::default() };
    let caller = HostCaller { call_id: "c1".into(), tool: "greet".into(), context: Arc::new(context) };
    HostRequest {
        capability: "send.text".to_owned(),
        payload: JsonText::parse(r#"{"text": "你好", "id": 12345678901234567890}"#).unwrap(),
        provider: "plugin".into(),
        caller: Some(caller),
        deadline: Instant::now() + within,
    }
}

async fn ask(backend: &Backend) -> Result<String, ToolFailure> {
    let asking = tokio::time::timeout(HANG, backend.request(request(HOUR)));
    asking.await.expect("it hangs").map(|value| value.as_str().to_owned())
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Reads one whole request: its head and its body.
async fn read(stream: &mut TcpStream) -> (String, String) {
    let mut text = Vec::new();
    loop {
        let mut part = [0; 4096];
        let count = stream.read(&mut part).await.unwrap();
        text.extend_from_slice(&part[..count]);
        let all = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = all.split_once("\r\n\r\n") {
            let length: usize = header(head, "content-length").parse().unwrap();
            if body.len() >= length {
                return (head.to_owned(), body.to_owned());
            }
        }
        assert!(count > 0, "the request was cut off: {all}");
    }
}

fn header<'h>(head: &'h str, name: &str) -> &'h str {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).unwrap_or_default()
}

/// Answers the first request with this, and gives what was asked.
fn answering(listener: TcpListener, status: &'static str, body: String) -> tokio::task::JoinHandle<(String, String)> {
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let asked = read(&mut stream).await;
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await.unwrap();
        asked
    })
}

async fn answered(status: &'static str, body: &str) -> Result<String, ToolFailure> {
    let (listener, address) = listen().await;
    let server = answering(listener, status, body.to_owned());
    let answer = ask(&http(&address, "max_response_bytes = 1024\n")).await;
    server.await.unwrap();
    answer
}

#[tokio::test]
async fn a_request_is_posted_whole_and_signed() {
    let (listener, address) = listen().await;
    let server = answering(listener, "200 OK", r#"{"value": {"sent": true, "id": 98765432109876543210}}"#.to_owned());
    let value = ask(&http(&address, "")).await.unwrap();
    assert_eq!(value, r#"{"sent": true, "id": 98765432109876543210}"#);
    let (head, body) = server.await.unwrap();
    assert!(head.starts_with("POST /bot?key=1 HTTP/1.1"), "{head}");
    let signer = signature::Signer::new(&SecretText::new(SECRET)).unwrap();
    let signature = signer.sign(header(&head, "Toolyard-Timestamp").parse().unwrap(), &body);
    assert_eq!(header(&head, "Toolyard-Signature"), signature.value);
    assert_eq!(header(&head, "Content-Type"), "application/json");
    assert!(body.contains(r#""payload":{"text": "你好", "id": 12345678901234567890}"#), "{body}");
    let document: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(document["id"].as_str(), Some(header(&head, "Toolyard-Request-Id")));
    assert_eq!((&document["capability"], &document["provider"]), (&"send.text".into(), &"plugin".into()));
    assert_eq!((&document["caller"]["call_id"], &document["caller"]["tool"]), (&"c1".into(), &"greet".into()));
    assert_eq!(document["caller"]["context"]["stream_id"], "s1");
    let left = document["deadline_ms"].as_u64().unwrap();
    assert!((3_000_000..=3_600_000).contains(&left), "{left}");
}

#[tokio::test]
async fn an_error_of_the_backend_reaches_whoever_asked() {
    let body = r#"{"error": {"code": "denied", "message": "the bot is muted here"}}"#;
    let failure = answered("200 OK", body).await.unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::PolicyDenied, Sent::Yes));
    assert_eq!(failure.message, "the bot is muted here");
}

#[tokio::test]
async fn answers_that_cannot_be_used_are_failures_with_a_sentence() {
    let many = format!("{{\"value\": \"{}\"}}", "x".repeat(2000));
    for (status, body, code, said) in [
        ("401 Unauthorized", "no", ErrorCode::ProviderProtocol, "the secret"),
        ("404 Not Found", "no", ErrorCode::ProviderProtocol, "status 404"),
        ("204 No Content", "", ErrorCode::ProviderProtocol, "status 204"),
        ("500 Internal Server Error", r#"{"value": 1}"#, ErrorCode::ProviderProtocol, "status 500"),
        ("503 Service Unavailable", "", ErrorCode::ToolUnavailable, "status 503"),
        ("200 OK", "<html>secret</html>", ErrorCode::ProviderProtocol, "no JSON object"),
        ("200 OK", r#"{"result": 1}"#, ErrorCode::ProviderProtocol, "`value` and `error`"),
        ("200 OK", many.as_str(), ErrorCode::ProviderProtocol, "more than 1024 bytes"),
    ] {
        let failure = answered(status, body).await.unwrap_err();
        assert_eq!(failure.code, code, "{status} {body}: {failure:?}");
        assert!(failure.message.contains(said) && !failure.message.contains("127.0.0.1"), "{failure:?}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (target, address) = listen().await;
    let (listener, first) = listen().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read(&mut stream).await;
        let answer =
            format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{address}/\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    let failure = ask(&http(&first, "")).await.unwrap_err();
    assert!(failure.message.contains("307") && failure.message.contains("not followed"), "{failure:?}");
    assert!(tokio::time::timeout(Duration::from_millis(50), target.accept()).await.is_err());
}

#[tokio::test]
async fn a_request_whose_connection_breaks_is_not_sent_again() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read(&mut stream).await;
        drop(stream);
        tokio::time::timeout(Duration::from_secs(1), listener.accept()).await.is_err()
    });
    let failure = ask(&http(&address, "")).await.unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::ProviderCrashed, Sent::Maybe));
    assert!(server.await.unwrap(), "it came twice");
}

#[tokio::test]
async fn a_backend_that_is_not_there_yet_is_waited_for_a_moment_and_then_unavailable() {
    let unheard = || {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap().to_string();
        (socket, address)
    };
    let (_socket, address) = unheard();
    let failure = ask(&http(&address, "")).await.unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::ToolUnavailable, Sent::No));
    // A busy machine may look away for the whole moment: then there is another one.
    loop {
        let (socket, address) = unheard();
        let backend = http(&address, "");
        let asking = tokio::spawn(async move { ask(&backend).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        let server = answering(socket.listen(1).unwrap(), "200 OK", r#"{"value": 7}"#.to_owned());
        match asking.await.unwrap() {
            Ok(value) => break assert_eq!(value, "7"),
            Err(failure) => assert_eq!(failure.code, ErrorCode::ToolUnavailable, "{failure:?}"),
        }
        server.abort();
    }
}

#[tokio::test]
async fn a_deadline_ends_the_request_and_its_connection() {
    let (listener, address) = listen().await;
    let (sent, came) = oneshot::channel();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read(&mut stream).await;
        sent.send(()).unwrap();
        stream.read(&mut [0; 16]).await.unwrap_or(0)
    });
    let backend = http(&address, "");
    let asking = {
        let backend = Arc::clone(&backend);
        tokio::spawn(async move { backend.request(request(HOUR)).await })
    };
    came.await.unwrap();
    tokio::time::pause();
    tokio::time::advance(HOUR).await;
    let failure = asking.await.unwrap().unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::DeadlineExceeded, Sent::Maybe));
    assert_eq!(server.await.unwrap(), 0, "the connection was not closed");
    let failure = backend.request(request(Duration::ZERO)).await.unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::DeadlineExceeded, Sent::No));
}

#[tokio::test]
async fn more_requests_than_allowed_are_refused_at_once_and_a_given_up_one_makes_room() {
    let (_listener, address) = listen().await;
    let backend = http(&address, "max_in_flight = 1\n");
    let asking = {
        let backend = Arc::clone(&backend);
        tokio::spawn(async move { ask(&backend).await })
    };
    while backend.room.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    let failure = ask(&backend).await.unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::LimitInFlight, Sent::No));
    asking.abort();
    asking.await.unwrap_err();
    assert_eq!(backend.room.available_permits(), 1);
}

#[tokio::test]
async fn without_a_backend_every_request_is_unavailable() {
    let failure = ask(&backend("")).await.unwrap_err();
    assert_eq!((failure.code, failure.sent), (ErrorCode::ToolUnavailable, Sent::No));
    assert!(failure.message.contains("send.text"), "{failure:?}");
}

#[test]
fn a_backend_without_its_secret_does_not_start() {
    let section =
        "[backend]\nkind = \"http\"\nurl = \"http://127.0.0.1:1/\"\nsecret = { env = \"TOOLYARD_TEST_NONE\" }\n";
    let error = Backend::start(Config::parse(section).backend).unwrap_err().to_string();
    assert!(error.contains("backend: secret") && error.contains("TOOLYARD_TEST_NONE"), "{error}");
}
