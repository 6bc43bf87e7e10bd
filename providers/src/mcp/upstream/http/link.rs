//! Link: sends requests to one service, and to nobody else.

use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode};
use toolyard::{ErrorCode, ToolFailure};
use url::Url;

use super::auth::Auth;
use super::config::McpHttpConfig;
use crate::http::{Clients, Guard, Refused, Resolver, cause, connection_failure, install_crypto_provider};
use crate::mcp::upstream::failure::unanswered;
use crate::mcp::upstream::secrets::Secrets;

const MAX_REDIRECTS: usize = 5;
/// Idle connections that are kept: calls are not throttled here, so there may be many.
const MAX_IDLE: usize = 64;

/// Requests to one service: with its headers, under the guard of addresses, following it nowhere else.
#[derive(Debug)]
pub(in crate::mcp::upstream) struct Link {
    url: Url,
    clients: Arc<Clients>,
    headers: HeaderMap,
    secrets: Secrets,
    auth: Option<Auth>,
}

/// What is sent.
#[derive(Clone, Debug)]
pub(in crate::mcp::upstream) struct Letter {
    pub(in crate::mcp::upstream) method: Method,
    pub(in crate::mcp::upstream) url: Url,
    pub(in crate::mcp::upstream) headers: HeaderMap,
    pub(in crate::mcp::upstream) body: Option<Arc<str>>,
}

// === impl Link ===

impl Link {
    /// A link to the service of this configuration. Reads its secrets.
    ///
    /// # Errors
    /// The address is not allowed, a value cannot be read, or one cannot stand in a header.
    pub(in crate::mcp::upstream) fn new(
        config: &McpHttpConfig,
        resolver: Arc<dyn Resolver>,
    ) -> Result<Self, ToolFailure> {
        install_crypto_provider();
        let guard = Arc::new(Guard { allow: config.allow_private.clone(), resolver });
        guard.check(&config.url).map_err(|error| refusal(&error))?;
        let clients = Arc::new(Clients::new(guard).with_idle(MAX_IDLE));
        let (mut headers, mut secrets) = (HeaderMap::new(), Secrets::default());
        for (name, value) in &config.headers {
            let wrong = |reason: String| {
                ToolFailure::not_sent(ErrorCode::ProviderDown, format!("its header `{name}` has no value: {reason}"))
            };
            let text = value.read().map_err(wrong)?;
            let mut value = HeaderValue::from_str(&text)
                .map_err(|_| wrong("it holds a character that cannot be in a header".to_owned()))?;
            value.set_sensitive(true);
            headers.append(name.clone(), value);
            secrets.add(&text);
        }
        let auth = config.oauth.as_ref().map(|oauth| Auth::new(oauth.clone(), &config.url, Arc::clone(&clients)));
        Ok(Self { url: config.url.clone(), clients, headers, secrets, auth })
    }

    pub(in crate::mcp::upstream) fn url(&self) -> &Url {
        &self.url
    }

    /// Sends a request and gives the answer, whatever its status. Dropping the future closes the connection.
    ///
    /// # Errors
    /// The address is not allowed, the service cannot be reached, broke the connection, leads elsewhere, or no token
    /// can be had for it.
    pub(in crate::mcp::upstream) async fn send(&self, letter: Letter) -> Result<Response, ToolFailure> {
        let Some(auth) = &self.auth else { return self.follow(letter, None).await };
        let token = auth.token().await?;
        let response = self.follow(letter.clone(), Some(&token)).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        match auth.renewed(&token, challenge).await? {
            Some(fresh) => self.follow(letter, Some(&fresh)).await,
            None => Ok(response),
        }
    }

    /// A text of the service's without what must not be shown.
    pub(in crate::mcp::upstream) fn redacted(&self, text: &str) -> String {
        self.secrets.hidden_in(text).into_owned()
    }

    async fn follow(&self, mut letter: Letter, token: Option<&str>) -> Result<Response, ToolFailure> {
        for redirects in 0..=MAX_REDIRECTS {
            let response = self.exchange(&letter, token, redirects > 0).await?;
            let Some(target) = location(&response) else { return Ok(response) };
            letter.url = self.redirected(&letter.url, response.status(), &target)?;
        }
        Err(unanswered(format!("the server redirects more than {MAX_REDIRECTS} times")))
    }

    async fn exchange(&self, letter: &Letter, token: Option<&str>, redirected: bool) -> Result<Response, ToolFailure> {
        self.clients.guard().check(&letter.url).map_err(|refused| refusal(&refused))?;
        let client = self.clients.client(&letter.url).map_err(|error| {
            let message = format!("no secure connection can be made: {error}");
            ToolFailure::not_sent(ErrorCode::ProviderDown, message)
        })?;
        let mut headers = self.headers.clone();
        // What a letter says of itself goes before what is said of all.
        for name in letter.headers.keys() {
            headers.remove(name);
        }
        headers.extend(letter.headers.clone());
        if let Some(mut value) = token.and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok()) {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let mut request = client.request(letter.method.clone(), letter.url.clone()).headers(headers);
        if let Some(body) = &letter.body {
            request = request.body(body.to_string());
        }
        request.send().await.map_err(|error| match cause::<Refused>(&error) {
            Some(refused) => refusal(refused),
            None => connection_failure(&error, &letter.url, redirected),
        })
    }

    /// Where a redirect leads. Only the same service may be meant: what is sent is for nobody else.
    fn redirected(&self, from: &Url, status: StatusCode, target: &str) -> Result<Url, ToolFailure> {
        let refuse = |message: String| Err(unanswered(message));
        let Ok(target) = from.join(target) else {
            return refuse("the server redirects to no address".to_owned());
        };
        if let Err(refused) = self.clients.guard().check(&target) {
            return refuse(format!("the server redirects to a place that is not allowed: {refused}"));
        }
        if target.origin() != from.origin() {
            let origin = target.origin().ascii_serialization();
            return refuse(format!("the server redirects to {origin}, and requests go to its own address only"));
        }
        if !matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
            return refuse(format!("the server redirects with {}; only 307 and 308 are followed", status.as_u16()));
        }
        Ok(target)
    }
}

fn location(response: &Response) -> Option<String> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let target = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    Some(String::from_utf8_lossy(target.as_bytes()).into_owned())
}

/// An address that is not connected to, with what to do about it.
pub(in crate::mcp::upstream) fn refusal(refused: &Refused) -> ToolFailure {
    let hint = match refused {
        Refused::Private { address, .. } if address.is_loopback() => {
            " (this machine counts as private, too: `allow_private = true` in its configuration allows it)"
        }
        Refused::Private { .. } => " (`allow_private = true` in its configuration allows private networks)",
        Refused::Scheme(_) | Refused::Credentials | Refused::NoHost | Refused::Metadata(_) => "",
    };
    ToolFailure::not_sent(ErrorCode::PolicyDenied, format!("{refused}{hint}"))
}
