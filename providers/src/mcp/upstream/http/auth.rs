//! Auth: tokens for a service, by rmcp's OAuth client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use reqwest::header::LOCATION;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig, CredentialStore,
    InMemoryCredentialStore, OAuthClientConfig, OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture,
    OAuthHttpRedirectPolicy, OAuthHttpRequest, StoredCredentials,
};
use serde_json::json;
use tokio::sync::Mutex;
use toolyard::{ErrorCode, ToolFailure};
use url::Url;

use super::config::{McpOAuth, McpOAuthClient};
use crate::http::Clients;
use crate::mcp::value::McpValue;

/// Bytes of one answer of an authorization server.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// Time for one such answer.
const ANSWER: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 3;

/// The token for one service, bought when it is first needed and again when it is refused.
pub(super) struct Auth {
    config: McpOAuth,
    resource: Url,
    http: Arc<GuardedHttp>,
    /// Held while a token is bought, so that it is bought once.
    held: Mutex<Option<Held>>,
}

struct Held {
    token: String,
    /// What renews it.
    manager: Option<AuthorizationManager>,
}

/// Talks to authorization servers under the same guard of addresses as to the service.
struct GuardedHttp {
    clients: Arc<Clients>,
}

// === impl Auth ===

impl Auth {
    pub(super) fn new(config: McpOAuth, resource: &Url, clients: Arc<Clients>) -> Self {
        Self { config, resource: resource.clone(), http: Arc::new(GuardedHttp { clients }), held: Mutex::new(None) }
    }

    /// The token to send.
    ///
    /// # Errors
    /// None can be had.
    pub(super) async fn token(&self) -> Result<String, ToolFailure> {
        let mut held = self.held.lock().await;
        if let Some(Held { token, manager }) = &mut *held {
            let Some(manager) = manager else { return Ok(token.clone()) };
            // Renews one that is about to end, where it can.
            if let Ok(current) = manager.get_access_token().await {
                token.clone_from(&current);
                return Ok(current);
            }
        }
        let fresh = self.buy(None).await?;
        let token = fresh.token.clone();
        *held = Some(fresh);
        Ok(token)
    }

    /// Another token in the place of one that was refused; nothing where there is no other.
    ///
    /// # Errors
    /// None can be had any more.
    pub(super) async fn renewed(&self, refused: &str, challenge: Option<&str>) -> Result<Option<String>, ToolFailure> {
        let mut held = self.held.lock().await;
        // Whoever was refused before has bought one meanwhile.
        if let Some(current) = held.as_ref().filter(|current| current.token != refused) {
            return Ok(Some(current.token.clone()));
        }
        let fresh = match held.take() {
            // Its refresh token may be another than the configured one by now.
            Some(Held { manager: Some(manager), .. }) => match &self.config {
                McpOAuth::Refresh { token, .. } => refreshed(manager, token).await?,
                McpOAuth::Token(_) | McpOAuth::ClientCredentials(_) => self.buy(challenge).await?,
            },
            _ => self.buy(challenge).await?,
        };
        let token = fresh.token.clone();
        *held = Some(fresh);
        Ok((token != refused).then_some(token))
    }

    async fn buy(&self, challenge: Option<&str>) -> Result<Held, ToolFailure> {
        match &self.config {
            McpOAuth::Token(value) => Ok(Held { token: read("the token", value)?, manager: None }),
            McpOAuth::ClientCredentials(client) => {
                let mut manager = self.manager(client, challenge).await?;
                let credentials = ClientCredentialsConfig::ClientSecret {
                    client_id: client.id.clone(),
                    client_secret: secret(client)?.unwrap_or_default(),
                    scopes: client.scopes.clone(),
                    resource: Some(self.resource.to_string()),
                };
                manager.validate_client_credentials_metadata(&credentials).map_err(|error| failure(&error))?;
                manager.configure_client_credentials(&credentials).map_err(|error| failure(&error))?;
                manager.exchange_client_credentials(&credentials).await.map_err(|error| failure(&error))?;
                Held::of(manager).await
            }
            McpOAuth::Refresh { client, token } => {
                let mut manager = self.manager(client, challenge).await?;
                let store = InMemoryCredentialStore::new();
                store
                    .save(stored(client, &read("the refresh token", token)?)?)
                    .await
                    .map_err(|error| failure(&error))?;
                manager.set_credential_store(store);
                let mut config =
                    OAuthClientConfig::new(&client.id, "http://localhost").with_scopes(client.scopes.clone());
                config.client_secret = secret(client)?;
                manager.configure_client(config).map_err(|error| failure(&error))?;
                refreshed(manager, token).await
            }
        }
    }

    async fn manager(
        &self,
        client: &McpOAuthClient,
        challenge: Option<&str>,
    ) -> Result<AuthorizationManager, ToolFailure> {
        let http: Arc<dyn OAuthHttpClient> = Arc::clone(&self.http) as _;
        let made = AuthorizationManager::new_with_oauth_http_client(self.resource.as_str(), http).await;
        let mut manager = made.map_err(|error| failure(&error))?;
        let metadata = match &client.token_url {
            Some(url) => {
                let mut metadata = AuthorizationMetadata::default();
                metadata.token_endpoint = url.to_string();
                // Nobody is sent there.
                metadata.authorization_endpoint = url.to_string();
                metadata
            }
            None => manager.resolve_metadata_from_challenge(challenge).await.map_err(|error| failure(&error))?.metadata,
        };
        manager.set_metadata(metadata);
        Ok(manager)
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Buys a token. A refresh token that comes with it takes the place of the one in the file.
async fn refreshed(manager: AuthorizationManager, kept: &McpValue) -> Result<Held, ToolFailure> {
    let bought = manager.refresh_token().await.map_err(|error| failure(&error))?;
    let next = serde_json::to_value(&bought).ok();
    let next = next.as_ref().and_then(|bought| bought.get("refresh_token")?.as_str());
    if let Some(next) = next.filter(|next| kept.read().is_ok_and(|kept| kept != *next))
        && let Err(error) = kept.replace(next)
    {
        tracing::warn!(%error, "the next refresh token of an MCP server cannot be kept in its file");
    }
    Held::of(manager).await
}

/// Credentials whose access token has ended already.
fn stored(client: &McpOAuthClient, refresh_token: &str) -> Result<StoredCredentials, ToolFailure> {
    let token = json!({
        "access_token": "ended", "token_type": "bearer", "expires_in": 0, "refresh_token": refresh_token,
    });
    let credentials = json!({"client_id": client.id, "token_response": token, "token_received_at": 0});
    serde_json::from_value(credentials)
        .map_err(|_| ToolFailure::not_sent(ErrorCode::ProviderDown, "the refresh token cannot be used"))
}

fn secret(client: &McpOAuthClient) -> Result<Option<String>, ToolFailure> {
    client.secret.as_ref().map(|value| read("the client's secret", value)).transpose()
}

fn read(what: &str, value: &McpValue) -> Result<String, ToolFailure> {
    value.read().map_err(|reason| {
        ToolFailure::not_sent(ErrorCode::ProviderDown, format!("{what} for `oauth` cannot be had: {reason}"))
    })
}

fn failure(error: &AuthError) -> ToolFailure {
    let message = format!("no token can be had for the server; look at `oauth` in its configuration: {error}");
    ToolFailure::not_sent(ErrorCode::ProviderDown, message)
}

// === impl Held ===

impl Held {
    async fn of(manager: AuthorizationManager) -> Result<Self, ToolFailure> {
        let token = manager.get_access_token().await.map_err(|error| failure(&error))?;
        Ok(Self { token, manager: Some(manager) })
    }
}

// === impl GuardedHttp ===

impl GuardedHttp {
    async fn exchange(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let follows = request.redirect_policy == OAuthHttpRedirectPolicy::Follow;
        let mut request = reqwest::Request::try_from(request.request)?;
        for _ in 0..=MAX_REDIRECTS {
            let (url, again) = (request.url().clone(), request.try_clone());
            self.clients.guard().check(&url)?;
            let response = self.clients.client(&url)?.execute(request).await?;
            let target = response.headers().get(LOCATION).filter(|_| follows && response.status().is_redirection());
            let Some(target) = target.and_then(|target| target.to_str().ok()) else { return answer(response).await };
            let target = url.join(target)?;
            if target.origin() != url.origin() {
                return Err("the authorization server redirects to another place".into());
            }
            request = again.ok_or("the authorization server redirects again")?;
            *request.url_mut() = target;
        }
        Err("the authorization server redirects again and again".into())
    }
}

impl OAuthHttpClient for GuardedHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move { tokio::time::timeout(ANSWER, self.exchange(request)).await? })
    }
}

async fn answer(mut response: Response) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER_BYTES {
            return Err(format!("an answer is larger than {MAX_ANSWER_BYTES} bytes").into());
        }
        body.extend_from_slice(&chunk);
    }
    let mut answer = http::Response::new(body);
    *answer.status_mut() = response.status();
    *answer.headers_mut() = response.headers().clone();
    Ok(answer)
}
