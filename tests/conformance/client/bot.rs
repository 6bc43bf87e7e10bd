//! Bot: answers what a server asks, as the backend of a bot would.

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolyard::{ErrorCode, HostPort, HostRequest, JsonText, ToolFailure};

/// A bot whose person accepts every form as it stands.
#[derive(Debug)]
pub(super) struct Bot;

// === impl Bot ===

impl HostPort for Bot {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        let payload: Value = request.payload.to().unwrap_or_default();
        let answer = match request.capability.as_str() {
            "elicitation.create" => Ok(json!({"action": "accept", "content": filled(&payload["requestedSchema"])})),
            "sampling.create" => {
                let content = json!({"type": "text", "text": "The kettle is on."});
                Ok(json!({"role": "assistant", "content": content, "model": "none", "stopReason": "endTurn"}))
            }
            "roots.list" => Ok(json!({"roots": [{"uri": "file:///srv/data", "name": "data"}]})),
            "log.message" => Ok(json!({})),
            other => Err(ToolFailure::not_sent(ErrorCode::ToolUnavailable, format!("no capability {other}"))),
        };
        Box::pin(std::future::ready(answer.map(JsonText::from)))
    }
}

/// A form with its defaults, and with something that fits where there is none.
fn filled(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let fill = |(name, property): (&String, &Value)| {
        let value = property.get("default").cloned().unwrap_or_else(|| crate::sample::value(property));
        (name.clone(), value)
    };
    properties.map(fill).collect::<Map<_, _>>().into()
}
