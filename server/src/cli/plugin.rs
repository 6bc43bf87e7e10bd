//! `toolyard plugin`: what the author of a plugin needs.

mod check;
mod new;
mod report;
mod subject;
mod template;

use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};

use super::CliError;

/// Writes and checks plugins.
#[derive(Debug, Args)]
pub(super) struct Plugin {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes a small working plugin.
    New(new::New),
    /// Loads a plugin as the daemon does, shows its tools and what could be better, and calls one of them.
    Check(Box<check::Check>),
}

/// For whom a plugin is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PluginDialect {
    /// MaiBot, on its public SDK.
    #[value(name = "maibot")]
    MaiBot,
    /// LenBot.
    #[value(name = "lenbot")]
    LenBot,
    /// xbot, over JSON lines.
    Xbot,
    /// A document whose tools are HTTP requests.
    Http,
}

// === impl Plugin ===

impl Plugin {
    pub(super) async fn run(self) -> Result<ExitCode, CliError> {
        match self.command {
            Command::New(new) => new.run(),
            Command::Check(check) => check.run().await,
        }
    }
}

// === impl PluginDialect ===

impl PluginDialect {
    const fn as_str(self) -> &'static str {
        match self {
            Self::MaiBot => "maibot",
            Self::LenBot => "lenbot",
            Self::Xbot => "xbot",
            Self::Http => "http",
        }
    }
}
