//! An MCP endpoint: one `tools/call` a call, those of a batch at once, in one session of revision 2025-11-25.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::{join_all, try_join_all};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::pool::Pool;
use super::wire::Answer;
use super::{CallEnd, Callee, Loss, PATIENCE, TargetError, Work, answer, callees, find_tools, http};
use crate::scenario::Scenario;

const HEADERS: &str = "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n";
const CLIENT: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"loadgen","version":"1"}}"#;
/// Pages of a tool list that are read.
const MAX_PAGES: usize = 1_000;

/// An MCP endpoint.
#[derive(Debug)]
pub(crate) struct Mcp {
    pool: Pool,
    callees: Vec<Callee>,
    /// What every request of a session carries, once it is opened.
    sessions: Vec<OnceCell<String>>,
    next_id: AtomicU64,
}

// === impl Mcp ===

impl Mcp {
    pub(super) async fn open(scenario: &Scenario) -> Result<Self, TargetError> {
        let mcp = Self {
            pool: Pool::new(scenario, "")?,
            callees: callees(scenario),
            sessions: (0..scenario.max_sessions()).map(|_| OnceCell::new()).collect(),
            next_id: AtomicU64::new(1),
        };
        let url = mcp.pool.url();
        find_tools(scenario, &url, async || mcp.listed().await).await?;
        // Before anything is measured: opening sessions is no part of the load.
        let opened = (0..scenario.max_sessions()).map(|session| mcp.session(session));
        try_join_all(opened).await.map_err(|loss| TargetError::Unreachable { url, loss })?;
        Ok(mcp)
    }

    /// Ends the sessions, which the server would keep for a while otherwise.
    pub(super) async fn close(self) {
        let opened = self.sessions.iter().filter_map(OnceCell::get);
        let ended = join_all(opened.map(|headers| self.pool.exchange("DELETE", headers, "", |_said| Ok(()))));
        drop(tokio::time::timeout(PATIENCE, ended).await);
    }

    pub(super) async fn run(&self, session: u32, work: &mut Work) {
        let began = Instant::now();
        let headers = match self.session(session).await {
            Ok(headers) => headers,
            Err(loss) => return work.lose(loss),
        };
        let calls = work.hand.iter().map(|tool| async {
            let status = self.call(headers, &self.callees[*tool]).await;
            CallEnd { status, took: began.elapsed() }
        });
        work.ends.extend(join_all(calls).await);
    }

    async fn call(&self, headers: &str, callee: &Callee) -> Result<toolyard::CallStatus, Loss> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let Callee { name, arguments } = callee;
        let body = request(id, "tools/call", &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#));
        let read = |said: Answer<'_>| match said.status {
            200 => answer::response(said.body, said.is_event_stream, id),
            status => Err(Loss::Status(status)),
        };
        self.pool.exchange("POST", headers, &body, read).await
    }

    /// The headers of a session, which is opened when it is first used.
    async fn session(&self, session: u32) -> Result<&str, Loss> {
        let Some(session) = self.sessions.get(session as usize) else { return Err(Loss::Refused) };
        session.get_or_try_init(|| self.initialize()).await.map(String::as_str)
    }

    async fn initialize(&self) -> Result<String, Loss> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let body = request(id, "initialize", CLIENT);
        let opened = self.pool.exchange("POST", HEADERS, &body, |said| match said.status {
            200 => Ok(said.mcp_session),
            status => Err(Loss::Status(status)),
        });
        let session = opened.await?.map(|session| format!("Mcp-Session-Id: {session}\r\n")).unwrap_or_default();
        let headers = format!("{HEADERS}{session}");
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.pool.exchange("POST", &headers, initialized, |_said| Ok(())).await?;
        Ok(headers)
    }

    /// Names of all tools, in the first session.
    async fn listed(&self) -> Result<Vec<String>, Loss> {
        let headers = self.session(0).await?;
        let (mut listed, mut params) = (Vec::new(), "{}".to_owned());
        for _ in 0..MAX_PAGES {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            let read = |said: Answer<'_>| document(&said);
            let page = self.pool.exchange("POST", headers, &request(id, "tools/list", &params), read).await?;
            listed.extend(http::names(&page["result"]["tools"]));
            match page["result"]["nextCursor"].as_str() {
                Some(cursor) => params = serde_json::json!({"cursor": cursor}).to_string(),
                None => break,
            }
        }
        Ok(listed)
    }
}

fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// An answer as a document; of a stream, the last event.
fn document(said: &Answer<'_>) -> Result<serde_json::Value, Loss> {
    if said.status != 200 {
        return Err(Loss::Status(said.status));
    }
    let text = std::str::from_utf8(said.body).map_err(|_| Loss::Unreadable)?;
    let text =
        if said.is_event_stream { text.lines().rev().find_map(|line| line.strip_prefix("data:")) } else { Some(text) };
    serde_json::from_str(text.unwrap_or_default()).map_err(|_| Loss::Unreadable)
}
