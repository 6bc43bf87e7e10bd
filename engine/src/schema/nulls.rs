//! Nulls that mean "left out".
//!
//! Strict mode has no optional properties: a model gives null for those that it would leave out. The tool's own schema
//! does not know of that null.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::refs::{Refs, place, reference};
use super::walk::{self, required, segment};

/// Schemas that are read for one object.
const MAX_PARTS: usize = 500;

/// Schemas that are asked whether they admit null. A schema that compiles never needs as many.
const MAX_ASKED: usize = 100_000;

/// Keywords whose schemas apply to the object itself.
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];

struct Nulls<'a> {
    refs: Refs<'a>,
    found: Vec<String>,
    asked: Cell<usize>,
}

/// The schemas that apply to one value.
#[derive(Default)]
struct Parts<'a> {
    schemas: Vec<&'a Map<String, Value>>,
    required: Vec<&'a str>,
    seen: Vec<usize>,
}

/// JSON pointers of the nulls in `arguments` that stand for "left out": the property is optional in `schema`, which admits
/// no null for it. To be removed before the arguments of a call to a strict copy are checked. Nulls that the schema admits,
/// and those of properties that it requires or does not name, are not among them.
pub(super) fn nulls_left_out(schema: &Value, arguments: &Value) -> Vec<String> {
    let mut nulls = Nulls { refs: Refs::of(schema), found: Vec::new(), asked: Cell::new(0) };
    nulls.value(&[schema], arguments, "", 0);
    nulls.found
}

// === impl Nulls ===

impl<'a> Nulls<'a> {
    fn value(&mut self, schemas: &[&'a Value], value: &Value, pointer: &str, depth: usize) {
        if depth > walk::MAX_DEPTH || !(value.is_object() || value.is_array()) {
            return;
        }
        let mut parts = Parts::default();
        for schema in schemas {
            self.gather(schema, true, &mut parts);
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let declared: Vec<&'a Value> =
                        parts.schemas.iter().filter_map(|part| part.get("properties")?.get(name)).collect();
                    let pointer = format!("{pointer}{}", segment(name));
                    if !member.is_null() {
                        self.value(&declared, member, &pointer, depth + 1);
                    } else if !declared.is_empty()
                        && !parts.required.contains(&name.as_str())
                        && !declared.iter().any(|schema| self.admits_null(schema, 0))
                    {
                        self.found.push(pointer);
                    }
                }
            }
            Value::Array(items) => {
                let declared: Vec<&'a Value> = parts.schemas.iter().filter_map(|part| part.get("items")).collect();
                for (index, item) in items.iter().enumerate() {
                    self.value(&declared, item, &format!("{pointer}/{index}"), depth + 1);
                }
            }
            _ => {}
        }
    }

    /// What an alternative requires is not required: another one may hold.
    fn gather(&self, schema: &'a Value, demanded: bool, parts: &mut Parts<'a>) {
        let Value::Object(keywords) = schema else { return };
        if parts.schemas.len() >= MAX_PARTS || parts.seen.contains(&place(schema)) {
            return;
        }
        parts.seen.push(place(schema));
        parts.schemas.push(keywords);
        if demanded {
            parts.required.extend(required(keywords));
        }
        if let Some(target) = reference(schema).and_then(|to| self.refs.resolve(schema, to)) {
            self.gather(target, demanded, parts);
        }
        for part in keywords.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.gather(part, demanded, parts);
        }
        for keyword in ALTERNATIVES {
            for part in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.gather(part, false, parts);
            }
        }
    }

    /// Whether null may fit; in doubt it may.
    fn admits_null(&self, schema: &Value, depth: usize) -> bool {
        let Value::Object(keywords) = schema else { return schema != &Value::Bool(false) };
        self.asked.set(self.asked.get() + 1);
        if depth > walk::MAX_DEPTH || self.asked.get() > MAX_ASKED {
            return true;
        }
        let lists_null = |keyword: &str| match keywords.get(keyword) {
            Some(Value::Array(values)) => values.iter().any(|value| value.is_null() || value == "null"),
            Some(Value::String(word)) => word == "null",
            _ => true,
        };
        let target = reference(schema).and_then(|to| self.refs.resolve(schema, to));
        let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
        lists_null("type")
            && lists_null("enum")
            && keywords.get("const").is_none_or(Value::is_null)
            && target.is_none_or(|target| self.admits_null(target, depth + 1))
            && list("allOf").all(|part| self.admits_null(part, depth + 1))
            && ALTERNATIVES.into_iter().all(|keyword| {
                !keywords.contains_key(keyword) || list(keyword).any(|part| self.admits_null(part, depth + 1))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nulls_of_optional_properties_mean_left_out_and_others_do_not() {
        let schema = json!({"type": "object", "required": ["q", "list"], "properties": {
            "q": {"type": "string"}, "limit": {"type": "integer"}, "mode": {"enum": ["a", "b"]},
            "nullable": {"type": ["string", "null"]}, "any": {}, "fixed": {"const": null},
            "maybe": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Nothing"}]}, "other": {"$ref": "#/$defs/Other"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/Other"}}},
            "$defs": {"Nothing": {"type": "null"}, "Other": {"type": "object", "properties": {
                "a/b": {"allOf": [{"type": "string"}, {"minLength": 1}]}, "again": {"$ref": "#/$defs/Other"}}}}});
        let arguments = json!({"q": null, "limit": null, "mode": null, "nullable": null, "any": null, "fixed": null,
            "maybe": null, "other": null, "unknown": null,
            "list": [{"a/b": null}, {"again": {"a/b": null, "again": null}}, null]});
        let expected = ["/limit", "/mode", "/other", "/list/0/a~1b", "/list/1/again/a~1b", "/list/1/again/again"];
        assert_eq!(nulls_left_out(&schema, &arguments), expected);
    }

    #[test]
    fn what_one_alternative_requires_may_be_left_out_for_another() {
        let form = |name: &str| json!({"properties": {name: {"type": "string"}}, "required": [name]});
        let schema = json!({"type": "object", "anyOf": [form("a"), form("b")]});
        assert_eq!(nulls_left_out(&schema, &json!({"a": null, "b": "x"})), ["/a"]);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"$ref": "#", "properties": {"a": {"$ref": "#/properties/a"}}});
        assert_eq!(nulls_left_out(&schema, &json!({"a": null})), Vec::<String>::new());
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": (0..60).map(|link| {
            let next = json!({"$ref": format!("#/$defs/d{}", link + 1)});
            (format!("d{link}"), json!({"allOf": [next, next]}))
        }).collect::<Map<String, Value>>()});
        assert_eq!(nulls_left_out(&schema, &json!({"a": null})), Vec::<String>::new());
    }
}
