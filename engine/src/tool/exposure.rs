//! Who may see and use a tool, as its author declares it.

use serde::{Deserialize, Serialize};

/// When a model sees a tool (seed 000, `core_tool`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// In every turn.
    Visible,
    /// Once the model has found it.
    Deferred,
    /// Never: it is neither listed nor callable by a model.
    Hidden,
}

/// What a tool does to the world (seed 003, "Effects").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It looks something up.
    Read,
    /// It changes something of the user's.
    Write,
    /// It moves money or prepares to.
    Money,
    /// It says something in public.
    Public,
}

/// What else decides how a tool may be used (seed 003, "Effects"; seed 002, `needs_source`). All false unless declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolFlags {
    /// Its results hold text of third parties.
    #[serde(skip_serializing_if = "is_false")]
    pub untrusted: bool,
    /// Only a person may start it: it is hidden from the model and refused to the model and to schedulers.
    #[serde(skip_serializing_if = "is_false")]
    pub user_only: bool,
    /// It is offered once the model has loaded its plugin.
    #[serde(skip_serializing_if = "is_false")]
    pub on_demand: bool,
    /// It needs the message that really asked for it.
    #[serde(skip_serializing_if = "is_false")]
    pub needs_source: bool,
}

// serde's `skip_serializing_if` fixes this signature.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde fixes the signature")]
fn is_false(flag: &bool) -> bool {
    !flag
}
