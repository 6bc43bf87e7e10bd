//! A provider that is to be made anew when its files change.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolyard::{
    CallContext, InvokeResult, ProviderEvent, ProviderKind, Reason, Remarks, ToolAvailabilityContext, ToolFailure,
    ToolInvocation, ToolProvider, ToolSpec,
};

use super::FileWatch;

/// One incarnation, with the watch over what it was made of.
struct Watched {
    provider: Arc<dyn ToolProvider>,
    watch: FileWatch,
}

/// A provider that asks to be made anew when its files change. Begin the watch before the files are read, so that no
/// change is missed. One that cannot be watched works all the same, and the log says so.
pub(crate) fn watched(provider: Arc<dyn ToolProvider>, watch: notify::Result<FileWatch>) -> Arc<dyn ToolProvider> {
    match watch {
        Ok(watch) => Arc::new(Watched { provider, watch }),
        Err(error) => {
            tracing::warn!(provider = provider.name(), %error, "its files cannot be watched");
            provider
        }
    }
}

// === impl Watched ===

impl ToolProvider for Watched {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn kind(&self) -> ProviderKind {
        self.provider.kind()
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolSpec>, ToolFailure>> {
        self.provider.list_tools()
    }

    fn invoke(self: Arc<Self>, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        Arc::clone(&self.provider).invoke(invocation, context)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.provider.close()
    }

    fn availability(&self, tool: &ToolSpec, context: &ToolAvailabilityContext<'_>) -> Option<Reason> {
        self.provider.availability(tool, context)
    }

    fn remarks(&self) -> Remarks {
        self.provider.remarks()
    }

    fn guide(&self) -> Option<String> {
        self.provider.guide()
    }

    fn next_event(&self) -> BoxFuture<'_, ProviderEvent> {
        Box::pin(async {
            tokio::select! {
                biased;
                event = self.provider.next_event() => event,
                _change = self.watch.changed() => ProviderEvent::Outdated(Reason("its files changed".to_owned())),
            }
        })
    }
}
