//! JSON-RPC messages as they are read and written. What a message carries stays as its text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::JsonText;

use super::error::RpcError;
use super::meta::Meta;

/// One message of a client.
#[derive(Debug)]
pub(super) enum Message {
    Request(Request),
    Notification(Notification),
    Response(Response),
}

/// A request. Its id is a string or a number.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) id: JsonText,
    pub(super) method: Box<str>,
    pub(super) params: JsonText,
}

#[derive(Debug)]
pub(super) struct Notification {
    pub(super) method: Box<str>,
    pub(super) params: JsonText,
}

/// The answer to a request of ours.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) id: u64,
    pub(super) outcome: Result<JsonText, RpcError>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

// === impl Message ===

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// It is no JSON, or no message. With the id where there is one.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, (Option<JsonText>, RpcError)> {
        let broken = |reason: String| (None, RpcError::new(RpcError::PARSE, reason).malformed());
        let text = std::str::from_utf8(bytes).map_err(|error| broken(format!("the message is no UTF-8: {error}")))?;
        let envelope: Envelope<'_> = match serde_json::from_str(text) {
            Ok(envelope) => envelope,
            Err(error) if error.is_data() => return Err((None, invalid(&format!("no JSON-RPC message: {error}")))),
            Err(error) => return Err(broken(format!("the message is no JSON: {error}"))),
        };
        envelope.read()
    }
}

impl Envelope<'_> {
    fn read(self) -> Result<Message, (Option<JsonText>, RpcError)> {
        let id = self.id.map(JsonText::from);
        let wrong = |id: Option<JsonText>, reason: &str| Err((id, invalid(reason)));
        if self.jsonrpc.as_deref() != Some("2.0") {
            return wrong(id, "`jsonrpc` must be \"2.0\"");
        }
        let params = self.params.map_or_else(|| JsonText::object([]), JsonText::from);
        let Some(method) = self.method else {
            let Some(id) = id else { return wrong(None, "a message has a `method` or an `id`") };
            let outcome = match (self.result, self.error) {
                (Some(result), None) => Ok(JsonText::from(result)),
                (None, Some(error)) => Err(client_error(error)),
                _ => return wrong(Some(id), "a response has a `result` or an `error`"),
            };
            // An id that is none of ours leads nowhere.
            let id = id.text().unwrap_or_else(|| id.as_str().to_owned()).parse().unwrap_or(u64::MAX);
            return Ok(Message::Response(Response { id, outcome }));
        };
        if !params.as_str().starts_with('{') {
            return wrong(id, "`params` must be an object");
        }
        let method = method.into();
        match id {
            None => Ok(Message::Notification(Notification { method, params })),
            Some(id) if is_id(&id) => Ok(Message::Request(Request { id, method, params })),
            Some(_) => wrong(None, "an `id` is a string or a number"),
        }
    }
}

fn is_id(id: &JsonText) -> bool {
    id.as_str().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

fn invalid(reason: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_REQUEST, reason.to_owned()).malformed()
}

fn client_error(error: &RawValue) -> RpcError {
    let error = JsonText::from(error);
    let code = error.member("code").and_then(|code| code.to().ok()).unwrap_or(RpcError::INTERNAL);
    RpcError::relayed(code, error)
}

// === impl Request ===

impl Request {
    /// Reads the parameters into a type.
    pub(super) fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, RpcError> {
        let read = serde_json::from_str(self.params.as_str());
        read.map_err(|error| RpcError::invalid_params(format!("the parameters of `{}`: {error}", self.method)))
    }

    /// What stands in `_meta`. What cannot be read counts as absent.
    pub(super) fn meta(&self) -> Meta {
        Meta::of(&self.params)
    }
}

/// A value that is there, also when it is `null`.
pub(super) fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The text of a response, on one line.
pub(super) fn response(id: &JsonText, outcome: &Result<JsonText, RpcError>) -> String {
    let (key, value) = match outcome {
        Ok(result) => ("result", Cow::Borrowed(result.as_str())),
        Err(error) => ("error", Cow::Owned(error.object().as_str().to_owned())),
    };
    let value = one_line(&value);
    let mut text = String::with_capacity(value.len() + id.as_str().len() + 40);
    for part in ["{\"jsonrpc\":\"2.0\",\"id\":", id.as_str(), ",\"", key, "\":", &value, "}"] {
        text.push_str(part);
    }
    text
}

/// The text of a notification, on one line.
pub(super) fn notification(method: &str, params: &JsonText) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{}}}", one_line(params.as_str()))
}

/// The text of a request to the client, on one line.
pub(super) fn request(id: u64, method: &str, params: &JsonText) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{}}}", one_line(params.as_str()))
}

/// JSON without line breaks: outside of strings they are white space, and inside there are none.
fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) { Cow::Owned(json.replace(['\n', '\r'], " ")) } else { Cow::Borrowed(json) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Message {
        Message::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn requests_keep_the_text_of_their_id_and_parameters() {
        let text = r#"{"jsonrpc":"2.0","id":"a\"1","method":"tools/call","params":{"n":12345678901234567890123}}"#;
        let Message::Request(request) = read(text) else { panic!("no request") };
        assert_eq!((request.id.as_str(), request.params.as_str()), (r#""a\"1""#, r#"{"n":12345678901234567890123}"#));
    }

    #[test]
    fn responses_and_notifications_are_told_apart() {
        let Message::Response(response) = read(r#"{"jsonrpc":"2.0","id":7,"result":null}"#) else { panic!() };
        assert_eq!((response.id, response.outcome.unwrap().as_str()), (7, "null"));
        assert!(matches!(read(r#"{"jsonrpc":"2.0","method":"x"}"#), Message::Notification(_)));
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_right_code() {
        for (text, code) in [
            ("{", RpcError::PARSE),
            ("[]", RpcError::INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, RpcError::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, RpcError::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}"#, RpcError::INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, RpcError::INVALID_REQUEST),
        ] {
            assert_eq!(Message::read(text.as_bytes()).unwrap_err().1.code, code, "{text}");
        }
    }

    #[test]
    fn what_is_written_stands_on_one_line() {
        let pretty = JsonText::parse("{\n  \"a\": \"x\\ny\"\r\n}").unwrap();
        let written = response(&JsonText::string("1"), &Ok(pretty));
        assert_eq!(written, r#"{"jsonrpc":"2.0","id":"1","result":{   "a": "x\ny"  }}"#);
    }
}
