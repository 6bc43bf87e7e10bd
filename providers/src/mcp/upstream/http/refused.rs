//! What an answer means that is no success.

use reqwest::header::WWW_AUTHENTICATE;
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use toolyard::{ErrorCode, ToolFailure};

use crate::mcp::upstream::failure::unanswered;

/// Bytes of an answer that is no success which are looked at.
const MAX_BODY: usize = 64 << 10;
/// Characters of a server's own words that are handed on.
const MAX_WORDS: usize = 300;

/// An answer that is no success.
#[derive(Debug)]
pub(in crate::mcp::upstream) struct Refused {
    pub(in crate::mcp::upstream) status: StatusCode,
    /// What `WWW-Authenticate` says.
    challenge: Option<String>,
    pub(in crate::mcp::upstream) body: Vec<u8>,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorObject,
}

#[derive(Deserialize)]
struct ErrorObject {
    message: String,
}

// === impl Refused ===

impl Refused {
    /// Reads it; a body that breaks off or is too long is read in part.
    pub(in crate::mcp::upstream) async fn read(mut response: Response) -> Self {
        let challenge = response.headers().get(WWW_AUTHENTICATE);
        let challenge = challenge.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend(chunk.iter().take(MAX_BODY - body.len()));
            if body.len() >= MAX_BODY {
                break;
            }
        }
        Self { status: response.status(), challenge, body }
    }

    /// Whether it may mean that the server speaks another revision or transport.
    pub(in crate::mcp::upstream) fn may_mean_other_era(&self) -> bool {
        matches!(self.status.as_u16(), 400 | 404 | 405 | 406 | 415 | 501)
    }

    /// Whether the server has forgotten the session that was named: 404, or what many servers say instead, 400 with a
    /// word on the session.
    pub(in crate::mcp::upstream) fn means_lost_session(&self) -> bool {
        let speaks_of_it = || String::from_utf8_lossy(&self.body).to_ascii_lowercase().contains("session");
        self.status == StatusCode::NOT_FOUND || (self.status == StatusCode::BAD_REQUEST && speaks_of_it())
    }

    /// What it means for whoever asked.
    pub(in crate::mcp::upstream) fn failure(&self) -> ToolFailure {
        let status = self.status.as_u16();
        match status {
            401 => ToolFailure::not_sent(
                ErrorCode::ToolUnavailable,
                "the server wants to know who asks (401): give `oauth`, or an `Authorization` in `headers`, in its \
                 configuration; where there is one already, the server does not accept it",
            ),
            403 => {
                let scope =
                    self.missing_scope().map_or_else(String::new, |scope| format!(" It asks for the scope `{scope}`."));
                let message = format!(
                    "the server does not allow this (403): what it is given in `oauth` or `headers` lacks a right.{scope}"
                );
                // Another tool may need no such right.
                ToolFailure::not_sent(ErrorCode::ToolUnavailable, message)
            }
            429 => ToolFailure::not_sent(ErrorCode::LimitRate, "the server has too much to do (429): try later"),
            502..=504 => ToolFailure::new(ErrorCode::ProviderDown, format!("the server is not there (HTTP {status})")),
            _ => unanswered(self.words()),
        }
    }

    /// The status, with what the server says of it.
    pub(in crate::mcp::upstream) fn words(&self) -> String {
        let status = format!("the server answered with HTTP {}", self.status.as_u16());
        let said = match serde_json::from_slice::<ErrorBody>(&self.body) {
            Ok(body) => body.error.message,
            Err(_) => String::from_utf8_lossy(&self.body).into_owned(),
        };
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        match said.char_indices().nth(MAX_WORDS) {
            _ if said.is_empty() => status,
            Some((end, _)) => format!("{status}: {}…", said.get(..end).unwrap_or_default()),
            None => format!("{status}: {said}"),
        }
    }

    fn missing_scope(&self) -> Option<&str> {
        let (_, rest) = self.challenge.as_deref()?.split_once("scope=\"")?;
        rest.split_once('"').map(|(scope, _)| scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, challenge: Option<&str>, body: &str) -> Refused {
        let status = StatusCode::from_u16(status).unwrap();
        Refused { status, challenge: challenge.map(str::to_owned), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn a_lost_session_is_told_from_other_faults() {
        let no_session = r#"{"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
        for (status, body, is_lost) in
            [(404, "", true), (400, no_session, true), (400, "no", false), (500, no_session, false)]
        {
            assert_eq!(refused(status, None, body).means_lost_session(), is_lost, "{status} {body}");
        }
    }

    #[test]
    fn each_refusal_says_what_to_do() {
        for (refused, code, words) in [
            (refused(401, None, "secret"), ErrorCode::ToolUnavailable, "give `oauth`"),
            (refused(403, Some("Bearer scope=\"a b\""), ""), ErrorCode::ToolUnavailable, "scope `a b`"),
            (refused(429, None, ""), ErrorCode::LimitRate, "try later"),
            (refused(503, None, "<html>"), ErrorCode::ProviderDown, "not there"),
            (refused(500, None, " it\nbroke "), ErrorCode::ToolFailed, "HTTP 500: it broke"),
            (refused(400, None, r#"{"error":{"code":-32600,"message":"no"}}"#), ErrorCode::ToolFailed, "400: no"),
            (refused(418, None, &"x".repeat(9_999)), ErrorCode::ToolFailed, "xxx…"),
        ] {
            let failure = refused.failure();
            assert_eq!(failure.code, code);
            assert!(failure.message.contains(words) && failure.message.len() < 500, "{failure}");
        }
    }
}
