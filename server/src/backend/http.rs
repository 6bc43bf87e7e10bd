//! HttpBackend: every request is a signed POST to the backend's address.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use toolyard::{HostRequest, JsonText};

use super::BackendError;
use super::answer::Answer;
use super::request::{RequestId, document};
use super::signature::Signer;
use super::trouble::Trouble;
use crate::config::{HttpBackendConfig, SecretError, shown_address};

/// Common servers close idle connections after 5 s; one that is closed while it is used costs a request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long to wait before connecting again where no connection could be made, as while the backend restarts.
const RECONNECT_DELAYS: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(400)];

/// A backend that is called.
#[derive(Debug)]
pub(super) struct HttpBackend {
    client: Client,
    address: Url,
    signer: Signer,
    max_response_bytes: usize,
    /// Whether the last attempt to connect succeeded, so that only changes are logged.
    is_reachable: AtomicBool,
}

// === impl HttpBackend ===

impl HttpBackend {
    pub(super) fn new(config: HttpBackendConfig) -> Result<Self, BackendError> {
        let signer = Signer::new(&config.secret.read()?).ok_or(SecretError::Unusable)?;
        toolyard_providers::install_crypto_provider();
        let client = Client::builder()
            .user_agent(concat!("toolyard/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .tcp_nodelay(true)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build()?;
        let max_response_bytes = config.max_response_bytes;
        Ok(Self { client, address: config.url.0, signer, max_response_bytes, is_reachable: AtomicBool::new(true) })
    }

    /// Asks once. Dropping the future closes the connection.
    pub(super) async fn ask(&self, request: &HostRequest) -> Result<JsonText, Trouble> {
        let response = self.connect_and_send(request).await?;
        if response.status() != StatusCode::OK {
            return Err(Trouble::status(response.status()));
        }
        let body = self.read(response).await?;
        Answer::read(&body)?.into_result()
    }

    /// Only what was never sent is tried again.
    async fn connect_and_send(&self, request: &HostRequest) -> Result<Response, Trouble> {
        let id = RequestId::new();
        let mut delays = RECONNECT_DELAYS.into_iter();
        loop {
            match self.send(id, request).await? {
                Err(error) if error.is_connect() => {
                    self.note_reachable(Err(&error));
                    let Some(delay) = delays.next() else { return Err(Trouble::unreachable()) };
                    tokio::time::sleep(delay).await;
                }
                Err(error) => {
                    tracing::debug!(cause = %root_cause(&error), "a request to the bot backend broke");
                    return Err(Trouble::lost());
                }
                Ok(response) => {
                    self.note_reachable(Ok(()));
                    return Ok(response);
                }
            }
        }
    }

    /// Signed anew each time, with the time that is left then.
    async fn send(&self, id: RequestId, request: &HostRequest) -> Result<reqwest::Result<Response>, Trouble> {
        let body = document(id, request)?;
        let signature = self.signer.sign_now(body.get());
        let sending = self
            .client
            .post(self.address.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("Toolyard-Request-Id", id.to_string())
            .header("Toolyard-Timestamp", signature.timestamp)
            .header("Toolyard-Signature", signature.value)
            .body(String::from(Box::<str>::from(body)))
            .send();
        Ok(sending.await)
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Trouble> {
        let mut body = Vec::new();
        loop {
            let chunk = response.chunk().await.map_err(|_broken| Trouble::lost())?;
            let Some(chunk) = chunk else { return Ok(body) };
            if body.len() + chunk.len() > self.max_response_bytes {
                return Err(Trouble::nonsense(format_args!("it has more than {} bytes", self.max_response_bytes)));
            }
            body.extend_from_slice(&chunk);
        }
    }

    /// Logs changes only.
    fn note_reachable(&self, connected: Result<(), &reqwest::Error>) {
        if self.is_reachable.swap(connected.is_ok(), Ordering::Relaxed) == connected.is_ok() {
            return;
        }
        let address = shown_address(&self.address);
        match connected {
            Ok(()) => tracing::info!(address, "the bot backend can be reached again"),
            Err(error) => {
                tracing::warn!(address, cause = %root_cause(error), "the bot backend cannot be reached");
            }
        }
    }
}

/// What is at the bottom of an error says most, and has no address in it.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
