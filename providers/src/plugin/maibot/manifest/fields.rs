//! Reading the keys of one object of a manifest; what is wrong is noted, and reading goes on.

use serde_json::{Map, Value};

use super::ManifestFault;

/// One object of the manifest, and where it stands.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    place: String,
}

/// What is wrong so far.
#[derive(Debug, Default)]
pub(super) struct Faults(pub(super) Vec<ManifestFault>);

// === impl Fields ===

impl<'a> Fields<'a> {
    pub(super) fn root(map: &'a Map<String, Value>) -> Self {
        Self { map, place: String::new() }
    }

    /// The name of a key with the path to it.
    pub(super) fn path(&self, key: &str) -> String {
        if self.place.is_empty() { key.to_owned() } else { format!("{}.{key}", self.place) }
    }

    /// The value under a key; `null` counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Keys that are none of these.
    pub(super) fn others<'b>(&self, known: &'b [&str]) -> impl Iterator<Item = &'a str> + use<'a, 'b> {
        self.map.keys().map(String::as_str).filter(|key| !known.contains(key))
    }

    /// Text that must be there and say something.
    pub(super) fn text(&self, key: &str, faults: &mut Faults) -> Option<&'a str> {
        self.get(key).is_none().then(|| faults.missing(&self.path(key)));
        self.optional_text(key, faults)
    }

    /// Text that may be absent.
    pub(super) fn optional_text(&self, key: &str, faults: &mut Faults) -> Option<&'a str> {
        let value = self.get(key)?;
        let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
        if text.is_none() {
            faults.add(self.path(key), "must be text that is not empty");
        }
        text
    }

    /// An object that must be there.
    pub(super) fn object(&self, key: &str, faults: &mut Faults) -> Option<Fields<'a>> {
        self.get(key).is_none().then(|| faults.missing(&self.path(key)));
        let value = self.get(key)?;
        let map = value.as_object();
        if map.is_none() {
            faults.add(self.path(key), "must be an object");
        }
        Some(Fields { map: map?, place: self.path(key) })
    }

    /// A list with the place of each of its items.
    pub(super) fn list(&self, key: &str, faults: &mut Faults) -> Vec<(String, &'a Value)> {
        match self.get(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                items.iter().enumerate().map(|(index, item)| (format!("{}[{index}]", self.path(key)), item)).collect()
            }
            Some(_) => {
                faults.add(self.path(key), "must be a list");
                Vec::new()
            }
        }
    }

    /// An object that is an item of a list.
    pub(super) fn item(place: String, value: &'a Value, faults: &mut Faults) -> Option<Self> {
        let map = value.as_object();
        if map.is_none() {
            faults.add(place.clone(), "must be an object");
        }
        Some(Self { map: map?, place })
    }
}

// === impl Faults ===

impl Faults {
    pub(super) fn add(&mut self, key: impl Into<String>, message: impl Into<String>) {
        self.0.push(ManifestFault { key: key.into(), message: message.into() });
    }

    pub(super) fn missing(&mut self, key: &str) {
        self.add(key, "is missing");
    }
}
