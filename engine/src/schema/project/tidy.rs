//! What vendors that take nearly all of JSON Schema still refuse.

use serde_json::{Map, Value, json};

use super::loss::{DROPPED, Losses, NAME, NEVER};
use super::merge::{is_never, type_words};
use super::{describe, mend, soften, sort_required};
use crate::schema::walk;

/// Which names properties may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Any.
    Any,
    /// `^[a-zA-Z0-9_.-]{1,64}$`
    Legal,
}

/// Leaves out properties that admit nothing or whose names are refused, gives arrays `items`, writes `true` as `{}`.
pub(super) fn tidy(mut schema: Value, names: Names, losses: &mut Losses) -> Value {
    let mut widened: Vec<String> = Vec::new();
    let mut renamed = false;
    walk::each_mut(&mut schema, &mut |schema, pointer| {
        let Value::Object(keywords) = schema else { return };
        let mut is_wider = !leave_out(keywords, pointer, losses, |_, property| is_never(property), NEVER).is_empty();
        if names == Names::Legal && illegal_names(keywords, pointer, losses) {
            renamed = true;
            is_wider = true;
        }
        if is_wider {
            widened.push(pointer.to_owned());
        }
        as_objects(keywords);
        if let Some(kind) = keywords.get("type")
            && type_words(kind).iter().any(|word| word == "array")
            && !keywords.contains_key("items")
        {
            keywords.insert("items".to_owned(), json!({}));
        }
    });
    if renamed {
        soften::unevaluated(&mut schema, losses);
    }
    sort_required(&mut schema);
    let told = losses.told();
    let mut schema = mend::dangling(schema, losses);
    if losses.told() > told || widened.iter().any(|pointer| soften::matters(&schema, pointer)) {
        soften::exclusions(&mut schema, losses);
    }
    schema
}

/// A property that cannot be declared can still be given: the object is opened for it, and its description names it.
fn illegal_names(keywords: &mut Map<String, Value>, pointer: &str, losses: &mut Losses) -> bool {
    let required: Vec<String> = walk::required(keywords).map(str::to_owned).collect();
    let refused = leave_out(keywords, pointer, losses, |name, _| !is_legal(name), NAME);
    if refused.is_empty() {
        return false;
    }
    if keywords.get("additionalProperties").is_some_and(|value| value != &json!(true)) {
        keywords.shift_remove("additionalProperties");
        losses.add(pointer, "additionalProperties", DROPPED);
    }
    let sentences = refused.iter().map(|(name, schema)| {
        let how = if required.contains(name) { "required" } else { "optional" };
        format!("Also takes the property {} ({how}): {}.", json!(name), describe::short(schema))
    });
    describe::add(keywords, &sentences.collect::<Vec<_>>());
    true
}

fn leave_out(
    keywords: &mut Map<String, Value>,
    pointer: &str,
    losses: &mut Losses,
    refused: impl Fn(&str, &Value) -> bool,
    note: &'static str,
) -> Vec<(String, Value)> {
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else { return Vec::new() };
    if !properties.iter().any(|(name, property)| refused(name, property)) {
        return Vec::new();
    }
    let all = std::mem::take(properties);
    let (gone, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, property)| refused(name, property));
    properties.extend(kept);
    for (name, _) in &gone {
        losses.add(&format!("{pointer}/properties{}", walk::segment(name)), name, note);
    }
    if let Some(Value::Array(names)) = keywords.get_mut("required") {
        names.retain(|name| !gone.iter().any(|(gone, _)| name == gone));
    }
    gone
}

/// Schemas that are mere booleans break readers that expect an object.
fn as_objects(keywords: &mut Map<String, Value>) {
    let as_object = |schema: &mut Value| match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({"not": {}}),
        _ => {}
    };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("items", value) => as_object(value),
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(members)) => {
                members.values_mut().for_each(as_object);
            }
            ("prefixItems" | "anyOf" | "oneOf" | "allOf", Value::Array(list)) => list.iter_mut().for_each(as_object),
            _ => {}
        }
    }
}

fn is_legal(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}
