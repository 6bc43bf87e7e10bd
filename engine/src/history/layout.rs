//! Where results stand: right after their calls, in call order, in one message where the form has them in messages.

use std::borrow::Cow;

use super::conversation::{Block, Body, Conversation, Message};
use super::edits::Edits;
use super::pairs::{Fate, Pairs};
use super::problem::{ProblemKind, Problems};

/// The places of the results of one conversation.
pub(super) struct Layout<'c, 'a> {
    conversation: &'c Conversation<'a>,
    pairs: &'c Pairs,
    /// The turn whose results follow each message, if it is the last one with calls of that turn.
    turn_after: Vec<Option<usize>>,
}

/// Where the walk over the messages is.
#[derive(Default)]
struct Walk {
    /// The turn whose results are due.
    due: Option<usize>,
    /// Whether they are due in this very message.
    is_host: bool,
    /// The latest call of it that was answered in place.
    latest: usize,
    /// Whether something else came before in this message.
    is_behind: bool,
}

/// A part of a message that is rebuilt.
enum Piece<'p, 'a> {
    Answer(usize),
    Made(&'p str),
    Other(&'p Cow<'a, str>),
}

// === impl Layout ===

impl<'c, 'a> Layout<'c, 'a> {
    pub(super) fn of(conversation: &'c Conversation<'a>, pairs: &'c Pairs) -> Self {
        let mut turn_after = vec![None; conversation.messages.len()];
        for (number, turn) in conversation.turns.iter().enumerate() {
            if let Some(place) = turn_after.get_mut(turn.anchor) {
                *place = Some(number);
            }
        }
        Self { conversation, pairs, turn_after }
    }

    /// Reports results that stand elsewhere.
    pub(super) fn report(&self, problems: &mut Problems) {
        let mut walk = Walk::default();
        for (number, message) in self.conversation.messages.iter().enumerate() {
            match &message.body {
                None if message.is_result() => {
                    walk.is_host = true;
                    for answer in message.answers.clone() {
                        self.report_one(answer, &mut walk, problems);
                    }
                }
                Some(body) if !message.answers.is_empty() => {
                    self.report_body(number, body, &mut walk, problems);
                }
                _ => walk = Walk::default(),
            }
            if let Some(turn) = self.turn_after.get(number).copied().flatten() {
                walk = Walk { due: Some(turn), ..Walk::default() };
            }
        }
    }

    fn report_body(&self, number: usize, body: &Body<'_>, walk: &mut Walk, problems: &mut Problems) {
        walk.is_host = self.hosted_turn(number).is_some();
        walk.is_behind = false;
        for block in &body.blocks {
            match block {
                Block::Answer(answer) => self.report_one(*answer, walk, problems),
                Block::Other(_) => walk.is_behind = true,
            }
        }
        // Only messages that hold nothing but results are further parts of the same results.
        if walk.is_behind || !body.may_host {
            *walk = Walk::default();
        }
    }

    fn report_one(&self, number: usize, walk: &mut Walk, problems: &mut Problems) {
        let (Fate::Answers(call), Some(answer)) = (self.pairs.fate(number), self.conversation.answers.get(number))
        else {
            return;
        };
        let turn = self.conversation.calls.get(call).map(|call| call.turn);
        let problem = if turn != walk.due {
            Some((ProblemKind::NotAdjacent, "the result does not stand right after its call; it was moved there"))
        } else if !walk.is_host {
            Some((
                ProblemKind::SplitResults,
                "the result stands in another message than its siblings; it was moved there",
            ))
        } else if walk.is_behind {
            Some((ProblemKind::WrongOrder, "the result stands behind other content; it was moved to the front"))
        } else if call < walk.latest {
            Some((ProblemKind::WrongOrder, "the results are not in call order; they were put in order"))
        } else {
            walk.latest = call;
            None
        };
        if let Some((kind, detail)) = problem {
            problems.add(kind, answer.message, answer.parts.id_text(), detail);
        }
    }

    /// The turn whose results belong into this message, in front of what else it holds.
    fn hosted_turn(&self, message: usize) -> Option<usize> {
        let may_host = self.conversation.messages.get(message)?.body.as_ref()?.may_host;
        let turn = self.turn_after.get(message.checked_sub(1)?).copied().flatten();
        turn.filter(|_| may_host)
    }

    /// The messages of the repaired history. `made` are the results of calls that had none.
    pub(super) fn render(&self, edits: &Edits<'a>, made: &[Option<String>]) -> Vec<String> {
        let mut rendered = Vec::with_capacity(self.conversation.messages.len());
        for (number, message) in self.conversation.messages.iter().enumerate() {
            rendered.extend(match &message.body {
                Some(body) => self.render_body(number, message, body, edits, made),
                None => self.stays(message).then(|| edits.render(message.raw)),
            });
            let Some(turn) = self.turn_after.get(number).copied().flatten() else { continue };
            if self.hosted_turn(number + 1).is_some() {
                continue;
            }
            let results: Vec<String> = self.results_of(turn, made).map(|piece| self.print(&piece, edits)).collect();
            match self.conversation.form.wrap(&results) {
                Some(message) => rendered.push(message),
                None => rendered.extend(results),
            }
        }
        rendered
    }

    /// Whether a message without body stays where it is.
    fn stays(&self, message: &Message<'_>) -> bool {
        !message.is_result() || message.answers.clone().all(|answer| self.pairs.fate(answer) == Fate::Foreign)
    }

    /// A message with the results that are due in it and without those that are not; nothing when none is left.
    fn render_body(
        &self,
        number: usize,
        message: &Message<'a>,
        body: &Body<'a>,
        edits: &Edits<'a>,
        made: &[Option<String>],
    ) -> Option<String> {
        let due = self.hosted_turn(number);
        if due.is_none() && message.answers.is_empty() {
            return Some(edits.render(message.raw));
        }
        let others = body.blocks.iter().filter_map(|block| match block {
            Block::Other(raw) => Some(Piece::Other(raw)),
            Block::Answer(_) => None,
        });
        let results = due.into_iter().flat_map(|turn| self.results_of(turn, made));
        let pieces: Vec<Piece<'_, 'a>> = results.chain(others).collect();
        if pieces.is_empty() {
            return None;
        }
        let is_same = pieces.len() == body.blocks.len()
            && pieces.iter().zip(&body.blocks).all(|pair| match pair {
                (Piece::Answer(one), Block::Answer(other)) => one == other,
                (Piece::Other(_), Block::Other(_)) => true,
                _ => false,
            });
        if is_same {
            return Some(edits.render(message.raw));
        }
        let pieces: Vec<String> = pieces.iter().map(|piece| self.print(piece, edits)).collect();
        Some(edits.render_around(message.raw, body.list, &format!("[{}]", pieces.join(","))))
    }

    /// The results of a turn in call order.
    fn results_of<'p>(&'p self, turn: usize, made: &'p [Option<String>]) -> impl Iterator<Item = Piece<'p, 'a>> {
        let calls = self.conversation.turns.get(turn).map_or(0..0, |turn| turn.calls.clone());
        calls.filter_map(move |call| match self.pairs.answer(call) {
            Some(answer) => Some(Piece::Answer(answer)),
            None => made.get(call).and_then(Option::as_deref).map(Piece::Made),
        })
    }

    fn print(&self, piece: &Piece<'_, 'a>, edits: &Edits<'a>) -> String {
        match piece {
            Piece::Answer(number) => {
                self.conversation.answers.get(*number).map(|answer| edits.render(answer.parts.raw)).unwrap_or_default()
            }
            Piece::Made(text) => (*text).to_owned(),
            Piece::Other(Cow::Borrowed(raw)) => edits.render(raw),
            Piece::Other(Cow::Owned(text)) => text.clone(),
        }
    }
}
