//! Who may speak to a daemon that asks nobody for a key: only programs that know it as a loopback address.
//!
//! A page in a browser can be made to reach a loopback address under a name of its own; its `Host` gives it away.

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

pub(super) async fn only_loopback(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    if host.is_some_and(is_loopback) {
        return next.run(request).await;
    }
    Problem::new(StatusCode::FORBIDDEN, "request.host", "the Host header must name a loopback address").into_response()
}

/// Refuses pages in browsers, which need no answer to take a backend's requests away from it.
pub(super) async fn only_programs(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let is_from_a_page = headers.contains_key(header::ORIGIN)
        || headers.get("sec-fetch-site").is_some_and(|site| site != "none" && site != "same-origin");
    if is_from_a_page {
        let detail = "this address is for the bot backend, not for pages in browsers";
        return Problem::new(StatusCode::FORBIDDEN, "request.origin", detail).into_response();
    }
    next.run(request).await
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_names_pass() {
        for host in ["localhost", "LOCALHOST:7700", "127.0.0.1:7700", "127.8.9.1", "[::1]:7700", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["evil.example", "evil.example:7700", "127.0.0.1.evil.example", "localhost.evil", "", "10.0.0.1"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
