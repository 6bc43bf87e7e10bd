//! Wire: as little HTTP/1.1 as it takes, so that the client costs next to nothing: one kept connection, one buffer for
//! requests and one for answers, used again and again.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer larger than this is refused.
const MAX_ANSWER: usize = 64 << 20;
const MAX_HEAD: usize = 64 << 10;
const MAX_HEADERS: usize = 64;
/// A buffer that has grown beyond this is not kept.
const KEPT: usize = 1 << 20;

/// Where requests go, and what each carries.
#[derive(Clone, Debug)]
pub(super) struct Address {
    /// `host:port`.
    pub(super) authority: String,
    pub(super) path: String,
    /// `Name: value\r\n`, secret.
    header: Secret,
}

#[derive(Clone)]
struct Secret(String);

/// A kept connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// What is written.
    out: Vec<u8>,
    /// What was read.
    read: Vec<u8>,
    /// The body of an answer in chunks, without their frames.
    body: Vec<u8>,
    /// Whether the last answer was read to its end and the connection stays.
    is_reusable: bool,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer<'c> {
    pub(super) status: u16,
    pub(super) body: &'c [u8],
    pub(super) is_event_stream: bool,
    pub(super) mcp_session: Option<String>,
}

/// What the head of an answer says.
#[derive(Debug, Default)]
struct Head {
    status: u16,
    length: Option<usize>,
    is_chunked: bool,
    is_last: bool,
    is_event_stream: bool,
    mcp_session: Option<String>,
}

// === impl Address ===

impl Address {
    pub(super) fn new(url: &str, path: &str, header: Option<(&str, &str)>) -> Self {
        let rest = url.strip_prefix("http://").unwrap_or(url);
        let (host, own_path) =
            rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, format!("/{path}")));
        let authority = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
        let path = format!("{}{path}", own_path.trim_end_matches('/'));
        let header = header.map(|(name, value)| format!("{name}: {value}\r\n")).unwrap_or_default();
        Self { authority, path: if path.is_empty() { "/".to_owned() } else { path }, header: Secret(header) }
    }

    /// Another path of the same server.
    pub(super) fn at(&self, path: String) -> Self {
        Self { path, ..self.clone() }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

// === impl Connection ===

impl Connection {
    pub(super) async fn open(address: &Address) -> io::Result<Self> {
        let stream = TcpStream::connect(&address.authority).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, out: Vec::new(), read: Vec::new(), body: Vec::new(), is_reusable: true })
    }

    /// Whether another request may be sent.
    pub(super) fn is_reusable(&self) -> bool {
        self.is_reusable
    }

    /// Sends a request and reads its answer. `headers` are whole lines.
    pub(super) async fn exchange(
        &mut self,
        method: &str,
        address: &Address,
        headers: &str,
        body: &str,
    ) -> io::Result<Answer<'_>> {
        use std::io::Write as _;
        // Should the future be dropped, nobody knows what is still to come on the connection.
        self.is_reusable = false;
        self.out.clear();
        let Address { authority, path, header: Secret(header) } = address;
        write!(
            self.out,
            "{method} {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n{header}{headers}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        self.stream.write_all(&self.out).await?;
        let (head, from) = self.head().await?;
        let Head { status, is_event_stream, is_last, .. } = head;
        let range = self.body(&head, from).await?;
        self.is_reusable = !is_last && (head.is_chunked || head.length.is_some());
        let body = if head.is_chunked { &self.body[..] } else { self.read.get(range).unwrap_or_default() };
        Ok(Answer { status, body, is_event_stream, mcp_session: head.mcp_session })
    }

    /// The head of the answer, and where its body begins.
    async fn head(&mut self) -> io::Result<(Head, usize)> {
        self.read.clear();
        if self.read.capacity() > KEPT {
            self.read.shrink_to(KEPT);
        }
        loop {
            self.more().await?;
            match parse_head(&self.read)? {
                // An interim answer, which the real one follows.
                Some((Head { status: 100..200, .. }, length)) => drop(self.read.drain(..length)),
                Some(parsed) => return Ok(parsed),
                None if self.read.len() > MAX_HEAD => return Err(io::ErrorKind::FileTooLarge.into()),
                None => {}
            }
        }
    }

    /// Reads the body to its end. Says where it stands, if it is not in chunks.
    async fn body(&mut self, head: &Head, from: usize) -> io::Result<std::ops::Range<usize>> {
        if head.is_chunked {
            self.chunks(from).await?;
            return Ok(0..0);
        }
        match head.length {
            Some(length) if length > MAX_ANSWER => Err(io::ErrorKind::FileTooLarge.into()),
            Some(length) => {
                while self.read.len() < from + length {
                    self.more().await?;
                }
                Ok(from..from + length)
            }
            None if matches!(head.status, 204 | 304) => Ok(from..from),
            // Until the connection ends.
            None => {
                while self.read_some().await? > 0 {}
                Ok(from..self.read.len())
            }
        }
    }

    async fn chunks(&mut self, mut at: usize) -> io::Result<()> {
        self.body.clear();
        if self.body.capacity() > KEPT {
            self.body.shrink_to(KEPT);
        }
        loop {
            let (skip, size) = loop {
                match httparse::parse_chunk_size(self.read.get(at..).unwrap_or_default()) {
                    Ok(httparse::Status::Complete((skip, size))) => {
                        break (skip, usize::try_from(size).unwrap_or(usize::MAX));
                    }
                    Ok(httparse::Status::Partial) => self.more().await?,
                    Err(_) => return Err(io::ErrorKind::InvalidData.into()),
                }
            };
            if size.saturating_add(self.body.len()) > MAX_ANSWER {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            // The chunk, and the end of its line. Trailers are not sent by what is measured here.
            let (from, to) = (at + skip, at + skip + size);
            while self.read.len() < to + 2 {
                self.more().await?;
            }
            if size == 0 {
                return Ok(());
            }
            self.body.extend_from_slice(self.read.get(from..to).unwrap_or_default());
            at = to + 2;
        }
    }

    async fn more(&mut self) -> io::Result<()> {
        if self.read_some().await? == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    async fn read_some(&mut self) -> io::Result<usize> {
        if self.read.len() > MAX_ANSWER + MAX_HEAD {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.read.reserve(4 << 10);
        self.stream.read_buf(&mut self.read).await
    }
}

fn parse_head(bytes: &[u8]) -> io::Result<Option<(Head, usize)>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = response.parse(bytes).map_err(|_| invalid())? else { return Ok(None) };
    let mut head = Head { status: response.code.unwrap_or_default(), ..Head::default() };
    for header in &*response.headers {
        let value = std::str::from_utf8(header.value).map_err(|_| invalid())?.trim();
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            head.length = Some(value.parse().map_err(|_| invalid())?);
        } else if is("transfer-encoding") {
            head.is_chunked = value.eq_ignore_ascii_case("chunked");
        } else if is("connection") {
            head.is_last = value.eq_ignore_ascii_case("close");
        } else if is("content-type") {
            head.is_event_stream = value.starts_with("text/event-stream");
        } else if is("mcp-session-id") {
            head.mcp_session = Some(value.to_owned());
        }
    }
    Ok(Some((head, length)))
}
