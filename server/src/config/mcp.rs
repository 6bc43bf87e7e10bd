//! `kind = "mcp"`, and what `[mcp]` says of files.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use reqwest::Url;
use reqwest::header::HeaderName;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolyard_providers::{
    AllowRule, McpConfig, McpHttpConfig, McpOAuth, McpOAuthClient, McpOptions, McpTransport, McpValue, McpWay,
    unforwardable,
};

/// The key of a child's environment, which is read apart.
pub(super) const ENV_KEY: &str = "env";
/// The key that makes a server a service.
pub(super) const URL_KEY: &str = "url";
/// The key that makes it a child process.
pub(super) const COMMAND_KEY: &str = "command";

/// Files that `[mcp]` names. The endpoint's own keys are read apart.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct McpFiles {
    /// Servers in the JSON form that MCP clients have in common.
    pub(crate) servers_file: Option<PathBuf>,
    /// Where declarations are pinned; in memory where absent.
    pub(crate) pins_file: Option<PathBuf>,
}

/// The environment of a child.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnvKeys {
    #[serde(default)]
    pub(super) env: BTreeMap<String, McpValue>,
}

/// What a service has of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpKeys {
    url: ServiceUrl,
    #[serde(default)]
    transport: McpWay,
    #[serde(default)]
    headers: BTreeMap<HeaderKey, McpValue>,
    #[serde(default)]
    oauth: Option<OAuthKeys>,
    #[serde(default)]
    allow_private: AllowPrivate,
    #[serde(default)]
    forward_headers: Vec<ForwardedKey>,
}

/// An address of http or https. Not quoted where it is wrong: it may hold a secret.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct ServiceUrl(Url);

/// A header that the configuration may set.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct HeaderKey(String);

/// A header that a batch may set.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct ForwardedKey(HeaderName);

/// `true` for this machine and private networks, or single places.
#[derive(Debug, Default)]
struct AllowPrivate(Vec<AllowRule>);

#[derive(Debug, Deserialize)]
#[serde(try_from = "OAuthTable")]
struct OAuthKeys(McpOAuth);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OAuthTable {
    token: Option<McpValue>,
    client_id: Option<String>,
    client_secret: Option<McpValue>,
    refresh_token: Option<McpValue>,
    token_url: Option<ServiceUrl>,
    #[serde(default)]
    scopes: Vec<String>,
}

// === impl McpFiles ===

impl McpFiles {
    pub(crate) const KEYS: [&'static str; 2] = ["servers_file", "pins_file"];

    pub(super) fn in_folder(&mut self, folder: &Path) {
        for path in [&mut self.servers_file, &mut self.pins_file] {
            *path = path.take().map(|path| folder.join(path));
        }
    }
}

// === impl HttpKeys ===

impl HttpKeys {
    /// Those that only a service has, beside its address.
    pub(super) const KEYS: [&'static str; 5] = ["transport", "headers", "oauth", "allow_private", "forward_headers"];

    /// The server of these keys and options.
    pub(super) fn config(self, mut options: McpOptions) -> McpConfig {
        let mut service = McpHttpConfig::new(self.url.0);
        service.way = self.transport;
        service.headers =
            self.headers.into_iter().filter_map(|(name, value)| Some((name.0.parse().ok()?, value))).collect();
        service.oauth = self.oauth.map(|oauth| oauth.0);
        service.allow_private = self.allow_private.0;
        options.forward_headers = self.forward_headers.into_iter().map(|name| name.0).collect();
        let mut config = McpConfig::http(service);
        config.options = options;
        config
    }
}

/// Paths in a configuration are relative to its folder.
pub(super) fn in_folder(config: &mut McpConfig, folder: &Path) {
    config.env.values_mut().for_each(|value| value.in_folder(folder));
    let McpTransport::Http(service) = &mut config.transport else { return };
    service.headers.iter_mut().for_each(|(_, value)| value.in_folder(folder));
    match &mut service.oauth {
        Some(McpOAuth::Token(token)) => token.in_folder(folder),
        Some(McpOAuth::ClientCredentials(client)) => secret_in_folder(client, folder),
        Some(McpOAuth::Refresh { client, token }) => {
            token.in_folder(folder);
            secret_in_folder(client, folder);
        }
        None => {}
    }
}

fn secret_in_folder(client: &mut McpOAuthClient, folder: &Path) {
    if let Some(secret) = &mut client.secret {
        secret.in_folder(folder);
    }
}

// === impl ServiceUrl ===

impl TryFrom<String> for ServiceUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let url = Url::parse(&text)
            .map_err(|error| format!("url: {error}; it must look like https://mcp.example.com/mcp"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("url: must start with http:// or https://, not {}:", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("url: must hold no user and no password; give them in `headers` or `oauth`".to_owned());
        }
        Ok(Self(url))
    }
}

// === impl HeaderKey ===

impl TryFrom<String> for HeaderKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let name: HeaderName = text.parse().map_err(|_| format!("`{text}` is no name of a header"))?;
        let is_connections = ["host", "content-length", "content-type", "accept", "connection", "transfer-encoding"];
        if is_connections.contains(&name.as_str()) || name.as_str().starts_with("mcp-") {
            return Err(format!("the header `{name}` is set by Toolyard itself"));
        }
        Ok(Self(name.as_str().to_owned()))
    }
}

// === impl ForwardedKey ===

impl TryFrom<String> for ForwardedKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let name: HeaderName = text.parse().map_err(|_| format!("`{text}` is no name of a header"))?;
        match unforwardable(&name) {
            Some(why) => Err(format!("the header `{name}` {why}")),
            None => Ok(Self(name)),
        }
    }
}

// === impl OAuthKeys ===

impl TryFrom<OAuthTable> for OAuthKeys {
    type Error = String;

    fn try_from(table: OAuthTable) -> Result<Self, Self::Error> {
        let OAuthTable { token, client_id, client_secret, refresh_token, token_url, scopes } = table;
        let has_client = client_id.is_some() || client_secret.is_some() || refresh_token.is_some();
        if let Some(token) = token {
            return match has_client || token_url.is_some() || !scopes.is_empty() {
                true => Err("oauth: give `token`, or `client_id` and what belongs to it, not both".to_owned()),
                false => Ok(Self(McpOAuth::Token(token))),
            };
        }
        let id = client_id.ok_or("oauth: give `token` or `client_id`")?;
        let client = McpOAuthClient { id, secret: client_secret, scopes, token_url: token_url.map(|url| url.0) };
        match refresh_token {
            Some(token) => Ok(Self(McpOAuth::Refresh { client, token })),
            None if client.secret.is_some() => Ok(Self(McpOAuth::ClientCredentials(client))),
            None => Err("oauth: a `client_id` needs a `client_secret` or a `refresh_token`".to_owned()),
        }
    }
}

// === impl AllowPrivate ===

impl<'de> Deserialize<'de> for AllowPrivate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rules;

        impl<'de> Visitor<'de> for Rules {
            type Value = AllowPrivate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a list such as [\"127.0.0.1:8080\", \"10.0.0.0/8\", \"mcp.lan\"]")
            }

            fn visit_bool<E: de::Error>(self, all: bool) -> Result<AllowPrivate, E> {
                Ok(AllowPrivate(if all { vec![AllowRule::nearby()] } else { Vec::new() }))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<AllowPrivate, A::Error> {
                let mut rules = Vec::new();
                while let Some(rule) = items.next_element()? {
                    rules.push(rule);
                }
                Ok(AllowPrivate(rules))
            }
        }

        deserializer.deserialize_any(Rules)
    }
}
