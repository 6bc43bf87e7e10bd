use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolyard::CallStatus;

use super::*;

/// A server that sends these bytes for one request on each connection, in two halves.
async fn server(answers: &'static [&'static str]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            let (first, second) = answer.split_at(answer.len() / 2);
            stream.write_all(first.as_bytes()).await.unwrap();
            tokio::task::yield_now().await;
            stream.write_all(second.as_bytes()).await.unwrap();
        }
    });
    address
}

const LISTED: &str =
    "HTTP/1.1 200 OK\r\nContent-Length: 28\r\nConnection: close\r\n\r\n{\"tools\":[{\"name\":\"noop\"}]} ";

/// What a batch of two calls comes to when the daemon answers with these bytes.
async fn answered(answer: &'static str) -> Vec<Result<CallStatus, Loss>> {
    let answers: &'static [&'static str] = Box::leak(Box::new([LISTED, answer]));
    let address = server(answers).await;
    let text =
        format!("[target]\nkind = \"http\"\nurl = \"http://{address}\"\ntimeout_ms = 60000\n[[batches]]\ncalls = 2\n");
    let target = Target::open(&Scenario::parse(&text).unwrap()).await.unwrap();
    let mut work = Work { hand: vec![0, 0], ..Work::default() };
    target.run(0, &mut work).await;
    work.ends.iter().map(|end| end.status).collect()
}

const OK: Result<CallStatus, Loss> = Ok(CallStatus::Ok);

#[tokio::test]
async fn answers_of_a_length_in_chunks_and_to_the_end_of_the_connection_are_read() {
    const CHUNKS: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5\r\n{\"res\r\n7a\r\nults\":[{\"call_id\":\"c0\",\"status\":\"ok\",\"duration_ms\":1.5},\
        {\"call_id\":\"c1\",\"status\":\"timeout\",\"duration_ms\":2,\"content\":\"\"}]}\r\n0\r\n\r\n";
    const OPEN: &str = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{\"results\":[\
        {\"call_id\":\"c0\",\"status\":\"ok\",\"duration_ms\":1},{\"call_id\":\"c1\",\"status\":\"ok\",\"duration_ms\":1}]}";
    assert_eq!(answered(CHUNKS).await, [OK, Ok(CallStatus::Timeout)]);
    assert_eq!(answered(OPEN).await, [OK, OK]);
}

#[tokio::test]
async fn a_result_too_few_or_out_of_order_is_a_violation() {
    const FEW: &str = "HTTP/1.1 200 OK\r\n\r\n{\"results\":[{\"call_id\":\"c0\",\"status\":\"ok\",\"duration_ms\":1}]}";
    const TURNED: &str = "HTTP/1.1 200 OK\r\n\r\n{\"results\":[\
        {\"call_id\":\"c1\",\"status\":\"ok\",\"duration_ms\":1},{\"call_id\":\"c0\",\"status\":\"ok\",\"duration_ms\":1}]}";
    assert_eq!(answered(FEW).await, [Err(Loss::Violation); 2]);
    assert_eq!(answered(TURNED).await, [Err(Loss::Violation); 2]);
}

#[tokio::test]
async fn what_cannot_be_read_is_lost_by_its_reason() {
    for (answer, loss) in [
        ("HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\n{}", Loss::Status(503)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Loss::Unreadable),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", Loss::Closed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{", Loss::TooLarge),
        ("nonsense\r\n\r\n", Loss::Unreadable),
    ] {
        assert_eq!(answered(answer).await, [Err(loss); 2], "{answer}");
    }
}

#[tokio::test]
async fn a_target_that_is_not_there_is_told_before_the_run() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let text = format!("[target]\nkind = \"http\"\nurl = \"http://{address}\"\n");
    let unreachable = Target::open(&Scenario::parse(&text).unwrap()).await.unwrap_err();
    assert!(unreachable.to_string().contains(": connect"), "{unreachable}");
}

#[test]
fn answers_of_mcp_are_told_apart() {
    let read = |body: &str, is_stream: bool| answer::response(body.as_bytes(), is_stream, 7);
    assert_eq!(read(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":false}}"#, false), OK);
    let failed = r#"{"id":7,"result":{"content":[{"type":"text"}],"isError":true}}"#;
    assert_eq!(read(failed, false), Ok(CallStatus::ToolError));
    assert_eq!(read(r#"{"id":7,"error":{"code":-32602,"message":"no"}}"#, false), Err(Loss::Rpc(-32602)));
    assert_eq!(read(r#"{"id":8,"result":{"content":[]}}"#, false), Err(Loss::Violation));
    let progress = "data: {\"method\":\"notifications/progress\"}\n\n";
    let done = "data: {\"id\":7,\"result\":{\"content\":[]}}\n\n";
    assert_eq!(read(&format!("{progress}{done}"), true), OK);
    assert_eq!(read(&format!("{done}{done}"), true), Err(Loss::Violation));
    assert_eq!(read(progress, true), Err(Loss::Unreadable));
}

#[test]
fn a_secret_header_is_sent_and_never_shown() {
    let address = wire::Address::new("http://h/x/", "/v1/batches", Some(("Authorization", "Bearer secret")));
    assert_eq!((address.authority.as_str(), address.path.as_str()), ("h:80", "/x/v1/batches"));
    assert!(!format!("{address:?}").contains("secret"));
}
