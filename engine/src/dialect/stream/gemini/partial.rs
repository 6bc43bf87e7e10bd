//! Arguments that come as values at JSON paths: `{"jsonPath": "$.a.b[0].c", "stringValue": "…", "willContinue": true}`.
//!
//! A string may come in several pieces at the same path. Lists grow at their end. What cannot be placed makes the
//! arguments broken for good: they must not run with a part missing.

use indexmap::IndexMap;

use crate::dialect::stream::ledger::Ledger;
use crate::dialect::stream::members::{Members, verbatim};
use crate::dialect::stream::text::Text;
use crate::json::{JsonText, outline};

/// Steps of one path, and so the depth of the arguments.
const MAX_DEPTH: usize = 64;
/// What a node costs besides its text.
const NODE_BYTES: usize = 32;

/// The arguments so far.
#[derive(Debug, Default)]
pub(super) struct PartialArguments {
    root: IndexMap<String, Node>,
    broken: bool,
    /// Strings that wait for their next piece.
    half_strings: usize,
}

#[derive(Debug)]
enum Node {
    /// Nothing was put here yet.
    Empty,
    Object(IndexMap<String, Node>),
    List(Vec<Node>),
    Text {
        text: Text,
        open: bool,
    },
    /// A value as it was written.
    Value(JsonText),
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Item(usize),
}

// === impl PartialArguments ===

impl PartialArguments {
    /// Members that came whole; those at hand stay.
    pub(super) fn take_whole(&mut self, members: &Members<'_>, ledger: &mut Ledger) {
        for (key, value) in members.iter() {
            if !self.root.contains_key(&*key) && ledger.charge(NODE_BYTES + key.len() + value.raw().len()) {
                self.root.insert(key.into_owned(), Node::Value(verbatim(value)));
            }
        }
    }

    pub(super) fn take(&mut self, piece: &Members<'_>, ledger: &mut Ledger) {
        if self.place(piece, ledger).is_none() {
            ledger.warn("a piece of arguments that cannot be placed was left out");
            self.broken = true;
        }
    }

    /// Whether nothing is missing that is known of.
    pub(super) fn is_whole(&self) -> bool {
        !self.broken && self.half_strings == 0 && self.root.values().all(Node::is_filled)
    }

    pub(super) fn object(&self) -> JsonText {
        object(&self.root)
    }

    fn place(&mut self, piece: &Members<'_>, ledger: &mut Ledger) -> Option<()> {
        let path = steps(&piece.text("jsonPath"))?;
        let (Step::Key(first), rest) = path.split_first()? else { return None };
        let mut node = entry(&mut self.root, first, ledger)?;
        for step in rest {
            node = node.child(step, ledger)?;
        }
        let will_continue = piece.is_true("willContinue");
        if let Some(text) = piece.get("stringValue") {
            let was_open = matches!(node, Node::Text { open: true, .. });
            node.append(text, will_continue, ledger)?;
            self.half_strings = (self.half_strings + usize::from(will_continue)).checked_sub(usize::from(was_open))?;
            return Some(());
        }
        match (node, value(piece)) {
            (node @ Node::Empty, Some(value)) => {
                *node = Node::Value(JsonText::trusted(value.into()));
                ledger.charge(value.len()).then_some(())
            }
            // Says only that nothing more will come here, or that more will.
            (Node::Text { open, .. }, None) if *open && !will_continue => {
                *open = false;
                self.half_strings = self.half_strings.checked_sub(1)?;
                Some(())
            }
            (Node::Empty, None) if !will_continue => None,
            (_, None) => Some(()),
            (_, Some(_)) => None,
        }
    }
}

// === impl Node ===

impl Node {
    fn child(&mut self, step: &Step, ledger: &mut Ledger) -> Option<&mut Self> {
        if matches!(self, Self::Empty) {
            *self = match step {
                Step::Key(_) => Self::Object(IndexMap::new()),
                Step::Item(_) => Self::List(Vec::new()),
            };
        }
        match (self, step) {
            (Self::Object(members), Step::Key(key)) => entry(members, key, ledger),
            (Self::List(items), Step::Item(at)) => {
                if *at == items.len() && ledger.charge(NODE_BYTES) {
                    items.push(Self::Empty);
                }
                items.get_mut(*at)
            }
            _ => None,
        }
    }

    /// Appends to a string that is still open, or puts one in an empty place. An empty piece may close it once more.
    fn append(&mut self, piece: outline::Node<'_>, will_continue: bool, ledger: &mut Ledger) -> Option<()> {
        if !piece.raw().starts_with('"') {
            return None;
        }
        if matches!(self, Self::Empty) {
            *self = Self::Text { text: Text::default(), open: true };
        }
        let Self::Text { text, open } = self else { return None };
        if !*open {
            return (piece.raw() == "\"\"" && !will_continue).then_some(());
        }
        text.push(Some(piece), ledger);
        *open = will_continue;
        Some(())
    }

    fn is_filled(&self) -> bool {
        match self {
            Self::Empty => false,
            Self::Object(members) => members.values().all(Self::is_filled),
            Self::List(items) => items.iter().all(Self::is_filled),
            Self::Text { .. } | Self::Value(_) => true,
        }
    }

    fn json(&self) -> JsonText {
        match self {
            Self::Empty => JsonText::trusted("null".into()),
            Self::Object(members) => object(members),
            Self::List(items) => JsonText::array(items.iter().map(Self::json)),
            Self::Text { text, .. } => text.json(),
            Self::Value(value) => value.clone(),
        }
    }
}

fn entry<'a>(members: &'a mut IndexMap<String, Node>, key: &str, ledger: &mut Ledger) -> Option<&'a mut Node> {
    if !members.contains_key(key) && !ledger.charge(NODE_BYTES + key.len()) {
        return None;
    }
    Some(members.entry(key.to_owned()).or_insert(Node::Empty))
}

fn object(members: &IndexMap<String, Node>) -> JsonText {
    JsonText::object(members.iter().map(|(key, node)| (key.as_str(), node.json())))
}

/// A value other than a string, when it is of its kind.
fn value<'a>(piece: &Members<'a>) -> Option<&'a str> {
    if piece.has("nullValue") {
        return Some("null");
    }
    let is_bool = |raw: &&str| matches!(*raw, "true" | "false");
    let is_number = |raw: &&str| raw.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let raw = |key: &str| piece.get(key).map(outline::Node::raw);
    raw("numberValue").filter(is_number).or_else(|| raw("boolValue").filter(is_bool))
}

/// Reads `$.a.b[0]['c']`; nothing when it is no such path or too deep.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.trim().strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == MAX_DEPTH {
            return None;
        }
        let step;
        (step, rest) = if let Some(named) = rest.strip_prefix('.') {
            let end = named.find(['.', '[']).unwrap_or(named.len());
            let (name, rest) = named.split_at_checked(end)?;
            ((!name.is_empty()).then(|| Step::Key(name.to_owned()))?, rest)
        } else {
            bracket(rest.strip_prefix('[')?)?
        };
        steps.push(step);
    }
    Some(steps)
}

/// Reads a step after its opening bracket: a number, or a name in quotes.
fn bracket(text: &str) -> Option<(Step, &str)> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '\'' | '"')) else {
        let (number, rest) = text.split_once(']')?;
        return Some((Step::Item(number.parse().ok()?), rest));
    };
    let mut name = String::new();
    let mut chars = text.chars();
    chars.next();
    while let Some(next) = chars.next() {
        if next == quote {
            return Some((Step::Key(name), chars.as_str().strip_prefix(']')?));
        }
        name.push(if next == '\\' { chars.next()? } else { next });
    }
    None
}
