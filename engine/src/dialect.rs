//! The forms in which models and vendors speak: reading their replies, exporting definitions, rendering results.
//!
//! Pure functions without I/O; one file a dialect.

mod anthropic;
mod native;
mod openai_chat;
mod reply;

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::registry::ListedTool;
use crate::result::{BatchOutcome, CallResult};

use reply::Fields;
pub use reply::{ParsedReply, ReplyError};

/// A form of replies, definitions and history messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// OpenAI chat completions, and servers that speak it.
    OpenAiChat,
    /// Anthropic messages.
    Anthropic,
    /// Toolyard's own: `{"calls": [{"call_id", "tool", "arguments"}]}`.
    Native,
}

// === impl Dialect ===

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::OpenAiChat, Self::Anthropic, Self::Native];

    /// The name on the command line and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Native => "native",
        }
    }

    /// The dialect of a whole reply, by its shape.
    ///
    /// # Errors
    /// The text is not JSON, or looks like none of the dialects.
    pub fn detect(reply: &str) -> Result<Self, ReplyError> {
        let document = reply::document(reply)?;
        let fields = Fields::of(document);
        if fields.get("choices").is_some() {
            Ok(Self::OpenAiChat)
        } else if fields.get("content").is_some() {
            Ok(Self::Anthropic)
        } else if reply::is_list(document) || fields.get("calls").is_some() {
            Ok(Self::Native)
        } else {
            Err(ReplyError::UnknownShape)
        }
    }

    /// Reads the tool calls of a whole reply. A reply without calls is fine; a call that cannot be read stays a call, so
    /// that its siblings run and it gets a result.
    ///
    /// # Errors
    /// The text is not JSON, or not a reply of this dialect.
    pub fn parse(self, reply: &str) -> Result<ParsedReply, ReplyError> {
        match self {
            Self::OpenAiChat => openai_chat::parse(reply),
            Self::Anthropic => anthropic::parse(reply),
            Self::Native => native::parse(reply),
        }
    }

    /// The definitions of tools, in the form that the vendor takes.
    pub fn definitions(self, tools: &[ListedTool]) -> Value {
        let definition = match self {
            Self::OpenAiChat => openai_chat::definition,
            Self::Anthropic => anthropic::definition,
            Self::Native => native::definition,
        };
        Value::Array(tools.iter().map(definition).collect())
    }

    /// The history messages that answer every call of a batch: first the tool messages in call order, then media, then
    /// what the tools want to follow.
    pub fn messages(self, outcome: &BatchOutcome) -> Vec<Value> {
        let mut messages = match self {
            Self::OpenAiChat => openai_chat::messages(&outcome.results),
            Self::Anthropic => anthropic::messages(&outcome.results),
            Self::Native => native::messages(&outcome.results),
        };
        let after = outcome.results.iter().flat_map(|result| &result.result.post_history_messages);
        messages.extend(after.map(|message| message.to().unwrap_or_else(|_| message.as_str().into())));
        messages
    }
}

/// The pictures of a result with their references.
fn images(result: &CallResult) -> Vec<(String, (&str, &str))> {
    let items = result.result.content_items.iter().enumerate();
    items
        .filter_map(|(index, item)| {
            let reference = crate::result::media_reference(result.call_id.as_str(), index + 1);
            item.image_base64().map(|image| (reference, image))
        })
        .collect()
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Dialect {
    type Err = ReplyError;

    fn from_str(name: &str) -> Result<Self, ReplyError> {
        let known = Self::ALL.into_iter().find(|dialect| dialect.as_str() == name);
        known.ok_or_else(|| ReplyError::UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests;
