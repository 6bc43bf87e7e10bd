//! Middleware: code of the host around every call, between its permits and its provider.

mod call;
mod chain;
mod function;
mod layer;
mod log;
mod retry;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::provider::InvokeResult;

pub use call::MiddlewareCall;
pub(crate) use chain::{ChainRun, Middlewares};
pub use function::MiddlewareFn;
pub use layer::Next;
pub use log::CallLog;
pub use retry::Retry;

/// Code of the host around every call: after the gates and the permits, before the provider. It may look, give the tool
/// other arguments, answer in the tool's place, or deny the call.
///
/// The one that was registered first is outermost: it sees calls first and results last. A panic, or the end of its own
/// time, fails the one call with `middleware.failed`; whether the tool ran by then is told as it was.
pub trait Middleware: Send + Sync + 'static {
    /// Its name, for results, errors and logs.
    fn name(&self) -> &str;

    /// Handles one call. [`Next::run`] goes on to the next middleware, and after the last to the tool; it may be called
    /// more than once, or not at all. Without it the call counts as not executed: a result is the middleware's answer
    /// ([`crate::CallResult::answered_by`]), an error, such as [`MiddlewareCall::deny`], its refusal.
    ///
    /// Dropping the future is the call's cancellation. It must not block its thread.
    fn handle(self: Arc<Self>, call: MiddlewareCall, next: Next) -> BoxFuture<'static, InvokeResult>;

    /// Time that one call may spend in this middleware itself, without what passes inside of [`Next::run`]. Looked at
    /// whenever its future waits. Default 5 s; [`Duration::MAX`] is no limit but the call's deadline.
    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }
}
