//! `toolyard parse`: shows what a reply would call, and runs nothing.

use std::time::Duration;

use clap::Args;
use serde::Serialize;
use toolyard::{CallError, CallId, CallPolicy, CheckedCall, JsonText, Limits, Repair, ToolBatch, ToolCall};

use super::CliError;
use super::reply::{PolicyArgs, ReplyArgs, ToolArgs};
use super::starting::wait_until_started;
use crate::process::print;
use crate::telemetry::log_to_stderr;

/// Shows the calls of a reply and what is mended in them.
#[derive(Debug, Args)]
pub(super) struct Parse {
    #[command(flatten)]
    reply: ReplyArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    tools: ToolArgs,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct ParseDocument {
    format: &'static str,
    calls: Calls,
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Calls {
    /// Checked against tools.
    Checked(Vec<CheckedCall>),
    /// Read without tools.
    Read(Vec<ReadCall>),
}

/// A call whose tool nobody has named.
#[derive(Debug, Serialize)]
struct ReadCall {
    call_id: CallId,
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<JsonText>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repairs: Vec<Repair>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<CallError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    opaque: Option<JsonText>,
}

// === impl Parse ===

impl Parse {
    pub(super) async fn run(self) -> Result<(), CliError> {
        log_to_stderr(Some("warn"));
        let (parsed, dialect) = self.reply.read()?;
        let batch = ToolBatch::new(parsed.calls);
        let calls = if self.tools.is_given(&self.reply.reply) {
            let app = self.tools.start(Some(&self.reply.reply)).await?;
            wait_until_started(&app).await;
            let batch = batch.with_policy(self.policy.over(app.policy));
            let checked = app.registry.check(&batch);
            app.close(Duration::ZERO).await;
            Calls::Checked(checked)
        } else {
            let policy = self.policy.over(CallPolicy::default());
            Calls::Read(batch.calls.into_iter().map(|call| read(call, policy)).collect())
        };
        let document =
            ParseDocument { format: dialect.as_str(), calls, reasoning: parsed.reasoning, warnings: parsed.warnings };
        print(&serde_json::to_string_pretty(&document)?)?;
        Ok(())
    }
}

fn read(call: ToolCall, policy: CallPolicy) -> ReadCall {
    let (arguments, repairs, error) = match call.read(policy.profile, &Limits::default()) {
        Ok((arguments, repairs)) => (Some(arguments.json().clone()), repairs, None),
        Err(error) => (None, Vec::new(), Some(error)),
    };
    ReadCall { call_id: call.call_id, tool: call.name.to_string(), arguments, repairs, error, opaque: call.opaque }
}
