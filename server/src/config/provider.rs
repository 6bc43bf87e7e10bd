//! `[[providers]]`: what all providers have in common, and what each kind has of its own.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use toolyard::{Breaker, NameForm, ProviderSettings};
use toolyard_providers::{
    HttpConfig, LenBotConfig, MaiBotConfig, McpConfig, McpOptions, RunnerConfig, ScriptedConfig, XbotConfig,
};

use super::folder::FOLDER_KEY;
use super::mcp;

/// Keys that are read into [`CommonConfig`]; all others belong to the kind.
pub(super) const COMMON_KEYS: [&str; 13] = [
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
    "breaker",
    "disabled_tools",
    "strict_output",
];

/// The manifest of an xbot plugin says how long its activation may take, up to 5 minutes; this only catches what hangs
/// around it.
const XBOT_START: Duration = Duration::from_secs(310);
/// Time for an xbot plugin's process to end once it was asked to.
const XBOT_END: Duration = Duration::from_secs(5);

/// LenBot gives its plugins 60 s to start, after they have been imported.
const LENBOT_START: Duration = Duration::from_secs(90);
/// LenBot gives its plugins 30 s to stop.
pub(super) const LENBOT_UNLOAD_MS: u64 = 30_000;
/// Time for a plugin's process to end once it has given back what it holds.
const RUNNER_END: Duration = Duration::from_secs(5);

/// One provider.
#[derive(Clone, Debug)]
pub(crate) struct ProviderConfig {
    pub(crate) name: String,
    /// The daemon is not ready without it.
    pub(crate) required: bool,
    /// It stands for the plugins of a folder.
    pub(super) is_folder: bool,
    pub(crate) kind: ProviderKindConfig,
    common: CommonConfig,
}

/// What a kind of provider needs.
#[derive(Clone, Debug)]
pub(crate) enum ProviderKindConfig {
    Builtin,
    Demo,
    Scripted(ScriptedConfig),
    Http(HttpConfig),
    Mcp(Box<McpConfig>),
    MaiBot(MaiBotConfig, Box<RunnerConfig>),
    LenBot(Box<LenBotConfig>, Box<RunnerConfig>),
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
    breaker: Option<BreakerConfig>,
    #[serde(default)]
    disabled_tools: Vec<String>,
    #[serde(default)]
    strict_output: bool,
}

/// When a provider that breaks again and again is left alone for a while. Absent keys have the engine's defaults.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BreakerConfig {
    /// In a row; 0 switches the breaker off.
    failures: Option<u32>,
    open_ms: Option<u64>,
    max_open_ms: Option<u64>,
    reset_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindName {
    Builtin,
    Demo,
    Scripted,
    Http,
    Mcp,
    #[serde(rename = "maibot")]
    MaiBot,
    #[serde(rename = "lenbot")]
    LenBot,
    Xbot,
}

// === impl KindName ===

impl KindName {
    /// Whether its providers are plugins in folders of their own.
    pub(super) const fn is_plugin(self) -> bool {
        matches!(self, Self::MaiBot | Self::LenBot | Self::Xbot)
    }

    /// The keys that its providers have beside those of the kind itself.
    pub(super) fn other_keys(self) -> Vec<&'static str> {
        let runner: &[&str] = if matches!(self, Self::MaiBot | Self::LenBot) { &RunnerConfig::KEYS } else { &[] };
        let folder: &[&str] = if self.is_plugin() { &[FOLDER_KEY] } else { &[] };
        let mcp: &[&str] = if matches!(self, Self::Mcp) { &McpOptions::KEYS } else { &[] };
        [folder, runner, mcp, &COMMON_KEYS].concat()
    }
}

/// For kinds without keys of their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoSettings {}

// === impl ProviderConfig ===

impl ProviderConfig {
    pub(super) fn new(common: CommonConfig, kind: ProviderKindConfig) -> Self {
        Self { name: common.name.clone(), required: common.required, is_folder: false, kind, common }
    }

    /// Paths in a configuration are relative to its folder.
    pub(super) fn in_folder(&mut self, folder: &Path) {
        if let ProviderKindConfig::MaiBot(_, runner) | ProviderKindConfig::LenBot(_, runner) = &mut self.kind {
            // A program without a slash is looked up in `PATH`.
            if runner.python.contains('/') {
                runner.python = folder.join(&runner.python).to_string_lossy().into_owned();
            }
            runner.data_dir = runner.data_dir.take().map(|data| folder.join(data));
        }
        match &mut self.kind {
            ProviderKindConfig::Http(config) => config.file = folder.join(&config.file),
            ProviderKindConfig::MaiBot(config, _) => config.path = folder.join(&config.path),
            ProviderKindConfig::LenBot(config, _) => config.path = folder.join(&config.path),
            ProviderKindConfig::Xbot(config) => config.path = folder.join(&config.path),
            ProviderKindConfig::Builtin | ProviderKindConfig::Demo | ProviderKindConfig::Scripted(_) => {}
            ProviderKindConfig::Mcp(config) => mcp::in_folder(config, folder),
        }
    }

    /// How the registry is to treat it. HTTP and MCP tools carry their provider's name unless configured otherwise.
    pub(crate) fn settings(&self) -> ProviderSettings {
        let common = &self.common;
        let mut settings = ProviderSettings::default();
        settings.name_form = common.naming.unwrap_or(match self.kind {
            ProviderKindConfig::Http(_) | ProviderKindConfig::Mcp(_) => NameForm::Qualified,
            ProviderKindConfig::Builtin
            | ProviderKindConfig::Demo
            | ProviderKindConfig::Scripted(_)
            | ProviderKindConfig::MaiBot(..)
            | ProviderKindConfig::LenBot(..)
            | ProviderKindConfig::Xbot(_) => NameForm::Bare,
        });
        if let ProviderKindConfig::Xbot(config) = &self.kind {
            settings.start_timeout = XBOT_START;
            settings.close_timeout = Duration::from_millis(config.deactivate_grace_ms) + XBOT_END;
        }
        if let ProviderKindConfig::MaiBot(_, runner) | ProviderKindConfig::LenBot(_, runner) = &self.kind {
            settings.close_timeout = Duration::from_millis(runner.unload_ms) + RUNNER_END;
        }
        if matches!(self.kind, ProviderKindConfig::LenBot(..)) {
            settings.start_timeout = LENBOT_START;
        }
        if let ProviderKindConfig::Mcp(config) = &self.kind {
            settings.trusted = config.options.trusted;
        }
        settings.tool_timeout = common.tool_timeout_ms.map(Duration::from_millis);
        settings.max_in_flight = common.max_in_flight;
        settings.disabled_tools.clone_from(&common.disabled_tools);
        settings.breaker = common.breaker.map(BreakerConfig::read);
        // The tools of a document go to many addresses: one that is down says nothing of the others.
        if matches!(self.kind, ProviderKindConfig::Http(_)) && settings.breaker.is_none() {
            settings.breaker = Some(Breaker::OFF);
        }
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

// === impl BreakerConfig ===

impl BreakerConfig {
    fn read(self) -> Breaker {
        let usual = Breaker::default();
        let time = |configured: Option<u64>, usual| configured.map_or(usual, Duration::from_millis);
        Breaker {
            failures: self.failures.unwrap_or(usual.failures),
            open: time(self.open_ms, usual.open),
            max_open: time(self.max_open_ms, usual.max_open),
            reset_after: time(self.reset_after_ms, usual.reset_after),
        }
    }
}

pub(super) fn set_millis(setting: &mut Duration, configured: Option<u64>) {
    if let Some(millis) = configured {
        *setting = Duration::from_millis(millis);
    }
}
