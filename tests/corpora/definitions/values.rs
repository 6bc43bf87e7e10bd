//! Arguments made from a schema, and schemas made readable.

use serde_json::{Map, Value, json};
use toolyard::{ArgumentSchema, Limits, Profile, RawArguments, ToolCall};

const MAX_LEVELS: usize = 24;
/// Deeper down only what is required: schemas may contain themselves.
const FULL_LEVELS: usize = 6;

/// Which of the things that a schema allows.
#[derive(Clone, Copy)]
struct Taste {
    /// Optional properties too, and an item in each list.
    is_full: bool,
    /// The last listed value and the last alternative, not the first.
    is_last: bool,
}

/// Arguments that fit: as few as possible, and several with everything.
pub(super) fn of(schema: &Value) -> Vec<Value> {
    let tastes = [(false, false), (false, true), (true, false), (true, true)];
    let mut values: Vec<Value> = Vec::new();
    for (is_full, is_last) in tastes {
        let value = one(schema, schema, Taste { is_full, is_last }, 0);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

fn one(schema: &Value, document: &Value, taste: Taste, level: usize) -> Value {
    let Some(keywords) = schema.as_object().filter(|_| level < MAX_LEVELS) else { return json!("a") };
    let taste = Taste { is_full: taste.is_full && level < FULL_LEVELS, ..taste };
    if let Some(target) = keywords.get("$ref").and_then(|to| resolved(to, document)) {
        return one(target, document, taste, level + 1);
    }
    if let Some(value) = keywords.get("const") {
        return value.clone();
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return pick(values, taste).cloned().unwrap_or_default();
    }
    let forms = ["anyOf", "oneOf"].iter().find_map(|word| keywords.get(*word)?.as_array());
    if let Some(form) = forms.filter(|_| !keywords.contains_key("properties")).and_then(|forms| pick(forms, taste)) {
        return one(&with_type_of(form, keywords), document, taste, level + 1);
    }
    let kind = match keywords.get("type") {
        Some(Value::Array(kinds)) => pick(kinds, taste).cloned().unwrap_or_default(),
        Some(kind) => kind.clone(),
        None if keywords.contains_key("properties") => json!("object"),
        None => json!("string"),
    };
    match kind.as_str().unwrap_or_default() {
        "object" => object(keywords, document, taste, level),
        "array" => list(keywords, document, taste, level),
        "string" => text(keywords),
        "integer" => number(keywords, 1.0).as_f64().map_or(json!(1), |number| json!(number.ceil() as i64)),
        "number" => number(keywords, 1.5),
        "boolean" => json!(taste.is_last),
        _ => Value::Null,
    }
}

/// A form, of the type that is said beside the forms if it names none.
fn with_type_of(form: &Value, keywords: &Map<String, Value>) -> Value {
    let mut form = form.clone();
    if let (Some(own), Some(kind)) = (form.as_object_mut(), keywords.get("type"))
        && !own.contains_key("$ref")
    {
        own.entry("type").or_insert_with(|| kind.clone());
    }
    form
}

fn object(keywords: &Map<String, Value>, document: &Value, taste: Taste, level: usize) -> Value {
    let required: Vec<&str> =
        keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
    let wanted = properties.filter(|(name, _)| taste.is_full || required.contains(&name.as_str()));
    let mut members: Map<String, Value> =
        wanted.map(|(name, schema)| (name.clone(), one(schema, document, taste, level + 1))).collect();
    for name in required {
        members.entry(name).or_insert_with(|| json!("a"));
    }
    if let Some(more) = keywords.get("additionalProperties").filter(|more| more.is_object() && taste.is_full) {
        members.insert("another".to_owned(), one(more, document, taste, level + 1));
    }
    Value::Object(members)
}

fn list(keywords: &Map<String, Value>, document: &Value, taste: Taste, level: usize) -> Value {
    let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or_default();
    let count = if taste.is_full { least.max(1) } else { least };
    let item = keywords.get("items").cloned().unwrap_or_else(|| json!({"type": "string"}));
    (0..count).map(|_| one(&item, document, taste, level + 1)).collect()
}

fn text(keywords: &Map<String, Value>) -> Value {
    let candidates = [
        "text",
        "2026-01-02",
        "2026-01-02T03:04:05Z",
        "https://example.org/a",
        "a@example.org",
        "10:20:30",
        "AS13335",
        "192.0.2.1",
        "2001:db8::1",
    ];
    let schema = Value::Object(keywords.clone());
    let examples = ["default", "example"].into_iter().filter_map(|word| keywords.get(word).cloned());
    let least = keywords.get("minLength").and_then(Value::as_u64).unwrap_or_default() as usize;
    let padded = candidates.into_iter().map(|text| json!(format!("{text:x<least$}")));
    let mut all: Vec<Value> = padded.chain(examples).collect();
    let found = all.iter().position(|value| holds(value, &schema)).unwrap_or_default();
    all.swap_remove(found)
}

fn number(keywords: &Map<String, Value>, usual: f64) -> Value {
    let bound = |word: &str| keywords.get(word).and_then(Value::as_f64);
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|bound| bound + 0.5));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|bound| bound - 0.5));
    let number = usual.max(least.unwrap_or(usual));
    json!(most.map_or(number, |most| number.min(most)))
}

fn pick(values: &[Value], taste: Taste) -> Option<&Value> {
    if taste.is_last { values.last() } else { values.first() }
}

fn resolved<'a>(reference: &Value, document: &'a Value) -> Option<&'a Value> {
    document.pointer(reference.as_str()?.strip_prefix('#')?)
}

fn holds(value: &Value, schema: &Value) -> bool {
    // The older drafts check formats.
    let wrapped = json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"it": schema}});
    let Ok(compiled) = ArgumentSchema::compile(&wrapped) else { return false };
    let call = ToolCall::new("c", "t", RawArguments::from(&json!({"it": value})));
    call.read(Profile::Strict, &Limits::default()).is_ok_and(|(arguments, _)| compiled.check(&arguments).is_ok())
}

/// Whether a schema is written for strict mode: closed, with every property required.
pub(super) fn is_strict(schema: &Value) -> bool {
    let declared = schema["properties"].as_object().map_or(0, Map::len);
    let required = schema["required"].as_array();
    schema["additionalProperties"] == false && required.is_some_and(|required| required.len() == declared)
}

/// What a model in strict mode writes for a value: null for what is left out.
pub(super) fn with_nulls(value: &Value, schema: &Value, document: &Value) -> Value {
    if let Some(target) = schema.get("$ref").and_then(|to| resolved(to, document)) {
        return with_nulls(value, target, document);
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        let whole = |form: &Value| {
            let mut whole = form.clone();
            if let (Some(whole), Some(definitions)) = (whole.as_object_mut(), document.get("$defs")) {
                whole.insert("$defs".to_owned(), definitions.clone());
            }
            whole
        };
        let written = forms.iter().map(|form| (with_nulls(value, form, document), whole(form)));
        return written.into_iter().find(|(written, form)| inner_holds(written, form)).map_or(value.clone(), |it| it.0);
    }
    match value {
        Value::Object(members) => {
            let declared = schema["properties"].as_object().into_iter().flatten();
            let written = declared.map(|(name, inner)| {
                let member = members.get(name).map_or(Value::Null, |member| with_nulls(member, inner, document));
                (name.clone(), member)
            });
            let written: Map<String, Value> = written.collect();
            let more = members.iter().filter(|(name, _)| !written.contains_key(*name));
            let more: Vec<(String, Value)> = more.map(|(name, member)| (name.clone(), member.clone())).collect();
            Value::Object(written.into_iter().chain(more).collect())
        }
        Value::Array(items) => items.iter().map(|item| with_nulls(item, &schema["items"], document)).collect(),
        other => other.clone(),
    }
}

/// The same without the members that are null.
pub(super) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Object(members) => {
            let there = members.iter().filter(|(_, member)| !member.is_null());
            Value::Object(there.map(|(name, member)| (name.clone(), without_nulls(member))).collect())
        }
        other => other.clone(),
    }
}

/// Whether a value fits a schema whose references point into itself.
fn inner_holds(value: &Value, schema: &Value) -> bool {
    let Some(mut outer) = schema.as_object().cloned() else { return false };
    let definitions = outer.shift_remove("$defs").unwrap_or_else(|| json!({}));
    let wrapped = json!({"properties": {"it": outer}, "$defs": definitions});
    let Ok(compiled) = ArgumentSchema::compile(&wrapped) else { return false };
    let call = ToolCall::new("c", "t", RawArguments::from(&json!({"it": value})));
    call.read(Profile::Strict, &Limits::default()).is_ok_and(|(arguments, _)| compiled.check(&arguments).is_ok())
}

/// An OpenAPI schema as JSON Schema, which has no word `nullable`.
pub(super) fn from_openapi(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(from_openapi).collect(),
        Value::Object(keywords) => {
            let rest = keywords.iter().filter(|(word, _)| *word != "nullable");
            let rest: Map<String, Value> = rest.map(|(word, value)| (word.clone(), from_openapi(value))).collect();
            if keywords.get("nullable") == Some(&Value::Bool(true)) {
                json!({"anyOf": [rest, {"type": "null"}]})
            } else {
                Value::Object(rest)
            }
        }
        other => other.clone(),
    }
}

/// How often a keyword stands in a schema, names of properties not counted.
pub(super) fn count(schema: &Value, word: &str) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(|item| count(item, word)).sum(),
        Value::Object(keywords) => keywords.iter().map(|(key, value)| counted(key, value, word)).sum(),
        _ => 0,
    }
}

fn counted(key: &str, value: &Value, word: &str) -> usize {
    let own = usize::from(key == word);
    match (key, value) {
        ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(members)) => {
            own + members.values().map(|member| count(member, word)).sum::<usize>()
        }
        // What admits nothing is left out of alternatives, at no loss.
        ("not", Value::Object(inner)) if inner.is_empty() => 0,
        ("enum" | "const" | "default" | "examples" | "required", _) => own,
        _ => own + count(value, word),
    }
}
