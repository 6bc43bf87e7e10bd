//! Wire: as little HTTP as a session of MCP needs, so that the client costs next to nothing.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;

/// One kept connection to an MCP server.
pub(crate) struct Connection {
    stream: BufStream<TcpStream>,
    host: String,
    path: String,
    /// `Mcp-Session-Id`, once the server gave one.
    session: Option<String>,
}

/// The answer to one request.
pub(crate) struct Answer {
    /// Its HTTP status.
    pub(crate) status: u16,
    session: Option<String>,
    /// The body, without the frames around its chunks.
    pub(crate) body: String,
}

// === impl Connection ===

impl Connection {
    /// Connects and opens a session of revision 2025-11-25.
    pub(crate) async fn open(url: &str) -> io::Result<Self> {
        let mut connection = Self::connect(url, None).await?;
        let client = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}"#;
        let opened = connection.post(&message(Some(0), "initialize", client)).await?;
        connection.session = opened.session;
        connection.post(&message(None, "notifications/initialized", "{}")).await?;
        Ok(connection)
    }

    /// Another connection of the same session.
    pub(crate) async fn another(&self) -> io::Result<Self> {
        Self::connect(&format!("http://{}{}", self.host, self.path), self.session.clone()).await
    }

    async fn connect(url: &str, session: Option<String>) -> io::Result<Self> {
        let address = url.strip_prefix("http://").unwrap_or(url);
        let (host, path) = address.split_once('/').unwrap_or((address, ""));
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufStream::new(stream), host: host.to_owned(), path: format!("/{path}"), session })
    }

    /// Calls a tool and gives the whole answer back.
    pub(crate) async fn call(&mut self, id: u64, tool: &str, arguments: &str) -> io::Result<Answer> {
        self.post(&message(Some(id), "tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#))).await
    }

    /// Gives a request of this session up.
    pub(crate) async fn cancel(&mut self, id: u64) -> io::Result<Answer> {
        self.post(&message(None, "notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#))).await
    }

    /// Reads something else that the server has.
    pub(crate) async fn get(&mut self, path: &str) -> io::Result<Answer> {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        self.stream.write_all(head.as_bytes()).await?;
        self.stream.flush().await?;
        self.answer().await
    }

    async fn post(&mut self, body: &str) -> io::Result<Answer> {
        let session = self.session.as_ref().map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default();
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n{session}\
             Content-Length: {}\r\n\r\n",
            self.path,
            self.host,
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await?;
        self.stream.write_all(body.as_bytes()).await?;
        self.stream.flush().await?;
        self.answer().await
    }

    async fn answer(&mut self) -> io::Result<Answer> {
        let mut line = self.line().await?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
        let (mut session, mut length, mut is_chunked) = (None, 0, false);
        loop {
            line = self.line().await?;
            let Some((name, value)) = line.split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().map_err(|_| broken())?,
                "transfer-encoding" => is_chunked = value.eq_ignore_ascii_case("chunked"),
                "mcp-session-id" => session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = Vec::new();
        if is_chunked {
            loop {
                let size = usize::from_str_radix(self.line().await?.trim(), 16).map_err(|_| broken())?;
                self.take(size, &mut body).await?;
                self.line().await?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.take(length, &mut body).await?;
        }
        Ok(Answer { status, session, body: String::from_utf8(body).map_err(|_| broken())? })
    }

    async fn take(&mut self, size: usize, body: &mut Vec<u8>) -> io::Result<()> {
        let from = body.len();
        body.resize(from + size, 0);
        self.stream.read_exact(&mut body[from..]).await.map(drop)
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }
}

fn message(id: Option<u64>, method: &str, params: &str) -> String {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#)
}

fn broken() -> io::Error {
    io::ErrorKind::InvalidData.into()
}
