//! Tool providers for Toolyard, one folder a provider: built-in, scripted, declarative (HTTP), MCP.
//!
//! Providers know the engine's traits; the engine knows none of them.
#![warn(missing_docs)]

mod builtin;
mod lint;
mod plugin;
mod process;
mod scripted;
mod watch;

#[cfg(feature = "http")]
mod http;
#[cfg(feature = "mcp")]
mod mcp;

pub use builtin::{BuiltinName, BuiltinProvider, BuiltinTool, builtin_provider};
pub use lint::{Finding, FindingLevel, lint_plugin, lint_result};
pub use plugin::{
    CapabilityConfig, Claim, DefinitionSource, LENBOT_KIND, LenBotConfig, MAIBOT_KIND, MaiBotConfig, PluginConnector,
    PluginControl, PluginHost, PluginHub, PluginLogLevel, RunnerConfig, SimulateError, SimulatedHost, SimulatedSend,
    ToolDefinition, Version, XBOT_KIND, XbotConfig, XbotConnector, describe_plugin_metrics,
};
pub use process::{CommandSpec, LAUNCH_COMMAND, ProcessLimits, RunAs, Spawner, launch};
pub use scripted::{Reply, ScriptedConfig, ScriptedError, ScriptedTool, scripted_provider};

#[cfg(feature = "http")]
pub use http::{
    AllowRule, AllowRuleError, DocumentError, DocumentErrors, DocumentFormat, HttpConfig, HttpConnector, HttpPlugin,
    KIND as HTTP_KIND, Resolver, SystemResolver, check_document, install_crypto_provider,
};
#[cfg(feature = "http")]
pub use lint::lint_document;
#[cfg(feature = "mcp")]
pub use mcp::{
    KIND as MCP_KIND, McpBody, McpConfig, McpConnector, McpEndpoint, McpEndpointConfig, McpEra, McpEvent, McpEventKind,
    McpFeatures, McpHttp, McpHttpConfig, McpHub, McpIsolation, McpMembership, McpOAuth, McpOAuthClient, McpOffer,
    McpOptions, McpPins, McpPrincipal, McpRefusal, McpRequest, McpRoot, McpTransport, McpValue, McpWay, Pin, PinChange,
    PinError, PinPolicy, PinState, PinView, describe_mcp_metrics, unforwardable,
};
