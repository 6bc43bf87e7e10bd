//! Conversations: what vendors refuse in a history of tool calls and results, and its repair.
//!
//! Vendors refuse a whole request for one call without a result. The check works on the JSON text and replaces only
//! what has to change: thought signatures, reasoning, cache marks, unknown fields and long integers stay byte for byte.
//! Calls and results are paired by id and place, once, in one pass over the messages; nothing here is quadratic.

mod conversation;
mod edits;
mod form;
mod ids;
mod layout;
mod mend;
mod pairs;
mod problem;
mod raw;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::call::Locale;
use crate::dialect::IdRule;
use crate::json::{JsonText, lossy};

use conversation::Conversation;
use edits::Edits;
use layout::Layout;
use pairs::Pairs;
use problem::Problems;
pub use problem::{HistoryProblem, ProblemKind};
use raw::Members;

/// The lists of messages that a request object may hold.
const LISTS: [&str; 3] = ["messages", "input", "contents"];

/// The form of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HistoryForm {
    /// OpenAI chat completions, and servers that speak it: `tool_calls` and messages of the role `tool`.
    OpenAiChat,
    /// OpenAI responses: a flat list of items, `function_call` and `function_call_output` among them.
    OpenAiResponses,
    /// Anthropic messages: blocks `tool_use` and `tool_result`.
    Anthropic,
    /// Gemini contents: parts `functionCall` and `functionResponse`.
    Gemini,
    /// Ollama: `tool_calls` with objects as arguments, results named by their tool; ids only where there are some.
    Ollama,
    /// Toolyard's own: `calls` and messages of the role `tool` with a `call_id`.
    Native,
}

/// How a history is checked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HistoryOptions {
    /// What the vendor asks of call ids.
    pub ids: IdRule,
    /// The language of results that are made here.
    pub locale: Locale,
}

/// What was found in a history, and the history repaired.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryReport {
    /// The problems, in the order of the messages. All of them are mended in `messages`.
    pub problems: Vec<HistoryProblem>,
    /// The same document repaired; the text that was given when there are no problems.
    pub messages: JsonText,
}

/// Why a history cannot be checked at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// It is not JSON.
    #[error("the history is not JSON at line {line}, column {column}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// It is JSON, but holds no list of messages.
    #[error("the history must be a list of messages, or an object with a list `messages`, `input` or `contents`")]
    NoMessages,
    /// There is no such form.
    #[error(
        "there is no history form `{0}`; the forms are openai-chat, openai-responses, anthropic, gemini, ollama and \
         native"
    )]
    UnknownForm(String),
}

/// Checks a conversation for what vendors refuse, and repairs it.
///
/// `text` is a list of messages, or a request object that holds one under `messages`, `input` or `contents`; the whole
/// object comes back, and only its messages change. Calls at the end that have no result yet count as unanswered too.
/// The repaired text has no problems: each call has exactly one result, right after it and in call order.
///
/// Messages and blocks that are no calls or results of this form stay as they are, malformed or not. When a request
/// continues a conversation that the vendor keeps (`previous_response_id`, `conversation`, `item_reference`), results
/// of calls that are not in the list stay too.
///
/// Time and memory grow with the size of the text, which is for the caller to limit.
///
/// # Errors
/// The text is not JSON, or holds no list of messages.
pub fn check_history(form: HistoryForm, options: HistoryOptions, text: &str) -> Result<HistoryReport, HistoryError> {
    let given = text.trim_start_matches('\u{feff}');
    let whole = lossy::whole(given);
    let document: &RawValue = serde_json::from_str(&whole).map_err(not_json)?;
    let document = document.get();
    let request = Members::of(document);
    let Some(list) = messages(form, document, &request)? else {
        return Ok(HistoryReport { problems: Vec::new(), messages: JsonText::trusted(document.into()) });
    };
    let conversation = Conversation::read(form, &request, list);
    let pairs = Pairs::of(&conversation);
    let mut problems = Problems::default();
    if matches!(whole, Cow::Owned(_)) {
        report_halves(form, given, &mut problems);
    }
    let mut edits = Edits::of(document);
    pairs.report(&conversation, &mut problems);
    let ids = ids::settle(&conversation, &pairs, options.ids, &mut edits, &mut problems);
    let names = mend::names(&conversation, &pairs, &mut edits, &mut problems);
    mend::arguments(&conversation, &mut edits, &mut problems);
    mend::results(&conversation, &pairs, &mut edits, &mut problems);
    let layout = Layout::of(&conversation, &pairs);
    layout.report(&mut problems);
    if problems.is_empty() {
        return Ok(HistoryReport { problems: Vec::new(), messages: JsonText::trusted(document.into()) });
    }
    let made = mend::missing_results(&conversation, &pairs, &ids, &names, options.locale);
    let list_text = format!("[{}]", layout.render(&edits, &made).join(","));
    let repaired = edits.render_around(document, list, &list_text);
    Ok(HistoryReport { problems: problems.sorted(), messages: JsonText::trusted(repaired.into()) })
}

/// Names the messages that are not the same once they have whole characters only.
fn report_halves(form: HistoryForm, given: &str, problems: &mut Problems) {
    let list = messages(form, given.trim_ascii(), &Members::of(given)).ok().flatten();
    for (index, message) in list.and_then(raw::items).unwrap_or_default().into_iter().enumerate() {
        if matches!(lossy::whole(message), Cow::Owned(_)) {
            let detail = "an escape for half of a surrogate pair is no character; U+FFFD was put in its place";
            problems.add(ProblemKind::HalfCharacter, index, None, detail);
        }
    }
}

/// The list of messages; nothing when the conversation is a mere string, as OpenAI responses allow.
fn messages<'a>(form: HistoryForm, document: &'a str, request: &Members<'a>) -> Result<Option<&'a str>, HistoryError> {
    let is_list = |raw: &&str| raw.starts_with('[');
    if is_list(&document) {
        return Ok(Some(document));
    }
    let keys = std::iter::once(form.list_key()).chain(LISTS);
    let found: Vec<&str> = keys.filter_map(|key| request.get(key)).collect();
    if let Some(list) = found.iter().copied().find(is_list) {
        return Ok(Some(list));
    }
    let is_text = form == HistoryForm::OpenAiResponses && found.iter().any(|raw| raw.starts_with('"'));
    if is_text { Ok(None) } else { Err(HistoryError::NoMessages) }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function for map_err")]
fn not_json(error: serde_json::Error) -> HistoryError {
    HistoryError::NotJson { line: error.line(), column: error.column() }
}

// === impl HistoryForm ===

impl HistoryForm {
    /// Every form.
    pub const ALL: [Self; 6] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Ollama, Self::Native];

    /// The name on the command line and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Native => "native",
        }
    }

    /// The rule for call ids of the vendor whose form this is. Others speak the same form with rules of their own:
    /// Mistral speaks `openai-chat` and takes [`IdRule::Mistral`].
    pub const fn id_rule(self) -> IdRule {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => IdRule::OpenAi,
            Self::Anthropic => IdRule::Anthropic,
            Self::Gemini | Self::Ollama | Self::Native => IdRule::AsGiven,
        }
    }
}

impl fmt::Display for HistoryForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for HistoryForm {
    type Err = HistoryError;

    fn from_str(name: &str) -> Result<Self, HistoryError> {
        let known = Self::ALL.into_iter().find(|form| form.as_str() == name);
        known.ok_or_else(|| HistoryError::UnknownForm(name.to_owned()))
    }
}

// === impl HistoryOptions ===

impl HistoryOptions {
    /// The rules of the vendor whose form this is, in English.
    pub fn of(form: HistoryForm) -> Self {
        Self { ids: form.id_rule(), locale: Locale::default() }
    }

    /// With another rule for call ids.
    #[must_use]
    pub fn with_ids(mut self, ids: IdRule) -> Self {
        self.ids = ids;
        self
    }

    /// With results in another language.
    #[must_use]
    pub fn with_locale(mut self, locale: Locale) -> Self {
        self.locale = locale;
        self
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod properties;
