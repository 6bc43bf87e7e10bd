//! Who may see and use a tool, as its author declares it.

use serde::{Deserialize, Serialize};

use crate::call::Stage;

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
    /// Of the calls of one batch, those of ordered tools run one after another, in call order.
    #[serde(skip_serializing_if = "is_false")]
    pub ordered: bool,
    /// Its request to stop counts only when no call of its batch failed.
    #[serde(skip_serializing_if = "is_false")]
    pub stop_if_all_succeed: bool,
}

/// Where a tool can be used, as it declares itself (seed 001, section 4.3). The default is everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolScope {
    /// In which stage of the planner; in all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// In which chats; in all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chats: Option<ChatScope>,
    /// On which platforms, in any letter case; on all where empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub platforms: Vec<String>,
}

/// A kind of chats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatScope {
    /// Groups.
    Group,
    /// Chats with one person.
    Private,
}

// === impl ToolScope ===

impl ToolScope {
    /// Whether nothing limits the tool.
    pub fn is_everywhere(&self) -> bool {
        self.stage.is_none() && self.chats.is_none() && self.platforms.is_empty()
    }
}

// === impl ChatScope ===

impl ChatScope {
    /// Whether a chat is of this kind.
    pub const fn covers(self, is_group_chat: bool) -> bool {
        matches!((self, is_group_chat), (Self::Group, true) | (Self::Private, false))
    }
}

// serde's `skip_serializing_if` fixes this signature.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde fixes the signature")]
fn is_false(flag: &bool) -> bool {
    !flag
}
