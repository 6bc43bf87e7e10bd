//! Crashable: in-process tools whose provider can be made to crash.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::Notify;
use toolyard::{CallContext, FunctionProvider, InvokeResult, ProviderEvent, ProviderKind, Reason, ToolFailure};
use toolyard::{ToolInvocation, ToolProvider, ToolSpec};

/// Makes a provider crash. Cloning shares it.
#[derive(Clone, Default)]
pub(super) struct Crash(Arc<Notify>);

pub(super) struct Crashable {
    tools: Arc<FunctionProvider>,
    crash: Crash,
}

// === impl Crash ===

impl Crash {
    pub(super) fn now(&self) {
        self.0.notify_one();
    }
}

// === impl Crashable ===

impl Crashable {
    pub(super) fn new(tools: FunctionProvider, crash: Crash) -> Self {
        Self { tools: Arc::new(tools), crash }
    }
}

impl ToolProvider for Crashable {
    fn name(&self) -> &str {
        "crashing"
    }

    fn kind(&self) -> ProviderKind {
        ProviderKind::new("crashable")
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        self.tools.list_tools()
    }

    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Arc::clone(&self.tools).invoke(invocation, context)
    }

    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        async {
            self.crash.0.notified().await;
            ProviderEvent::Ended(Reason("as told".to_owned()))
        }
        .boxed()
    }
}
