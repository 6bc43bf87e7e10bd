//! The command line.

mod dispatch;
mod history;
mod input;
mod mcp;
mod parse;
mod plugin;
mod reply;
mod serve;
mod starting;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::app::AppError;
use crate::config::{Config, ConfigErrors};
use crate::process::say;

/// Runs the tool calls of chat bots.
#[derive(Debug, Parser)]
#[command(name = "toolyard", version, about, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  toolyard                                        start the daemon on 127.0.0.1:7700 with demo tools
  toolyard serve --config toolyard.toml           start it with your own
  toolyard dispatch examples/openai-batch.json    run a recorded model reply and print its outcome
  toolyard parse examples/openai-batch.json       show its calls and what is mended in them, run nothing
  toolyard history --format anthropic chat.json   check a conversation for what vendors refuse, and repair it
  toolyard tools --format anthropic               print the tools as a model sees them
  toolyard mcp --config toolyard.toml             serve them to one MCP client, which starts this itself
  toolyard plugin new --dialect maibot dice       write a small working plugin
  toolyard plugin check dice                      load it, show its tools and what could be better";

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts the daemon (the default).
    Serve(serve::Serve),
    /// Runs one model reply and prints its outcome as one JSON document.
    Dispatch(dispatch::Dispatch),
    /// Shows the calls of a model reply and what is mended in them, and runs nothing.
    Parse(parse::Parse),
    /// Checks a conversation for calls that vendors refuse, and repairs it.
    History(history::History),
    /// Prints the definitions of the tools.
    Tools(Box<tools::Tools>),
    /// Serves the tools to one MCP client over standard input and output.
    Mcp(mcp::Mcp),
    /// Writes and checks plugins.
    Plugin(plugin::Plugin),
}

/// Which configuration to use.
#[derive(Clone, Debug, Default, Args)]
struct ConfigArgs {
    /// Configuration file; the built-in demo where absent.
    #[arg(long, value_name = "FILE", env = "TOOLYARD_CONFIG")]
    config: Option<PathBuf>,
}

/// Why a command cannot do its work.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error("{0}")]
    Config(#[from] ConfigErrors),
    #[error(transparent)]
    App(#[from] AppError),
    #[error("{0}")]
    Input(String),
    #[error("{0}")]
    Server(String),
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
    #[error("cannot print the outcome: {0}")]
    Document(#[from] serde_json::Error),
}

// === impl Cli ===

impl Cli {
    /// Runs the command. The status is 0 when it did its work, 2 when what it was given cannot be used, else 1.
    pub(crate) async fn run(self) -> ExitCode {
        let done = match self.command.unwrap_or(Command::Serve(serve::Serve::default())) {
            Command::Serve(serve) => serve.run().await,
            Command::Dispatch(dispatch) => dispatch.run().await,
            Command::Parse(parse) => parse.run().await,
            Command::History(history) => history.run(),
            Command::Tools(tools) => tools.run().await,
            Command::Mcp(mcp) => mcp.run().await,
            Command::Plugin(plugin) => match plugin.run().await {
                Ok(status) => return status,
                Err(error) => Err(error),
            },
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&format!("error: {error}"));
                ExitCode::from(error.status())
            }
        }
    }
}

// === impl ConfigArgs ===

impl ConfigArgs {
    fn read(&self) -> Result<Config, ConfigErrors> {
        match &self.config {
            Some(path) => Config::read(path),
            None => Config::demo(),
        }
    }
}

// === impl CliError ===

impl CliError {
    fn status(&self) -> u8 {
        match self {
            Self::Config(_) | Self::App(_) | Self::Input(_) => 2,
            Self::Server(_) | Self::Output(_) | Self::Document(_) => 1,
        }
    }
}
