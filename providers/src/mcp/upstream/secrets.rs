//! Secrets: values of a server's configuration, kept out of what it says where things go wrong.
//!
//! A server is given its keys and may repeat them in an error or a line of its log. What it gives back as the result of a
//! call that went well is data, and stays as it is.

use std::borrow::Cow;
use std::fmt;

use toolyard::{JsonText, ToolFailure};

use super::config::{McpConfig, McpTransport};
use super::http::McpOAuth;
use crate::mcp::tokens::{TokenKind, Tokens};
use crate::mcp::value::McpValue;

/// Shorter values could not be kept out of texts without taking innocent ones out too.
const MIN_CHARS: usize = 4;
/// What stands in the place of one.
const MASK: &str = "***";
/// Parts of the names of variables whose values are secrets wherever they are kept.
const TELLING: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL"];

/// Values that must not be shown. Longer ones come first, since one may be part of another.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

// === impl Secrets ===

impl Secrets {
    /// Everything secret that a server is given, as far as it can be read now: headers, what `oauth` is configured with,
    /// and variables that are kept outside of the configuration or are called like a secret. A variable such as a folder's
    /// path is none: errors are of no use without it.
    pub(super) fn of(config: &McpConfig) -> Self {
        let mut secrets = Self::default();
        let is_telling = |name: &str| {
            let name = name.to_ascii_uppercase();
            TELLING.into_iter().any(|part| name.contains(part))
        };
        for (name, value) in &config.env {
            if value.is_kept_elsewhere() || is_telling(name) {
                secrets.read(value);
            }
        }
        match &config.transport {
            McpTransport::Stdio(command) => {
                let telling = command.env.iter().filter(|(name, _)| is_telling(name));
                telling.for_each(|(_, value)| secrets.add(value));
            }
            McpTransport::Http(service) => {
                service.headers.iter().for_each(|(_, value)| secrets.read(value));
                service.oauth.iter().flat_map(McpOAuth::values).for_each(|value| secrets.read(value));
            }
        }
        secrets
    }

    /// A value, and the token in one such as `Bearer abc`.
    pub(super) fn add(&mut self, value: &str) {
        let parts = std::iter::once(value).chain(value.split_whitespace().skip(1));
        self.0.extend(parts.filter(|part| part.chars().count() >= MIN_CHARS).map(str::to_owned));
        self.0.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// A text without them.
    pub(super) fn hidden_in<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = self.0.iter().filter(|secret| text.contains(secret.as_str()));
        found.fold(Cow::Borrowed(text), |text, secret| text.replace(secret.as_str(), MASK).into())
    }

    /// JSON without them, however its strings are written. Everything else stays as it is to the byte.
    pub(super) fn hidden_in_json(&self, json: JsonText) -> JsonText {
        if self.0.is_empty() {
            return json;
        }
        let text = json.as_str();
        let (tokens, mut out, mut copied) = (Tokens::new(text), String::new(), 0);
        for token in tokens.clone() {
            let piece = tokens.piece(&token);
            let said = match token.kind {
                TokenKind::Mark(_) => continue,
                TokenKind::Scalar => Some(piece.to_owned()),
                TokenKind::Text => serde_json::from_str(piece).ok(),
            };
            let Some(said) = said else { continue };
            if let Cow::Owned(hidden) = self.hidden_in(&said) {
                out.push_str(text.get(copied..token.place.start).unwrap_or_default());
                out.push_str(JsonText::string(&hidden).as_str());
                copied = token.place.end;
            }
        }
        if copied == 0 {
            return json;
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        // What was put in are JSON strings in the place of values.
        JsonText::parse(&out).unwrap_or_else(|_| JsonText::null())
    }

    /// A failure whose message is without them.
    pub(super) fn hidden_in_failure(&self, mut failure: ToolFailure) -> ToolFailure {
        if let Cow::Owned(hidden) = self.hidden_in(&failure.message) {
            failure.message = hidden.into();
        }
        failure
    }

    /// What cannot be read is nowhere to be shown.
    fn read(&mut self, value: &McpValue) {
        if let Ok(text) = value.read() {
            self.add(&text);
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::CommandSpec;

    #[test]
    fn values_are_hidden_in_json_however_they_are_written_and_nothing_else_changes() {
        let mut secrets = Secrets::default();
        secrets.add("Bearer s3cret\"key");
        secrets.add("20261130");
        let json =
            r#"{ "a":["bad s3cret\"key","\u00733cret\"key", 1.50e3, 120261130],"s3cret\"key":"Bearer s3cret\"key"}"#;
        let hidden = secrets.hidden_in_json(JsonText::parse(json).unwrap());
        assert_eq!(hidden.as_str(), r#"{ "a":["bad ***","***", 1.50e3, "1***"],"***":"***"}"#);
        let innocent = JsonText::parse(r#"{"a" : "key"}"#).unwrap();
        assert_eq!(secrets.hidden_in_json(innocent.clone()), innocent);
        assert_eq!(format!("{secrets:?}"), "Secrets");
    }

    #[test]
    fn what_is_secret_is_told_by_where_it_is_kept_and_how_it_is_called() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "kept-in-a-file\n").unwrap();
        let mut config = McpConfig::stdio(CommandSpec::default());
        config.env = [
            ("LOGIN", McpValue::file(file.path())),
            ("github_token", McpValue::text("written-down")),
            ("FOLDER", McpValue::text("/srv/data")),
            ("SHORT_KEY", McpValue::text("abc")),
            ("GONE", McpValue::file("/nonexistent")),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let hidden = Secrets::of(&config);
        assert_eq!(hidden.hidden_in("kept-in-a-file written-down /srv/data abc"), "*** *** /srv/data abc");
    }
}
