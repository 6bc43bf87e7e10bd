//! Messages that a session has received: what a model may name as the source of a call (seed 002, `needs_source`).

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::TurnId;

/// Messages that a session remembers; the oldest go first.
const MAX_MESSAGES: usize = 256;
/// Bytes of their bodies, about; the oldest go first, and the newest stays whatever its size.
const MAX_BYTES: usize = 256 << 10;

/// A message that the bot has received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReceivedMessage {
    /// Its id on the platform.
    pub id: Arc<str>,
    /// Who sent it.
    pub sender: Arc<str>,
    /// The bot sent it itself.
    pub own: bool,
    /// Another bot that is known as one sent it.
    pub from_bot: bool,
    /// It was taken back.
    pub recalled: bool,
    /// Its sender may not use the bot here.
    pub blacklisted: bool,
    /// It was made of a tool's media and was never sent by anybody (`tool_result_media`).
    pub tool_result_media: bool,
    /// The message in the backend's own form, as tools get it.
    pub body: Arc<Value>,
}

/// The newest messages of a session, each with its turn.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    newest_last: VecDeque<(TurnId, Arc<ReceivedMessage>)>,
    bytes: usize,
}

// === impl ReceivedMessage ===

impl ReceivedMessage {
    /// About how many bytes it keeps.
    fn size(&self) -> usize {
        self.id.len() + self.sender.len() + size(&self.body)
    }
}

// === impl Messages ===

impl Messages {
    /// Adds a message of a turn, or brings one up to date. What was taken back stays so.
    pub(crate) fn add(&mut self, turn: &TurnId, mut message: ReceivedMessage) {
        if let Some(place) = self.newest_last.iter().position(|(_, known)| known.id == message.id)
            && let Some((_, known)) = self.newest_last.remove(place)
        {
            self.bytes -= known.size();
            message.recalled |= known.recalled;
        }
        self.bytes += message.size();
        self.newest_last.push_back((turn.clone(), Arc::new(message)));
        while self.newest_last.len() > MAX_MESSAGES || (self.bytes > MAX_BYTES && self.newest_last.len() > 1) {
            let Some((_, oldest)) = self.newest_last.pop_front() else { return };
            self.bytes -= oldest.size();
        }
    }

    /// Marks a message as taken back. Says whether it is known.
    pub(crate) fn recall(&mut self, id: &str) -> bool {
        let known = self.newest_last.iter_mut().find(|(_, message)| &*message.id == id);
        let Some((_, message)) = known else { return false };
        Arc::make_mut(message).recalled = true;
        true
    }

    /// The message with this id and the turn in which it came.
    pub(crate) fn find(&self, id: &str) -> Option<(TurnId, Arc<ReceivedMessage>)> {
        self.newest_last.iter().find(|(_, message)| &*message.id == id).cloned()
    }

    /// All of them, the oldest first.
    pub(crate) fn all(&self) -> Vec<(TurnId, Arc<ReceivedMessage>)> {
        self.newest_last.iter().cloned().collect()
    }
}

/// About how many bytes a value takes. Its depth is bounded by whoever parsed it.
fn size(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| key.len() + size(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    std::mem::size_of::<Value>() + inner
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(id: &str, body: Value) -> ReceivedMessage {
        ReceivedMessage { id: id.into(), body: Arc::new(body), ..ReceivedMessage::default() }
    }

    fn ids(messages: &Messages) -> Vec<String> {
        messages.all().iter().map(|(_, message)| message.id.to_string()).collect()
    }

    #[test]
    fn the_oldest_messages_go_first_by_number_and_by_size() {
        let turn = TurnId("t".into());
        let mut messages = Messages::default();
        for n in 0..MAX_MESSAGES + 3 {
            messages.add(&turn, message(&n.to_string(), json!(null)));
        }
        assert_eq!((messages.all().len(), ids(&messages)[0].as_str()), (MAX_MESSAGES, "3"));
        messages.add(&turn, message("half", json!("x".repeat(MAX_BYTES / 2))));
        assert_eq!(messages.all().len(), MAX_MESSAGES);
        messages.add(&turn, message("whole", json!(["x".repeat(MAX_BYTES)])));
        assert_eq!(ids(&messages), ["whole"]);
        messages.add(&turn, message("next", json!({"a": 1})));
        assert_eq!(ids(&messages), ["next"]);
        let kept: usize = messages.all().iter().map(|(_, message)| message.size()).sum();
        assert_eq!(messages.bytes, kept);
    }

    #[test]
    fn a_message_told_again_is_brought_up_to_date_and_stays_taken_back() {
        let [first, second] = ["t1", "t2"].map(|id| TurnId(id.into()));
        let mut messages = Messages::default();
        messages.add(&first, message("m", json!(1)));
        assert!(messages.recall("m") && !messages.recall("other"));
        messages.add(&second, message("m", json!(2)));
        let (turn, found) = messages.find("m").unwrap();
        assert_eq!((turn, found.recalled, &*found.body), (second, true, &json!(2)));
        assert_eq!(messages.all().len(), 1);
    }
}
