//! Body: one run of a tool at the inner end of its middleware.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use super::settled::executed_of;
use super::{RunningBatch, Track};
use crate::call::{Arguments, CallContext, Profile, RawArguments, ToolInvocation, read_arguments};
use crate::isolate::{self, Panicked};
use crate::json::JsonText;
use crate::provider::InvokeResult;
use crate::result::{CallError, ErrorCode, Executed, ToolFailure};
use crate::text;

/// The future of a tool; a panic of its poll or its drop stays here.
pub(crate) struct Body(Option<BoxFuture<'static, InvokeResult>>);

// === impl Body ===

impl Body {
    /// Runs the tool of the call at `place` once, with other arguments where there are any.
    pub(crate) async fn run(
        batch: Arc<RunningBatch>,
        place: usize,
        track: Arc<Track>,
        rewritten: Option<JsonText>,
    ) -> InvokeResult {
        let locale = batch.context.locale;
        let handle = &batch.tool(place).handle;
        let arguments = rewritten.as_ref().map(|text| check(&batch, place, text)).transpose().map_err(not_sent)?;
        let mut probe = None;
        if !handle.is_plainly_up() {
            probe = handle.pass_breaker(locale).map_err(not_sent)?;
        }
        let Some(entered) = track.enter(&batch, place, arguments.as_ref().map(|arguments| arguments.json().clone()))
        else {
            return Err(not_sent(text::cancelled(locale, ErrorCode::CancelledCall)));
        };
        let invoker = Arc::clone(&handle.invoker);
        let invocation = ToolInvocation::new(Arc::clone(&batch), place).with_arguments(arguments);
        let context = CallContext::new(Arc::clone(&batch), place);
        let returned = match isolate::catch(move || invoker.invoke(invocation, context)) {
            Ok(future) => Self(Some(future)).await_end().await,
            Err(panicked) => Err(panicked),
        };
        let Ok(returned) = returned else {
            track.ended(Executed::Unknown);
            let CallError { code, message, .. } = text::panicked(locale);
            return Err(ToolFailure::new(code, message));
        };
        handle.judge(&mut probe, &returned, || batch.clock.instant(entered));
        track.ended(returned.as_ref().map_or_else(executed_of, |_| Executed::Yes));
        returned
    }

    async fn await_end(mut self) -> Result<InvokeResult, Panicked> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<InvokeResult, Panicked>> {
        let Some(future) = &mut self.0 else { return Poll::Pending };
        match isolate::catch(|| future.as_mut().poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let future = self.0.take();
        isolate::catch(move || drop(future)).ok();
    }
}

/// Arguments that a middleware made have to fit as they are: a mistake in them is the host's own, and not mended.
fn check(batch: &RunningBatch, place: usize, text: &JsonText) -> Result<Arguments, CallError> {
    let raw = RawArguments::text(text.as_str());
    let (arguments, _) = read_arguments(raw, Profile::Strict, &batch.engine.limits)?;
    let schema = &batch.tool(place).schema;
    match &batch.admitted[place].source {
        // The schema asks for the message's id, which neither the tool nor a middleware is given.
        Some(source) => {
            let whole = RawArguments::text(source.beside(text).as_str());
            schema.check(&read_arguments(whole, Profile::Strict, &batch.engine.limits)?.0)?;
        }
        None => schema.check(&arguments)?,
    }
    Ok(arguments)
}

fn not_sent(error: CallError) -> ToolFailure {
    ToolFailure::not_sent(error.code, error.message)
}
