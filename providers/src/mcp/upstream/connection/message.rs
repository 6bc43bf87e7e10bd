//! What a server says, read without loss: results and parameters stay the text that they came as.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::JsonText;

use super::salvage;

/// One message of a server.
#[derive(Debug)]
pub(super) enum Message<'a> {
    Reply {
        id: u64,
        reply: Reply,
    },
    /// An error that names no request: the server could not even read what it was sent.
    StrayError(RpcError),
    Request(ServerRequest),
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// What should have been the answer to this request.
    BrokenReply {
        id: u64,
        why: String,
    },
    Noise,
}

/// How a server answered a request.
#[derive(Clone, Debug)]
pub(in crate::mcp::upstream) enum Reply {
    Result(JsonText),
    Error(RpcError),
}

/// A JSON-RPC error.
#[derive(Clone, Debug)]
pub(in crate::mcp::upstream) struct RpcError {
    pub(in crate::mcp::upstream) code: i64,
    pub(in crate::mcp::upstream) message: String,
    pub(in crate::mcp::upstream) data: Option<JsonText>,
    /// The whole error object, as the server sent it.
    pub(in crate::mcp::upstream) raw: JsonText,
}

/// A request of a server to its client.
#[derive(Clone, Debug)]
pub(in crate::mcp::upstream) struct ServerRequest {
    /// Its id as JSON text: numbers and strings are both in use.
    pub(in crate::mcp::upstream) id: JsonText,
    pub(in crate::mcp::upstream) method: String,
    pub(in crate::mcp::upstream) params: JsonText,
}

/// Every member that a message may have.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
}

/// Reads what a server said, whatever it is. A list is a batch of messages (revision 2025-03-26).
pub(super) fn read(bytes: &[u8], mut take: impl FnMut(Message<'_>)) {
    let bytes = bytes.trim_ascii();
    match bytes.first() {
        Some(b'{') => take(one(bytes)),
        Some(b'[') => {
            let batch = std::str::from_utf8(bytes).ok().and_then(|text| serde_json::from_str(text).ok());
            let batch: Vec<&RawValue> = batch.unwrap_or_default();
            if batch.is_empty() {
                take(Message::Noise);
            }
            for message in batch {
                take(if message.get().starts_with('{') { one(message.get().as_bytes()) } else { Message::Noise });
            }
        }
        _ => take(Message::Noise),
    }
}

fn one(bytes: &[u8]) -> Message<'_> {
    let read = match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str::<Members<'_>>(text).map_err(|error| format!("it is no JSON: {error}")),
        Err(error) => Err(format!("it is no UTF-8 after byte {}", error.valid_up_to())),
    };
    match read {
        Ok(members) => members.message(),
        Err(why) => salvage::reply_id(bytes).map_or(Message::Noise, |id| Message::BrokenReply { id, why }),
    }
}

// === impl Members ===

impl<'a> Members<'a> {
    fn message(self) -> Message<'a> {
        if let Some(method) = self.method {
            return match self.id {
                None => Message::Notification { method, params: self.params },
                Some(id) => Message::Request(ServerRequest {
                    id: id.into(),
                    method: method.into_owned(),
                    params: self.params.map_or_else(|| JsonText::object([]), whole),
                }),
            };
        }
        let error = self.error.map(RpcError::read);
        let Some(id) = self.id.and_then(number) else {
            return error.map_or(Message::Noise, Message::StrayError);
        };
        match (self.result, error) {
            (_, Some(error)) => Message::Reply { id, reply: Reply::Error(error) },
            (Some(result), None) => Message::Reply { id, reply: Reply::Result(whole(result)) },
            // A line of somebody's log may have an id too.
            (None, None) if self.jsonrpc.is_none() => Message::Noise,
            (None, None) => Message::BrokenReply { id, why: "it has neither a result nor an error".to_owned() },
        }
    }
}

/// Halves of characters, which most parsers refuse, are replaced.
fn whole(raw: &RawValue) -> JsonText {
    JsonText::from(raw).with_whole_characters()
}

/// Ids are numbers here; servers that give them back as text mean the same.
fn number(id: &RawValue) -> Option<u64> {
    id.get().trim_matches('"').parse().ok()
}

// === impl RpcError ===

impl RpcError {
    /// Nothing that stands for an error is lost, however it looks.
    fn read(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Fields<'a> {
            #[serde(borrow)]
            code: Option<&'a RawValue>,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        const INTERNAL: i64 = -32603;
        let fields: Option<Fields<'_>> = serde_json::from_str(raw.get()).ok();
        let code = fields.as_ref().and_then(|fields| fields.code?.get().parse().ok());
        let message = fields.as_ref().and_then(|fields| JsonText::from(fields.message?).text());
        let (code, message) =
            (code.unwrap_or(INTERNAL), message.unwrap_or_else(|| "the server gave no reason".to_owned()));
        let raw = whole(raw);
        let data = fields.and_then(|fields| fields.data.map(whole));
        if raw.check_readable().is_err() {
            // What nobody could read is no reason to lose the rest.
            let parts =
                [("code", JsonText::from(serde_json::Value::from(code))), ("message", JsonText::string(&message))];
            return Self { code, message, data: None, raw: JsonText::object(parts) };
        }
        Self { code, message, data, raw }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(message: &[u8]) -> String {
        let mut said = String::new();
        read(message, |message| {
            let one = match message {
                Message::Reply { id, reply: Reply::Result(result) } => format!("{id}={result};"),
                Message::Reply { id, reply: Reply::Error(error) } => format!("{id}!{}:{};", error.code, error.message),
                Message::StrayError(error) => format!("!{};", error.code),
                Message::Request(request) => format!("{}?{}{};", request.id, request.method, request.params),
                Message::Notification { method, .. } => format!("~{method};"),
                Message::BrokenReply { id, .. } => format!("{id}#;"),
                Message::Noise => "-;".to_owned(),
            };
            said.push_str(&one);
        });
        said
    }

    #[test]
    fn messages_are_told_apart_and_keep_their_text() {
        for (message, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"n": 123456789012345678901234567890}}"#,
                r#"7={"n": 123456789012345678901234567890};"#,
            ),
            (r#"{"result":[],"id":"7","jsonrpc":"2.0"}"#, "7=[];"),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#, "7!-32602:no;"),
            (r#"{"jsonrpc":"2.0","id":7,"error":"no"}"#, "7!-32603:the server gave no reason;"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}"#, "!-32700;"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, r#""a"?ping{};"#),
            (r#"{"jsonrpc":"2.0","method":"notifications/x","params":7}"#, "~notifications/x;"),
            (r#"[{"id":1,"result":{}},{"method":"x"},7,[1,null,null,{}]]"#, "1={};~x;-;-;"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "7#;"),
            (r#"{"level":"info","id":7}"#, "-;"),
            ("INFO {\"id\":7}", "-;"),
            ("[]", "-;"),
            ("", "-;"),
        ] {
            assert_eq!(read_one(message.as_bytes()), expected, "{message}");
        }
    }

    #[test]
    fn what_others_could_not_read_is_left_out_of_errors_and_halves_of_characters_are_replaced() {
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        let error = format!(r#"{{"id":7,"error":{{"code":-5,"message":"no","data":{deep}}}}}"#);
        read(error.as_bytes(), |message| {
            let Message::Reply { reply: Reply::Error(error), .. } = message else { panic!("{message:?}") };
            assert_eq!((error.raw.as_str(), error.data), (r#"{"code":-5,"message":"no"}"#, None));
        });
        assert_eq!(read_one(br#"{"jsonrpc":"2.0","id":7,"result":"a\ud800b"}"#), r#"7="a\ufffdb";"#);
    }

    #[test]
    fn a_broken_answer_is_that_requests_fault_alone() {
        for message in [
            &br#"{"jsonrpc":"2.0","id":7,"result":{"n":NaN}}"#[..],
            br#"{"result":{"n":[-Infinity]},"jsonrpc":"2.0","id":7}"#,
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"text\":\"\xd6\xd0\"}}",
            br#"{"jsonrpc":"2.0","id":7,"resu"#,
            br#"{"jsonrpc":"2.0","id":7,"id":8,"result":{}}"#,
        ] {
            assert_eq!(read_one(message), "7#;", "{}", String::from_utf8_lossy(message));
        }
    }
}
