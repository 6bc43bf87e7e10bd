//! `[policy]`: how calls are read, and who may use which tool. Each table of it is read for itself.

use serde::Deserialize;
use toml::Spanned;
use toolyard::{Actor, ApprovalMode, EffectChoices, SourceMessages, Undiscovered};

/// Keys of [`toolyard::CallPolicy`], which stand in the same table.
pub(super) const CALL_KEYS: [&str; 4] = ["profile", "lenient_names", "strip_unknown", "drop_empty_optionals"];
/// What is a table, or a list of tables, of its own. A new one is read in `reader/policy.rs`.
pub(super) const PARTS: [&str; 7] = ["effects", "roles", "denied", "scenes", "enabled_in", "discovery", "approvals"];

/// Names of tools, as written: `*`, `<provider>.*`, `<provider>.<tool>`, or the name that a model calls.
pub(super) type Names = Vec<Spanned<String>>;

/// What stands in `[policy]` itself beside how calls are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PlainKeys {
    pub(super) source_messages: SourceMessages,
}

/// `[policy.effects]`, without the choices of tenants.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ActorKeys {
    pub(super) model: EffectChoices,
    pub(super) scheduler: EffectChoices,
}

/// Whose choices `[[policy.effects.choices]]` are.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChooserKeys {
    pub(super) tenant: String,
    pub(super) user: Option<String>,
}

/// `[[policy.denied]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeniedKeys {
    pub(super) tools: Names,
    pub(super) tenant: Option<String>,
    pub(super) user: Option<String>,
    pub(super) role: Option<String>,
    pub(super) actor: Option<Actor>,
    pub(super) reason: Option<String>,
}

/// `[policy.scenes.<scene>]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SceneKeys {
    pub(super) paused: bool,
    pub(super) denied: Names,
}

/// `[policy.discovery]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DiscoveryKeys {
    pub(super) undiscovered: Undiscovered,
}

/// `[policy.approvals]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ApprovalKeys {
    pub(super) mode: Option<ApprovalMode>,
    pub(super) timeout_ms: Option<u64>,
}
