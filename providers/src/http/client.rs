//! Clients: sends requests, and follows redirects under the same checks as the first address.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use reqwest::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, LOCATION, PROXY_AUTHORIZATION,
};
use reqwest::{Client, Method, Response, StatusCode, redirect, retry};
use toolyard::{ErrorCode, Sent, ToolFailure};
use url::Url;

use super::request::Prepared;
use super::resolve::{Guard, GuardedResolver, Refused};
use super::response::{Answer, ResponsePlan};

const MAX_REDIRECTS: usize = 5;
/// Time to find and reach a service.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);
const MAX_IDLE_PER_HOST: usize = 8;
/// Clients that are kept; redirects to further ports pay for their own.
const MAX_CLIENTS: usize = 32;

/// Clients for the services of one plugin: one a scheme and port, because the check of an address needs the port.
#[derive(Debug)]
pub(crate) struct Clients {
    guard: Arc<Guard>,
    max_idle: usize,
    made: Mutex<HashMap<(bool, u16), Client>>,
}

/// Why there is no answer to make a result of.
#[derive(Debug)]
pub(super) enum SendError {
    /// The service did something that its tool has to answer for.
    Tool(String),
    /// There is no connection, or it broke.
    Provider(ToolFailure),
}

// === impl Clients ===

impl Clients {
    pub(crate) fn new(guard: Arc<Guard>) -> Self {
        Self { guard, max_idle: MAX_IDLE_PER_HOST, made: Mutex::default() }
    }

    /// Keeps up to `connections` to a service while they are idle.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub(crate) fn with_idle(mut self, connections: usize) -> Self {
        self.max_idle = connections;
        self
    }

    /// The guard of every address.
    #[cfg(feature = "mcp")]
    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Sends a request and reads the answer, of at most `max_bytes`. Dropping the future closes the connection.
    pub(super) async fn send(
        &self,
        mut request: Prepared,
        plan: &ResponsePlan,
        max_bytes: usize,
    ) -> Result<Answer, SendError> {
        for redirects in 0..=MAX_REDIRECTS {
            let response = self.exchange(&request, redirects > 0).await?;
            match location(&response).filter(|_| !plan.takes(response.status())) {
                None => return read(response, max_bytes).await,
                Some(target) => redirect(&mut request, response.status(), &target)?,
            }
        }
        Err(SendError::Tool(format!("the service redirects more than {MAX_REDIRECTS} times")))
    }

    async fn exchange(&self, request: &Prepared, redirected: bool) -> Result<Response, SendError> {
        self.guard.check(&request.url).map_err(|refused| refusal(&refused, redirected))?;
        let client = self.client(&request.url).map_err(|error| {
            let message = format!("no secure connection can be made: {error}");
            SendError::Provider(ToolFailure::not_sent(ErrorCode::ProviderDown, message))
        })?;
        let mut builder = client.request(request.method.clone(), request.url.clone()).headers(request.headers.clone());
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        builder.send().await.map_err(|error| match cause::<Refused>(&error) {
            Some(refused) => refusal(refused, redirected),
            None => SendError::Provider(connection_failure(&error, &request.url, redirected)),
        })
    }

    /// The client for a URL that was checked.
    ///
    /// # Errors
    /// The system has no certificates to trust.
    pub(crate) fn client(&self, url: &Url) -> Result<Client, reqwest::Error> {
        let (is_secure, port) = (url.scheme() == "https", url.port_or_known_default().unwrap_or(0));
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.get(&(is_secure, port)) {
            return Ok(client.clone());
        }
        let client = self.make(is_secure, port)?;
        if made.len() < MAX_CLIENTS {
            made.insert((is_secure, port), client.clone());
        }
        Ok(client)
    }

    fn make(&self, is_secure: bool, port: u16) -> Result<Client, reqwest::Error> {
        install_crypto_provider();
        let mut builder = Client::builder()
            .dns_resolver(GuardedResolver { guard: Arc::clone(&self.guard), port })
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .referer(false)
            .http1_only()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(self.max_idle)
            .user_agent(concat!("toolyard/", env!("CARGO_PKG_VERSION")));
        if !is_secure {
            // Plain HTTP must work where the system has no certificates.
            builder = builder.tls_certs_only([]);
        }
        builder.build()
    }
}

/// Makes ring the process's provider of cryptography for TLS, unless there is one. Done before any HTTP client is made.
pub fn install_crypto_provider() {
    static ONCE: Once = Once::new();
    // An error says that the process has one already, which is as good.
    ONCE.call_once(|| rustls::crypto::ring::default_provider().install_default().unwrap_or(()));
}

/// Where a redirect leads.
fn location(response: &Response) -> Option<String> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let target = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    Some(String::from_utf8_lossy(target.as_bytes()).into_owned())
}

/// Makes the request that a redirect asks for: what is secret goes to the service that it is meant for and to no other.
fn redirect(request: &mut Prepared, status: StatusCode, target: &str) -> Result<(), SendError> {
    let target =
        request.url.join(target).map_err(|_| SendError::Tool("the service redirects to no address".to_owned()))?;
    let turns_to_get = match status {
        StatusCode::SEE_OTHER => request.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => request.method == Method::POST,
        _ => false,
    };
    if turns_to_get {
        request.method = Method::GET;
        request.body = None;
        request.headers.remove(CONTENT_TYPE);
        request.headers.remove(CONTENT_LENGTH);
    }
    if target.origin() != request.url.origin() {
        if request.body.is_some() && request.body_is_secret {
            let message = "the service redirects a request with a secret in its body to another service";
            return Err(SendError::Tool(message.to_owned()));
        }
        for name in request.private_headers.iter().chain(&[AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION]) {
            request.headers.remove(name);
        }
    }
    request.url = target;
    Ok(())
}

async fn read(mut response: Response, max_bytes: usize) -> Result<Answer, SendError> {
    let too_large = || SendError::Tool(format!("the service's answer is larger than {max_bytes} bytes"));
    let content_type =
        response.headers().get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into());
    let status = response.status();
    if let Some(coding) = response.headers().get(CONTENT_ENCODING).filter(|coding| *coding != "identity") {
        let coding = String::from_utf8_lossy(coding.as_bytes());
        return Err(SendError::Tool(format!("the service packs its answer ({coding}), which it was not asked to")));
    }
    if response.content_length().is_some_and(|length| usize::try_from(length).map_or(true, |length| length > max_bytes))
    {
        return Err(too_large());
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(Answer { status, content_type, body }),
            Ok(Some(chunk)) if body.len() + chunk.len() > max_bytes => return Err(too_large()),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Err(error) => {
                let message = format!("the service's answer broke off: {}", innermost(&error));
                let mut failure = ToolFailure::new(ErrorCode::ProviderProtocol, message);
                failure.sent = Sent::Yes;
                return Err(SendError::Provider(failure));
            }
        }
    }
}

/// Before anything was sent it is policy that refuses; behind a redirect it is the service that failed.
fn refusal(refused: &Refused, redirected: bool) -> SendError {
    if redirected {
        return SendError::Tool(format!("the service redirects to a place that is not allowed: {refused}"));
    }
    SendError::Provider(ToolFailure::not_sent(ErrorCode::PolicyDenied, refused.to_string()))
}

/// That the connection could not be opened, or broke.
pub(crate) fn connection_failure(error: &reqwest::Error, url: &Url, redirected: bool) -> ToolFailure {
    let place = format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(0));
    if error.is_connect() {
        let why = if error.is_timeout() { "it does not answer".to_owned() } else { innermost(error) };
        let mut failure = ToolFailure::not_sent(ErrorCode::ProviderDown, format!("{place} cannot be reached: {why}"));
        failure.sent = if redirected { Sent::Yes } else { Sent::No };
        return failure;
    }
    let message = format!("the connection to {place} broke, and the outcome is unknown: {}", innermost(error));
    ToolFailure::new(ErrorCode::ProviderCrashed, message)
}

/// The error of this type that lies under another.
pub(crate) fn cause<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// What went wrong in the end; the outer errors say where, with the address and whatever is in it.
fn innermost(error: &reqwest::Error) -> String {
    match chain(error).last() {
        Some(last) if !last.is::<reqwest::Error>() => last.to_string(),
        _ => "the request failed".to_owned(),
    }
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}
