//! How much work a value may be: a schema and a value, each harmless alone, can cost a worker seconds together.

use serde_json::Value;

use super::walk;

/// Faults that are collected at most. Each branch of a choice has its own, level by level, before the first can be told.
const MAX_FAULTS: u64 = 100_000;
/// Sum of the squared lengths of strings that may meet patterns which look around: those take a search from every place
/// of the string, each as long as the string. About a tenth of a second.
const MAX_SEARCH: u64 = 8_000_000;
/// What marks a pattern that looks around or back.
const LOOKS: [&str; 8] = ["(?=", "(?!", "(?<=", "(?<!", "\\1", "\\2", "\\3", "\\k"];

/// What of a schema decides about the work.
#[derive(Debug)]
pub(super) struct Effort {
    /// Forms of its largest choice.
    widest: u64,
    /// Forms of all its choices together.
    forms: u64,
    has_references: bool,
    looks_around: bool,
}

/// What of a value decides about the work.
#[derive(Default)]
struct Size {
    values: u64,
    depth: u32,
    squares: u64,
}

// === impl Effort ===

impl Effort {
    pub(super) fn of(schema: &Value) -> Self {
        let mut effort = Self { widest: 1, forms: 1, has_references: false, looks_around: false };
        walk::each(schema, &mut |schema, _pointer| effort.add(schema));
        effort
    }

    fn add(&mut self, schema: &Value) {
        let Some(keywords) = schema.as_object() else { return };
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("anyOf" | "oneOf", Value::Array(branches)) => self.choice(branches.len() as u64),
                ("unevaluatedProperties" | "unevaluatedItems" | "contains" | "if" | "not", _) => self.choice(2),
                ("$ref" | "$dynamicRef" | "$recursiveRef", _) => self.has_references = true,
                ("pattern", Value::String(pattern)) => self.looks_around |= looks_around(pattern),
                ("patternProperties", Value::Object(patterns)) => {
                    self.looks_around |= patterns.keys().any(|pattern| looks_around(pattern));
                }
                _ => {}
            }
        }
    }

    fn choice(&mut self, forms: u64) {
        self.widest = self.widest.max(forms);
        self.forms = self.forms.saturating_add(forms);
    }

    /// Whether the faults of a value can be collected, so that they can be told and mended.
    pub(super) fn can_tell(&self, value: &Value) -> bool {
        if self.widest <= 1 {
            return true;
        }
        let size = Size::of(value);
        let faults = if self.has_references { self.widest.saturating_pow(size.depth) } else { self.forms };
        size.values.saturating_mul(faults.max(self.forms)) <= MAX_FAULTS
    }

    /// Whether a value can be checked at all.
    pub(super) fn can_check(&self, value: &Value) -> bool {
        !self.looks_around || Size::of(value).squares <= MAX_SEARCH
    }
}

fn looks_around(pattern: &str) -> bool {
    LOOKS.iter().any(|look| pattern.contains(look))
}

// === impl Size ===

impl Size {
    fn of(value: &Value) -> Self {
        let mut size = Self::default();
        size.add(value, 1);
        size
    }

    /// Values are nested as deep as their reader allowed, so that this may recurse.
    fn add(&mut self, value: &Value, depth: u32) {
        self.values += 1;
        self.depth = self.depth.max(depth);
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => items.iter().for_each(|item| self.add(item, depth + 1)),
            Value::Object(members) => {
                for (key, member) in members {
                    self.string(key);
                    self.add(member, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn string(&mut self, text: &str) {
        let length = text.len() as u64;
        self.squares = self.squares.saturating_add(length.saturating_mul(length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{CallPolicy, Profile, RawArguments, read_arguments};
    use crate::limits::Limits;
    use crate::result::CallError;
    use crate::schema::ArgumentSchema;
    use serde_json::json;

    fn admit(schema: &Value, arguments: &Value) -> Result<(), CallError> {
        let limits = Limits::default();
        let (read, _) = read_arguments(RawArguments::from(arguments), Profile::Lenient, &limits).unwrap();
        ArgumentSchema::compile(schema).unwrap().admit(read, &CallPolicy::default(), &limits).map(|_| ())
    }

    fn operator(name: &str) -> Value {
        let side = json!({"$ref": "#/$defs/expression"});
        json!({"type": "object", "required": ["op"], "properties": {"op": {"const": name}, "left": side, "right": side}})
    }

    fn tree(depth: usize, leaf: Value) -> Value {
        (0..depth).fold(leaf, |inner, _| json!({"op": "add", "left": inner, "right": 1}))
    }

    #[test]
    fn a_deep_tree_of_choices_is_refused_without_telling_every_branch() {
        let forms: Vec<Value> =
            ["add", "sub", "mul", "div"].map(operator).into_iter().chain([json!({"type": "number"})]).collect();
        let schema = json!({"type": "object", "properties": {"e": {"$ref": "#/$defs/expression"}}, "$defs": {"expression": {"anyOf": forms}}});
        assert!(admit(&schema, &json!({"e": tree(30, json!(1))})).is_ok(), "what fits is never in doubt");
        let near = admit(&schema, &json!({"e": tree(2, json!("x"))})).unwrap_err();
        assert!(near.message.contains("/e"), "{}", near.message);
        let deep = admit(&schema, &json!({"e": tree(30, json!("x"))})).unwrap_err();
        assert!(deep.message.contains("nested too deep"), "{}", deep.message);
    }

    #[test]
    fn a_long_list_of_wide_choices_is_refused_without_telling_every_branch() {
        let forms: Vec<Value> = (0..200).map(|n| json!({"required": [format!("k{n}")]})).collect();
        let schema = json!({"properties": {"list": {"items": {"anyOf": forms}}}});
        let list: Vec<Value> = (0..2000).map(|_| json!({"z": 1})).collect();
        assert!(admit(&schema, &json!({"list": list})).is_err());
        assert!(admit(&schema, &json!({"list": [{"k1": 1}]})).is_ok());
    }

    #[test]
    fn texts_too_long_for_patterns_that_look_around_are_refused_at_once() {
        let schema = json!({"properties": {"s": {"type": "string", "pattern": "(?=.*a)(?=.*b).*c"}}});
        assert!(admit(&schema, &json!({"s": "a b c"})).is_ok());
        let error = admit(&schema, &json!({"s": "ab".repeat(5000)})).unwrap_err();
        assert!(error.message.contains("too long"), "{}", error.message);
        let plain = json!({"properties": {"s": {"type": "string", "pattern": "^[ab]+$"}}});
        assert!(admit(&plain, &json!({"s": "ab".repeat(50_000)})).is_ok(), "other patterns take one pass");
    }
}
