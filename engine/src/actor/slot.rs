//! Slot: what the registry knows of one registered provider.

use std::sync::Arc;
use std::time::Duration;

use kameo::actor::ActorRef;
use tokio::sync::oneshot;

use super::provider_actor::{ProviderActor, Retire};
use super::start::Blueprint;
use super::status::PublishedSlot;
use crate::registry::{Life, Listing, ProviderHandle, ProviderState, ProviderStatus, RegistryError, Starting};
use crate::tool::NameForm;

/// Where the end of something that takes time is told.
pub(super) type Reply = oneshot::Sender<Result<(), RegistryError>>;

/// A registered provider.
pub(super) struct Slot {
    pub(super) name: Arc<str>,
    pub(super) serial: u64,
    pub(super) blueprint: Arc<Blueprint>,
    pub(super) actor: ActorRef<ProviderActor>,
    /// Serves until this one is up.
    predecessor: Option<ActorRef<ProviderActor>>,
    /// What is routed, of this provider or still of its predecessor.
    pub(super) listing: Listing,
    handle: Option<Arc<ProviderHandle>>,
    state: ProviderState,
    reason: Option<String>,
    starts: u32,
    waiting: Option<Reply>,
}

// === impl Slot ===

impl Slot {
    pub(super) fn new(
        name: Arc<str>,
        serial: u64,
        blueprint: Arc<Blueprint>,
        actor: ActorRef<ProviderActor>,
        started: Reply,
        replaced: Option<Self>,
    ) -> Self {
        let mut slot = Self {
            name,
            serial,
            blueprint,
            actor,
            predecessor: None,
            listing: Listing::default(),
            handle: None,
            state: ProviderState::Starting,
            reason: None,
            starts: 0,
            waiting: Some(started),
        };
        if let Some(replaced) = replaced {
            slot.inherit(replaced);
        }
        slot
    }

    /// Of a chain of replacements that never came up, the one that still serves is kept.
    fn inherit(&mut self, mut replaced: Self) {
        self.listing = std::mem::take(&mut replaced.listing);
        match replaced.predecessor.take() {
            Some(serving) => {
                self.predecessor = Some(serving);
                let (done, _) = oneshot::channel();
                replaced.retire(Duration::ZERO, Life::Closed, done);
            }
            None => self.predecessor = Some(replaced.actor),
        }
    }

    pub(super) fn up(&mut self, handle: Arc<ProviderHandle>, listing: Listing) {
        // Tools that are listed again mend no reload that failed.
        if self.handle.as_ref().is_none_or(|before| !Arc::ptr_eq(before, &handle)) {
            self.starts += 1;
            self.reason = None;
        }
        self.listing = listing;
        self.handle = Some(handle);
        self.state = ProviderState::Up;
    }

    /// It goes on as it is, and people can see why it is not what they asked for.
    pub(super) fn keep(&mut self, reason: &str) {
        self.reason = Some(format!("it could not be reloaded and goes on as it was: {reason}"));
    }

    /// The tools keep their names: calls to them are `unavailable`, not unknown.
    pub(super) fn fail(&mut self, state: ProviderState, reason: String) {
        self.state = state;
        self.reason = Some(reason);
    }

    /// What has to wait until a change can be seen by all: the predecessor leaves, and who waits for the start is told.
    pub(super) fn after_publication(&mut self) {
        if self.state == ProviderState::Up
            && let Some(predecessor) = self.predecessor.take()
        {
            let (done, _) = oneshot::channel();
            tell_retire(&predecessor, self.blueprint.settings.drain, Life::Closed, done);
        }
        if let Some(waiting) = self.waiting.take() {
            let name = self.name.to_string();
            let told = self.reason.clone().map_or(Ok(()), |reason| Err(RegistryError::StartFailed { name, reason }));
            drop(waiting.send(told));
        }
    }

    pub(super) fn retire(mut self, drain: Duration, life: Life, done: Reply) {
        if let Some(predecessor) = self.predecessor.take() {
            let (ignored, _) = oneshot::channel();
            tell_retire(&predecessor, drain, life, ignored);
        }
        tell_retire(&self.actor, drain, life, done);
    }

    /// A provider without any listing yet.
    pub(super) fn starting(&self) -> Option<Starting> {
        let unlisted = self.listing.tools.is_empty() && self.state != ProviderState::Up;
        let prefix = match self.blueprint.settings.name_form {
            NameForm::Qualified => Some(format!("{}__", self.name)),
            NameForm::Bare => None,
        };
        unlisted.then(|| Starting {
            provider: Arc::clone(&self.name),
            prefix,
            reason: self.reason.clone(),
            breaker: self.blueprint.breaker.clone(),
        })
    }

    pub(super) fn published(&self) -> PublishedSlot {
        let reason = self.reason.as_ref().map(|reason| match &self.blueprint.breaker {
            Some(breaker) if self.state == ProviderState::BreakerOpen => breaker.reason_down(reason),
            _ => reason.clone(),
        });
        let status = ProviderStatus {
            name: Arc::clone(&self.name),
            kind: self.blueprint.kind.as_str(),
            state: self.state,
            reason,
            tools: self.listing.tools.len(),
            rejected: self.listing.rejected.clone(),
            warnings: self.listing.warnings.clone(),
            starts: self.starts,
            in_flight: 0,
        };
        PublishedSlot { status, handle: self.handle.clone() }
    }
}

/// A mailbox that is full or gone drops the sender, which counts as done.
fn tell_retire(actor: &ActorRef<ProviderActor>, drain: Duration, life: Life, done: Reply) {
    drop(actor.tell(Retire { drain, life, done }).try_send());
}
