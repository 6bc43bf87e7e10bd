//! A daemon's HTTP API: one request a batch.

use std::fmt::Write as _;

use super::embedded::session_name;
use super::pool::Pool;
use super::{Callee, Loss, TargetError, Work, answer, call_id, callees, find_tools};
use crate::scenario::Scenario;

/// A daemon.
#[derive(Debug)]
pub(crate) struct Http {
    pool: Pool,
    callees: Vec<Callee>,
    ids: Vec<String>,
    name_sessions: bool,
    deadline_ms: u64,
}

// === impl Http ===

impl Http {
    pub(super) async fn open(scenario: &Scenario) -> Result<Self, TargetError> {
        let http = Self {
            pool: Pool::new(scenario, "/v1/batches")?,
            callees: callees(scenario),
            ids: (0..scenario.max_calls()).map(call_id).collect(),
            name_sessions: scenario.load.name_sessions,
            deadline_ms: scenario.load.deadline_ms,
        };
        find_tools(scenario, &http.pool.url(), async || http.listed().await).await?;
        Ok(http)
    }

    pub(super) async fn run(&self, session: u32, work: &mut Work) {
        let body = self.body(session, &work.hand);
        let sent = self.pool.exchange("POST", "", &body, |said| {
            if said.status == 200 {
                answer::outcome(said.body, &self.ids, work);
                Ok(())
            } else {
                Err(Loss::Status(said.status))
            }
        });
        if let Err(loss) = sent.await {
            work.lose(loss);
        }
    }

    /// Names of the daemon's tools.
    async fn listed(&self) -> Result<Vec<String>, Loss> {
        let path = self.pool.address.path.replace("/v1/batches", "/v1/tools");
        let address = self.pool.address.at(path);
        let read = |said: super::wire::Answer<'_>| match said.status {
            200 => serde_json::from_slice::<serde_json::Value>(said.body).map_err(|_| Loss::Unreadable),
            status => Err(Loss::Status(status)),
        };
        let document = self.pool.exchange_at(&address, "GET", "", "", read).await?;
        Ok(names(&document["tools"]))
    }

    fn body(&self, session: u32, hand: &[usize]) -> String {
        let mut body = String::with_capacity(128 + 96 * hand.len());
        body.push('{');
        if self.name_sessions {
            write!(body, r#""session":"{}","#, session_name(session)).ok();
        }
        write!(body, r#""deadline_ms":{},"calls":["#, self.deadline_ms).ok();
        for (index, (tool, id)) in hand.iter().zip(&self.ids).enumerate() {
            let Callee { name, arguments } = &self.callees[*tool];
            let comma = if index > 0 { "," } else { "" };
            write!(body, r#"{comma}{{"call_id":"{id}","tool":"{name}","arguments":{arguments}}}"#).ok();
        }
        body.push_str("]}");
        body
    }
}

/// The names in a list of definitions.
pub(super) fn names(tools: &serde_json::Value) -> Vec<String> {
    let tools = tools.as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}
