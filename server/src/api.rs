//! The HTTP API.

mod approvals;
mod backend;
mod batches;
mod discovery;
mod health;
mod heavy;
mod history;
mod host;
mod invoke;
mod object;
mod pins;
mod problem;
mod providers;
mod results;
mod sessions;
mod tools;

use std::future::IntoFuture;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::RequestBodyTimeoutLayer;

use heavy::Heavy;

use crate::app::App;
use crate::config::ServerConfig;
use crate::telemetry::Metrics;

/// Time for answers to be written once everything is closed; a client that does not read them is left.
const LINGER: Duration = Duration::from_secs(2);

/// Time for the next part of a body to come; a client that stops in the middle is left.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);

/// What every request can reach.
#[derive(Debug)]
struct Shared {
    app: App,
    metrics: Metrics,
    max_body_bytes: usize,
    heavy: Heavy,
}

/// Serves until the process is told to stop, then lets batches in flight finish within the configured grace.
pub(crate) async fn serve(listener: TcpListener, app: App, metrics: Metrics, config: &ServerConfig) -> io::Result<()> {
    let shared = Arc::new(Shared { app, metrics, max_body_bytes: config.max_body_bytes, heavy: Heavy::new() });
    let router = router(Arc::clone(&shared), config);
    // Answers are small and written in two parts: without this, Nagle's algorithm holds the second one back.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
    });
    let stopped = CancellationToken::new();
    let serving = axum::serve(listener, router).with_graceful_shutdown(stopped.clone().cancelled_owned());
    let grace = config.shutdown_grace();
    let closed = CancellationToken::new();
    let stopping = async {
        stop_signal().await;
        tracing::info!(grace_ms = grace.as_millis(), "stopping");
        // A backend that connects itself must reach us until the last call is done; new batches are refused meanwhile.
        if shared.app.backend.channel().is_none() {
            stopped.cancel();
        }
        // Every waiting client gets its results from this, which ends the requests that `serving` waits for.
        shared.app.close(grace).await;
        stopped.cancel();
        closed.cancel();
    };
    let lingering = async {
        closed.cancelled().await;
        tokio::time::sleep(LINGER).await;
    };
    let serving = async {
        tokio::select! {
            served = serving.into_future() => served,
            () = lingering => Ok(()),
        }
    };
    // Both, always: a server without clients is done at once, and the providers still have to be closed in order.
    let (served, ()) = tokio::join!(serving, stopping);
    served
}

fn router(shared: Arc<Shared>, config: &ServerConfig) -> Router {
    // A page in a browser has no part in who asked for what.
    let sessions = Router::new()
        .route("/v1/sessions/{session}", get(sessions::get).put(sessions::put).delete(sessions::end))
        .route("/v1/sessions/{session}/turns", post(sessions::begin_turn))
        .route("/v1/sessions/{session}/messages/{message}/recall", post(sessions::recall))
        .route("/v1/sessions/{session}/loaded", post(sessions::load).delete(sessions::unload))
        .layer(from_fn(host::only_programs));
    let limited = Router::new()
        .route("/v1/batches", post(batches::run))
        .route("/v1/batches/{id}", delete(batches::cancel))
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/approvals/{id}", get(approvals::one))
        .route("/v1/approvals/{id}/approve", post(approvals::approve))
        .route("/v1/approvals/{id}/deny", post(approvals::deny))
        .route("/v1/history", post(history::check))
        .route("/v1/invoke", post(invoke::run))
        .route("/v1/results/{reference}", get(results::kept))
        .route("/v1/tools", get(tools::list))
        .route("/v1/tools/definitions", post(discovery::definitions))
        .route("/v1/tools/catalogue", post(discovery::catalogue))
        .route("/v1/tools/search", post(discovery::search))
        .route("/v1/tools/guides", post(discovery::guides))
        .route("/v1/tools/preview", post(discovery::preview))
        .route("/v1/context", post(discovery::context))
        .route("/v1/providers", get(providers::list))
        .route("/v1/providers/{name}", get(providers::one))
        .route("/v1/providers/{name}/reload", post(providers::reload))
        .route("/v1/providers/{name}/pins", get(pins::list))
        .route("/v1/providers/{name}/pins/{tool}/approve", post(pins::approve))
        .merge(sessions)
        .layer(RequestBodyTimeoutLayer::new(BODY_TIMEOUT))
        .layer(from_fn_with_state(Arc::new(Semaphore::new(config.max_requests)), only_with_room));
    // Whoever watches the daemon must be answered above all when it is full.
    let backend = Router::new()
        .route("/v1/backend/events", get(backend::events))
        .route("/v1/backend/requests", get(backend::requests))
        .route("/v1/backend/answers", post(backend::answers))
        .layer(RequestBodyTimeoutLayer::new(BODY_TIMEOUT))
        // Room of its own: batches that fill the daemon may be waiting for these answers.
        .layer(from_fn_with_state(Arc::new(Semaphore::new(backend::MAX_REQUESTS)), only_with_room))
        .layer(from_fn(host::only_programs));
    // It has room of its own, and checks hosts and origins by its own configuration.
    let mcp = match &shared.app.endpoint {
        Some(endpoint) => {
            Router::new().route_service("/mcp", endpoint.http()).layer(RequestBodyTimeoutLayer::new(BODY_TIMEOUT))
        }
        None => Router::new(),
    };
    Router::new()
        .route("/metrics", get(health::metrics))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .merge(limited)
        .merge(backend)
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .with_state(shared)
        .layer(DefaultBodyLimit::max(config.max_body_bytes))
        .layer(from_fn(host::only_loopback))
        .merge(mcp)
        .layer(CatchPanicLayer::custom(problem::panicked))
}

/// Refuses at once what there is no room for: waiting would only add to the load.
async fn only_with_room(State(room): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    match room.try_acquire() {
        Ok(_permit) => next.run(request).await,
        Err(_full) => problem::overloaded().into_response(),
    }
}

/// Ctrl-C or SIGTERM.
pub(crate) async fn stop_signal() {
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => signal.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate => {}
    }
}
