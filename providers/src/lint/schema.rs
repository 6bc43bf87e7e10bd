//! Schemas: every field that a model fills has a description and limits (seed 003, "Inputs").

use serde_json::Value;
use toolyard::{SOURCE_MESSAGE_PARAMETER, ToolSpec};

use super::{Finding, FindingLevel};

/// Levels that are looked into.
const MAX_DEPTH: usize = 16;
/// Findings about one tool.
const MAX_FINDINGS: usize = 64;
/// Members that hold fields by name.
const FIELDS: [&str; 3] = ["properties", "$defs", "definitions"];
/// Members that hold alternatives.
const BRANCHES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// Looks through one schema.
struct Walk<'a> {
    tool: &'a str,
    /// Of fields without limits: some kinds of declarations have no way to say them.
    unbounded: FindingLevel,
    findings: Vec<Finding>,
}

pub(super) fn check(kind: &str, tool: &ToolSpec) -> Vec<Finding> {
    let unbounded = if kind == "maibot" { FindingLevel::Note } else { FindingLevel::Warning };
    let mut walk = Walk { tool: &tool.name, unbounded, findings: Vec::new() };
    walk.object(&tool.parameters_schema, "", 0);
    walk.findings
}

// === impl Walk ===

impl Walk<'_> {
    /// The fields of an object, and whatever stands inside its alternatives.
    fn object(&mut self, schema: &Value, place: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for group in FIELDS {
            for (name, field) in schema.get(group).and_then(Value::as_object).into_iter().flatten() {
                if name == SOURCE_MESSAGE_PARAMETER {
                    // The host's own.
                    continue;
                }
                let place = format!("{place}/{group}/{}", name.replace('~', "~0").replace('/', "~1"));
                if group == "properties" {
                    self.described(field, &place);
                }
                self.value(field, &place, depth + 1);
            }
        }
        for branch in BRANCHES {
            for (index, schema) in schema.get(branch).and_then(Value::as_array).into_iter().flatten().enumerate() {
                self.value(schema, &format!("{place}/{branch}/{index}"), depth + 1);
            }
        }
    }

    fn described(&mut self, field: &Value, place: &str) {
        let says = |key: &str| field.get(key).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
        let has_one_value = field.get("const").is_some();
        if !says("description") && !says("$ref") && !has_one_value {
            let message = "the field has no description: a model guesses what belongs there";
            self.add(FindingLevel::Warning, "schema.undescribed", place, message);
        }
    }

    fn value(&mut self, schema: &Value, place: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let has = |key: &str| schema.get(key).is_some_and(|value| !value.is_null());
        let has_any = |keys: &[&str]| keys.iter().any(|key| has(key));
        if !has_any(&["enum", "const"]) {
            if is_of(schema, "string") && !has_any(&["maxLength", "format", "pattern"]) {
                self.unbounded(place, "the text has no limit", "maxLength, enum or format");
            }
            let has_range = has_any(&["minimum", "exclusiveMinimum"]) && has_any(&["maximum", "exclusiveMaximum"]);
            if (is_of(schema, "integer") || is_of(schema, "number")) && !has_range {
                self.unbounded(place, "the number has no limits", "minimum and maximum");
            }
            if is_of(schema, "array") {
                self.array(schema, place);
            }
        }
        if is_of(schema, "object") && is_open(schema) {
            let message = "the object does not say what is in it: declare its properties, or close it";
            self.add(FindingLevel::Warning, "schema.object_without_properties", place, message);
        }
        if let Some(items) = schema.get("items") {
            self.value(items, &format!("{place}/items"), depth + 1);
        }
        self.object(schema, place, depth + 1);
    }

    fn array(&mut self, schema: &Value, place: &str) {
        if schema.get("maxItems").is_none() {
            self.unbounded(place, "the list has no limit", "maxItems");
        }
        let says_items =
            schema.get("items").is_some_and(|items| *items != Value::Bool(true) && *items != serde_json::json!({}));
        if !says_items && schema.get("prefixItems").is_none() {
            let message = "the list does not say what its items are: some vendors refuse it. Write items_schema (MaiBot) or items";
            self.add(FindingLevel::Warning, "schema.array_without_items", place, message);
        }
    }

    fn unbounded(&mut self, place: &str, what: &str, how: &str) {
        let message = match self.unbounded {
            FindingLevel::Note => format!("{what}; say it in the field's description"),
            FindingLevel::Warning | FindingLevel::Error => format!("{what}: add {how}"),
        };
        self.add(self.unbounded, "schema.unbounded", place, message);
    }

    fn add(&mut self, level: FindingLevel, code: &'static str, place: &str, message: impl Into<String>) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding::new(level, code, message).of(self.tool).at(place));
        }
    }
}

fn is_of(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(named)) => named == kind,
        Some(Value::Array(named)) => named.iter().any(|name| name == kind),
        _ => false,
    }
}

/// Whether anything may stand in the object, for all that is said of it.
fn is_open(schema: &Value) -> bool {
    let has_some = |key: &str| schema.get(key).and_then(Value::as_object).is_some_and(|members| !members.is_empty());
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    !is_closed && !["properties", "patternProperties", "additionalProperties"].into_iter().any(has_some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(properties: Value) -> Vec<(&'static str, String)> {
        let tool = ToolSpec::new("t", "d").with_parameters(json!({"type": "object", "properties": properties}));
        check("http", &tool).into_iter().map(|finding| (finding.code, finding.place)).collect()
    }

    #[test]
    fn fields_with_limits_and_descriptions_are_right() {
        let right = json!({
            "a": {"type": "string", "maxLength": 3, "description": "x"},
            "b": {"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 9, "description": "x"},
            "c": {"type": "array", "maxItems": 2, "items": {"enum": ["p", "q"]}, "description": "x"},
            "d": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "description": "x"},
            "e": {"type": "boolean", "description": "x"},
            "f": {"type": "object", "description": "x", "additionalProperties": {"type": "boolean"}},
        });
        assert_eq!(found(right), []);
    }

    #[test]
    fn what_is_missing_is_told_with_its_place() {
        let place = |text: &str| text.to_owned();
        assert_eq!(
            found(json!({"a/b": {"type": "string", "maxLength": 3}})),
            [("schema.undescribed", place("/properties/a~1b"))]
        );
        assert_eq!(
            found(json!({"n": {"type": "number", "minimum": 1, "description": "x"}})),
            [("schema.unbounded", place("/properties/n"))]
        );
        assert_eq!(
            found(json!({"l": {"type": "array", "maxItems": 3, "description": "x", "items": {"type": "string"}}})),
            [("schema.unbounded", place("/properties/l/items"))]
        );
        assert_eq!(
            found(json!({"l": {"type": "array", "maxItems": 3, "description": "x"}})),
            [("schema.array_without_items", place("/properties/l"))]
        );
        assert_eq!(
            found(json!({"o": {"type": "object", "properties": {}, "description": "x"}})),
            [("schema.object_without_properties", place("/properties/o"))]
        );
    }

    #[test]
    fn limits_that_cannot_be_declared_are_only_noted() {
        let parameters = json!({"type": "object", "properties": {"q": {"type": "string", "description": "x"}}});
        let findings = check("maibot", &ToolSpec::new("t", "d").with_parameters(parameters));
        assert_eq!((findings[0].code, findings[0].level), ("schema.unbounded", FindingLevel::Note));
    }
}
