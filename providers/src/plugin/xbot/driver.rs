//! Driver: the task that owns a plugin's process and gives it the calls, each in its turn.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolyard::{ErrorCode, JsonText, ToolFailure};

use super::answer::{Answer, Malformed};
use super::call::Call;
use super::process::{Heard, Launch, PluginProcess};
use super::provider::Shared;
use super::{request, result};

/// Calls that may wait for their turn; those beyond are refused.
const MAX_QUEUED: usize = 1024;
/// Calls that a plugin with request ids gets at once.
const MAX_AT_ONCE: usize = 256;
/// Bytes that may wait to be written before the next call is.
const MAX_UNWRITTEN: usize = 64 << 10;

/// Owns a plugin's process and the calls on their way to it.
pub(super) struct Driver {
    pub(super) name: Arc<str>,
    pub(super) launch: Arc<Launch>,
    pub(super) shared: Arc<Shared>,
    pub(super) calls: mpsc::Receiver<Call>,
    /// Serials of calls whose callers have gone; bounded by the calls.
    pub(super) gone: mpsc::UnboundedReceiver<u64>,
    pub(super) close: CancellationToken,
    pub(super) waiting: VecDeque<Call>,
    /// Calls that the plugin has, by serial.
    pub(super) running: BTreeMap<u64, Running>,
}

/// A call that the plugin has, or is being given.
pub(super) struct Running {
    call: Call,
    /// Bytes of its line.
    bytes: usize,
}

/// How a process comes to its end.
enum Next {
    /// The two sides are out of step: another process goes on.
    Restart(String),
    /// The plugin broke.
    End(String),
    /// The provider is closed.
    Close,
}

// === impl Driver ===

impl Driver {
    pub(super) async fn run(mut self, mut process: PluginProcess) {
        loop {
            match self.serve(&mut process).await {
                Next::Close => {
                    let unanswered = self.running.len();
                    self.fail("the plugin is closed");
                    return process.deactivate(self.launch.config.deactivate_grace(), 0, unanswered).await;
                }
                Next::End(reason) => {
                    self.end(&reason);
                    return process.kill().await;
                }
                Next::Restart(reason) => {
                    tracing::warn!(provider = %self.name, reason, "a plugin's process is started again");
                    process.kill().await;
                    match self.restart().await {
                        Some(Ok(next)) => process = next,
                        Some(Err(failure)) => return self.end(&failure.to_string()),
                        None => return self.fail("the plugin is closed"),
                    }
                }
            }
        }
    }

    /// Calls go on waiting meanwhile. Nothing when the provider is closed.
    async fn restart(&mut self) -> Option<Result<PluginProcess, ToolFailure>> {
        let started = self.close.run_until_cancelled(PluginProcess::start(&self.launch)).await?;
        Some(started.map(|(process, activated)| {
            self.shared.set(activated);
            process
        }))
    }

    async fn serve(&mut self, process: &mut PluginProcess) -> Next {
        loop {
            self.start_calls(process);
            let next = tokio::select! {
                () = self.close.cancelled() => Some(Next::Close),
                heard = process.next() => self.heard(heard, process.request_ids),
                Some(serial) = self.gone.recv() => self.left(serial, process),
                Some(call) = self.calls.recv() => {
                    self.queue(call);
                    None
                }
            };
            if let Some(next) = next {
                return next;
            }
        }
    }

    fn queue(&mut self, call: Call) {
        if self.waiting.len() < MAX_QUEUED {
            self.waiting.push_back(call);
            return;
        }
        let reason = format!("{MAX_QUEUED} calls wait for the plugin already");
        call.settle(Err(ToolFailure::not_sent(ErrorCode::LimitInFlight, reason)));
    }

    /// Without ids the next line would be taken for the answer: what the plugin has written by now is heard first.
    fn start_calls(&mut self, process: &mut PluginProcess) {
        let (limit, wait) = if process.request_ids { (MAX_AT_ONCE, false) } else { (1, process.has_line()) };
        while !wait && self.running.len() < limit && process.unwritten() < MAX_UNWRITTEN {
            let Some(call) = self.waiting.pop_front() else { return };
            let Some(params) = call.start() else { continue };
            self.start_call(call, &params, process);
        }
    }

    fn start_call(&mut self, call: Call, params: &JsonText, process: &mut PluginProcess) {
        let line = request::execute(process.request_ids.then_some(call.serial), params);
        let limit = self.launch.config.max_line_bytes;
        if line.len() > limit {
            let reason = format!("the call has {} bytes as a line; the plugin takes at most {limit}", line.len());
            return call.settle(Err(ToolFailure::not_sent(ErrorCode::ArgumentsTooLarge, reason)));
        }
        process.send(&line);
        self.running.insert(call.serial, Running { call, bytes: line.len() });
    }

    fn heard(&mut self, heard: Heard, request_ids: bool) -> Option<Next> {
        match heard {
            Heard::Nothing => None,
            Heard::End(reason) => Some(Next::End(reason)),
            Heard::Answer(answer) if request_ids => {
                self.answered_by_id(answer);
                None
            }
            Heard::Malformed(malformed) if request_ids => {
                self.malformed_by_id(malformed.id, malformed.why);
                None
            }
            Heard::Answer(answer) => match self.running.pop_first() {
                Some((_, running)) => {
                    running.call.settle(Ok(result::read(answer)));
                    None
                }
                None => Some(Next::End("it answered a request that was not made".to_owned())),
            },
            Heard::Malformed(malformed) => self.malformed(malformed),
        }
    }

    fn malformed(&mut self, malformed: Malformed) -> Option<Next> {
        let Malformed { is_answer, why, .. } = malformed;
        match self.running.pop_first() {
            Some((_, running)) => {
                running.call.settle(Err(protocol(&why)));
                // Another line may be the answer to this call, and must not become that to the next.
                (!is_answer).then_some(Next::Restart(why))
            }
            None if is_answer => Some(Next::End("it answered a request that was not made".to_owned())),
            None => None,
        }
    }

    fn answered_by_id(&mut self, answer: Answer) {
        let Some(id) = answer.id else {
            return self.malformed_by_id(None, "its answer has no `id`".to_owned());
        };
        match self.running.remove(&id) {
            Some(running) => running.call.settle(Ok(result::read(answer))),
            None => tracing::debug!(provider = %self.name, id, "an answer came too late and is dropped"),
        }
    }

    /// A line that names no call belongs to the only one, if there is one.
    fn malformed_by_id(&mut self, id: Option<u64>, why: String) {
        let only = self.running.keys().next().copied().filter(|_| self.running.len() == 1);
        match id.or(only).and_then(|id| self.running.remove(&id)) {
            Some(running) => running.call.settle(Err(protocol(&why))),
            None => tracing::warn!(provider = %self.name, why, "a plugin wrote a line that belongs to no call"),
        }
    }

    /// The caller of a call has gone.
    fn left(&mut self, serial: u64, process: &mut PluginProcess) -> Option<Next> {
        let Some(running) = self.running.remove(&serial) else {
            self.waiting.retain(|call| call.serial != serial);
            return None;
        };
        if process.request_ids {
            if process.unwritten() < MAX_UNWRITTEN {
                process.send(&request::cancel(serial));
            }
            return None;
        }
        let is_back = process.take_back(running.bytes);
        (!is_back).then(|| Next::Restart("a call was given up while the plugin worked on it".to_owned()))
    }

    fn end(&mut self, reason: &str) {
        self.fail(reason);
        self.shared.end(reason);
    }

    /// Fails every call: what the plugin has may have been done, what waits has not.
    fn fail(&mut self, reason: &str) {
        self.calls.close();
        for (_, running) in std::mem::take(&mut self.running) {
            let reason = format!("{reason}; whether the call was carried out is unknown");
            running.call.settle(Err(ToolFailure::new(ErrorCode::ProviderCrashed, reason)));
        }
        while let Ok(call) = self.calls.try_recv() {
            self.waiting.push_back(call);
        }
        for call in self.waiting.drain(..) {
            let reason = format!("the plugin went away before the call had its turn: {reason}");
            call.settle(Err(ToolFailure::not_sent(ErrorCode::ProviderDown, reason)));
        }
    }
}

impl Drop for Driver {
    /// A driver that was aborted or panicked leaves nobody to answer.
    fn drop(&mut self) {
        self.shared.end("the task that drives it has ended");
    }
}

fn protocol(why: &str) -> ToolFailure {
    ToolFailure::new(ErrorCode::ProviderProtocol, format!("the plugin answered wrongly: {why}"))
}
