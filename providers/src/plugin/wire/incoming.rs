//! What the runner says to the host.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolyard::JsonText;

/// One frame of a runner.
#[derive(Debug)]
pub(in crate::plugin) enum FromRunner {
    Hello { protocol: u64, token: String, runner: String, python: String },
    Loaded(Value),
    Failed { stage: String, message: String, detail: String },
    Returned { id: u64, value: JsonText },
    Raised { id: u64, kind: String, message: String, detail: String },
    Capability(CapabilityFrame),
    CapabilityCancel { id: u64 },
    Pong { id: u64 },
    Configured { error: Option<String> },
    Log(LogFrame),
    Changed(Value),
    Unloaded,
}

/// A request for a capability.
#[derive(Debug)]
pub(in crate::plugin) struct CapabilityFrame {
    pub(in crate::plugin) id: u64,
    /// The call that asks, if one does.
    pub(in crate::plugin) call: Option<u64>,
    pub(in crate::plugin) name: String,
    pub(in crate::plugin) arguments: JsonText,
    pub(in crate::plugin) timeout_ms: Option<u64>,
}

/// One line of the plugin's log.
#[derive(Debug)]
pub(in crate::plugin) struct LogFrame {
    pub(in crate::plugin) level: String,
    pub(in crate::plugin) logger: String,
    pub(in crate::plugin) message: String,
    /// Lines before it that came too fast.
    pub(in crate::plugin) dropped: u64,
}

/// Why a frame cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::plugin) enum FrameError {
    #[error("a frame that is not JSON: {0}")]
    Json(String),
    #[error("a frame of the unknown type `{0}`")]
    Type(String),
    #[error("a frame of the type `{kind}` without `{field}`")]
    Field { kind: &'static str, field: &'static str },
}

/// Every member that a frame may have.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(rename = "type", borrow)]
    frame: Cow<'a, str>,
    id: Option<u64>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    kind: Option<String>,
    message: Option<String>,
    detail: Option<String>,
    call: Option<u64>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    timeout_ms: Option<u64>,
    error: Option<String>,
    level: Option<String>,
    logger: Option<String>,
    dropped: Option<u64>,
    #[serde(borrow)]
    plugin: Option<&'a RawValue>,
    stage: Option<String>,
    protocol: Option<u64>,
    token: Option<String>,
    runner: Option<String>,
    python: Option<String>,
}

/// Reads one frame.
pub(in crate::plugin) fn read(frame: &[u8]) -> Result<FromRunner, FrameError> {
    let members: Members<'_> = serde_json::from_slice(frame).map_err(|error| FrameError::Json(error.to_string()))?;
    members.read()
}

// === impl Members ===

impl Members<'_> {
    fn read(self) -> Result<FromRunner, FrameError> {
        Ok(match &*self.frame {
            "result" => FromRunner::Returned { id: self.id("result")?, value: self.value()? },
            "error" => FromRunner::Raised {
                id: self.id("error")?,
                kind: self.kind.unwrap_or_default(),
                message: self.message.unwrap_or_default(),
                detail: self.detail.unwrap_or_default(),
            },
            "capability" => FromRunner::Capability(self.capability()?),
            "capability_cancel" => FromRunner::CapabilityCancel { id: self.id("capability_cancel")? },
            "pong" => FromRunner::Pong { id: self.id("pong")? },
            "configured" => FromRunner::Configured { error: self.error },
            "log" => FromRunner::Log(LogFrame {
                level: self.level.unwrap_or_default(),
                logger: self.logger.unwrap_or_default(),
                message: self.message.unwrap_or_default(),
                dropped: self.dropped.unwrap_or_default(),
            }),
            "loaded" => FromRunner::Loaded(self.plugin("loaded")?),
            "changed" => FromRunner::Changed(self.plugin("changed")?),
            "failed" => FromRunner::Failed {
                stage: self.stage.unwrap_or_default(),
                message: self.message.unwrap_or_default(),
                detail: self.detail.unwrap_or_default(),
            },
            "hello" => FromRunner::Hello {
                protocol: self.protocol.unwrap_or_default(),
                token: self.token.unwrap_or_default(),
                runner: self.runner.unwrap_or_default(),
                python: self.python.unwrap_or_default(),
            },
            "unloaded" => FromRunner::Unloaded,
            other => return Err(FrameError::Type(other.chars().take(40).collect())),
        })
    }

    fn id(&self, kind: &'static str) -> Result<u64, FrameError> {
        self.id.ok_or(FrameError::Field { kind, field: "id" })
    }

    /// `null` is a value: what a handler without a `return` gives back.
    fn value(&self) -> Result<JsonText, FrameError> {
        Ok(self.value.map_or_else(JsonText::null, JsonText::from))
    }

    fn plugin(&self, kind: &'static str) -> Result<Value, FrameError> {
        let plugin = self.plugin.ok_or(FrameError::Field { kind, field: "plugin" })?;
        serde_json::from_str(plugin.get()).map_err(|error| FrameError::Json(error.to_string()))
    }

    fn capability(self) -> Result<CapabilityFrame, FrameError> {
        const KIND: &str = "capability";
        Ok(CapabilityFrame {
            id: self.id(KIND)?,
            call: self.call,
            name: self.name.ok_or(FrameError::Field { kind: KIND, field: "name" })?,
            arguments: self.arguments.map_or_else(|| JsonText::object([]), JsonText::from),
            timeout_ms: self.timeout_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_keeps_its_text_and_null_is_one() {
        let value = |frame: &str| match read(frame.as_bytes()) {
            Ok(FromRunner::Returned { id: 7, value }) => value.as_str().to_owned(),
            other => panic!("{other:?}"),
        };
        let big = r#"{"n": 123456789012345678901234567890, "s": "\u4f60"}"#;
        assert_eq!(value(&format!(r#"{{"type":"result","id":7,"value":{big}}}"#)), big);
        assert_eq!(value(r#"{"type":"result","id":7,"value":null}"#), "null");
    }

    #[test]
    fn a_frame_that_is_none_says_what_is_wrong() {
        for (frame, said) in [
            (r#"{"type":"result","id":7,"value":NaN}"#, "not JSON"),
            (r#"{"type":"dance"}"#, "unknown type `dance`"),
            (r#"{"type":"result","value":1}"#, "without `id`"),
            (r#"{"type":"capability","id":1}"#, "without `name`"),
            (r#"{"type":"loaded"}"#, "without `plugin`"),
            ("[]", "not JSON"),
            ("\u{1}", "not JSON"),
        ] {
            let error = read(frame.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{frame}: {error}");
        }
    }
}
