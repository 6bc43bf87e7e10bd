//! Redactor: takes secrets out of whatever leaves the provider.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use toolyard::{JsonText, ToolExecutionResult, ToolFailure};

use super::secret::Secrets;

/// What stands where a secret stood.
const MASK: &str = "[secret]";

/// Knows how the secrets look.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    /// Longest first, so that no form leaves a part of another behind.
    forms: Vec<String>,
}

// === impl Redactor ===

impl Redactor {
    /// Every secret as it is, quoted as in JSON, in URLs, in forms and in base64.
    pub(super) fn new(secrets: &Secrets) -> Self {
        let mut forms: Vec<String> = secrets.values().flat_map(forms).collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { forms }
    }

    /// Text without secrets.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for form in &self.forms {
            if clean.contains(form.as_str()) {
                clean = Cow::Owned(clean.replace(form.as_str(), MASK));
            }
        }
        clean
    }

    /// JSON without secrets, in whatever way its strings spell them. Every other byte stays as it is.
    fn json(&self, json: &JsonText) -> JsonText {
        if self.forms.is_empty() {
            return json.clone();
        }
        let mut clean = String::with_capacity(json.as_str().len());
        let mut rest = json.as_str();
        while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
            let (before, from) = rest.split_at(at);
            let (token, after) = from.split_at(token_len(from));
            clean.push_str(before);
            clean.push_str(&self.token(token));
            rest = after;
        }
        clean.push_str(rest);
        JsonText::parse(&clean).unwrap_or_else(|_| JsonText::string(MASK))
    }

    /// A string or a number of JSON. A number that holds a secret becomes a string.
    fn token<'t>(&self, token: &'t str) -> Cow<'t, str> {
        let decoded = serde_json::from_str::<String>(token);
        match (self.text(decoded.as_deref().unwrap_or(token)), &decoded) {
            (Cow::Borrowed(_), _) => Cow::Borrowed(token),
            // With half a character in it, a string can only be cleaned as it is written.
            (Cow::Owned(clean), Err(_)) if token.starts_with('"') => Cow::Owned(clean),
            (Cow::Owned(clean), _) => Cow::Owned(JsonText::string(&clean).as_str().to_owned()),
        }
    }

    /// A result without secrets.
    pub(super) fn result(&self, mut result: ToolExecutionResult) -> ToolExecutionResult {
        if self.forms.is_empty() {
            return result;
        }
        result.content = self.text(&result.content).into_owned();
        result.error_message = result.error_message.map(|message| self.text(&message).into_owned());
        result.structured_content = result.structured_content.map(|json| self.json(&json));
        result
    }

    /// A failure without secrets.
    pub(super) fn failure(&self, mut failure: ToolFailure) -> ToolFailure {
        failure.message = self.text(&failure.message).into_owned().into();
        failure
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("forms", &self.forms.len()).finish()
    }
}

fn forms(secret: &str) -> [String; 7] {
    let quoted = JsonText::string(secret);
    let quoted = quoted.as_str().trim_matches('"').to_owned();
    [
        secret.to_owned(),
        quoted.replace('/', "\\/"),
        quoted,
        utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
        url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
        STANDARD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
    ]
}

/// The length of the string or number with which valid JSON goes on.
fn token_len(json: &str) -> usize {
    let bytes = json.as_bytes();
    if bytes.first() != Some(&b'"') {
        let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        return bytes.iter().take_while(|byte| is_number(byte)).count();
    }
    let mut is_escaped = false;
    let end = bytes.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(json.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        Redactor::new(&Secrets::of([("a", "top/secret 密"), ("b", "87654321")]))
    }

    #[test]
    fn text_loses_secrets_in_every_form() {
        let text =
            r"top/secret 密 top\/secret 密 top%2Fsecret%20%E5%AF%86 top%2Fsecret+%E5%AF%86 dG9wL3NlY3JldCDlr4Y= fine";
        assert_eq!(redactor().text(text), "[secret] [secret] [secret] [secret] [secret] fine");
    }

    #[test]
    fn json_loses_secrets_however_they_are_escaped_and_nothing_else() {
        let json = r#"{"a\u0062": "x top\/secret \u5bc6 y", "n": 87654321, "big": 12345678901234567890123, "q": "\"\\", "h": "\ud800 87654321", "e":1.50e3, "z": "\"87654321\""}"#;
        let expected = r#"{"a\u0062": "x [secret] y", "n": "[secret]", "big": 12345678901234567890123, "q": "\"\\", "h": "\ud800 [secret]", "e":1.50e3, "z": "\"[secret]\""}"#;
        assert_eq!(redactor().json(&JsonText::parse(json).unwrap()).as_str(), expected);
    }

    #[test]
    fn what_knows_secrets_does_not_print_them() {
        let secrets = Secrets::of([("a", "top/secret")]);
        let printed = format!("{secrets:?} {:?}", Redactor::new(&secrets));
        assert!(!printed.contains("top"), "{printed}");
    }
}
