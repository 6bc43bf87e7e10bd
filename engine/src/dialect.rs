//! The forms in which models and vendors speak: reading their replies, exporting definitions, rendering results.
//!
//! Pure functions without I/O; one file a dialect.

mod anthropic;
mod bedrock;
mod definition;
mod free_text;
mod gemini;
mod ids;
mod mcp;
mod media;
mod native;
mod ollama;
mod openai_chat;
mod openai_responses;
mod options;
mod reply;
mod stream;
mod turn;

use std::fmt;
use std::str::FromStr;

use crate::json::JsonText;
use crate::json::outline::Node;
use crate::result::BatchOutcome;

pub use definition::{DefinedTool, DefinitionForm, Definitions, StrictMode};
pub use ids::{IdRule, UnknownIdRule};
pub use options::{MediaMode, MessageOptions};
use reply::Fields;
pub use reply::{ParsedReply, ReplyError};
pub use stream::{AssembledReply, StreamAssembler, StreamError};
pub use turn::AssistantTurn;

/// A form of replies, definitions and history messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// OpenAI chat completions, and servers that speak it.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini generateContent.
    Gemini,
    /// Ollama chat.
    Ollama,
    /// Amazon Bedrock converse.
    Bedrock,
    /// MCP `tools/call` requests.
    Mcp,
    /// Toolyard's own: `{"calls": [{"call_id", "tool", "arguments"}]}`.
    Native,
}

// === impl Dialect ===

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 8] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Ollama,
        Self::Bedrock,
        Self::Mcp,
        Self::Native,
    ];

    /// The name on the command line and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Bedrock => "bedrock",
            Self::Mcp => "mcp",
            Self::Native => "native",
        }
    }

    /// The dialect of a whole reply, by its shape.
    ///
    /// # Errors
    /// The text is not JSON, or looks like none of the dialects.
    pub fn detect(reply: &str) -> Result<Self, ReplyError> {
        let document = reply::document(reply)?;
        let fields = Fields::of(document.root());
        let has = |key: &str| fields.get(key).is_some();
        let is_list = |key: &str| fields.get(key).is_some_and(Node::is_list);
        let is_object = |key: &str| fields.get(key).is_some_and(Node::is_object);
        if has("choices") {
            Ok(Self::OpenAiChat)
        } else if is_list("output") {
            Ok(Self::OpenAiResponses)
        } else if has("candidates") {
            Ok(Self::Gemini)
        } else if has("content") {
            Ok(Self::Anthropic)
        } else if is_object("output") {
            Ok(Self::Bedrock)
        } else if is_object("message") {
            Ok(Self::Ollama)
        } else if has("method") {
            Ok(Self::Mcp)
        } else if document.root().is_list() || has("calls") {
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
            Self::OpenAiResponses => openai_responses::parse(reply),
            Self::Anthropic => anthropic::parse(reply),
            Self::Gemini => gemini::parse(reply),
            Self::Ollama => ollama::parse(reply),
            Self::Bedrock => bedrock::parse(reply),
            Self::Mcp => mcp::parse(reply),
            Self::Native => native::parse(reply),
        }
    }

    /// Reads the tool calls of a streamed reply: JSON chunks, one a line, with or without `data:` before them. Holds at most
    /// `max_bytes` of it. See [`StreamAssembler`] for streams that come in pieces.
    ///
    /// # Errors
    /// The dialect has no streams, or the reply is too large.
    pub fn parse_stream(self, stream: &str, max_bytes: usize) -> Result<ParsedReply, ReplyError> {
        let mut assembler = StreamAssembler::new(self, max_bytes)?;
        assembler.push(stream);
        self.parse_assembled(assembler.finish()?)
    }

    /// Reads the tool calls of a reply that was put together from a stream of this dialect.
    ///
    /// # Errors
    /// It is not a reply of this dialect.
    pub fn parse_assembled(self, assembled: AssembledReply) -> Result<ParsedReply, ReplyError> {
        let mut parsed = self.parse(assembled.reply.as_str())?;
        parsed.warnings.splice(0..0, assembled.warnings);
        if !assembled.ended {
            parsed.warnings.push("the stream stopped before its end".to_owned());
        }
        Ok(parsed)
    }

    /// The model's turn as it goes into the history before [`Dialect::messages`]: with the ids, names and arguments that
    /// match the results, and everything else byte for byte. Empty for dialects that have no such message.
    pub fn assistant(self, turn: &AssistantTurn, outcome: &BatchOutcome, options: MessageOptions) -> Vec<JsonText> {
        let ids = self.ids(options);
        match self {
            Self::OpenAiChat => openai_chat::assistant(turn, &outcome.results, ids),
            Self::OpenAiResponses => openai_responses::assistant(turn, &outcome.results, ids),
            Self::Anthropic => anthropic::assistant(turn, &outcome.results, ids),
            Self::Gemini => gemini::assistant(turn, &outcome.results, ids),
            Self::Ollama => ollama::assistant(turn, &outcome.results, ids),
            Self::Bedrock => bedrock::assistant(turn, &outcome.results, ids),
            Self::Mcp | Self::Native => Vec::new(),
        }
    }

    /// The history messages that answer every call of a batch: first the results in call order, then media, then what
    /// the tools want to follow.
    pub fn messages(self, outcome: &BatchOutcome, options: MessageOptions) -> Vec<JsonText> {
        let (results, ids, media) = (&outcome.results, self.ids(options), options.media);
        let mut messages = match self {
            Self::OpenAiChat => openai_chat::messages(results, ids, media),
            Self::OpenAiResponses => openai_responses::messages(results, ids, media),
            Self::Anthropic => anthropic::messages(results, ids, media),
            Self::Gemini => gemini::messages(results, ids, media),
            Self::Ollama => ollama::messages(results, ids, media),
            Self::Bedrock => bedrock::messages(results, ids, media),
            Self::Mcp => mcp::messages(results, media),
            Self::Native => native::messages(results, ids),
        };
        messages.extend(results.iter().flat_map(|result| &result.result.post_history_messages).cloned());
        messages
    }

    fn ids(self, options: MessageOptions) -> IdRule {
        options.ids.unwrap_or(match self {
            Self::Anthropic | Self::Bedrock => IdRule::Anthropic,
            _ => IdRule::AsGiven,
        })
    }
}

/// The names of all dialects, for people.
fn names() -> String {
    Dialect::ALL.map(Dialect::as_str).join(", ")
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
