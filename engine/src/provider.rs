//! What a provider is, and what it may ask of its host. The engine knows providers only by these traits.

mod host;
mod settings;

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::call::{CallContext, ToolAvailabilityContext, ToolInvocation};
use crate::registry::{RejectedTool, ToolWarning};
use crate::result::{ToolExecutionResult, ToolFailure};
use crate::tool::ToolSpec;

pub use host::{HostCaller, HostPort, HostRequest, NoHost};
pub use settings::{Backoff, Breaker, GuideRule, ProviderSettings};

/// What a call comes to: the tool's own result, or the failure of its provider.
pub type InvokeResult = Result<ToolExecutionResult, ToolFailure>;

/// Runs one call of a tool of this process, as [`ToolProvider::invoke`] does.
pub type ToolHandler = Arc<dyn Fn(ToolInvocation, CallContext) -> BoxFuture<'static, InvokeResult> + Send + Sync>;

/// A source of tools (seed 001, section 3.5). One value is one incarnation: a connection, a process, a set of handlers.
pub trait ToolProvider: Send + Sync + 'static {
    /// Name of the provider, unique in its registry.
    fn name(&self) -> &str;

    /// What kind of provider it is.
    fn kind(&self) -> ProviderKind;

    /// Lists everything the provider has, whatever the chat. Runs off the invoke path, under the start-up deadline;
    /// dropping the future gives up.
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>>;

    /// Runs one call. A tool that failed is an `Ok` with `success = false`; an `Err` says that the provider broke.
    ///
    /// Dropping the future is the call's cancellation: the provider passes it on to where the tool runs. Panics are
    /// caught and cost only this call.
    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult>;

    /// What runs the calls of one tool without anything of the provider itself; asked when the tool is listed. Calls of a tool
    /// that has a handler go straight to it, past [`ToolProvider::invoke`]: workers that run calls of one provider at the
    /// same time then need not count its references in one place. The default has none.
    fn handler(&self, tool: &ToolSpec) -> Option<ToolHandler> {
        let _ = tool;
        None
    }

    /// Gives everything back: connections, processes, tasks. Called once, after the last call has ended.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Why a tool cannot be used in this chat at this moment, if so. Synchronous and quick: it runs on the invoke
    /// path and must not block.
    fn availability(&self, tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason> {
        let _ = (tool, context);
        None
    }

    /// What else there is to say of the last listing: declarations that no tool could be made of, and what is not as it
    /// should be with tools that work all the same.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }

    /// What the model is told about all tools of the provider at once, if anything; read anew whenever the tools are
    /// listed. See [`ProviderSettings::guide`] for when it is told. The text is data to the engine: it may be hostile.
    fn guide(&self) -> Option<String> {
        None
    }

    /// The next thing that happens to the provider by itself. The default never happens.
    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        Box::pin(std::future::pending())
    }
}

/// Makes incarnations of a provider that can come and go.
pub trait ProviderConnector: Send + Sync + 'static {
    /// Name of the provider.
    fn name(&self) -> &str;

    /// What kind of provider it is.
    fn kind(&self) -> ProviderKind;

    /// Makes a fresh incarnation. Dropping the future gives up and leaves nothing behind.
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn ToolProvider>, ToolFailure>>;

    /// Whether it may go better by itself after [`ProviderConnector::connect`] failed like this. What cannot, such as a
    /// mistake in a configuration, is tried again only when somebody asks for a reload. Default true.
    fn mends_itself(&self, _failure: &ToolFailure) -> bool {
        true
    }
}

/// The kind of a provider, such as `mcp` or `function`; a label of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProviderKind(&'static str);

/// Why something cannot be used, in a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(pub String);

/// What a provider says of its listing beside the tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Declarations that no tool could be made of.
    pub rejected: Vec<RejectedTool>,
    /// Faults of tools that work all the same; a name that is no tool's stands for something else of the provider.
    pub warnings: Vec<ToolWarning>,
}

/// What happens to a provider by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderEvent {
    /// Its tools have changed: list them again.
    ToolsChanged,
    /// It is out of date: make a fresh incarnation and swap it in. This one finishes its calls; on failure it stays.
    Outdated(Reason),
    /// Its connection or process is gone; calls in flight end at once.
    Ended(Reason),
}

/// A provider that is always there: its one incarnation is the value itself.
pub(crate) struct Standing(pub(crate) Arc<dyn ToolProvider>);

// === impl ProviderKind ===

impl ProviderKind {
    /// A kind by its name.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

// === impl Reason ===

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// === impl Standing ===

impl ProviderConnector for Standing {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn kind(&self) -> ProviderKind {
        self.0.kind()
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn ToolProvider>, ToolFailure>> {
        let provider = Arc::clone(&self.0);
        Box::pin(std::future::ready(Ok(provider)))
    }
}
