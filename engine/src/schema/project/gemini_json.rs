//! Gemini's `parametersJsonSchema`: JSON Schema, of which it takes a subset.

use serde_json::{Map, Value, json};

use super::loss::{DESCRIBED, DROPPED, EITHER, Losses, NEVER};
use super::merge::{both, is_never};
use super::{describe, mend, sort_required};
use crate::schema::walk::{self, segment};

/// The words that the API documents for this form.
const TAKEN: [&str; 20] = [
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
];

/// What may be said of a value without binding it.
const ANNOTATIONS: [&str; 9] =
    ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "nullable"];

/// The schema in that subset. References stay.
pub(super) fn json_schema(document: Value, losses: &mut Losses) -> Value {
    let mut schema = mend::definitions_as_defs(document);
    walk::each_mut(&mut schema, &mut |schema, pointer| {
        if let Value::Object(keywords) = schema {
            node(keywords, pointer, losses);
        }
    });
    sort_required(&mut schema);
    schema
}

fn node(keywords: &mut Map<String, Value>, pointer: &str, losses: &mut Losses) {
    merge_parts(keywords, pointer, losses);
    if keywords.get("$ref").is_some_and(Value::is_string) {
        // Nothing else may stand beside a reference.
        for keyword in keywords.keys().filter(|keyword| !keyword.starts_with('$')) {
            if !ANNOTATIONS.contains(&keyword.as_str()) {
                losses.add(pointer, keyword, DROPPED);
            }
        }
        keywords.retain(|keyword, _| keyword.starts_with('$') && TAKEN.contains(&keyword.as_str()));
        return;
    }
    values(keywords);
    let mut sentences = Vec::new();
    for (keyword, value) in keywords.iter() {
        let word = keyword.as_str();
        let is_shown = TAKEN.contains(&word) || word == "propertyOrdering";
        if is_shown || matches!(word, "then" | "else") || word.starts_with('$') {
            continue;
        }
        let sentence = if word == "if" { describe::condition(keywords) } else { describe::sentence(word, value) };
        if !ANNOTATIONS.contains(&word) && (sentence.is_some() || walk::holds(word).is_some()) {
            losses.add(pointer, word, if sentence.is_some() { DESCRIBED } else { DROPPED });
        }
        sentences.extend(sentence);
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if !keywords.contains_key(bound)
            && let Some(limit) = keywords.get(exclusive).cloned()
        {
            keywords.insert(bound.to_owned(), limit);
        }
    }
    if keywords.contains_key("patternProperties") && keywords.shift_remove("additionalProperties").is_some() {
        // It would now refuse the names that the patterns allowed.
        losses.add(pointer, "additionalProperties", DROPPED);
    }
    keywords.retain(|keyword, _| TAKEN.contains(&keyword.as_str()) || keyword == "propertyOrdering");
    describe::add(keywords, &sentences);
    without_booleans(keywords, pointer, losses);
}

/// One object for all parts of `allOf`, as far as it can say them.
pub(super) fn merge_parts(keywords: &mut Map<String, Value>, pointer: &str, losses: &mut Losses) {
    for _ in 0..walk::MAX_DEPTH {
        let Some(Value::Array(parts)) = keywords.shift_remove("allOf") else { return };
        for part in parts.iter().filter_map(Value::as_object) {
            if !both(keywords, part, false) {
                losses.add(pointer, "allOf", DROPPED);
            }
        }
    }
    keywords.shift_remove("allOf");
}

/// A fixed value is a list of one. Only texts and numbers may stand in a list.
fn values(keywords: &mut Map<String, Value>) {
    let is_plain = |value: &Value| value.is_string() || value.is_number();
    if let Some(value) = keywords.get("const").filter(|value| is_plain(value)).cloned()
        && !keywords.contains_key("enum")
    {
        keywords.shift_remove("const");
        keywords.insert("enum".to_owned(), json!([value]));
    }
    let or_null = match keywords.get("enum").and_then(Value::as_array) {
        Some(values) if values.contains(&Value::Null) && !keywords.contains_key("anyOf") => {
            values.iter().filter(|value| !value.is_null()).cloned().collect()
        }
        _ => Vec::new(),
    };
    if !or_null.is_empty() && or_null.iter().all(is_plain) {
        keywords.shift_remove("enum");
        keywords.insert("anyOf".to_owned(), json!([{"enum": or_null}, {"type": "null"}]));
    }
    let is_listed = |values: &Value| values.as_array().is_some_and(|values| values.iter().all(is_plain));
    if let Some(values) = keywords.get("enum").filter(|values| !is_listed(values)).cloned() {
        keywords.shift_remove("enum");
        describe::add(keywords, &describe::sentence("enum", &values).into_iter().collect::<Vec<_>>());
    }
}

fn without_booleans(keywords: &mut Map<String, Value>, pointer: &str, losses: &mut Losses) {
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        properties.retain(|name, property| {
            let is_kept = !is_never(property);
            if !is_kept {
                losses.add(&format!("{pointer}/properties{}", segment(name)), name, NEVER);
            }
            is_kept
        });
        properties.values_mut().for_each(as_object);
    }
    let known = |name: &Value| {
        let properties = keywords.get("properties").and_then(Value::as_object);
        name.as_str().is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)))
    };
    if let Some(names) = keywords.get("required").and_then(Value::as_array)
        && !names.iter().all(known)
    {
        let names: Vec<Value> = names.iter().filter(|name| known(name)).cloned().collect();
        keywords.insert("required".to_owned(), Value::Array(names));
        losses.add(pointer, "required", DROPPED);
    }
    if keywords.get("items").is_some_and(is_never) {
        keywords.shift_remove("items");
        losses.add(pointer, "items", DROPPED);
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(forms)) = keywords.get_mut(keyword) else { continue };
        forms.retain(|form| !is_never(form));
        if forms.is_empty() {
            keywords.shift_remove(keyword);
            losses.add(pointer, keyword, DROPPED);
        }
    }
    // The forms of `oneOf` widen, and would then overlap where they did not.
    if let Some(forms) = keywords.shift_remove("oneOf") {
        losses.add(pointer, "oneOf", EITHER);
        keywords.entry("anyOf").or_insert(forms);
    }
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("items", value) => as_object(value),
            ("$defs", Value::Object(members)) => members.values_mut().for_each(as_object),
            ("anyOf" | "prefixItems", Value::Array(forms)) => forms.iter_mut().for_each(as_object),
            _ => {}
        }
    }
}

/// What admits nothing becomes what admits anything, where it cannot be left out.
fn as_object(schema: &mut Value) {
    if schema.is_boolean() {
        *schema = json!({});
    }
}
