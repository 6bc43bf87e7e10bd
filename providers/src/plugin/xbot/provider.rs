//! XbotPlugin: a running plugin, as a provider.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use toolyard::{
    CallContext, ErrorCode, InvokeResult, ProviderEvent, ProviderKind, Reason, Remarks, ToolFailure, ToolInvocation,
    ToolProvider, ToolSpec,
};

use super::KIND;
use super::call::{Call, Ticket};
use super::driver::Driver;
use super::process::{Launch, PluginProcess};
use super::tools::Activated;

/// Calls between their callers and the driver, which takes them at once unless it starts a process.
const DOORSTEP: usize = 64;
/// How long before its deadline a call that still waits is given up, so that it can be told from one that was started.
const MARGIN: Duration = Duration::from_millis(2);
/// Time for failed calls to take what they were told, before the end of the plugin is told to the engine.
const LEAVE: Duration = Duration::from_millis(50);

/// A running plugin. Its process may be another one after a call that was given up.
#[derive(Debug)]
pub(super) struct XbotPlugin {
    name: Arc<str>,
    shared: Arc<Shared>,
    serials: AtomicU64,
    calls: mpsc::Sender<Call>,
    gone: mpsc::UnboundedSender<u64>,
    close: CancellationToken,
    /// Cancelled when the driver and the process have ended.
    done: CancellationToken,
    _driver: AbortOnDropHandle<()>,
}

/// What a plugin and its driver tell each other.
#[derive(Debug)]
pub(super) struct Shared {
    activated: Mutex<Activated>,
    changed: Notify,
    ended: watch::Sender<Option<String>>,
    /// Calls inside.
    present: TaskTracker,
}

/// Tells the driver when a caller goes before its call is answered.
struct Presence<'a> {
    gone: &'a mpsc::UnboundedSender<u64>,
    serial: u64,
    is_answered: bool,
}

// === impl XbotPlugin ===

impl XbotPlugin {
    pub(super) fn new(name: Arc<str>, launch: Arc<Launch>, process: PluginProcess, activated: Activated) -> Self {
        let shared = Arc::new(Shared {
            activated: Mutex::new(activated),
            changed: Notify::new(),
            ended: watch::Sender::new(None),
            present: TaskTracker::new(),
        });
        let (calls, coming) = mpsc::channel(DOORSTEP);
        let (gone, going) = mpsc::unbounded_channel();
        let (close, done) = (CancellationToken::new(), CancellationToken::new());
        let driver = Driver {
            name: Arc::clone(&name),
            launch,
            shared: Arc::clone(&shared),
            calls: coming,
            gone: going,
            close: close.clone(),
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
        };
        let ended = done.clone().drop_guard();
        let driver = tokio::spawn(async move {
            let _ended = ended;
            driver.run(process).await;
        });
        let driver = AbortOnDropHandle::new(driver);
        Self { name, shared, serials: AtomicU64::new(1), calls, gone, close, done, _driver: driver }
    }

    async fn call(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> InvokeResult {
        let _present = self.shared.present.token();
        let serial = self.serials.fetch_add(1, Ordering::Relaxed);
        let deadline = context.deadline();
        let (call, Ticket { turn, mut reply }) = Call::new(serial, invocation, &context);
        let mut too_late = std::pin::pin!(sleep_until(deadline.checked_sub(MARGIN).unwrap_or_else(Instant::now)));
        tokio::select! {
            biased;
            sent = self.calls.send(call) => sent.map_err(|_closed| self.down())?,
            () = &mut too_late => return Err(never_started()),
        }
        let mut presence = Presence { gone: &self.gone, serial, is_answered: false };
        let answer = tokio::select! {
            biased;
            answer = &mut reply => answer,
            () = &mut too_late => {
                if turn.leave() {
                    return Err(never_started());
                }
                reply.await
            }
        };
        presence.is_answered = true;
        answer.unwrap_or_else(|_dropped| Err(self.down()))
    }

    fn down(&self) -> ToolFailure {
        let reason = self.shared.ended.borrow().clone();
        ToolFailure::not_sent(ErrorCode::ProviderDown, reason.unwrap_or_else(|| "the plugin is closed".to_owned()))
    }
}

impl ToolProvider for XbotPlugin {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        Box::pin(async { Ok(self.shared.read(|activated| activated.tools.clone())) })
    }

    /// Dropping the future of a call that the plugin works on ends the plugin's process, unless it takes request ids.
    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Box::pin(self.call(invocation, context))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.close.cancel();
            self.done.cancelled().await;
        })
    }

    fn remarks(&self) -> Remarks {
        self.shared.read(|activated| activated.remarks.clone())
    }

    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        Box::pin(self.shared.next_event())
    }
}

// === impl Shared ===

impl Shared {
    fn read<T>(&self, read: impl FnOnce(&Activated) -> T) -> T {
        read(&self.activated.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the next process of the same plugin says of itself.
    pub(super) fn set(&self, activated: Activated) {
        let mut current = self.activated.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != activated {
            *current = activated;
            self.changed.notify_one();
        }
    }

    /// The plugin is gone, and why. The first reason stays.
    pub(super) fn end(&self, reason: &str) {
        self.ended.send_if_modified(|ended| {
            let is_first = ended.is_none();
            ended.get_or_insert_with(|| reason.to_owned());
            is_first
        });
    }

    /// Failed calls say best themselves what became of them: they go before the engine ends the rest.
    async fn next_event(&self) -> ProviderEvent {
        let reason = tokio::select! {
            biased;
            reason = self.why_ended() => reason,
            () = self.changed.notified() => return ProviderEvent::ToolsChanged,
        };
        self.present.close();
        timeout(LEAVE, self.present.wait()).await.ok();
        ProviderEvent::Ended(Reason(reason))
    }

    async fn why_ended(&self) -> String {
        let mut ended = self.ended.subscribe();
        let reason = ended.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or_default()
    }
}

// === impl Presence ===

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.gone.send(self.serial).ok();
        }
    }
}

/// The plugin never saw the call.
fn never_started() -> ToolFailure {
    let reason = "the deadline passed while the call waited for the plugin to be free; it was not started";
    ToolFailure::not_sent(ErrorCode::DeadlineExceeded, reason)
}
