//! A service over a real socket that answers as a test says and remembers what it was asked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A running service. It ends with its test's runtime.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// How many requests have come.
    pub(crate) asked: watch::Receiver<usize>,
    /// How many clients have gone away before they were answered.
    pub(crate) deserted: watch::Receiver<usize>,
}

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Method and target, such as `GET /a?b=c`.
    pub(crate) line: String,
    /// In lower case, as `name: value`.
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

struct Desk<F> {
    answer: F,
    come: watch::Sender<usize>,
    gone: watch::Sender<usize>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// What a service does with a request.
pub(crate) enum Answer {
    /// These bytes, as they are; then the connection is closed.
    Raw(Vec<u8>),
    /// Nothing, until the client goes away.
    Never,
}

// === impl Service ===

impl Service {
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (gone, deserted) = watch::channel(0);
        let (come, asked) = watch::channel(0);
        let desk = Arc::new(Desk { answer, come, gone, seen: Arc::clone(&seen) });
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let desk = Arc::clone(&desk);
                tokio::spawn(async move { desk.serve(stream).await });
            }
        });
        Self { address, seen, asked, deserted }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

// === impl Desk ===

impl<F: Fn(&Seen) -> Answer> Desk<F> {
    async fn serve(&self, mut stream: TcpStream) {
        let Some(seen) = read(&mut stream).await else { return };
        self.seen.lock().unwrap().push(seen.clone());
        self.come.send_modify(|come| *come += 1);
        match (self.answer)(&seen) {
            Answer::Raw(bytes) => {
                stream.write_all(&bytes).await.ok();
                stream.shutdown().await.ok();
            }
            Answer::Never => {
                while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
                self.gone.send_modify(|gone| *gone += 1);
            }
        }
    }
}

// === impl Seen ===

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|header| header.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A whole answer with this status, content type and body.
pub(crate) fn answer(status: &str, content_type: &str, body: &str) -> Answer {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n");
    Answer::Raw(format!("{head}connection: close\r\n\r\n{body}").into_bytes())
}

pub(crate) fn json(body: &str) -> Answer {
    answer("200 OK", "application/json", body)
}

pub(crate) fn redirect(status: &str, target: &str) -> Answer {
    let head = format!("HTTP/1.1 {status}\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    Answer::Raw(head.into_bytes())
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let line = lines.next()?.strip_suffix(" HTTP/1.1")?.to_owned();
            let lower = |header: &str| header.split_once(": ").map(|(n, v)| format!("{}: {v}", n.to_ascii_lowercase()));
            let seen = Seen { line, headers: lines.filter_map(lower).collect(), body: body.to_owned() };
            let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Some(seen);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
