//! Who may speak to the endpoint over HTTP: programs that know it by a name it has, and pages that it served itself.
//!
//! A page in a browser can be made to reach a loopback address under a name of its own; its `Host` gives it away. Pages of
//! other origins say so in `Origin`.

use std::net::IpAddr;

use http::uri::Authority;
use http::{HeaderMap, Uri, header};

/// Names and origins that are allowed beside the usual ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowed {
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

// === impl Allowed ===

impl Allowed {
    /// Why a request is refused, if it is.
    pub(super) fn refuses(&self, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let named = headers.get(header::HOST).map(|host| host.to_str().ok().and_then(|host| host.parse().ok()));
        let host: Option<Authority> = named.unwrap_or_else(|| uri.authority().cloned());
        let Some(host) = host.filter(|host| self.has_host(host)) else {
            return Some("the Host header names no host of this server");
        };
        let origin = headers.get(header::ORIGIN)?;
        let is_allowed = origin.to_str().is_ok_and(|origin| self.has_origin(origin, &host));
        if is_allowed { None } else { Some("pages of this origin may not use this server") }
    }

    fn has_host(&self, host: &Authority) -> bool {
        is_loopback(host.host()) || self.hosts.iter().any(|allowed| names(allowed, host))
    }

    fn has_origin(&self, origin: &str, host: &Authority) -> bool {
        let own = origin.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
        own.is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host.as_str()))
            || self.origins.iter().any(|allowed| allowed.trim_end_matches('/').eq_ignore_ascii_case(origin))
    }
}

/// An allowed name without a port stands for every port.
fn names(allowed: &str, host: &Authority) -> bool {
    let Ok(allowed) = allowed.parse::<Authority>() else { return false };
    let is_port = allowed.port_u16().is_none() || allowed.port_u16() == host.port_u16();
    is_port && allowed.host().eq_ignore_ascii_case(host.host())
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(allowed: &Allowed, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        headers.extend(origin.map(|origin| (header::ORIGIN, origin.parse().unwrap())));
        allowed.refuses(&Uri::from_static("/mcp"), &headers).is_some()
    }

    #[test]
    fn only_loopback_names_and_own_pages_pass() {
        let usual = Allowed::default();
        for (host, origin) in [
            ("127.0.0.1:7700", None),
            ("localhost", None),
            ("[::1]:7700", None),
            ("localhost:7700", Some("http://localhost:7700")),
        ] {
            assert!(!refused(&usual, host, origin), "{host} {origin:?}");
        }
        for (host, origin) in [
            ("evil.example", None),
            ("127.0.0.1.evil.example", None),
            ("localhost:7700", Some("http://evil.example")),
            ("localhost:7700", Some("http://localhost:3000")),
            ("localhost:7700", Some("null")),
            ("evil.example", Some("http://evil.example")),
        ] {
            assert!(refused(&usual, host, origin), "{host} {origin:?}");
        }
    }

    #[test]
    fn what_is_configured_passes_too() {
        let allowed =
            Allowed { hosts: vec!["bot.example".to_owned()], origins: vec!["https://chat.example".to_owned()] };
        assert!(!refused(&allowed, "bot.example:80", None));
        assert!(!refused(&allowed, "127.0.0.1:80", Some("https://chat.example")));
        assert!(refused(&allowed, "127.0.0.1:80", Some("https://chat.example:444")));
    }
}
