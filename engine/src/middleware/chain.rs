//! Chain: the middleware that is registered, and one call's way through it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use futures::future::BoxFuture;

use super::layer::Layer;
use super::{Middleware, MiddlewareCall};
use crate::call::ToolInvocation;
use crate::dispatch::{Body, RunningBatch, Track};
use crate::json::JsonText;
use crate::provider::InvokeResult;

type List = Vec<Arc<dyn Middleware>>;

/// The middleware that is registered, from outermost.
#[derive(Default)]
pub(crate) struct Middlewares {
    any: AtomicBool,
    list: ArcSwap<List>,
}

/// One call's way through the middleware that was registered when it started.
pub(crate) struct ChainRun {
    pub(super) list: Arc<List>,
    pub(super) batch: Arc<RunningBatch>,
    place: usize,
    pub(super) track: Arc<Track>,
}

// === impl Middlewares ===

impl Middlewares {
    pub(crate) fn set(&self, list: List) {
        let any = !list.is_empty();
        self.list.store(Arc::new(list));
        self.any.store(any, Ordering::Release);
    }

    pub(crate) fn add(&self, middleware: &Arc<dyn Middleware>) {
        self.list.rcu(|list| {
            let mut longer = List::clone(list);
            longer.push(Arc::clone(middleware));
            longer
        });
        self.any.store(true, Ordering::Release);
    }

    /// Nothing where there is none: the usual case costs one look.
    pub(crate) fn list(&self) -> Option<Arc<List>> {
        self.any.load(Ordering::Acquire).then(|| self.list.load_full())
    }
}

impl fmt::Debug for Middlewares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Middlewares").field("any", &self.any).finish_non_exhaustive()
    }
}

// === impl ChainRun ===

impl ChainRun {
    /// Starts a call through the middleware; the first is polled when the future is.
    pub(crate) fn start(
        list: Arc<List>,
        batch: Arc<RunningBatch>,
        place: usize,
        track: Arc<Track>,
    ) -> BoxFuture<'static, InvokeResult> {
        Self::go_on(&Arc::new(Self { list, batch, place, track }), 0, None)
    }

    /// Goes on with the middleware at `layer`, or with the tool after the last.
    pub(super) fn go_on(
        run: &Arc<Self>,
        layer: usize,
        rewritten: Option<JsonText>,
    ) -> BoxFuture<'static, InvokeResult> {
        let invocation = ToolInvocation::new(Arc::clone(&run.batch), run.place);
        match run.list.get(layer) {
            Some(middleware) => {
                let call = MiddlewareCall::new(invocation, rewritten);
                Box::pin(Layer::new(Arc::clone(run), layer, Arc::clone(middleware), call))
            }
            None => Box::pin(Body::run(Arc::clone(&run.batch), run.place, Arc::clone(&run.track), rewritten)),
        }
    }
}
