//! Conditions on rows as SQL. Whatever comes from a plugin is a parameter, never text of the statement.

use rusqlite::types::Value;

use super::arguments::{Fields, Rows, Sorted};

/// Values that one call of an SQL function takes.
const FIELDS_PER_CALL: usize = 40;

/// A piece of SQL and its parameters, in order.
#[derive(Debug, Default)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) values: Vec<Value>,
}

// === impl Sql ===

impl Sql {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), values: Vec::new() }
    }

    pub(super) fn push(&mut self, text: &str, values: impl IntoIterator<Item = String>) {
        self.text.push_str(text);
        self.values.extend(values.into_iter().map(Value::Text));
    }

    /// ` WHERE …`: both sides are read by the same function, so that numbers, booleans and null compare as JSON.
    pub(super) fn push_where(&mut self, plugin: &str, rows: &Rows) {
        self.push(" WHERE plugin = ? AND model = ?", [plugin.to_owned(), rows.model.clone()]);
        for (field, value) in &rows.filters {
            let values = [path(field), value.as_str().to_owned()];
            match value.as_str().starts_with('[') {
                true => self.push(" AND json_extract(document, ?) IN (SELECT value FROM json_each(?))", values),
                false => self.push(" AND json_extract(document, ?) IS json_extract(?, '$')", values),
            }
        }
    }

    /// ` ORDER BY …`; rows that are equal come in the order in which they were made.
    pub(super) fn push_order(&mut self, order: &[Sorted]) {
        self.text.push_str(" ORDER BY ");
        for Sorted { field, descending } in order {
            let text = if *descending { "json_extract(document, ?) DESC, " } else { "json_extract(document, ?), " };
            self.push(text, [path(field)]);
        }
        self.text.push_str("row");
    }

    /// The document with these fields set.
    pub(super) fn push_changed(&mut self, data: &Fields) {
        let calls: Vec<_> = data.chunks(FIELDS_PER_CALL).collect();
        self.text.push_str(&"json_set(".repeat(calls.len()));
        self.text.push_str("document");
        for fields in calls {
            for (field, value) in fields {
                self.push(", ?, json(?)", [path(field), value.as_str().to_owned()]);
            }
            self.text.push(')');
        }
    }
}

/// The JSON path of a field; names were checked.
pub(super) fn path(field: &str) -> String {
    format!("$.\"{field}\"")
}
