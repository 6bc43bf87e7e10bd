//! The context of a batch: who asks, from where (seed 001, sections 3.7 and 3.8).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The state of the conversation in which the calls run. One is shared by all calls of a batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolExecutionContext {
    /// Session id.
    pub session_id: String,
    /// Chat stream id.
    pub stream_id: String,
    /// Why the model chose the tools, in its own words.
    pub reasoning: String,
    /// Whether the chat is a group.
    pub is_group_chat: bool,
    /// Group id.
    pub group_id: String,
    /// The user who triggered the batch.
    pub user_id: String,
    /// Platform, such as `qq`.
    pub platform: String,
    /// Tenant; 64-bit ids as decimal text.
    pub tenant: String,
    /// Message channel, such as `cli` or `web`.
    pub channel: String,
    /// Chat id within the channel.
    pub chat_id: String,
    /// Who acts.
    pub actor: Actor,
    /// Role of the user, by which policy decides.
    pub role: String,
    /// Language of texts that the engine makes.
    pub locale: Locale,
    /// Stage of the planner.
    pub stage: Stage,
    /// The message that triggered the batch, in the backend's own form.
    #[serde(rename = "message")]
    pub anchor_message: Option<Arc<Value>>,
    /// The message that really asked for the call, where a tool needs one.
    pub source_message: Option<Arc<Value>>,
    /// Whatever else the backend says.
    pub metadata: Map<String, Value>,
}

/// What a provider may look at to say whether a tool can be used in a chat (seed 001, section 3.8).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolAvailabilityContext<'a> {
    /// Session id.
    pub session_id: &'a str,
    /// Chat stream id.
    pub stream_id: &'a str,
    /// Whether the chat is a group.
    pub is_group_chat: bool,
    /// Group id.
    pub group_id: &'a str,
    /// The user.
    pub user_id: &'a str,
    /// Platform.
    pub platform: &'a str,
    /// Whether there are deferred tools, and a session that can load them.
    pub has_deferred: bool,
    /// The same of tools that are loaded with their plugin.
    pub has_on_demand: bool,
}

/// Who acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The model, in a batch.
    #[default]
    Model,
    /// A person, from a screen.
    User,
    /// A scheduler.
    Scheduler,
}

/// Language of texts that the engine makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Locale {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// Stage of the planner in which a batch runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Deciding whether to act now.
    Timing,
    /// Acting.
    #[default]
    Action,
}

// === impl ToolExecutionContext ===

impl ToolExecutionContext {
    /// The part of the context that decides about availability.
    pub fn availability(&self) -> ToolAvailabilityContext<'_> {
        ToolAvailabilityContext {
            session_id: &self.session_id,
            stream_id: &self.stream_id,
            is_group_chat: self.is_group_chat,
            group_id: &self.group_id,
            user_id: &self.user_id,
            platform: &self.platform,
            has_deferred: false,
            has_on_demand: false,
        }
    }
}
