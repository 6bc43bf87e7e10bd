//! McpConfig: one MCP server, as configured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::CommandSpec;

/// An MCP server, as configured.
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// How it is reached.
    pub transport: McpTransport,
    /// How it is spoken with.
    pub options: McpOptions,
}

/// How an MCP server is reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum McpTransport {
    /// Over the standard input and output of a child process.
    Stdio(CommandSpec),
}

/// What holds for a server whatever its transport. Absent keys have their defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpOptions {
    /// Which revisions are spoken. Default [`McpEra::Auto`].
    pub era: McpEra,
    /// Whether the server's word counts: read-only hints become the effect `read`, and results are trusted. Default false.
    pub trusted: bool,
    /// What the server may ask of the bot backend. Default nothing.
    pub offers: Vec<McpOffer>,
    /// The folders that it is told of as roots. Where absent, `roots/list` goes to the bot backend if `offers` says so.
    pub roots: Vec<McpRoot>,
    /// A call is given up when its server has not reported progress for so long, in ms. The call's deadline counts
    /// besides. Default no such limit.
    pub idle_timeout_ms: Option<u64>,
    /// Size of one message of the server. A larger one fails its request. Default 16 MiB.
    pub max_message_bytes: usize,
}

/// Which revisions of MCP are spoken with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpEra {
    /// Whatever the server speaks. It is asked once, and what it said is remembered.
    #[default]
    Auto,
    /// Up to 2025-11-25, which open with `initialize`.
    Legacy,
    /// From 2026-07-28.
    Modern,
}

/// What a server may ask of the bot backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpOffer {
    /// An answer of a language model (`sampling/createMessage`), asked for as `sampling.create`.
    Sampling,
    /// An answer of the user to a form (`elicitation/create`), asked for as `elicitation.create`.
    Elicitation,
    /// The same, and that the user opens an address.
    ElicitationUrl,
    /// The folders to work in (`roots/list`), asked for as `roots.list`.
    Roots,
}

/// A folder that a server is told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpRoot {
    /// Its address, such as `file:///srv/data`.
    pub uri: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

// === impl McpConfig ===

impl McpConfig {
    /// A server reached in this way, with the default options.
    pub fn new(transport: McpTransport) -> Self {
        Self { transport, options: McpOptions::default() }
    }

    /// A server that is a child process, with the default options.
    pub fn stdio(process: CommandSpec) -> Self {
        Self::new(McpTransport::Stdio(process))
    }
}

// === impl McpOptions ===

impl McpOptions {
    /// Its keys.
    pub const KEYS: [&'static str; 6] = ["era", "trusted", "offers", "roots", "idle_timeout_ms", "max_message_bytes"];

    pub(super) fn idle_timeout(&self) -> Option<Duration> {
        self.idle_timeout_ms.map(Duration::from_millis)
    }

    pub(super) fn offers(&self, offer: McpOffer) -> bool {
        self.offers.contains(&offer)
    }
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            era: McpEra::Auto,
            trusted: false,
            offers: Vec::new(),
            roots: Vec::new(),
            idle_timeout_ms: None,
            max_message_bytes: 16 << 20,
        }
    }
}
