//! Arguments: from the text that a model wrote to a checked JSON object.
//!
//! The text stays the truth and is what the tool gets. The parsed value beside it serves validation. Nothing ever falls
//! back to `{}`: only empty text, `null` and absence mean an object without keys.

mod edit;
mod fault;
mod mend;
mod read;
mod value;

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::json::JsonText;

pub(crate) use edit::{Change, Edits};
pub(crate) use read::{read_arguments, reread};

/// Arguments as the model wrote them, not looked at yet.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum RawArguments {
    /// The call has none.
    #[default]
    Absent,
    /// Text that should be a JSON object.
    Text(Arc<str>),
    /// The JSON value that stands for the arguments in a reply: an object, or a string that holds the text of one. It is
    /// decoded when it is read, after its size is known.
    Encoded(Arc<str>),
    /// What stands for the arguments in a reply that was cut off before the call was complete.
    CutOff(Arc<str>),
}

/// Arguments that are a JSON object. Cloning shares them.
#[derive(Clone)]
pub struct Arguments {
    text: JsonText,
    /// Nothing where it is the object without keys, which many calls have.
    value: Option<Arc<Value>>,
}

static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));

// === impl RawArguments ===

impl RawArguments {
    /// Arguments as text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }
}

impl From<&Value> for RawArguments {
    fn from(value: &Value) -> Self {
        Self::Text(value.to_string().into())
    }
}

// === impl Arguments ===

impl Arguments {
    /// What a call without arguments says.
    pub(crate) const NO_KEYS: &str = "{}";

    /// An object without keys, as this text says it.
    pub(crate) fn without_keys(text: Arc<str>) -> Self {
        Self { text: JsonText::trusted(text), value: None }
    }

    /// The JSON text, digit for digit as the model wrote it.
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// The same as shared JSON text.
    pub fn json(&self) -> &JsonText {
        &self.text
    }

    pub(crate) fn into_json(self) -> JsonText {
        self.text
    }

    /// The parsed value. Integers beyond 64 bits are floats here: use [`Arguments::text`] where their digits matter.
    pub fn value(&self) -> &Value {
        self.value.as_deref().unwrap_or(&EMPTY)
    }

    fn new(text: JsonText, value: Value) -> Self {
        let is_empty = value.as_object().is_some_and(Map::is_empty);
        Self { text, value: (!is_empty).then(|| Arc::new(value)) }
    }

    /// Takes out one key, and gives its value. Nothing else changes, digit for digit.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Value> {
        let mut edits = Edits::default();
        edits.add(&[key], Change::Remove);
        let text = self.value().get(key).and_then(|_| edits.apply(self.text.as_str()))?;
        let mut value = self.value.take().map_or_else(Value::default, Arc::unwrap_or_clone);
        let taken = value.as_object_mut().and_then(|object| object.shift_remove(key));
        *self = Self::new(JsonText::trusted(text.into()), value);
        taken
    }

    /// Reads the text into a Rust type.
    ///
    /// # Errors
    /// Gives serde's error when the arguments do not fit the type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.text.to()
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

#[cfg(test)]
mod tests;
