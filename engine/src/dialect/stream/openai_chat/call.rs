//! Calls that arrive in deltas, and which delta is whose.

use crate::dialect::stream::ledger::Ledger;
use crate::dialect::stream::members::{Extras, Members, verbatim};
use crate::dialect::stream::text::{Text, escaped};
use crate::json::JsonText;
use crate::json::outline::Node;

use super::nesting::Nesting;

/// The calls so far, in the order in which they were opened.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

/// One call so far.
#[derive(Debug, Default)]
pub(super) struct Call {
    index: Option<u64>,
    /// As it was written, quotes included: a few servers send numbers.
    id: Option<Box<str>>,
    name: Text,
    arguments: Text,
    nesting: Nesting,
    /// Arguments that came as a value, not as text.
    whole: Option<JsonText>,
    kind: Kind,
    function: Extras,
    call: Extras,
}

/// What is called, and so how its members are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Function,
    /// A custom tool, whose input is free text.
    Custom,
}

/// One piece of a call.
pub(super) struct Delta<'a> {
    id: Option<&'a str>,
    index: Option<u64>,
    name: &'a str,
    arguments: Option<Node<'a>>,
    kind: Kind,
    function: Members<'a>,
    call: Members<'a>,
}

// === impl Calls ===

impl Calls {
    pub(super) fn take(&mut self, delta: &Delta<'_>, ledger: &mut Ledger) {
        if let Some(call) = self.find(delta).and_then(|at| self.0.get_mut(at)) {
            return call.extend(delta, ledger);
        }
        if delta.is_empty() || !ledger.admit(self.0.len()) {
            return;
        }
        let mut call = Call { index: delta.index, kind: delta.kind, ..Call::default() };
        call.extend(delta, ledger);
        self.0.push(call);
    }

    pub(super) fn last(&self) -> Option<&Call> {
        self.0.last()
    }

    pub(super) fn list(&self) -> JsonText {
        JsonText::array(self.0.iter().map(Call::json))
    }

    /// The call that a delta continues; none when it opens one.
    fn find(&self, delta: &Delta<'_>) -> Option<usize> {
        match delta.id {
            Some(id) => self.by_id(id, delta),
            None => self.by_place(delta),
        }
    }

    fn by_id(&self, id: &str, delta: &Delta<'_>) -> Option<usize> {
        let has_id = |call: &Call| call.id.as_deref() == Some(id);
        let open = self.open_at(delta.index);
        if let Some((at, call)) = open {
            let takes_id = call.id.is_none() && delta.index.is_some() && !call.is_followed_by(delta);
            if has_id(call) || takes_id {
                return Some(at);
            }
        }
        let known = self.0.iter().rposition(has_id);
        if let Some(at) = known {
            // Calls that share an id by mistake have indexes and names of their own.
            let is_other = delta.index.is_some() && self.0.get(at).is_some_and(|call| call.index.is_some());
            return if is_other && !delta.name.is_empty() { None } else { Some(at) };
        }
        let continues = |call: &Call| delta.name.is_empty() && delta.has_arguments() && call.is_begun();
        open.filter(|(_, call)| delta.index.is_some() && continues(call)).map(|(at, _)| at)
    }

    fn by_place(&self, delta: &Delta<'_>) -> Option<usize> {
        if let Some((at, call)) = self.open_at(delta.index) {
            return if call.is_followed_by(delta) { None } else { Some(at) };
        }
        let last = self.0.len().checked_sub(1)?;
        let is_open = self.0.last().is_some_and(|call| !call.is_complete());
        (delta.name.is_empty() && is_open).then_some(last)
    }

    /// The latest call at an index, or the latest of all.
    fn open_at(&self, index: Option<u64>) -> Option<(usize, &Call)> {
        let mut calls = self.0.iter().enumerate().rev();
        calls.find(|(_, call)| index.is_none() || call.index == index)
    }
}

// === impl Call ===

impl Call {
    /// Adds a piece that is this call's.
    pub(super) fn extend(&mut self, delta: &Delta<'_>, ledger: &mut Ledger) {
        if let Some(id) = delta.id.filter(|_| self.id.is_none())
            && ledger.charge(id.len())
        {
            self.id = Some(id.into());
        }
        if delta.name.starts_with(self.name.as_escaped()) {
            self.name.set_escaped(delta.name, ledger);
        } else {
            self.name.push_escaped(delta.name, ledger);
        }
        match delta.arguments.map(|value| (value, escaped(value))) {
            None => {}
            Some((_, Some(text))) if self.is_complete() && text == self.arguments.as_escaped() => {
                ledger.warn("arguments that came twice were left out once");
            }
            Some((value, Some(text))) => {
                // An empty object that some servers open with is not the whole when text follows.
                self.whole = self.whole.take().filter(|_| text.is_empty());
                self.nesting.read(value);
                self.arguments.push_escaped(text, ledger);
            }
            Some((value, None)) => {
                self.whole = ledger.charge(value.raw().len()).then(|| verbatim(value));
            }
        }
        self.call.keep_all(&delta.call, &["id", "index", "function", "custom", "name", "arguments"], ledger);
        self.function.keep_all(&delta.function, &["name", self.kind.arguments()], ledger);
    }

    pub(super) fn is_complete(&self) -> bool {
        self.whole.is_some() || self.nesting.is_complete()
    }

    pub(super) fn function(&self) -> JsonText {
        let arguments = self.whole.clone().unwrap_or_else(|| self.arguments.json());
        let own = [("name", self.name.json()), (self.kind.arguments(), arguments)];
        JsonText::object(own.into_iter().chain(self.function.iter()))
    }

    fn json(&self) -> JsonText {
        let mut call = Extras::default();
        if let Some(id) = &self.id {
            call.put("id", JsonText::trusted(id.as_ref().into()));
        }
        call.put("type", JsonText::string(self.kind.as_str()));
        call.put(self.kind.as_str(), self.function());
        self.call.iter().for_each(|(key, value)| call.put(key, value));
        call.object()
    }

    /// Whether arguments have come, but not all.
    fn is_begun(&self) -> bool {
        !self.is_complete() && !self.arguments.is_empty()
    }

    /// Whether a delta without a known id is the next call, not more of this one.
    fn is_followed_by(&self, delta: &Delta<'_>) -> bool {
        let name = self.name.as_escaped();
        if !self.is_complete() || delta.name.is_empty() {
            return false;
        }
        let repeats = delta.index.is_some() && delta.arguments.and_then(escaped) == Some(self.arguments.as_escaped());
        delta.name != name || (delta.has_arguments() && !repeats)
    }
}

// === impl Kind ===

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Custom => "custom",
        }
    }

    const fn arguments(self) -> &'static str {
        match self {
            Self::Function => "arguments",
            Self::Custom => "input",
        }
    }
}

// === impl Delta ===

impl<'a> Delta<'a> {
    pub(super) fn of(call: Members<'a>) -> Self {
        let id = call.get("id").map(Node::raw).filter(|id| *id != "\"\"" && !id.starts_with(['{', '[']));
        let kind = if call.get("custom").is_some() { Kind::Custom } else { Kind::Function };
        let has_function = call.get(kind.as_str()).is_some();
        let function = call.object(kind.as_str());
        let owner = if has_function { &function } else { &call };
        let name = owner.get("name").and_then(escaped).unwrap_or_default();
        let arguments = owner.get(kind.arguments());
        Self { id, index: call.index("index"), name, arguments, kind, function, call }
    }

    /// A piece of the old `function_call`.
    pub(super) fn of_function(function: Members<'a>) -> Self {
        let name = function.get("name").and_then(escaped).unwrap_or_default();
        let arguments = function.get("arguments");
        Self { id: None, index: None, name, arguments, kind: Kind::Function, function, call: Members::default() }
    }

    fn has_arguments(&self) -> bool {
        self.arguments.is_some_and(|value| value.raw() != "\"\"")
    }

    /// Whether it says nothing that a call could be made of.
    fn is_empty(&self) -> bool {
        self.id.is_none() && self.name.is_empty() && !self.has_arguments()
    }
}
