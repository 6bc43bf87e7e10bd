//! Values that mostly fit a schema.

use serde_json::{Map, Value, json};

use crate::schema::walk;

pub(super) const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const TEXTS: [&str; 4] = ["a", "b", "ab", "2026-01-01"];

/// Makes values out of bytes, mostly such as fit a schema.
pub(super) struct Sampler<'a> {
    pub(super) root: &'a Value,
    pub(super) bytes: std::slice::Iter<'a, u8>,
}

// === impl Sampler ===

impl Sampler<'_> {
    fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or_default()
    }

    fn pick<'v, T>(&mut self, list: &'v [T]) -> &'v T {
        &list[usize::from(self.byte()) % list.len()]
    }

    fn any(&mut self, levels: usize) -> Value {
        match self.byte() % if levels > 0 { 8 } else { 6 } {
            0 => Value::Null,
            1 => json!(self.byte().is_multiple_of(2)),
            2 | 3 => json!(self.byte() % 8),
            4 => json!(1.5),
            5 => json!(self.pick(&TEXTS)),
            6 => json!([self.any(0)]),
            _ => json!({*self.pick(&NAMES): self.any(0)}),
        }
    }

    pub(super) fn value(&mut self, schema: &Value, levels: usize) -> Value {
        let Some(keywords) = schema.as_object().filter(|_| levels > 0) else { return self.any(1) };
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(reference.trim_start_matches('#')).cloned().unwrap_or_default();
            return self.value(&target, levels - 1);
        }
        if let Some(value) = keywords.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            return self.pick(values).clone();
        }
        let forms = ["anyOf", "oneOf", "allOf"].iter().find_map(|word| keywords.get(*word)?.as_array());
        if let Some(forms) = forms.filter(|_| !keywords.contains_key("type")) {
            let form = self.pick(forms).clone();
            return self.value(&form, levels);
        }
        let kind = match keywords.get("type") {
            Some(Value::Array(words)) => self.pick(words).clone(),
            Some(word) => word.clone(),
            None => return self.any(1),
        };
        match kind.as_str().unwrap_or_default() {
            "object" => {
                let mut value = Map::new();
                self.members(schema, &mut value, levels);
                if let Some(forms) = forms {
                    let form = self.pick(forms).clone();
                    self.members(&form, &mut value, levels);
                }
                if self.byte().is_multiple_of(4) {
                    value.entry(*self.pick(&NAMES)).or_insert_with(|| json!("a"));
                }
                Value::Object(value)
            }
            "array" => {
                let prefix = keywords.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
                let rest = keywords.get("items").cloned().unwrap_or(json!({"type": "string"}));
                let count = usize::from(self.byte() % 3);
                let items = (0..count).map(|index| self.value(prefix.get(index).unwrap_or(&rest), levels - 1));
                Value::Array(items.collect())
            }
            "string" => json!(self.pick(&TEXTS)),
            "integer" => json!(self.byte() % 8),
            "number" => json!(f64::from(self.byte() % 16) / 2.0),
            "boolean" => json!(self.byte().is_multiple_of(2)),
            _ => Value::Null,
        }
    }

    fn members(&mut self, schema: &Value, value: &mut Map<String, Value>, levels: usize) {
        let required: Vec<&str> =
            schema.as_object().map(|keywords| walk::required(keywords).collect()).unwrap_or_default();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if required.contains(&name.as_str()) || self.byte().is_multiple_of(2) {
                let member = self.value(property, levels - 1);
                value.insert(name.clone(), member);
            }
        }
        for name in required {
            value.entry(name).or_insert_with(|| json!("a"));
        }
    }
}
