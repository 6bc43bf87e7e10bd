//! `toolyard dispatch`: runs one model reply.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use toolyard::{ToolBatch, ToolExecutionContext};

use super::reply::{MessageArgs, PolicyArgs, ReplyArgs, ToolArgs};
use super::starting::wait_until_started;
use super::{CliError, input};
use crate::document::OutcomeDocument;
use crate::process::print;
use crate::telemetry::log_to_stderr;

/// Runs one model reply and prints its outcome.
#[derive(Debug, Args)]
pub(super) struct Dispatch {
    #[command(flatten)]
    reply: ReplyArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    messages: MessageArgs,
    /// Session and chat context, as JSON.
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    /// Time for the whole batch, in milliseconds.
    #[arg(long)]
    deadline_ms: Option<u64>,
    #[command(flatten)]
    tools: ToolArgs,
}

// === impl Dispatch ===

impl Dispatch {
    pub(super) async fn run(self) -> Result<(), CliError> {
        log_to_stderr(Some("warn"));
        let (parsed, dialect) = self.reply.read()?;
        let mut context: ToolExecutionContext = match &self.context {
            Some(path) => input::json(path)?,
            None => ToolExecutionContext::default(),
        };
        if context.reasoning.is_empty() {
            context.reasoning.clone_from(&parsed.reasoning);
        }
        let app = self.tools.start(Some(&self.reply.reply)).await?;
        wait_until_started(&app).await;
        let policy = self.policy.over(app.policy);
        let mut batch = ToolBatch::new(parsed.calls).with_context(Arc::new(context)).with_policy(policy);
        batch.deadline = self.deadline_ms.map(Duration::from_millis);
        let outcome = app.registry.dispatch(batch).await;
        app.close(Duration::ZERO).await;
        let document = OutcomeDocument::new(outcome, &parsed.turn, dialect, self.messages.options());
        let document = document.with_warnings(parsed.warnings);
        print(&serde_json::to_string_pretty(&document)?)?;
        Ok(())
    }
}
