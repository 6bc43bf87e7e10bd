//! PinChange: what differs between two declarations, place by place.

use serde::Serialize;
use serde_json::Value;
use toolyard::JsonText;

/// Changes that are told of one tool.
const MAX_CHANGES: usize = 100;

/// One place at which a declaration has changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PinChange {
    /// JSON pointer of the place.
    pub pointer: String,
    /// What was there; nothing where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Value>,
    /// What is there; nothing where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<Value>,
}

/// The changes between two declarations, in the order of their places.
pub(super) fn between(pinned: &JsonText, offered: &JsonText) -> Vec<PinChange> {
    let mut changes = Vec::new();
    let (Ok(pinned), Ok(offered)) = (pinned.to::<Value>(), offered.to::<Value>()) else { return changes };
    compare(Some(&pinned), Some(&offered), String::new(), &mut changes);
    changes
}

fn compare(pinned: Option<&Value>, offered: Option<&Value>, pointer: String, changes: &mut Vec<PinChange>) {
    if pinned == offered || changes.len() >= MAX_CHANGES {
        return;
    }
    match (pinned, offered) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                let place = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(old.get(key), new.get(key), place, changes);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                compare(old.get(index), new.get(index), format!("{pointer}/{index}"), changes);
            }
        }
        _ => changes.push(PinChange { pointer, pinned: pinned.cloned(), offered: offered.cloned() }),
    }
}
