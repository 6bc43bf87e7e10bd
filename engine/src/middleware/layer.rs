//! Layer: one middleware at work on one call. Its panics and its slowness stay here.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{Instant, Sleep};

use super::chain::ChainRun;
use super::{Middleware, MiddlewareCall};
use crate::isolate;
use crate::provider::InvokeResult;
use crate::result::{ErrorCode, ToolFailure};
use crate::text;

/// The way on: to the next middleware, and after the last to the tool.
#[derive(Clone)]
pub struct Next {
    run: Arc<ChainRun>,
    layer: usize,
    clock: Arc<Clock>,
}

/// One middleware at work on one call.
pub(super) struct Layer {
    run: Arc<ChainRun>,
    layer: usize,
    clock: Arc<Clock>,
    began: Instant,
    limit: Duration,
    stage: Stage,
    timer: Option<Pin<Box<Sleep>>>,
}

enum Stage {
    Ready(Arc<dyn Middleware>, Box<MiddlewareCall>),
    Running(BoxFuture<'static, InvokeResult>),
    Done,
}

/// How much of a middleware's time passed further in.
#[derive(Debug, Default)]
struct Clock(Mutex<Times>);

#[derive(Debug, Default)]
struct Times {
    inside: usize,
    since: Option<Instant>,
    before: Duration,
    went_on: bool,
}

/// Time further in, while it lasts.
struct Inside(Arc<Clock>);

// === impl Next ===

impl Next {
    /// Goes on with the call, as it is given. Nothing happens until the future is polled.
    pub fn run(&self, call: MiddlewareCall) -> BoxFuture<'static, InvokeResult> {
        let Self { run, layer, clock } = self.clone();
        Box::pin(async move {
            let _inside = Inside::enter(clock);
            ChainRun::go_on(&run, layer + 1, call.rewritten).await
        })
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("layer", &self.layer).finish_non_exhaustive()
    }
}

// === impl Layer ===

impl Layer {
    pub(super) fn new(run: Arc<ChainRun>, layer: usize, middleware: Arc<dyn Middleware>, call: MiddlewareCall) -> Self {
        let limit = isolate::catch(|| middleware.timeout()).unwrap_or_default();
        let (clock, began) = (Arc::default(), Instant::now());
        Self { run, layer, clock, began, limit, stage: Stage::Ready(middleware, Box::new(call)), timer: None }
    }

    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Result<Poll<InvokeResult>, isolate::Panicked> {
        if let Stage::Ready(..) = self.stage
            && let Stage::Ready(middleware, call) = std::mem::replace(&mut self.stage, Stage::Done)
        {
            let next = Next { run: Arc::clone(&self.run), layer: self.layer, clock: Arc::clone(&self.clock) };
            self.stage = Stage::Running(isolate::catch(move || middleware.handle(*call, next))?);
        }
        match &mut self.stage {
            Stage::Running(future) => isolate::catch(|| future.as_mut().poll(cx)),
            Stage::Ready(..) | Stage::Done => Ok(Poll::Pending),
        }
    }

    /// Whether the middleware has used up its own time.
    fn poll_limit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(further_in) = self.clock.further_in() else { return Poll::Pending };
        let end = self.began.checked_add(further_in).and_then(|end| end.checked_add(self.limit));
        let Some(end) = end else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
        if timer.deadline() != end {
            timer.as_mut().reset(end);
        }
        timer.as_mut().poll(cx)
    }

    fn failed(&self, timed_out: bool) -> InvokeResult {
        let name = self.name();
        tracing::warn!(middleware = &*name, timed_out, "a middleware failed its call");
        let message = text::middleware_failed(self.run.batch.context.locale, &name, timed_out.then_some(self.limit));
        Err(ToolFailure::new(ErrorCode::MiddlewareFailed, message))
    }

    fn name(&self) -> String {
        let name = self.run.list.get(self.layer).map(|middleware| isolate::catch(|| middleware.name().to_owned()));
        name.and_then(Result::ok).unwrap_or_default()
    }

    /// A future whose drop panics has had its say.
    fn end(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::Done);
        isolate::catch(move || drop(stage)).ok();
    }
}

impl Future for Layer {
    type Output = InvokeResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<InvokeResult> {
        let result = match self.poll_stage(cx) {
            Ok(Poll::Ready(result)) => result,
            Ok(Poll::Pending) => match self.poll_limit(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) => self.failed(true),
            },
            Err(isolate::Panicked) => self.failed(false),
        };
        if result.is_ok() && !self.clock.went_on() {
            self.run.track.answered_by(self.name().into());
        }
        self.end();
        Poll::Ready(result)
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        self.end();
    }
}

// === impl Clock ===

impl Clock {
    /// The time that has passed further in; nothing while the call is there.
    fn further_in(&self) -> Option<Duration> {
        let times = self.lock();
        (times.inside == 0).then_some(times.before)
    }

    fn went_on(&self) -> bool {
        self.lock().went_on
    }

    fn lock(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Inside ===

impl Inside {
    fn enter(clock: Arc<Clock>) -> Self {
        let mut times = clock.lock();
        times.went_on = true;
        times.inside += 1;
        if times.inside == 1 {
            times.since = Some(Instant::now());
        }
        drop(times);
        Self(clock)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let mut times = self.0.lock();
        times.inside -= 1;
        if times.inside == 0
            && let Some(since) = times.since.take()
        {
            times.before += since.elapsed();
        }
    }
}
