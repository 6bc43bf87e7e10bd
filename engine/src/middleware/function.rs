//! MiddlewareFn: a middleware made of a function.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Middleware, MiddlewareCall, Next};
use crate::provider::InvokeResult;

type Handle = Box<dyn Fn(MiddlewareCall, Next) -> BoxFuture<'static, InvokeResult> + Send + Sync>;

/// A middleware made of a function.
pub struct MiddlewareFn {
    name: String,
    handle: Handle,
}

// === impl MiddlewareFn ===

impl MiddlewareFn {
    /// A middleware that handles calls with this function; see [`Middleware::handle`].
    pub fn new<F, Fut>(name: impl Into<String>, handle: F) -> Self
    where
        F: Fn(MiddlewareCall, Next) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = InvokeResult> + Send + 'static,
    {
        Self { name: name.into(), handle: Box::new(move |call, next| Box::pin(handle(call, next))) }
    }
}

impl Middleware for MiddlewareFn {
    fn name(&self) -> &str {
        &self.name
    }

    fn handle(self: Arc<Self>, call: MiddlewareCall, next: Next) -> BoxFuture<'static, InvokeResult> {
        (self.handle)(call, next)
    }
}

impl fmt::Debug for MiddlewareFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MiddlewareFn").field("name", &self.name).finish_non_exhaustive()
    }
}
