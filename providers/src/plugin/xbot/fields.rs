//! Fields: the members of an object, read by either spelling, with an account of what nobody read.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Unknown members of one object that are reported.
pub(super) const MAX_REMARKS: usize = 32;
/// Characters of an unknown key that are shown.
const MAX_KEY: usize = 64;

/// The members of an object that a plugin wrote. xbot's documents spell keys in camelCase, its host in snake_case: both
/// are read here, and what is left over is reported instead of ignored.
pub(super) struct Fields<'a> {
    object: &'a Map<String, Value>,
    read: HashSet<&'a str>,
    remarks: Vec<String>,
}

// === impl Fields ===

impl<'a> Fields<'a> {
    pub(super) fn new(object: &'a Map<String, Value>) -> Self {
        Self { object, read: HashSet::new(), remarks: Vec::new() }
    }

    /// The member that is called `name`, which is given in snake_case. `null` counts as absent.
    pub(super) fn take(&mut self, name: &str) -> Option<&'a Value> {
        let spellings = [name.to_owned(), camel_case(name)];
        let mut found = None;
        for spelling in spellings {
            let Some((key, value)) = self.object.get_key_value(&spelling) else { continue };
            if !self.read.insert(key) || value.is_null() {
                continue;
            }
            match found {
                None => found = Some(value),
                Some(first) if first == value => {}
                Some(_) => self.remarks.push(format!("`{key}` is ignored: `{name}` says something else")),
            }
        }
        found
    }

    /// A text; anything else is an error.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<&'a str>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` must be text")),
        }
    }

    /// A list; nothing where it is absent.
    pub(super) fn list(&mut self, name: &str) -> Result<&'a [Value], String> {
        match self.take(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(format!("`{name}` must be a list")),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let items = self.list(name)?.iter();
        let texts: Option<Vec<String>> = items.map(|item| item.as_str().map(str::to_owned)).collect();
        texts.ok_or_else(|| format!("`{name}` must be a list of texts"))
    }

    /// Yes or no; no where it is absent.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(format!("`{name}` must be true or false")),
        }
    }

    /// What is not as it should be: members with two meanings, and members that nobody has read.
    pub(super) fn remarks(self) -> Vec<String> {
        let unread = self.object.keys().filter(|key| !self.read.contains(key.as_str()));
        let unknown = unread.take(MAX_REMARKS).map(|key| unknown_key(key));
        let mut remarks = self.remarks;
        remarks.extend(unknown);
        remarks
    }
}

pub(super) fn unknown_key(key: &str) -> String {
    let shown: String = key.chars().take(MAX_KEY).collect();
    format!("unknown key `{shown}` is ignored")
}

/// `input_schema` as `inputSchema`.
pub(super) fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut is_start = false;
    for character in name.chars() {
        if character == '_' {
            is_start = true;
        } else if std::mem::take(&mut is_start) {
            camel.push(character.to_ascii_uppercase());
        } else {
            camel.push(character);
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_are_read_and_the_rest_is_reported() {
        let value = json!({"inputSchema": {}, "activation_events": ["onStart"], "inptSchema": 1, "x": null});
        let mut fields = Fields::new(value.as_object().unwrap());
        assert_eq!(fields.take("input_schema"), Some(&json!({})));
        assert_eq!(fields.texts("activation_events").unwrap(), ["onStart"]);
        assert_eq!(fields.take("x"), None);
        assert_eq!(fields.remarks(), ["unknown key `inptSchema` is ignored"]);
    }

    #[test]
    fn two_spellings_that_disagree_are_reported() {
        let value = json!({"is_error": true, "isError": false});
        let mut fields = Fields::new(value.as_object().unwrap());
        assert_eq!(fields.flag("is_error"), Ok(true));
        assert_eq!(fields.remarks(), ["`isError` is ignored: `is_error` says something else"]);
    }

    #[test]
    fn wrong_types_are_errors() {
        let value = json!({"name": 1, "tools": {}, "args": ["a", 1], "request_ids": "yes"});
        let mut fields = Fields::new(value.as_object().unwrap());
        assert_eq!(fields.text("name").unwrap_err(), "`name` must be text");
        assert_eq!(fields.list("tools").unwrap_err(), "`tools` must be a list");
        assert_eq!(fields.texts("args").unwrap_err(), "`args` must be a list of texts");
        assert_eq!(fields.flag("request_ids").unwrap_err(), "`request_ids` must be true or false");
    }
}
