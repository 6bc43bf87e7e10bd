//! `[policy]`: how calls are read, and who may use which tool. Each table of it is read for itself.

use std::num::NonZeroU32;

use serde::Deserialize;
use toml::Spanned;
use toolyard::{Actor, ApprovalMode, EffectChoices, Ranking, SourceMessages, Undiscovered};

/// Keys of [`toolyard::CallPolicy`], which stand in the same table.
pub(super) const CALL_KEYS: [&str; 4] = ["profile", "lenient_names", "strip_unknown", "drop_empty_optionals"];
/// What is a table, or a list of tables, of its own. A new one is read in `reader/policy.rs`.
pub(super) const PARTS: [&str; 10] =
    ["effects", "roles", "denied", "scenes", "enabled_in", "discovery", "context", "approvals", "usage", "retry"];

/// Names of tools, as written: `*`, `<provider>.*`, `<provider>.<tool>`, or the name that a model calls.
pub(super) type Names = Vec<Spanned<String>>;

/// What stands in `[policy]` itself beside how calls are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PlainKeys {
    pub(super) source_messages: SourceMessages,
    pub(super) ordered: Names,
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
    pub(super) ranking: Ranking,
    pub(super) search_limit: Option<usize>,
}

/// `[policy.context]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ContextKeys {
    pub(super) timeout_ms: Option<u64>,
    pub(super) max_bytes: Option<usize>,
}

/// `[[policy.usage]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageKeys {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) per: Vec<UsageKey>,
    pub(super) tools: Option<Names>,
    pub(super) rate: Option<RateKeys>,
    pub(super) calls_per_day: Option<u32>,
}

/// What has a count of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UsageKey {
    Tenant,
    User,
    Tool,
    Provider,
}

/// So many calls in a window that slides.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateKeys {
    pub(super) calls: u32,
    pub(super) window_ms: Spanned<u64>,
}

/// `[policy.retry]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RetryKeys {
    pub(super) max_attempts: Option<NonZeroU32>,
    pub(super) first_wait_ms: Option<u64>,
}

/// `[policy.approvals]`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ApprovalKeys {
    pub(super) mode: Option<ApprovalMode>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) max_pending: Option<usize>,
    pub(super) max_per_session: Option<usize>,
}
