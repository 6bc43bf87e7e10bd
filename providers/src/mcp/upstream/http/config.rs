//! McpHttpConfig: an MCP server that is a service, as configured.

use reqwest::header::HeaderName;
use url::Url;

use crate::http::AllowRule;
use crate::mcp::value::McpValue;

/// An MCP server that is a service.
#[derive(Clone, Debug)]
pub struct McpHttpConfig {
    /// Its address.
    pub url: Url,
    /// The transport. Default [`McpWay::Auto`].
    pub way: McpWay,
    /// Headers of every request.
    pub headers: Vec<(HeaderName, McpValue)>,
    /// How requests are authorized.
    pub oauth: Option<McpOAuth>,
    /// What may be connected to beside the public internet.
    pub allow_private: Vec<AllowRule>,
}

/// The transports over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpWay {
    /// Streamable HTTP, and the transport of 2024-11-05 where the server refuses it.
    #[default]
    Auto,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, as in revision 2024-11-05.
    Sse,
}

/// How requests to a service are authorized.
#[derive(Clone, Debug)]
pub enum McpOAuth {
    /// A token from elsewhere. It is read again when the service refuses it.
    Token(McpValue),
    /// The client's own credentials buy a token.
    ClientCredentials(McpOAuthClient),
    /// A refresh token, which a person has obtained, buys a token.
    Refresh {
        /// The client that the refresh token belongs to.
        client: McpOAuthClient,
        /// The refresh token.
        token: McpValue,
    },
}

/// An OAuth client.
#[derive(Clone, Debug)]
pub struct McpOAuthClient {
    /// Its id.
    pub id: String,
    /// Its secret; absent for a public client.
    pub secret: Option<McpValue>,
    /// What the token is to allow.
    pub scopes: Vec<String>,
    /// Where tokens are bought; found out from the service's metadata where absent.
    pub token_url: Option<Url>,
}

// === impl McpOAuth ===

impl McpOAuth {
    /// The values that it is configured with.
    pub(in crate::mcp::upstream) fn values(&self) -> impl Iterator<Item = &McpValue> {
        let (token, client) = match self {
            Self::Token(token) => (Some(token), None),
            Self::ClientCredentials(client) => (None, Some(client)),
            Self::Refresh { client, token } => (Some(token), Some(client)),
        };
        token.into_iter().chain(client.and_then(|client| client.secret.as_ref()))
    }
}

// === impl McpHttpConfig ===

impl McpHttpConfig {
    /// The service at this address, with defaults for everything else.
    pub fn new(url: Url) -> Self {
        Self { url, way: McpWay::default(), headers: Vec::new(), oauth: None, allow_private: Vec::new() }
    }
}
