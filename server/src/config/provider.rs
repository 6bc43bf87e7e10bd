//! `[[providers]]`: what all providers have in common, and what each kind has of its own.

use std::num::NonZeroUsize;
use std::time::Duration;

use serde::Deserialize;
use toolyard::{NameForm, ProviderSettings};
use toolyard_providers::{McpConfig, ScriptedConfig, XbotConfig};

/// Keys that are read into [`CommonConfig`]; all others belong to the kind.
pub(super) const COMMON_KEYS: [&str; 12] = [
    "name",
    "kind",
    "required",
    "naming",
    "tool_timeout_ms",
    "max_in_flight",
    "max_queued",
    "start_timeout_ms",
    "drain_ms",
    "close_timeout_ms",
    "disabled_tools",
    "strict_output",
];

/// The manifest of an xbot plugin says how long its activation may take, up to 5 minutes; this only catches what hangs
/// around it.
const XBOT_START: Duration = Duration::from_secs(310);
/// Time for an xbot plugin's process to end once it was asked to.
const XBOT_END: Duration = Duration::from_secs(5);

/// One provider.
#[derive(Debug)]
pub(crate) struct ProviderConfig {
    pub(crate) name: String,
    /// The daemon is not ready without it.
    pub(crate) required: bool,
    pub(crate) kind: ProviderKindConfig,
    common: CommonConfig,
}

/// What a kind of provider needs.
#[derive(Debug)]
pub(crate) enum ProviderKindConfig {
    Builtin,
    Demo,
    Scripted(ScriptedConfig),
    Mcp(McpConfig),
    Xbot(XbotConfig),
}

/// What all providers have in common.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommonConfig {
    pub(super) name: String,
    #[expect(dead_code, reason = "read apart, so that the keys of the kind are looked at whatever is wrong here")]
    kind: KindName,
    #[serde(default)]
    required: bool,
    naming: Option<NameForm>,
    tool_timeout_ms: Option<u64>,
    max_in_flight: Option<NonZeroUsize>,
    max_queued: Option<usize>,
    start_timeout_ms: Option<u64>,
    drain_ms: Option<u64>,
    close_timeout_ms: Option<u64>,
    #[serde(default)]
    disabled_tools: Vec<String>,
    #[serde(default)]
    strict_output: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindName {
    Builtin,
    Demo,
    Scripted,
    Mcp,
    Xbot,
}

/// For kinds without keys of their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoSettings {}

// === impl ProviderConfig ===

impl ProviderConfig {
    pub(super) fn new(common: CommonConfig, kind: ProviderKindConfig) -> Self {
        Self { name: common.name.clone(), required: common.required, kind, common }
    }

    /// How the registry is to treat it. MCP tools carry their provider's name unless configured otherwise.
    pub(crate) fn settings(&self) -> ProviderSettings {
        let common = &self.common;
        let mut settings = ProviderSettings::default();
        settings.name_form = common.naming.unwrap_or(match self.kind {
            ProviderKindConfig::Mcp(_) => NameForm::Qualified,
            ProviderKindConfig::Builtin
            | ProviderKindConfig::Demo
            | ProviderKindConfig::Scripted(_)
            | ProviderKindConfig::Xbot(_) => NameForm::Bare,
        });
        if let ProviderKindConfig::Xbot(config) = &self.kind {
            settings.start_timeout = XBOT_START;
            settings.close_timeout = Duration::from_millis(config.deactivate_grace_ms) + XBOT_END;
        }
        settings.tool_timeout = common.tool_timeout_ms.map(Duration::from_millis);
        settings.max_in_flight = common.max_in_flight;
        settings.disabled_tools.clone_from(&common.disabled_tools);
        settings.strict_output = common.strict_output;
        if let Some(max_queued) = common.max_queued {
            settings.max_queued = max_queued;
        }
        set_millis(&mut settings.start_timeout, common.start_timeout_ms);
        set_millis(&mut settings.drain, common.drain_ms);
        set_millis(&mut settings.close_timeout, common.close_timeout_ms);
        settings
    }
}

pub(super) fn set_millis(setting: &mut Duration, configured: Option<u64>) {
    if let Some(millis) = configured {
        *setting = Duration::from_millis(millis);
    }
}
