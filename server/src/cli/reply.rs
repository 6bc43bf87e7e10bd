//! The reply that a command reads, and how it reads it.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use toolyard::{CallPolicy, Dialect, IdRule, MediaMode, MessageOptions, ParsedReply, Profile, ReplyError};

use super::{CliError, ConfigArgs, input};
use crate::app::App;
use crate::config::Config;
use crate::process::say;

/// A model's reply.
#[derive(Debug, Args)]
pub(super) struct ReplyArgs {
    /// The reply, as JSON; `-` for standard input.
    pub(super) reply: PathBuf,
    /// Form of the reply: openai-chat, openai-responses, anthropic, gemini, ollama, bedrock, mcp or native; told by its
    /// shape where absent.
    #[arg(long)]
    format: Option<Dialect>,
    /// The reply is a stream: one JSON chunk a line, with or without `data:` before it. Needs --format.
    #[arg(long, requires = "format")]
    stream: bool,
}

/// What is mended in the calls.
#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    /// How arguments are read: strict or lenient.
    #[arg(long)]
    profile: Option<Profile>,
    /// Lets a name with a known prefix, other letter case or other separators lead to the one tool that can be meant.
    #[arg(long)]
    lenient_names: bool,
    /// Drops properties that a tool's schema does not allow, instead of refusing them.
    #[arg(long)]
    strip_unknown: bool,
    /// Drops optional properties that are "", [], {} or null.
    #[arg(long)]
    drop_empty_optionals: bool,
}

/// How results become history messages.
#[derive(Debug, Args)]
pub(super) struct MessageArgs {
    /// What ids of calls become: as-given, openai, anthropic or mistral. Each form has its own rule where absent.
    #[arg(long, value_name = "RULE")]
    ids: Option<IdRule>,
    /// Where pictures go: together (in the result, or in one user message), each (a user message a picture) or none.
    #[arg(long, default_value = "together", value_parser = MediaMode::from_str)]
    media: MediaMode,
}

/// Which tools the calls lead to.
#[derive(Debug, Args)]
pub(super) struct ToolArgs {
    /// Takes the tools of this file instead of a configuration's; every tool only gives its arguments back. Definitions
    /// in the form of MCP, OpenAI, Anthropic, Gemini or Bedrock are read, each with an optional `server`.
    #[arg(long, value_name = "TOOLS.json", conflicts_with = "config")]
    echo_tools: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

// === impl ReplyArgs ===

impl ReplyArgs {
    pub(super) fn read(&self) -> Result<(ParsedReply, Dialect), CliError> {
        let text = input::text(&self.reply)?;
        let unusable = |error: ReplyError| {
            let hint = if matches!(error, ReplyError::UnknownShape) { " with --format" } else { "" };
            CliError::Input(format!("{}: {error}{hint}", self.reply.display()))
        };
        let dialect = match self.format {
            Some(dialect) => dialect,
            None => Dialect::detect(&text).map_err(unusable)?,
        };
        let parsed = if self.stream { dialect.parse_stream(&text, input::MAX_BYTES) } else { dialect.parse(&text) };
        let parsed = parsed.map_err(unusable)?;
        for warning in &parsed.warnings {
            say(warning);
        }
        Ok((parsed, dialect))
    }
}

// === impl PolicyArgs ===

impl PolicyArgs {
    /// What the configuration says, and what is asked for besides.
    pub(super) fn over(&self, configured: CallPolicy) -> CallPolicy {
        CallPolicy {
            profile: self.profile.unwrap_or(configured.profile),
            lenient_names: self.lenient_names || configured.lenient_names,
            strip_unknown: self.strip_unknown || configured.strip_unknown,
            drop_empty_optionals: self.drop_empty_optionals || configured.drop_empty_optionals,
        }
    }
}

// === impl MessageArgs ===

impl MessageArgs {
    pub(super) fn options(&self) -> MessageOptions {
        let options = MessageOptions::default().with_media(self.media);
        match self.ids {
            Some(ids) => options.with_ids(ids),
            None => options,
        }
    }
}

// === impl ToolArgs ===

impl ToolArgs {
    /// Whether any tools were named.
    pub(super) fn is_given(&self, reply: &Path) -> bool {
        self.echo_tools.is_some() || self.config.config.is_some() || beside(reply).is_some()
    }

    /// Starts the tools. A configuration of the reply's own name beside it is used when no other is given.
    pub(super) async fn start(&self, reply: Option<&Path>) -> Result<App, CliError> {
        if let Some(path) = &self.echo_tools {
            return Ok(App::echoing(input::echo_tools(path)?).await?);
        }
        if let (None, Some(beside)) = (&self.config.config, reply.and_then(beside)) {
            say(&format!("using the configuration {}", beside.display()));
            return Ok(App::start(Config::read(&beside)?).await?);
        }
        Ok(App::start(self.config.read()?).await?)
    }
}

fn beside(reply: &Path) -> Option<PathBuf> {
    let beside = reply.with_extension("toml");
    (reply != Path::new("-") && beside.is_file()).then_some(beside)
}
