//! Retry: another attempt where a provider broke and nothing can happen twice by it.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{Middleware, MiddlewareCall, Next};
use crate::provider::InvokeResult;
use crate::result::{Sent, ToolFailure};

/// Another attempt where a provider broke (`provider.crashed`, `provider.down`, `provider.protocol`) and nothing can
/// happen twice by it: the call certainly never reached its tool, or the tool only reads or is idempotent
/// ([`MiddlewareCall::is_repeatable`]). A tool that ran and failed, a deadline, a refusal are never tried again.
///
/// Waits `first_wait` before the second attempt and twice as long before each later one. An attempt that the call's
/// deadline leaves no time for is not waited for: the failure is told at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all, the first included. Default 3.
    pub max_attempts: NonZeroU32,
    /// Waiting before the second attempt. Default 100 ms.
    pub first_wait: Duration,
}

// === impl Retry ===

impl Retry {
    async fn attempts(self: Arc<Self>, call: MiddlewareCall, next: Next) -> InvokeResult {
        let mut wait = self.first_wait;
        let mut attempt = 1;
        loop {
            match next.run(call.clone()).await {
                Err(failure) if attempt < self.max_attempts.get() && may_try_again(&call, &failure) => {
                    if Instant::now().checked_add(wait).is_none_or(|then| then >= call.deadline()) {
                        return Err(failure);
                    }
                }
                other => return other,
            }
            tokio::time::sleep(wait).await;
            wait = wait.saturating_mul(2);
            attempt += 1;
        }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self { max_attempts: NonZeroU32::MIN.saturating_add(2), first_wait: Duration::from_millis(100) }
    }
}

impl Middleware for Retry {
    fn name(&self) -> &'static str {
        "retry"
    }

    fn handle(self: Arc<Self>, call: MiddlewareCall, next: Next) -> BoxFuture<'static, InvokeResult> {
        Box::pin(self.attempts(call, next))
    }

    /// Its waits end with the call's deadline.
    fn timeout(&self) -> Duration {
        Duration::MAX
    }
}

fn may_try_again(call: &MiddlewareCall, failure: &ToolFailure) -> bool {
    failure.code.means_broken()
        && match failure.sent {
            Sent::No => true,
            Sent::Maybe | Sent::Yes => call.is_repeatable(),
        }
}
