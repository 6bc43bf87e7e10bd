//! CallLog: one debug event for each call.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{Middleware, MiddlewareCall, Next};
use crate::provider::InvokeResult;

/// Writes one debug event (target `toolyard::calls`) when a call has ended: which tool, for whom, how it ended, and how
/// long it took. Never its arguments or its result. A call that is cancelled or out of time writes none.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallLog;

// === impl CallLog ===

impl Middleware for CallLog {
    fn name(&self) -> &'static str {
        "call_log"
    }

    fn handle(self: Arc<Self>, call: MiddlewareCall, next: Next) -> BoxFuture<'static, InvokeResult> {
        Box::pin(async move {
            let began = Instant::now();
            let result = next.run(call.clone()).await;
            let outcome = match &result {
                Ok(result) if result.success => "ok",
                Ok(_) => "tool.failed",
                Err(failure) => failure.code.as_str(),
            };
            let (invocation, context) = (call.invocation(), call.context());
            tracing::debug!(
                target: "toolyard::calls",
                provider = &*invocation.spec().provider_name,
                tool = invocation.tool_name(),
                call_id = invocation.call_id().as_str(),
                tenant = context.tenant,
                actor = ?context.actor,
                outcome,
                micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
                "call"
            );
            result
        })
    }

    fn timeout(&self) -> Duration {
        Duration::MAX
    }
}
