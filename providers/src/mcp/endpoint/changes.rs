//! Changes: what servers and the registry say by themselves, told to whoever wants to hear it, changes of lists together.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;
use toolyard::JsonText;

use super::Shared;
use super::features;
use super::message::notification;
use super::meta::LogLevel;
use super::peer::Peer;
use crate::mcp::hub::{McpEvent, McpEventKind};

/// How long changes are gathered, so that many become one.
const GATHER: Duration = Duration::from_millis(100);
/// How often what is idle is looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// What has changed and was not told yet.
#[derive(Default)]
struct Changed {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// By tenant, where it is one tenant's.
    updated: HashSet<(Option<Arc<str>>, String)>,
}

/// Runs until the endpoint closes.
pub(super) async fn watch(shared: Arc<Shared>) {
    let mut tools = shared.registry.tools_changes();
    let mut events = shared.hub.events();
    let mut sweep = tokio::time::interval(SWEEP);
    let mut changed = Changed::default();
    let mut due: Option<Instant> = None;
    loop {
        let wait = due.unwrap_or_else(Instant::now);
        tokio::select! {
            () = shared.closed.cancelled() => return,
            change = tools.changed() => match change {
                Ok(()) => changed.tools = true,
                Err(_) => return,
            },
            event = events.recv() => match event {
                Ok(event) => changed.add(&shared, event),
                Err(RecvError::Lagged(_)) => changed.all(),
                Err(RecvError::Closed) => return,
            },
            () = tokio::time::sleep_until(wait), if due.is_some() => {
                due = None;
                std::mem::take(&mut changed).tell(&shared);
            }
            _ = sweep.tick() => {
                for idle in shared.sessions.take_idle() {
                    shared.registry.cancel_session(&idle.key);
                }
                shared.held.sweep();
            }
        }
        if changed.any() {
            due.get_or_insert_with(|| Instant::now() + GATHER);
        }
    }
}

/// Passes the lowest level that any session asked for on to every server that has a log.
pub(super) fn pass_level_on(shared: &Arc<Shared>, peer: &Peer) {
    let lowest = shared.sessions.all().iter().filter_map(|session| session.log_level()).min();
    let own = peer.session.as_ref().and_then(|session| session.log_level());
    let Some(level) = lowest.into_iter().chain(own).min() else { return };
    for (_, features) in shared.hub.members() {
        if features::has(&*features, &["logging"]) {
            let params = JsonText::object([("level", JsonText::string(level.as_str()))]);
            let asked = features::ask("logging/setLevel", params, peer, None);
            drop(tokio::spawn(async move { features::request(&*features, asked).await.ok() }));
        }
    }
}

// === impl Changed ===

impl Changed {
    fn any(&self) -> bool {
        self.tools || self.prompts || self.resources || !self.updated.is_empty()
    }

    /// More was said than could be heard.
    fn all(&mut self) {
        self.prompts = true;
        self.resources = true;
    }

    fn add(&mut self, shared: &Shared, event: McpEvent) {
        match event.kind {
            McpEventKind::PromptsChanged => self.prompts = true,
            McpEventKind::ResourcesChanged => self.resources = true,
            McpEventKind::ResourceUpdated { uri } => {
                self.updated.insert((event.tenant, uri));
            }
            McpEventKind::Log { params } => log(shared, event.tenant.as_deref(), &params),
        }
    }

    fn tell(self, shared: &Shared) {
        let lists = [
            (self.tools, "notifications/tools/list_changed"),
            (self.prompts, "notifications/prompts/list_changed"),
            (self.resources, "notifications/resources/list_changed"),
        ];
        let sessions = shared.sessions.all();
        for session in &sessions {
            // A client may take what it was not told of for a fault.
            let heard = [true, session.offered.prompts, session.offered.resources];
            for ((has_changed, method), is_heard) in lists.into_iter().zip(heard) {
                if has_changed && is_heard {
                    session.tell(notification(method, &JsonText::object([])));
                }
            }
        }
        let is_for = |tenant: &Option<Arc<str>>, whose: &Arc<str>| tenant.as_ref().is_none_or(|tenant| tenant == whose);
        for (tenant, uri) in &self.updated {
            let params = JsonText::object([("uri", JsonText::string(uri))]);
            for session in sessions.iter().filter(|s| is_for(tenant, &s.key.tenant) && s.is_subscribed(uri)) {
                session.tell(notification("notifications/resources/updated", &params));
            }
        }
        for listener in shared.listeners.all() {
            let filter = &listener.filter;
            let wanted = [filter.tools_list_changed, filter.prompts_list_changed, filter.resources_list_changed];
            for ((has_changed, method), is_wanted) in lists.into_iter().zip(wanted) {
                if has_changed && is_wanted {
                    listener.tell(method, []);
                }
            }
            for (_, uri) in self.updated.iter().filter(|(t, uri)| is_for(t, &listener.tenant) && listener.watches(uri))
            {
                listener.tell("notifications/resources/updated", [("uri", JsonText::string(uri))]);
            }
        }
    }
}

/// A line of a server's log that belongs to no call.
fn log(shared: &Shared, tenant: Option<&str>, params: &JsonText) {
    let level = LogLevel::of_line(params);
    for session in shared.sessions.all() {
        let is_its_own = tenant.is_none_or(|tenant| tenant == &*session.key.tenant);
        if is_its_own && session.log_level().is_none_or(|wanted| level >= wanted) {
            session.tell(notification("notifications/message", params));
        }
    }
}
