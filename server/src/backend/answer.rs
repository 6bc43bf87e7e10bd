//! Answer: what a backend says to a request, the same on every way.

use serde::{Deserialize, Deserializer};
use toolyard::JsonText;

use super::trouble::Trouble;

/// What a backend says to a request: a value, or an error.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    /// The request; needed where the answer does not come on the request's own connection.
    pub(crate) id: Option<String>,
    /// `null` is a value too.
    #[serde(default, deserialize_with = "present")]
    value: Option<JsonText>,
    error: Option<AnswerError>,
}

#[derive(Debug, Deserialize)]
struct AnswerError {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// An answer that is neither a value nor an error.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("an answer must have one of `value` and `error`")]
pub(crate) struct UnusableAnswer;

// === impl Answer ===

impl Answer {
    /// Reads the body of an HTTP answer.
    pub(super) fn read(body: &[u8]) -> Result<Self, Trouble> {
        // What serde says may quote the answer.
        serde_json::from_slice(body).map_err(|error| {
            Trouble::nonsense(format_args!(
                "it is no JSON object of the right form, at line {}, column {}",
                error.line(),
                error.column()
            ))
        })
    }

    pub(crate) fn check(&self) -> Result<(), UnusableAnswer> {
        if self.value.is_some() == self.error.is_some() { Err(UnusableAnswer) } else { Ok(()) }
    }

    /// The value, or what is wrong.
    pub(super) fn into_result(self) -> Result<JsonText, Trouble> {
        match (self.value, self.error) {
            (Some(value), None) => Ok(value),
            (None, Some(error)) => Err(Trouble::answered(&error.code, &error.message)),
            _ => Err(Trouble::nonsense(UnusableAnswer)),
        }
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<JsonText>, D::Error> {
    JsonText::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<String, String> {
        let value = Answer::read(body.as_bytes()).and_then(Answer::into_result);
        value.map(|value| value.as_str().to_owned()).map_err(|trouble| trouble.into_failure().message.into_owned())
    }

    #[test]
    fn a_value_keeps_its_digits_and_null_is_a_value() {
        assert_eq!(
            read(r#"{"value": {"id": 12345678901234567890123}}"#).unwrap(),
            r#"{"id": 12345678901234567890123}"#
        );
        assert_eq!(read(r#"{"value": null}"#).unwrap(), "null");
        assert_eq!(read(r#"{"value": true, "error": null}"#).unwrap(), "true");
    }

    #[test]
    fn what_is_neither_a_value_nor_an_error_is_said_to_be_unusable() {
        for body in ["{}", r#"{"value": 1, "error": {"code": "x"}}"#, r#"{"error": null}"#] {
            assert!(read(body).unwrap_err().contains("one of `value` and `error`"), "{body}");
        }
        for body in ["", "[]", "<html>", r#"{"error": "text"}"#, r#"{"value": 1"#] {
            assert!(read(body).unwrap_err().contains("cannot be used"), "{body}");
        }
    }
}
