//! Optional properties that models fill with nothing.

use serde_json::Value;

use super::nulls::nulls_left_out;
use crate::call::{Change, Edits};
use crate::json::{keys, pointer_to};
use crate::result::{Repair, RepairKind};

/// Takes out the optional properties of the root that say nothing: `""`, `[]`, `{}` and `null`. Required ones stay.
pub(super) fn empty(schema: &Value, arguments: &Value) -> (Edits, Vec<Repair>) {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |key: &str| required.is_some_and(|required| required.iter().any(|name| name == key));
    let is_declared = |key: &str| schema.get("properties").is_some_and(|properties| properties.get(key).is_some());
    let mut edits = Edits::default();
    let mut repairs = Vec::new();
    for (key, value) in arguments.as_object().into_iter().flatten() {
        if says_nothing(value) && is_declared(key) && !is_required(key) {
            edits.add(&[key], Change::Remove);
            repairs.push(Repair { kind: RepairKind::Dropped, pointer: pointer_to("", key) });
        }
    }
    (edits, repairs)
}

/// Takes out the nulls that stand for "left out", as definitions in strict mode make models write them.
pub(super) fn null(schema: &Value, arguments: &Value, edits: &mut Edits) -> Vec<Repair> {
    let nulls = nulls_left_out(schema, arguments).into_iter();
    nulls
        .filter(|pointer| edits.add(&keys(pointer), Change::Remove))
        .map(|pointer| Repair { kind: RepairKind::NullOptional, pointer })
        .collect()
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
