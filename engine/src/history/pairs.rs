//! Which result answers which call.

use std::collections::{HashMap, VecDeque};

use ahash::RandomState;

use super::conversation::{AnswerParts, CallParts, Conversation};
use super::problem::{ProblemKind, Problems};
use crate::text;

/// What each result answers, and what answers each call.
pub(super) struct Pairs {
    pub(super) of_answer: Vec<Fate>,
    pub(super) of_call: Vec<Option<usize>>,
}

/// What becomes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is the result of this call.
    Answers(usize),
    /// It is a further result of this call, and goes.
    Repeated(usize),
    /// There is no such call; it goes.
    Orphan,
    /// Its call is with the vendor; it stays where it is.
    Foreign,
}

/// By what a result finds its call.
#[derive(PartialEq, Eq, Hash)]
enum Key<'p> {
    /// A call with this id.
    Id(&'p str),
    /// A call of this tool.
    Tool(&'p str),
    /// A call without id of this tool, or of any.
    Nameless(Option<&'p str>),
    /// Any call.
    Any,
    /// A call of this tool that is written the old way.
    Legacy(&'p str),
}

/// The calls under one key: those of the latest turn come first, in their order.
#[derive(Default)]
struct Waiting {
    turns: Vec<(usize, VecDeque<usize>)>,
    /// The call that was found last.
    last: Option<usize>,
}

struct Index<'p> {
    waiting: HashMap<Key<'p>, Waiting, RandomState>,
    latest_turn: usize,
}

// === impl Pairs ===

impl Pairs {
    /// Pairs results with calls before them: first by id, then, where a result has none, by tool and order.
    pub(super) fn of(conversation: &Conversation<'_>) -> Self {
        let mut pairs = Self {
            of_answer: vec![Fate::Orphan; conversation.answers.len()],
            of_call: vec![None; conversation.calls.len()],
        };
        pairs.walk(conversation, true);
        if conversation.answers.iter().any(|answer| answer.parts.given.is_none()) {
            pairs.walk(conversation, false);
        }
        pairs
    }

    fn walk(&mut self, conversation: &Conversation<'_>, with_id: bool) {
        let mut index = Index { waiting: HashMap::default(), latest_turn: 0 };
        for message in &conversation.messages {
            for number in message.answers.clone() {
                let Some(answer) = conversation.answers.get(number) else { continue };
                if answer.parts.given.is_some() != with_id {
                    continue;
                }
                let mut fate = index.find(&answer.parts, &self.of_call);
                if fate == Fate::Orphan && conversation.is_continued {
                    fate = Fate::Foreign;
                }
                self.decide(conversation, number, fate);
            }
            for number in message.calls.clone() {
                if let Some(call) = conversation.calls.get(number) {
                    index.add(number, call.turn, &call.parts);
                }
            }
        }
    }

    /// Of two results the first stays, as the model has seen it; but what was put in for want of one gives way.
    fn decide(&mut self, conversation: &Conversation<'_>, answer: usize, fate: Fate) {
        let (mut answer, mut fate) = (answer, fate);
        if let Fate::Repeated(call) = fate
            && let Some(kept) = self.of_call.get(call).copied().flatten()
            && conversation.answers.get(kept).is_some_and(|kept| text::is_not_executed(kept.parts.raw))
        {
            self.set(answer, Fate::Answers(call));
            (answer, fate) = (kept, Fate::Repeated(call));
        }
        self.set(answer, fate);
    }

    fn set(&mut self, answer: usize, fate: Fate) {
        if let Fate::Answers(call) = fate
            && let Some(place) = self.of_call.get_mut(call)
        {
            *place = Some(answer);
        }
        if let Some(place) = self.of_answer.get_mut(answer) {
            *place = fate;
        }
    }

    pub(super) fn fate(&self, answer: usize) -> Fate {
        self.of_answer.get(answer).copied().unwrap_or(Fate::Orphan)
    }

    pub(super) fn answer(&self, call: usize) -> Option<usize> {
        self.of_call.get(call).copied().flatten()
    }

    /// Reports calls without results and results without calls.
    pub(super) fn report(&self, conversation: &Conversation<'_>, problems: &mut Problems) {
        for (call, answer) in conversation.calls.iter().zip(&self.of_call) {
            if answer.is_none() {
                let detail = "the call has no result; one was put in that says it was not executed";
                problems.add(ProblemKind::UnansweredCall, call.message, call.parts.id_text(), detail);
            }
        }
        for (answer, fate) in conversation.answers.iter().zip(&self.of_answer) {
            let id = answer.parts.id_text();
            match fate {
                Fate::Orphan => {
                    let detail = "the result answers no call before it; it was dropped";
                    problems.add(ProblemKind::OrphanResult, answer.message, id, detail);
                }
                Fate::Repeated(_) => {
                    let detail = "its call has another result; this one was dropped";
                    problems.add(ProblemKind::RepeatedResult, answer.message, id, detail);
                }
                Fate::Answers(_) | Fate::Foreign => {}
            }
        }
    }
}

// === impl Index ===

impl<'p> Index<'p> {
    fn add(&mut self, number: usize, turn: usize, call: &'p CallParts<'_>) {
        self.latest_turn = turn;
        let tool = call.tool.value.as_str();
        if call.is_legacy {
            self.waiting.entry(Key::Legacy(tool)).or_default().add(turn, number);
            return;
        }
        let by_id = call.id_text().map(Key::Id);
        let nameless = || [Key::Nameless(Some(tool)), Key::Nameless(None)];
        let without_id = by_id.is_none().then(nameless).into_iter().flatten();
        for key in by_id.into_iter().chain(without_id).chain([Key::Tool(tool), Key::Any]) {
            self.waiting.entry(key).or_default().add(turn, number);
        }
    }

    fn find(&mut self, answer: &'p AnswerParts<'_>, answered: &[Option<usize>]) -> Fate {
        let tool = answer.tool.as_ref().map(|tool| tool.value.as_str());
        if answer.is_legacy {
            return self.take(&Key::Legacy(tool.unwrap_or_default()), 0, answered);
        }
        let latest = self.latest_turn;
        let Some(id) = answer.id_text() else {
            return match tool {
                Some(tool) => self.take(&Key::Tool(tool), 0, answered),
                None => self.take(&Key::Any, latest, answered),
            };
        };
        match self.take(&Key::Id(id), 0, answered) {
            // The reply gave its call no id, and the bot made one up for the result.
            Fate::Orphan => match self.take(&Key::Nameless(tool), latest, answered) {
                Fate::Answers(call) => Fate::Answers(call),
                Fate::Repeated(_) | Fate::Orphan | Fate::Foreign => Fate::Orphan,
            },
            found => found,
        }
    }

    fn take(&mut self, key: &Key<'p>, since_turn: usize, answered: &[Option<usize>]) -> Fate {
        let Some(waiting) = self.waiting.get_mut(key) else {
            return Fate::Orphan;
        };
        match (waiting.next(since_turn, answered), waiting.last) {
            (Some(call), _) => Fate::Answers(call),
            (None, Some(call)) => Fate::Repeated(call),
            (None, None) => Fate::Orphan,
        }
    }
}

// === impl Waiting ===

impl Waiting {
    fn add(&mut self, turn: usize, call: usize) {
        match self.turns.last_mut() {
            Some((latest, calls)) if *latest == turn => calls.push_back(call),
            _ => self.turns.push((turn, VecDeque::from([call]))),
        }
    }

    /// The call to answer next, unless it was made before `since_turn`. Calls that have a result by now go for good.
    fn next(&mut self, since_turn: usize, answered: &[Option<usize>]) -> Option<usize> {
        while let Some((turn, calls)) = self.turns.last_mut() {
            while let Some(call) = calls.front().copied() {
                let is_open = answered.get(call).is_some_and(Option::is_none);
                if is_open && *turn >= since_turn {
                    self.last = Some(call);
                    return Some(call);
                }
                if is_open {
                    return None;
                }
                self.last = Some(call);
                calls.pop_front();
            }
            self.turns.pop();
        }
        None
    }
}

// === impl CallParts ===

impl CallParts<'_> {
    /// The id as it was given, unless it is missing or blank.
    pub(super) fn id_text(&self) -> Option<&str> {
        self.given.as_ref().map(|id| id.value.as_str())
    }
}

// === impl AnswerParts ===

impl AnswerParts<'_> {
    /// The id as it was given, unless it is missing or blank.
    pub(super) fn id_text(&self) -> Option<&str> {
        self.given.as_ref().map(|id| id.value.as_str())
    }
}
