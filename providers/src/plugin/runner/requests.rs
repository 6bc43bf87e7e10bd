//! The plugin's requests for capabilities, each answered in a task of its own.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::calls::Caller;
use super::link::Link;
use crate::plugin::capability::{Ask, CapabilityDesk, Refusal};
use crate::plugin::wire::{self, CapabilityFrame};

/// How long a request may take that is nobody's call and names no time of its own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Longer wishes are cut to this.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(3600);

/// Who asks.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    pub(super) provider: Arc<str>,
    pub(super) plugin_id: Arc<str>,
    /// Its place among the plugins that are up.
    pub(super) incarnation: u64,
    /// What its manifest allows; absent where that is everything.
    pub(super) allowed: Option<Arc<BTreeSet<String>>>,
}

/// Limits of a plugin's requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestLimits {
    pub(super) max_requests: usize,
    pub(super) max_frame_bytes: usize,
}

/// The requests of one runner that wait for their answers. Dropping it gives them all up.
#[derive(Debug)]
pub(super) struct Requests {
    asker: Asker,
    desk: Arc<CapabilityDesk>,
    limits: RequestLimits,
    running: Arc<Mutex<HashMap<u64, Request>>>,
}

/// A request under way.
#[derive(Debug)]
struct Request {
    bytes: usize,
    _task: AbortOnDropHandle<()>,
}

// === impl Requests ===

impl Requests {
    pub(super) fn new(asker: Asker, desk: Arc<CapabilityDesk>, limits: RequestLimits) -> Self {
        Self { asker, desk, limits, running: Arc::default() }
    }

    /// Begins to answer a request; the answer goes out by itself.
    pub(super) fn begin(&self, mut frame: CapabilityFrame, link: &Arc<Link>) {
        let id = frame.id;
        frame.arguments = frame.arguments.with_whole_characters();
        // What the backend cannot read would cost the requests of others that it takes together with this one.
        if let Err(unreadable) = frame.arguments.check_readable() {
            link.try_send(wire::refusal(id, "E_BAD_PAYLOAD", &format!("the payload {unreadable}")));
            return;
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() >= self.limits.max_requests {
            let message = format!("the plugin has {} requests under way already", running.len());
            // A runner that does not even read its refusals is past help.
            link.try_send(wire::refusal(id, "E_BACK_PRESSURE", &message));
            return;
        }
        let bytes = frame.arguments.as_str().len();
        let held: usize = running.values().map(|request| request.bytes).sum();
        if held > 0 && held + bytes > self.limits.max_frame_bytes {
            let message = format!("the arguments of the plugin's requests under way have {held} bytes already");
            link.try_send(wire::refusal(id, "E_BACK_PRESSURE", &message));
            return;
        }
        let ask = self.ask(frame, link);
        let (desk, link, done) = (Arc::clone(&self.desk), Arc::clone(link), Arc::clone(&self.running));
        let max_frame_bytes = self.limits.max_frame_bytes;
        let task = tokio::spawn(async move {
            let frame = answer(&desk, id, ask, max_frame_bytes).await;
            link.send(frame).await;
            done.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        });
        running.insert(id, Request { bytes, _task: AbortOnDropHandle::new(task) });
    }

    /// Gives a request up.
    pub(super) fn cancel(&self, id: u64) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Within a call, a request has as much time as the call has left.
    fn ask(&self, frame: CapabilityFrame, link: &Link) -> Ask {
        let caller = frame.call.and_then(|call| link.calls.caller(call));
        let own = frame.timeout_ms.map(|millis| Instant::now() + Duration::from_millis(millis).min(LONGEST_TIMEOUT));
        let outer = caller.as_ref().map(|caller| caller.deadline);
        let deadline = match (own, outer) {
            (Some(own), Some(outer)) => own.min(outer),
            (Some(deadline), None) | (None, Some(deadline)) => deadline,
            (None, None) => Instant::now() + DEFAULT_TIMEOUT,
        };
        Ask {
            plugin: Arc::clone(&self.asker.provider),
            plugin_id: Arc::clone(&self.asker.plugin_id),
            incarnation: Some(self.asker.incarnation),
            name: frame.name,
            arguments: frame.arguments,
            caller: caller.and_then(|Caller { host, .. }| host),
            deadline,
            allowed: self.asker.allowed.clone(),
        }
    }
}

async fn answer(desk: &CapabilityDesk, id: u64, ask: Ask, max_frame_bytes: usize) -> Vec<u8> {
    let (name, deadline) = (ask.name.clone(), ask.deadline);
    let answered = match tokio::time::timeout_at(deadline, desk.answer(ask)).await {
        Ok(answered) => answered,
        Err(_elapsed) => Err(Refusal::timeout(format!("no answer to `{name}` in time"))),
    };
    match answered {
        Ok(value) if value.as_str().len() + 64 > max_frame_bytes => {
            wire::refusal(id, "E_CAPABILITY_FAILED", &format!("the answer to `{name}` is over the size limit"))
        }
        Ok(value) => match value.check_readable() {
            Ok(()) => wire::answer(id, &value),
            Err(unreadable) => {
                wire::refusal(id, "E_CAPABILITY_FAILED", &format!("the answer to `{name}` {unreadable}"))
            }
        },
        Err(Refusal { code, message }) => wire::refusal(id, code, &message),
    }
}
