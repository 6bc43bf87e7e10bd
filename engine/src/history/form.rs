//! How each form writes calls and results. One file a shape: whole messages, items, blocks.

mod blocks;
mod chat;
mod items;

use super::HistoryForm;
use super::conversation::{CallParts, Parts};
use crate::json::JsonText;
use crate::tool::model_name;

/// The longest tool name of OpenAI and Gemini.
const MAX_NAME: usize = 64;
/// The longest tool name of Anthropic.
const ANTHROPIC_NAME: usize = 128;

/// A call that has no result, as its result needs it.
pub(super) struct Unanswered<'a> {
    pub(super) call: &'a CallParts<'a>,
    pub(super) id: Option<&'a str>,
    pub(super) tool: &'a str,
    pub(super) text: &'a str,
}

// === impl HistoryForm ===

impl HistoryForm {
    /// The key of the messages in a request.
    pub(super) const fn list_key(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "input",
            Self::Gemini => "contents",
            Self::OpenAiChat | Self::Anthropic | Self::Ollama | Self::Native => "messages",
        }
    }

    /// Whether calls and results must have ids.
    pub(super) const fn needs_ids(self) -> bool {
        !matches!(self, Self::Gemini | Self::Ollama)
    }

    /// Whether results must name their tool.
    pub(super) const fn needs_names(self) -> bool {
        matches!(self, Self::Gemini)
    }

    /// Whether each call is an item of its own, so that calls in a row are made at once.
    pub(super) const fn has_call_items(self) -> bool {
        matches!(self, Self::OpenAiResponses)
    }

    pub(super) fn read(self, raw: &str) -> Parts<'_> {
        match self {
            Self::OpenAiChat => chat::read(&chat::OPENAI, raw),
            Self::Ollama => chat::read(&chat::OLLAMA, raw),
            Self::Native => chat::read(&chat::NATIVE, raw),
            Self::OpenAiResponses => items::read(raw),
            Self::Anthropic => blocks::read_anthropic(raw),
            Self::Gemini => blocks::read_gemini(raw),
        }
    }

    /// A result for a call that has none: a message, an item, a block.
    pub(super) fn not_executed(self, call: &Unanswered<'_>) -> JsonText {
        match self {
            Self::OpenAiChat => chat::not_executed(&chat::OPENAI, call),
            Self::Ollama => chat::not_executed(&chat::OLLAMA, call),
            Self::Native => chat::not_executed(&chat::NATIVE, call),
            Self::OpenAiResponses => items::not_executed(call),
            Self::Anthropic => blocks::not_executed_anthropic(call),
            Self::Gemini => blocks::not_executed_gemini(call),
        }
    }

    /// A message of its own for results that are blocks; nothing in forms where results are messages.
    pub(super) fn wrap(self, blocks: &[String]) -> Option<String> {
        let key = match self {
            Self::Anthropic => "content",
            Self::Gemini => "parts",
            Self::OpenAiChat | Self::OpenAiResponses | Self::Ollama | Self::Native => return None,
        };
        Some(format!(r#"{{"role":"user","{key}":[{}]}}"#, blocks.join(",")))
    }

    /// The tool name nearest to `name` that the vendor takes.
    pub(super) fn legal_name(self, name: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_legal = match self {
            Self::OpenAiChat | Self::OpenAiResponses => name.len() <= MAX_NAME && name.chars().all(is_word),
            Self::Anthropic => name.len() <= ANTHROPIC_NAME && name.chars().all(is_word),
            Self::Gemini => {
                let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                starts_well && name.len() <= MAX_NAME && name.chars().all(|c| is_word(c) || c == '.' || c == ':')
            }
            Self::Ollama | Self::Native => true,
        };
        if is_legal && !name.trim().is_empty() {
            return name.to_owned();
        }
        let legal = model_name(name);
        let starts_badly = self == Self::Gemini && legal.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if starts_badly { format!("_{legal}").chars().take(MAX_NAME).collect() } else { legal.to_string() }
    }
}
