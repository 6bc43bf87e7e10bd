//! The HTTP API.

mod batches;
mod health;
mod host;
mod problem;
mod tools;

use std::future::IntoFuture;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{delete, get, post};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;

use crate::app::App;
use crate::config::ServerConfig;
use crate::telemetry::Metrics;

/// Time for answers to be written once everything is closed; a client that does not read them is left.
const LINGER: Duration = Duration::from_secs(2);

/// What every request can reach.
#[derive(Debug)]
struct Shared {
    app: App,
    metrics: Metrics,
}

/// Serves until the process is told to stop, then lets batches in flight finish within the configured grace.
pub(crate) async fn serve(listener: TcpListener, app: App, metrics: Metrics, config: &ServerConfig) -> io::Result<()> {
    let shared = Arc::new(Shared { app, metrics });
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
    let stopping = async {
        stop_signal().await;
        tracing::info!(grace_ms = grace.as_millis(), "stopping");
        stopped.cancel();
        // Every waiting client gets its results from this, which ends the requests that `serving` waits for.
        shared.app.close(grace).await;
    };
    tokio::select! {
        served = serving.into_future() => served,
        () = async { stopping.await; tokio::time::sleep(LINGER).await } => Ok(()),
    }
}

fn router(shared: Arc<Shared>, config: &ServerConfig) -> Router {
    Router::new()
        .route("/v1/batches", post(batches::run))
        .route("/v1/batches/{id}", delete(batches::cancel))
        .route("/v1/tools", get(tools::list))
        .route("/v1/providers", get(tools::providers))
        .route("/metrics", get(health::metrics))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .with_state(shared)
        .layer(DefaultBodyLimit::max(config.max_body_bytes))
        .layer(axum::middleware::from_fn(host::only_loopback))
        .layer(tower::limit::GlobalConcurrencyLimitLayer::new(config.max_requests))
        .layer(CatchPanicLayer::custom(problem::panicked))
}

/// Ctrl-C or SIGTERM.
async fn stop_signal() {
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
