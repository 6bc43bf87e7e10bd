//! Where schemas stand inside a schema.
//!
//! Everything that reads or changes schemas goes through this table, so that a property that is called `type`, or a
//! value inside `enum`, `const`, `default` or `examples`, is never taken for a keyword.

use serde_json::{Map, Value};

/// Levels of JSON that a schema may have. It is listed inside of documents, and many parsers give up at 128.
pub(super) const MAX_DEPTH: usize = 100;

/// What a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// Schemas by name. Entries that are no schema (the name lists of `dependencies`) are passed over.
    Map,
    /// One schema, or the list of old drafts.
    OneOrList,
}

/// What the keyword holds, if it holds schemas at all.
pub(super) fn holds(keyword: &str) -> Option<Holds> {
    match keyword {
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies" => {
            Some(Holds::Map)
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Some(Holds::List),
        "items" => Some(Holds::OneOrList),
        "additionalItems"
        | "additionalProperties"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => Some(Holds::One),
        _ => None,
    }
}

/// The schemas directly inside this one, each with its pointer from here.
pub(super) fn children(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (holds(keyword), value) {
            (Some(Holds::One | Holds::OneOrList), Value::Object(_) | Value::Bool(_)) => {
                found.push((segment(keyword), value));
            }
            (Some(Holds::List | Holds::OneOrList), Value::Array(list)) => {
                let items = list.iter().enumerate();
                found.extend(items.map(|(index, item)| (format!("{}/{index}", segment(keyword)), item)));
            }
            (Some(Holds::Map), Value::Object(map)) => {
                let members = map.iter().filter(|(_, value)| is_schema(value));
                found.extend(members.map(|(name, value)| (format!("{}{}", segment(keyword), segment(name)), value)));
            }
            _ => {}
        }
    }
    found
}

/// As [`children`], to change them in place.
pub(super) fn children_mut(schema: &mut Value) -> Vec<(String, &mut Value)> {
    let mut found = Vec::new();
    for (keyword, value) in schema.as_object_mut().into_iter().flatten() {
        match (holds(keyword), value) {
            (Some(Holds::One | Holds::OneOrList), value @ (Value::Object(_) | Value::Bool(_))) => {
                found.push((segment(keyword), value));
            }
            (Some(Holds::List | Holds::OneOrList), Value::Array(list)) => {
                let items = list.iter_mut().enumerate();
                found.extend(items.map(|(index, item)| (format!("{}/{index}", segment(keyword)), item)));
            }
            (Some(Holds::Map), Value::Object(map)) => {
                let members = map.iter_mut().filter(|(_, value)| is_schema(value));
                found.extend(members.map(|(name, value)| (format!("{}{}", segment(keyword), segment(name)), value)));
            }
            _ => {}
        }
    }
    found
}

/// Shows every schema to `visit`, outer ones first, each with its pointer from the root. Ends at [`MAX_DEPTH`].
pub(super) fn each<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a Value, &str)) {
    each_below(schema, "", 0, visit);
}

/// As [`each`], to change them in place. Schemas that `visit` puts in are visited too.
pub(super) fn each_mut(schema: &mut Value, visit: &mut dyn FnMut(&mut Value, &str)) {
    each_mut_below(schema, "", 0, visit);
}

fn each_below<'a>(schema: &'a Value, pointer: &str, depth: usize, visit: &mut dyn FnMut(&'a Value, &str)) {
    if depth > MAX_DEPTH {
        return;
    }
    visit(schema, pointer);
    for (suffix, child) in children(schema) {
        each_below(child, &format!("{pointer}{suffix}"), depth + 1, visit);
    }
}

fn each_mut_below(schema: &mut Value, pointer: &str, depth: usize, visit: &mut dyn FnMut(&mut Value, &str)) {
    if depth > MAX_DEPTH {
        return;
    }
    visit(schema, pointer);
    for (suffix, child) in children_mut(schema) {
        each_mut_below(child, &format!("{pointer}{suffix}"), depth + 1, visit);
    }
}

/// Whether the JSON has more levels than [`MAX_DEPTH`]. Looks no deeper than that.
pub(super) fn is_too_deep(value: &Value) -> bool {
    fn deeper_than(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left == 0 || items.iter().any(|item| deeper_than(item, left - 1)),
            Value::Object(members) => left == 0 || members.values().any(|value| deeper_than(value, left - 1)),
            _ => false,
        }
    }
    deeper_than(value, MAX_DEPTH)
}

/// Whether the value can stand where a schema stands.
pub(super) fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// The names that the schema requires.
pub(super) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// One step of a JSON pointer. RFC 6901 escapes `~` and `/`.
pub(super) fn segment(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_are_found_where_they_stand_and_nowhere_else() {
        let schema = json!({
            "properties": {"type": {"type": "string"}, "a/b": {"items": [{}, {}], "additionalItems": false}},
            "enum": [{"properties": {"no": {}}}], "const": {"not": {}}, "default": {"items": {}}, "examples": [{"not": {}}],
            "dependencies": {"x": ["y"], "z": {"minProperties": 1}}, "x-mine": {"properties": {"no": {}}},
            "$defs": {"properties": {"anyOf": [true, {"type": "null"}]}}
        });
        let mut found = Vec::new();
        each(&schema, &mut |_, pointer| found.push(pointer.to_owned()));
        assert_eq!(
            found,
            [
                "",
                "/properties/type",
                "/properties/a~1b",
                "/properties/a~1b/items/0",
                "/properties/a~1b/items/1",
                "/properties/a~1b/additionalItems",
                "/dependencies/z",
                "/$defs/properties",
                "/$defs/properties/anyOf/0",
                "/$defs/properties/anyOf/1",
            ]
        );
        let mut again = Vec::new();
        each_mut(&mut schema.clone(), &mut |_, pointer| again.push(pointer.to_owned()));
        assert_eq!(again, found);
    }

    #[test]
    fn depth_is_measured_to_the_limit() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(!is_too_deep(&nested(MAX_DEPTH)));
        assert!(is_too_deep(&nested(MAX_DEPTH + 1)));
    }
}
