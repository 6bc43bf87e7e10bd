//! `toolyard history`: checks a conversation for what vendors refuse, and repairs it.

use std::path::PathBuf;

use clap::Args;
use toolyard::{HistoryForm, HistoryOptions, IdRule, check_history};

use super::{CliError, input};
use crate::process::print;

/// Checks a conversation for unanswered, orphaned and repeated calls, and repairs it.
#[derive(Debug, Args)]
pub(super) struct History {
    /// The conversation: a list of messages, or a request that holds one; `-` for standard input.
    file: PathBuf,
    /// Form of the messages: openai-chat, openai-responses, anthropic, gemini, ollama or native.
    #[arg(long)]
    format: HistoryForm,
    /// What ids of calls become: as-given, openai, anthropic or mistral.
    #[arg(long, value_name = "RULE")]
    ids: Option<IdRule>,
}

// === impl History ===

impl History {
    pub(super) fn run(self) -> Result<(), CliError> {
        let text = input::text(&self.file)?;
        let mut options = HistoryOptions::of(self.format);
        if let Some(ids) = self.ids {
            options = options.with_ids(ids);
        }
        let report = check_history(self.format, options, &text)
            .map_err(|error| CliError::Input(format!("{}: {error}", self.file.display())))?;
        print(&serde_json::to_string_pretty(&report)?)?;
        Ok(())
    }
}
