//! The bot backend: the bot's own program, which answers what providers ask of it, such as sending a message.
//!
//! It is called over HTTP, or connects itself and takes its requests from a channel. No request is sent twice.

mod answer;
mod channel;
mod http;
mod metrics;
mod request;
mod signature;
mod trouble;

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use toolyard::{HostPort, HostRequest, JsonText, NoHost, ToolFailure};
use toolyard_providers::{SimulateError, SimulatedHost};

use crate::config::{BackendConfig, SecretError};

pub(crate) use answer::Answer;
pub(crate) use channel::{Channel, Consumer, Delivery, Settled};
pub(crate) use metrics::describe as describe_metrics;
pub(crate) use request::RequestId;

use http::HttpBackend;
use metrics::Measured;
use trouble::Trouble;

/// The configured backend, as providers and the API reach it.
#[derive(Debug)]
pub(crate) struct Backend {
    way: Way,
    /// Requests that may still be in flight.
    room: Semaphore,
}

/// How requests reach it.
#[derive(Debug)]
enum Way {
    /// They are answered inside this process.
    Local(Arc<dyn HostPort>),
    Http(Box<HttpBackend>),
    Events(Arc<Channel>),
}

/// Why a backend cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackendError {
    #[error("backend: secret: {0}")]
    Secret(#[from] SecretError),
    #[error("backend: {0}")]
    Client(#[from] reqwest::Error),
    #[error("backend: {0}")]
    Simulate(#[from] SimulateError),
}

// === impl Backend ===

impl Backend {
    /// Reads secrets, and connects to nothing yet.
    pub(crate) fn start(config: BackendConfig) -> Result<Self, BackendError> {
        let (way, max_in_flight) = match config {
            BackendConfig::None => (Way::Local(Arc::new(NoHost)), Semaphore::MAX_PERMITS),
            BackendConfig::Simulate(config) => {
                let host = config.file.as_deref().map_or_else(|| Ok(SimulatedHost::new()), SimulatedHost::from_file)?;
                (Way::Local(Arc::new(host)), Semaphore::MAX_PERMITS)
            }
            BackendConfig::Http(config) => {
                let max_in_flight = config.max_in_flight.get();
                (Way::Http(Box::new(HttpBackend::new(config)?)), max_in_flight)
            }
            BackendConfig::Events(config) => {
                (Way::Events(Arc::new(Channel::new(config.connect_grace()))), config.max_in_flight.get())
            }
        };
        Ok(Self { way, room: Semaphore::new(max_in_flight.min(Semaphore::MAX_PERMITS)) })
    }

    /// Where a backend that connects itself takes its requests; nothing for other kinds.
    pub(crate) fn channel(&self) -> Option<&Arc<Channel>> {
        match &self.way {
            Way::Events(channel) => Some(channel),
            Way::Local(_) | Way::Http(_) => None,
        }
    }

    /// Lets connected backends go. Further requests are refused.
    pub(crate) fn close(&self) {
        if let Some(channel) = self.channel() {
            channel.close();
        }
    }

    async fn answer(&self, request: HostRequest) -> Result<JsonText, ToolFailure> {
        let measured = Measured::start(&request.capability);
        let answered = self.ask_in_time(request).await;
        measured.ended(&answered);
        answered.map_err(Trouble::into_failure)
    }

    async fn ask_in_time(&self, request: HostRequest) -> Result<JsonText, Trouble> {
        // Waiting for room would only add to the load.
        let Ok(_room) = self.room.try_acquire() else { return Err(Trouble::overloaded()) };
        let deadline = request.deadline;
        if deadline <= Instant::now() {
            return Err(Trouble::too_late_to_ask());
        }
        timeout_at(deadline, self.ask(request)).await.unwrap_or_else(|_late| Err(Trouble::no_answer_in_time()))
    }

    async fn ask(&self, request: HostRequest) -> Result<JsonText, Trouble> {
        match &self.way {
            Way::Local(host) => host.request(request).await.map_err(Trouble::from_host),
            Way::Http(http) => http.ask(&request).await,
            Way::Events(channel) => channel.ask(request).await,
        }
    }
}

impl HostPort for Backend {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        Box::pin(self.answer(request))
    }
}

#[cfg(test)]
mod tests;
