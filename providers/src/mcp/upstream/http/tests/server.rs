//! A service that answers as a test says, and a box that keeps what was received.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use crate::mcp::upstream::transport::{Failed, Inbox};

/// One request as it came.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Such as `POST /mcp`.
    pub(super) line: String,
    /// With names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

/// One step of an answer.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(Vec<u8>),
    Wait(Duration),
    /// Keeps the connection open until the client closes it.
    Hold,
}

/// A service; every connection carries one request.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    _task: AbortOnDropHandle<()>,
}

/// Keeps what was received.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub(super) messages: Mutex<Vec<(String, Option<u64>)>>,
    pub(super) failures: Mutex<Vec<(u64, String)>>,
}

// === impl Seen ===

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    async fn read(stream: &mut BufReader<&mut TcpStream>) -> Option<Self> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let line = lines.first()?.trim_end_matches(" HTTP/1.1").to_owned();
        let headers: Vec<(String, String)> = lines[1..]
            .iter()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut seen = Self { line, headers, body: String::new() };
        let mut body = vec![0; seen.header("content-length").map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await.ok()?;
        seen.body = String::from_utf8(body).unwrap();
        Some(seen)
    }
}

// === impl Server ===

impl Server {
    pub(super) async fn start(answer: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move {
                    let Some(request) = Seen::read(&mut BufReader::new(&mut stream)).await else { return };
                    let steps = answer(&request);
                    log.lock().unwrap().push(request);
                    for step in steps {
                        match step {
                            Step::Write(bytes) => {
                                if stream.write_all(&bytes).await.is_err() {
                                    return;
                                }
                            }
                            Step::Wait(time) => tokio::time::sleep(time).await,
                            Step::Hold => drop(stream.read(&mut [0; 16]).await),
                        }
                    }
                    stream.shutdown().await.ok();
                });
            }
        });
        Self { address, seen, _task: AbortOnDropHandle::new(task) }
    }

    pub(super) fn url(&self) -> url::Url {
        format!("http://{}/mcp", self.address).parse().unwrap()
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// An answer of this status and type, whole.
pub(super) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<Step> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    vec![Step::Write([head.as_bytes(), body].concat())]
}

pub(super) fn json(body: impl AsRef<[u8]>) -> Vec<Step> {
    answer("200 OK", "content-type: application/json\r\n", body)
}

/// The start of a stream of events, which lasts until the connection is closed.
pub(super) fn stream(events: &str) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
    vec![Step::Write(format!("{head}{events}").into_bytes())]
}

// === impl Received ===

impl Received {
    pub(super) fn messages(&self) -> Vec<(String, Option<u64>)> {
        self.messages.lock().unwrap().clone()
    }

    pub(super) fn failures(&self) -> Vec<(u64, String)> {
        self.failures.lock().unwrap().clone()
    }

    /// Waits until this much was received and failed.
    pub(super) async fn wait(&self, messages: usize, failures: usize) {
        let waiting = async {
            while self.messages().len() < messages || self.failures().len() < failures {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(10), waiting).await;
        assert!(waited.is_ok(), "{self:?}");
    }
}

impl Inbox for Received {
    fn receive(&self, message: &[u8], answering: Option<u64>) {
        self.messages.lock().unwrap().push((String::from_utf8_lossy(message).into_owned(), answering));
    }

    fn fail(&self, id: u64, failure: Failed) {
        let text = match failure {
            Failed::SessionLost => "session lost".to_owned(),
            Failed::WrongEra(reason) => format!("wrong era: {reason}"),
            Failed::Failed(failure) => format!("{}: {}", failure.code.as_str(), failure.message),
        };
        self.failures.lock().unwrap().push((id, text));
    }

    fn noise(&self, _bytes: usize) {}
}
