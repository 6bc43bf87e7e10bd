//! Guard: the check of every address that a plugin's requests connect to.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::address::is_public;
use super::allow::{AllowRule, host_key};

/// Names under which clouds tell a machine its credentials.
const METADATA: [&str; 3] = ["metadata", "metadata.google.internal", "metadata.azure.internal"];

/// Finds the addresses of host names.
pub trait Resolver: Send + Sync + fmt::Debug + 'static {
    /// The addresses of `host`. Dropping the future gives up.
    ///
    /// # Errors
    /// The name has no address, or cannot be looked up.
    fn resolve(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Resolves as the system does.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

/// Decides what may be connected to.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) allow: Vec<AllowRule>,
    pub(crate) resolver: Arc<dyn Resolver>,
}

/// Resolves for the connections to one port, and gives only addresses that may be connected to: what is checked is what
/// is used.
pub(super) struct GuardedResolver {
    pub(super) guard: Arc<Guard>,
    pub(super) port: u16,
}

/// Why an address is not connected to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("{host} is at {address}, which is not on the public internet; only `allow_private` can allow it")]
    Private { host: String, address: IpAddr },
    #[error("{0} is not http or https")]
    Scheme(String),
    #[error("the address holds a user name or a password")]
    Credentials,
    #[error("the address has no host")]
    NoHost,
    #[error("{0} is where clouds keep the credentials of machines; only its name in `allow_private` can allow it")]
    Metadata(String),
}

// === impl SystemResolver ===

impl Resolver for SystemResolver {
    fn resolve(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()) })
    }
}

// === impl Guard ===

impl Guard {
    /// Checks what can be told from a URL alone. Host names are checked when they are resolved.
    pub(crate) fn check(&self, url: &Url) -> Result<(), Refused> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refused::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::Credentials);
        }
        let (text, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(0));
        let address = match url.host() {
            None => return Err(Refused::NoHost),
            Some(Host::Domain(name)) if self.is_forbidden(name) => return Err(Refused::Metadata(name.to_owned())),
            Some(Host::Domain(_)) => return Ok(()),
            Some(Host::Ipv4(v4)) => IpAddr::V4(v4),
            Some(Host::Ipv6(v6)) => IpAddr::V6(v6),
        };
        if self.allows(text, address, port) {
            return Ok(());
        }
        Err(Refused::Private { host: text.to_owned(), address: address.to_canonical() })
    }

    fn allows(&self, host: &str, address: IpAddr, port: u16) -> bool {
        is_public(address) || self.allow.iter().any(|rule| rule.allows(host, address, port))
    }

    /// Names of metadata services, whatever they are resolved to here.
    fn is_forbidden(&self, host: &str) -> bool {
        METADATA.contains(&host_key(host).as_str()) && !self.allow.iter().any(|rule| rule.names(host))
    }

    async fn addresses(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let found = self.resolver.resolve(host.to_owned()).await?;
        let (allowed, refused): (Vec<IpAddr>, Vec<IpAddr>) =
            found.into_iter().partition(|address| self.allows(host, *address, port));
        if allowed.is_empty() {
            return Err(match refused.first() {
                Some(address) => Refused::Private { host: host.to_owned(), address: address.to_canonical() }.into(),
                None => io::Error::new(io::ErrorKind::NotFound, "the name has no address").into(),
            });
        }
        Ok(allowed.into_iter().map(|address| SocketAddr::new(address, 0)).collect())
    }
}

// === impl GuardedResolver ===

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (guard, port) = (Arc::clone(&self.guard), self.port);
        Box::pin(async move {
            let addresses = guard.addresses(name.as_str(), port).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
