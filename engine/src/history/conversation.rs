//! A conversation as its calls and results, whatever its form.

use std::borrow::Cow;
use std::ops::Range;

use super::HistoryForm;
use super::raw::{self, Members, Place, Text};

/// All messages of one document, their calls and results numbered in order.
pub(super) struct Conversation<'a> {
    pub(super) form: HistoryForm,
    pub(super) messages: Vec<Message<'a>>,
    pub(super) calls: Vec<Call<'a>>,
    pub(super) answers: Vec<Answer<'a>>,
    pub(super) turns: Vec<Turn>,
    /// The vendor keeps a part of this conversation, so that calls may be missing here.
    pub(super) is_continued: bool,
}

/// The calls that the model made at once.
pub(super) struct Turn {
    /// The message after which their results stand.
    pub(super) anchor: usize,
    pub(super) calls: Range<usize>,
}

pub(super) struct Message<'a> {
    pub(super) raw: &'a str,
    pub(super) calls: Range<usize>,
    pub(super) answers: Range<usize>,
    /// What it consists of, in forms where a result is a part of a message.
    pub(super) body: Option<Body<'a>>,
}

/// The list of blocks or parts of a message.
pub(super) struct Body<'a> {
    /// The list as it stands; a string in some forms.
    pub(super) list: &'a str,
    pub(super) blocks: Vec<Block<'a>>,
    /// Whether results of the calls right before may stand in this message.
    pub(super) may_host: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block<'a> {
    Answer(usize),
    Other(Cow<'a, str>),
}

pub(super) struct Call<'a> {
    pub(super) message: usize,
    pub(super) turn: usize,
    pub(super) parts: CallParts<'a>,
}

pub(super) struct Answer<'a> {
    pub(super) message: usize,
    pub(super) parts: AnswerParts<'a>,
}

pub(super) struct CallParts<'a> {
    pub(super) id: Place<'a>,
    /// The id, unless it is missing or blank.
    pub(super) given: Option<Text>,
    pub(super) name: Place<'a>,
    /// The tool's name; empty when it is missing.
    pub(super) tool: Text,
    pub(super) arguments: Place<'a>,
    pub(super) argument_form: ArgumentForm,
    /// It is written the old way of OpenAI, one call a reply, paired by name and without an id.
    pub(super) is_legacy: bool,
}

pub(super) struct AnswerParts<'a> {
    /// The whole message or block.
    pub(super) raw: &'a str,
    pub(super) id: Place<'a>,
    pub(super) given: Option<Text>,
    pub(super) name: Place<'a>,
    pub(super) tool: Option<Text>,
    pub(super) content: Place<'a>,
    /// It answers a call that is written the old way.
    pub(super) is_legacy: bool,
}

/// How a form writes arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentForm {
    /// JSON text in a string.
    Text,
    /// An object.
    Object,
    /// An object, or none.
    OptionalObject,
    /// An object or JSON text of one, or none.
    Either,
    /// Any text: input of an OpenAI custom tool.
    Free,
}

/// One message as a form reads it.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) calls: Vec<CallParts<'a>>,
    /// In forms with a body, in the order of its blocks.
    pub(super) answers: Vec<AnswerParts<'a>>,
    pub(super) body: Option<PartsBody<'a>>,
    /// It stands between calls that are made at once.
    pub(super) goes_on: bool,
    /// The vendor keeps something that this message refers to.
    pub(super) is_reference: bool,
}

/// The body of one message as a form reads it.
pub(super) struct PartsBody<'a> {
    pub(super) list: &'a str,
    /// The blocks; nothing stands for the next result.
    pub(super) blocks: Vec<Option<Cow<'a, str>>>,
    pub(super) may_host: bool,
}

// === impl Conversation ===

impl<'a> Conversation<'a> {
    /// Reads the messages in `list`; `request` is the object around it, if there is one.
    pub(super) fn read(form: HistoryForm, request: &Members<'a>, list: &'a str) -> Self {
        let is_continued = ["previous_response_id", "conversation"].into_iter().any(|key| request.get(key).is_some());
        let mut read = Self {
            form,
            messages: Vec::new(),
            calls: Vec::new(),
            answers: Vec::new(),
            turns: Vec::new(),
            is_continued: is_continued && form == HistoryForm::OpenAiResponses,
        };
        let mut is_open = false;
        for raw in raw::items(list).unwrap_or_default() {
            let parts = form.read(raw);
            let stays_open = form.has_call_items() && (!parts.calls.is_empty() || (is_open && parts.goes_on));
            read.push(raw, parts, is_open);
            is_open = stays_open;
        }
        read
    }

    fn push(&mut self, raw: &'a str, parts: Parts<'a>, joins: bool) {
        let message = self.messages.len();
        let calls = self.calls.len()..self.calls.len() + parts.calls.len();
        let answers = self.answers.len()..self.answers.len() + parts.answers.len();
        if !calls.is_empty() {
            self.open_turn(message, &calls, joins);
        }
        let turn = self.turns.len().saturating_sub(1);
        self.calls.extend(parts.calls.into_iter().map(|parts| Call { message, turn, parts }));
        self.answers.extend(parts.answers.into_iter().map(|parts| Answer { message, parts }));
        let mut numbers = answers.clone();
        let body = parts.body.map(|body| Body {
            list: body.list,
            blocks: body
                .blocks
                .into_iter()
                .filter_map(|block| block.map(Block::Other).or_else(|| numbers.next().map(Block::Answer)))
                .collect(),
            may_host: body.may_host && calls.is_empty(),
        });
        self.is_continued |= parts.is_reference;
        self.messages.push(Message { raw, calls, answers, body });
    }

    fn open_turn(&mut self, anchor: usize, calls: &Range<usize>, joins: bool) {
        match self.turns.last_mut() {
            Some(turn) if joins => {
                turn.anchor = anchor;
                turn.calls.end = calls.end;
            }
            _ => self.turns.push(Turn { anchor, calls: calls.clone() }),
        }
    }
}

// === impl Message ===

impl Message<'_> {
    /// Whether the whole message is one result.
    pub(super) fn is_result(&self) -> bool {
        self.body.is_none() && !self.answers.is_empty()
    }
}

// === impl CallParts ===

impl<'a> CallParts<'a> {
    pub(super) fn of(id: Place<'a>, name: Place<'a>, arguments: Place<'a>, argument_form: ArgumentForm) -> Self {
        let tool = name.filled().unwrap_or_else(|| Text { value: String::new(), is_string: false });
        Self { id, given: id.filled(), name, tool, arguments, argument_form, is_legacy: false }
    }

    pub(super) fn legacy(self) -> Self {
        Self { given: None, is_legacy: true, ..self }
    }
}

// === impl AnswerParts ===

impl<'a> AnswerParts<'a> {
    pub(super) fn of(raw: &'a str, id: Place<'a>, name: Place<'a>, content: Place<'a>) -> Self {
        Self { raw, id, given: id.filled(), name, tool: name.filled(), content, is_legacy: false }
    }

    pub(super) fn legacy(self) -> Self {
        Self { given: None, is_legacy: true, ..self }
    }
}
