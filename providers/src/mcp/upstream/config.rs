//! McpConfig: one MCP server, as configured.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use reqwest::header::HeaderName;
use serde::{Deserialize, Serialize};
use toolyard::{ErrorCode, ToolFailure};

use super::http::{McpHttpConfig, McpOAuth};
use super::pins::PinPolicy;
use crate::mcp::value::McpValue;
use crate::process::CommandSpec;

/// An MCP server, as configured.
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// How it is reached.
    pub transport: McpTransport,
    /// Variables of a child's environment that are read when it is started.
    pub env: BTreeMap<String, McpValue>,
    /// How it is spoken with.
    pub options: McpOptions,
}

/// How an MCP server is reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum McpTransport {
    /// Over the standard input and output of a child process.
    Stdio(CommandSpec),
    /// Over HTTP.
    Http(McpHttpConfig),
}

/// Who shares a session with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpIsolation {
    /// Each tenant has its own.
    #[default]
    Tenant,
    /// Each session of a tenant has its own, for calls; what a server has beside tools is read from the shared one.
    Session,
    /// Everybody shares one.
    Shared,
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
    /// What becomes of declarations that have changed since they were first seen. Default [`PinPolicy::Flag`].
    pub pins: PinPolicy,
    /// Who shares a session with the server. Default [`McpIsolation::Tenant`].
    pub isolation: McpIsolation,
    /// Sessions of tenants that are open at once; further tenants are refused. Default 64.
    pub max_sessions: NonZeroUsize,
    /// How long the session of a tenant is kept without a call, in ms. Default 10 minutes.
    pub session_idle_ms: u64,
    /// Headers that a batch's context may set for a service (`metadata.headers`). Default none.
    #[serde(skip)]
    pub forward_headers: Vec<HeaderName>,
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
#[serde(deny_unknown_fields, expecting = "a folder such as { uri = \"file:///srv/data\", name = \"data\" }")]
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
        Self { transport, env: BTreeMap::new(), options: McpOptions::default() }
    }

    /// A server that is a service, with the default options.
    pub fn http(service: McpHttpConfig) -> Self {
        Self::new(McpTransport::Http(service))
    }

    /// A child's command with its whole environment.
    ///
    /// # Errors
    /// A value cannot be read.
    pub(super) fn with_env(&self, command: &CommandSpec) -> Result<CommandSpec, ToolFailure> {
        let mut command = command.clone();
        for (name, value) in &self.env {
            let value = value.read().map_err(|reason| {
                ToolFailure::not_sent(ErrorCode::ProviderDown, format!("its variable `{name}` has no value: {reason}"))
            })?;
            command.env.insert(name.clone(), value);
        }
        Ok(command)
    }

    /// Whether a value is to be in a variable of this process that is not set.
    pub(super) fn has_unset_variables(&self) -> bool {
        let service = match &self.transport {
            McpTransport::Http(service) => Some(service),
            McpTransport::Stdio(_) => None,
        };
        let headers = service.into_iter().flat_map(|service| service.headers.iter().map(|(_, value)| value));
        let tokens = service.and_then(|service| service.oauth.as_ref()).into_iter().flat_map(McpOAuth::values);
        self.env.values().chain(headers).chain(tokens).any(McpValue::is_unset)
    }

    /// A server that is a child process, with the default options.
    pub fn stdio(process: CommandSpec) -> Self {
        Self::new(McpTransport::Stdio(process))
    }
}

// === impl McpOptions ===

impl McpOptions {
    /// Its keys.
    pub const KEYS: [&'static str; 10] = [
        "era",
        "trusted",
        "offers",
        "roots",
        "idle_timeout_ms",
        "max_message_bytes",
        "pins",
        "isolation",
        "max_sessions",
        "session_idle_ms",
    ];

    pub(super) fn session_idle(&self) -> Duration {
        Duration::from_millis(self.session_idle_ms)
    }

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
            pins: PinPolicy::default(),
            isolation: McpIsolation::default(),
            max_sessions: NonZeroUsize::MIN.saturating_add(63),
            session_idle_ms: 600_000,
            forward_headers: Vec::new(),
        }
    }
}
