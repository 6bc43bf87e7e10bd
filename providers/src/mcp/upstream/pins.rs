//! Pins: what a server's tools said of themselves when they were first seen, so that none changes behind people's backs.

mod book;
mod diff;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use toolyard::{JsonText, ToolWarning};

use book::{Book, Shelf};
pub use diff::PinChange;

/// What becomes of declarations that are not as they were first seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinPolicy {
    /// Nothing: they are not looked at.
    Off,
    /// They are used, and the provider's status warns of them.
    #[default]
    Flag,
    /// They are withheld until somebody approves them.
    Block,
}

/// The pins of every MCP server. Cloning shares them.
#[derive(Clone)]
pub struct McpPins(Arc<Inner>);

struct Inner {
    shelf: Shelf,
    state: Mutex<State>,
}

struct State {
    /// What is pinned, or why that is not known.
    book: Result<Book, String>,
    /// What the servers offer now.
    offered: HashMap<String, Offers>,
    /// Told when a tool is approved.
    approved: HashMap<String, Arc<Notify>>,
}

/// Canonical declarations, by tool.
type Offers = BTreeMap<String, Pin>;

/// A declaration as it was pinned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// SHA-256 over the canonical form of name, description and input schema, in hexadecimal digits.
    pub sha256: String,
    /// That form.
    pub definition: JsonText,
}

/// What is pinned of a tool, and what is offered.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PinView {
    /// Name of the tool, as the server gives it.
    pub tool: String,
    /// How the two compare.
    pub state: PinState,
    /// What is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Pin>,
    /// What is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<Pin>,
    /// What has changed, place by place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<PinChange>,
}

/// How what is offered compares with what is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PinState {
    /// The same.
    Pinned,
    /// Something else.
    Changed,
    /// It was not there when the server was first seen.
    New,
    /// It is not offered any more.
    Gone,
}

/// Why a tool cannot be approved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// No listing of this server has been looked at.
    #[error("nothing is known of the declarations of `{0}`: it is no MCP server, is not up, or `pins` is off")]
    UnknownProvider(String),
    /// The server does not offer this tool.
    #[error("`{provider}` offers no tool `{tool}`")]
    UnknownTool {
        /// The server.
        provider: String,
        /// The tool.
        tool: String,
    },
    /// The pins cannot be read or saved.
    #[error("{0}")]
    Storage(String),
}

/// What a listing came to: for each tool, why it is withheld, if so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) withheld: Vec<Option<String>>,
    pub(super) warnings: Vec<ToolWarning>,
}

// === impl McpPins ===

impl McpPins {
    /// Pins that are forgotten when the process ends.
    pub fn in_memory() -> Self {
        Self::with(Shelf::memory())
    }

    /// Pins that are kept in this file. One that cannot be read is not written over: servers whose policy is
    /// [`PinPolicy::Block`] have their tools withheld until it can be.
    pub fn in_file(file: impl Into<PathBuf>) -> Self {
        Self::with(Shelf::file(file.into()))
    }

    fn with(shelf: Shelf) -> Self {
        let state = State { book: shelf.read(), offered: HashMap::new(), approved: HashMap::new() };
        Self(Arc::new(Inner { shelf, state: Mutex::new(state) }))
    }

    /// What is pinned and offered of one server's tools, by name.
    ///
    /// # Errors
    /// Nothing is known of the server, or the pins cannot be read.
    pub fn of(&self, provider: &str) -> Result<Vec<PinView>, PinError> {
        let state = self.state();
        let book = state.book.as_ref().map_err(|reason| PinError::Storage(reason.clone()))?;
        let (pinned, offered) = (book.get(provider), state.offered.get(provider));
        if pinned.is_none() && offered.is_none() {
            return Err(PinError::UnknownProvider(provider.to_owned()));
        }
        let mut views: BTreeMap<&String, (Option<&Pin>, Option<&Pin>)> = BTreeMap::new();
        for (tool, pin) in pinned.into_iter().flatten() {
            views.entry(tool).or_default().0 = Some(pin);
        }
        for (tool, pin) in offered.into_iter().flatten() {
            views.entry(tool).or_default().1 = Some(pin);
        }
        Ok(views.into_iter().map(|(tool, (pinned, offered))| PinView::new(tool, pinned, offered)).collect())
    }

    /// Pins what is offered of a tool now. The server's tools are listed again, which gives it free. Blocks on the file
    /// system.
    ///
    /// # Errors
    /// The server does not offer it, or the pins cannot be read or saved: it stays as it is then.
    pub fn approve(&self, provider: &str, tool: &str) -> Result<PinView, PinError> {
        let mut state = self.state();
        let offers = state.offered.get(provider).ok_or_else(|| PinError::UnknownProvider(provider.to_owned()))?;
        let unknown = || PinError::UnknownTool { provider: provider.to_owned(), tool: tool.to_owned() };
        let pin = offers.get(tool).cloned().ok_or_else(unknown)?;
        let mut book = state.book.clone().map_err(PinError::Storage)?;
        book.entry(provider.to_owned()).or_default().insert(tool.to_owned(), pin.clone());
        self.0.shelf.write(&book).map_err(PinError::Storage)?;
        state.book = Ok(book);
        if let Some(waiting) = state.approved.get(provider) {
            waiting.notify_one();
        }
        Ok(PinView::new(tool, Some(&pin), Some(&pin)))
    }

    /// Told whenever a tool of this server is approved: its tools are to be listed again.
    pub(super) fn approvals(&self, provider: &str) -> Arc<Notify> {
        Arc::clone(self.state().approved.entry(provider.to_owned()).or_default())
    }

    /// Compares a listing with the pins: name and raw declaration of each tool. What a server offers when it is seen for
    /// the first time is pinned.
    pub(super) async fn judge(&self, provider: &str, policy: PinPolicy, tools: Vec<(String, JsonText)>) -> Judgement {
        let count = tools.len();
        if policy == PinPolicy::Off {
            return Judgement { withheld: vec![None; count], warnings: Vec::new() };
        }
        let (pins, provider) = (self.clone(), provider.to_owned());
        let judged = tokio::task::spawn_blocking(move || pins.judge_now(&provider, policy, &tools)).await;
        judged.unwrap_or_else(|error| Judgement {
            withheld: vec![Some(format!("its declaration could not be checked: {error}")); count],
            warnings: Vec::new(),
        })
    }

    fn judge_now(&self, provider: &str, policy: PinPolicy, tools: &[(String, JsonText)]) -> Judgement {
        let offered: Vec<(&String, Pin)> = tools.iter().map(|(name, raw)| (name, Pin::of(raw))).collect();
        let mut state = self.state();
        state
            .offered
            .insert(provider.to_owned(), offered.iter().map(|(name, pin)| ((*name).clone(), pin.clone())).collect());
        if state.book.is_err() {
            state.book = self.0.shelf.read();
        }
        let mut book = match &state.book {
            Ok(book) => book.clone(),
            Err(reason) => return Judgement::unknown(provider, policy, reason, offered.len()),
        };
        let mut judgement = Judgement::default();
        if let Some(pinned) = book.get(provider) {
            for (name, pin) in &offered {
                let fault = fault(pinned.get(*name), pin);
                judgement.add(name, policy, fault);
            }
            return judgement;
        }
        judgement.withheld = vec![None; offered.len()];
        if !offered.is_empty() {
            book.insert(provider.to_owned(), offered.into_iter().map(|(name, pin)| (name.clone(), pin)).collect());
            if let Err(message) = self.0.shelf.write(&book) {
                judgement.warnings.push(ToolWarning { name: provider.to_owned(), message });
            }
            state.book = Ok(book);
        }
        judgement
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for McpPins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpPins").field(&self.0.shelf).finish()
    }
}

fn fault(pinned: Option<&Pin>, offered: &Pin) -> Option<&'static str> {
    match pinned {
        None => Some("it is new: it was not there when the server was first seen"),
        Some(pinned) if pinned.sha256 != offered.sha256 => Some("its declaration has changed since it was first seen"),
        Some(_) => None,
    }
}

// === impl Judgement ===

impl Judgement {
    fn add(&mut self, name: &str, policy: PinPolicy, fault: Option<&str>) {
        let withheld = fault.filter(|_| policy == PinPolicy::Block).map(str::to_owned);
        if let Some(fault) = fault {
            let consequence = if withheld.is_some() { "; it is withheld until it is approved" } else { "" };
            self.warnings.push(ToolWarning { name: name.to_owned(), message: format!("{fault}{consequence}") });
        }
        self.withheld.push(withheld);
    }

    /// Where the pins cannot be read, nothing is known to be as it was.
    fn unknown(provider: &str, policy: PinPolicy, reason: &str, count: usize) -> Self {
        let withheld = (policy == PinPolicy::Block).then(|| reason.to_owned());
        let warning = ToolWarning { name: provider.to_owned(), message: reason.to_owned() };
        Self { withheld: vec![withheld; count], warnings: vec![warning] }
    }
}

// === impl PinView ===

impl PinView {
    fn new(tool: &str, pinned: Option<&Pin>, offered: Option<&Pin>) -> Self {
        let state = match (pinned, offered) {
            (Some(pinned), Some(offered)) if pinned.sha256 == offered.sha256 => PinState::Pinned,
            (Some(_), Some(_)) => PinState::Changed,
            (None, _) => PinState::New,
            (Some(_), None) => PinState::Gone,
        };
        let diff = match (pinned, offered) {
            (Some(pinned), Some(offered)) => diff::between(&pinned.definition, &offered.definition),
            _ => Vec::new(),
        };
        Self { tool: tool.to_owned(), state, pinned: pinned.cloned(), offered: offered.cloned(), diff }
    }
}

#[cfg(test)]
mod tests;
