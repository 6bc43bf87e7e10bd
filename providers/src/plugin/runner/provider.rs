//! PluginProvider: one runner process as a provider.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use futures::future::BoxFuture;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{
    CallContext, ErrorCode, HostCaller, InvokeResult, ProviderEvent, ProviderKind, Reason, Remarks,
    ToolAvailabilityContext, ToolFailure, ToolInvocation, ToolProvider, ToolSpec,
};

use super::RunnerConfig;
use super::calls::{Caller, Reply};
use super::link::Link;
use crate::plugin::capability::Attachment;
use crate::plugin::dialect::{Dialect, LoadedPlugin};
use crate::plugin::wire;
use crate::process::ChildProcess;

/// One plugin in its process.
#[derive(Debug)]
pub(super) struct PluginProvider {
    pub(super) shared: Arc<Shared>,
    /// The reader, the writer, the watchdog and the watch over the plugin's files. They end with the provider.
    pub(super) tasks: Mutex<Vec<AbortOnDropHandle<()>>>,
}

/// What the provider and its tasks share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) name: Arc<str>,
    pub(super) dialect: Arc<dyn Dialect>,
    pub(super) config: RunnerConfig,
    pub(super) link: Arc<Link>,
    pub(super) child: ChildProcess,
    pub(super) plugin: ArcSwap<LoadedPlugin>,
    /// Its place among the plugins that are up.
    pub(super) attachment: Attachment,
    pub(super) changed: Notify,
    pub(super) outdated: Outdated,
    pub(super) unloaded: Notify,
}

/// Why the plugin is to be loaded again, if so.
#[derive(Debug, Default)]
pub(super) struct Outdated {
    why: Mutex<Option<String>>,
    told: Notify,
}

/// Gives a call up unless it has been answered.
pub(super) struct CancelOnDrop<'a> {
    link: &'a Link,
    context: Option<&'a CallContext>,
    id: u64,
    armed: bool,
}

// === impl Shared ===

impl Shared {
    pub(super) fn new(
        name: Arc<str>,
        dialect: Arc<dyn Dialect>,
        config: RunnerConfig,
        link: Arc<Link>,
        child: ChildProcess,
        plugin: LoadedPlugin,
        attachment: Attachment,
    ) -> Self {
        Self {
            name,
            dialect,
            config,
            link,
            child,
            plugin: ArcSwap::from_pointee(plugin),
            attachment,
            changed: Notify::new(),
            outdated: Outdated::default(),
            unloaded: Notify::new(),
        }
    }
}

// === impl PluginProvider ===

impl PluginProvider {
    async fn call(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> InvokeResult {
        let Shared { dialect, link, config, .. } = &*self.shared;
        let tool = invocation.spec();
        let source = context.source_message().map(|message| &**message);
        let body = dialect.call(tool, invocation.arguments().json(), context.execution(), source);
        let host = HostCaller {
            call_id: invocation.call_id().clone(),
            tool: Arc::clone(&tool.name),
            context: Arc::clone(context.execution()),
        };
        let caller = Caller { what: Arc::clone(&tool.name), host: Some(host), deadline: context.deadline() };
        let Some((id, answer)) = link.calls.add(caller) else {
            return Err(ToolFailure::not_sent(ErrorCode::ProviderCrashed, "its process is gone"));
        };
        let frame = wire::call(id, &tool.name, &body);
        if frame.len() > config.max_frame_bytes {
            link.calls.withdraw(id);
            let message = format!("the arguments are over the plugin's limit of {} bytes", config.max_frame_bytes);
            return Err(ToolFailure::not_sent(ErrorCode::ArgumentsTooLarge, message));
        }
        if !link.try_send(frame) {
            link.calls.withdraw(id);
            let message = "too many calls wait for the plugin, which does not take them";
            return Err(ToolFailure::not_sent(ErrorCode::LimitInFlight, message));
        }
        let begun = Instant::now();
        let reply = CancelOnDrop::wait(link, Some(&context), id, answer).await;
        let returned = matches!(reply, Ok(Reply::Returned(_)));
        self.shared.attachment.record_call(&tool.name, returned, begun.elapsed());
        match reply {
            Ok(Reply::Returned(value)) => Ok(dialect.result(tool, value)),
            Ok(Reply::Raised { kind, message, detail }) => {
                tracing::debug!(provider = %self.shared.name, tool = %tool.name, kind, detail, "a handler failed");
                dialect.raised(tool, &kind, &message)
            }
            Err(_gone) => {
                let why = last_words(&self.shared.child, link.ended().await).await;
                Err(ToolFailure::new(ErrorCode::ProviderCrashed, format!("{why}; the outcome is unknown")))
            }
        }
    }
}

impl ToolProvider for PluginProvider {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn kind(&self) -> ProviderKind {
        self.shared.dialect.kind()
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        let tools = self.shared.plugin.load().tools.clone();
        Box::pin(std::future::ready(Ok(tools)))
    }

    fn remarks(&self) -> Remarks {
        self.shared.plugin.load().remarks.clone()
    }

    fn guide(&self) -> Option<String> {
        self.shared.plugin.load().guide.clone()
    }

    /// Dropping the future has the runner cancel the handler, and does not wait for it.
    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Box::pin(self.call(invocation, context))
    }

    fn availability(&self, tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason> {
        let Shared { dialect, attachment, .. } = &*self.shared;
        dialect.availability(tool, context).or_else(|| {
            let is_off = !attachment.is_enabled(&tool.name, context.stream_id);
            is_off.then(|| Reason("a plugin has switched it off".to_owned()))
        })
    }

    /// Lets the plugin give back what it holds, then ends its process.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let Shared { link, config, child, unloaded, attachment, .. } = &*self.shared;
            attachment.leave();
            if link.try_send(wire::unload()) {
                tokio::select! {
                    () = unloaded.notified() => {}
                    _ = link.ended() => {}
                    _ = tokio::time::timeout(config.unload(), child.ended()) => {}
                }
            }
            link.end("it was closed");
            self.tasks.lock().unwrap_or_else(PoisonError::into_inner).clear();
            child.stop().await;
        })
    }

    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        Box::pin(async {
            let Shared { link, child, changed, outdated, .. } = &*self.shared;
            tokio::select! {
                biased;
                reason = child.ended() => ProviderEvent::Ended(Reason(reason)),
                reason = link.ended() => ProviderEvent::Ended(Reason(last_words(child, reason).await)),
                () = changed.notified() => ProviderEvent::ToolsChanged,
                reason = outdated.next() => ProviderEvent::Outdated(Reason(reason)),
            }
        })
    }
}

/// A process that closes its connection is about to end, and its end says more.
async fn last_words(child: &ChildProcess, reason: String) -> String {
    const PATIENCE: std::time::Duration = std::time::Duration::from_millis(40);
    tokio::time::timeout(PATIENCE, child.ended()).await.unwrap_or(reason)
}

// === impl Outdated ===

impl Outdated {
    /// Asks for the plugin to be loaded again.
    pub(super) fn tell(&self, why: impl Into<String>) {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.into());
        self.told.notify_one();
    }

    async fn next(&self) -> String {
        self.told.notified().await;
        self.why.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}

// === impl CancelOnDrop ===

impl<'a> CancelOnDrop<'a> {
    /// Waits for the answer to a call. Dropping the future gives the call up.
    pub(super) async fn wait(
        link: &'a Link,
        context: Option<&'a CallContext>,
        id: u64,
        answer: oneshot::Receiver<Reply>,
    ) -> Result<Reply, oneshot::error::RecvError> {
        let mut cancel = Self { link, context, id, armed: true };
        let reply = answer.await;
        cancel.armed = false;
        reply
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.link.cancel(self.id, self.context.map(CallContext::hold));
        }
    }
}
