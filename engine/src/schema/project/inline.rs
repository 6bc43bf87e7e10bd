//! A schema without references, for vendors that do not follow them.

use serde_json::{Map, Value, json};

use super::loss::{CUT, DROPPED, Losses};
use super::merge::type_words;
use crate::schema::refs::{Refs, place};
use crate::schema::walk::{self, Holds};

/// What a copy without references may weigh.
pub(super) const MAX_BYTES: usize = 48 * 1024;

/// Levels to try, until the copy is light enough.
const LEVELS: [usize; 8] = [24, 12, 8, 6, 4, 3, 2, 1];

/// Keywords that mean nothing without references, or name a place.
const PLACES: [&str; 7] = ["$defs", "definitions", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$ref"];

/// Keywords whose schemas a model is shown. References under others are not worth their weight.
const SHOWN: [&str; 7] = ["properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "additionalProperties"];

/// Annotations that may stand beside a reference, and win over what it names.
const ANNOTATIONS: [&str; 5] = ["title", "description", "default", "examples", "deprecated"];

struct Inliner<'a, 'l> {
    refs: Refs<'a>,
    levels: usize,
    left: usize,
    losses: &'l mut Losses,
    /// The schemas that lead here: who meets one of them again has come to a recursion.
    path: Vec<usize>,
}

/// The schema with every reference replaced by what it names. A recursion, and what is too deep to weigh less than
/// `most` bytes, ends in a stub that says only the type.
pub(super) fn within(document: &Value, most: usize, losses: &mut Losses) -> Value {
    for levels in LEVELS {
        if let Some(inlined) = to_level(document, levels, most, losses) {
            return inlined;
        }
    }
    losses.add("", "", CUT);
    let mut root = Map::new();
    root.insert("type".to_owned(), json!("object"));
    root.insert("properties".to_owned(), json!({}));
    Value::Object(root)
}

/// As [`within`], to one depth. None when that is too heavy; the losses are then as they were.
pub(super) fn to_level(document: &Value, levels: usize, most: usize, losses: &mut Losses) -> Option<Value> {
    let mut found = Losses::default();
    let mut inliner = Inliner { refs: Refs::of(document), levels, left: most, losses: &mut found, path: Vec::new() };
    let inlined = inliner.schema(document, "");
    if inliner.left == 0 {
        return None;
    }
    losses.append(found);
    Some(inlined)
}

/// What is left of a schema where its copy ends: its type.
fn stub(schema: &Value, name: &str) -> Value {
    let mut stub = Map::new();
    match schema.get("type") {
        Some(kind) if !type_words(kind).is_empty() => {
            stub.insert("type".to_owned(), kind.clone());
        }
        _ if schema.get("properties").is_some() => {
            stub.insert("type".to_owned(), json!("object"));
        }
        _ => {}
    }
    if !name.is_empty() {
        stub.insert("description".to_owned(), json!(format!("Has the form of `{name}` again.")));
    }
    Value::Object(stub)
}

// === impl Inliner ===

impl<'a> Inliner<'a, '_> {
    fn schema(&mut self, schema: &'a Value, pointer: &str) -> Value {
        let Value::Object(keywords) = schema else { return schema.clone() };
        if self.left == 0 {
            return json!({});
        }
        let goes_on = || keywords.keys().any(|word| word == "$ref" || SHOWN.contains(&word.as_str()));
        if self.path.contains(&place(schema)) || (self.path.len() > self.levels && goes_on()) {
            self.losses.add(pointer, "", CUT);
            return stub(schema, "");
        }
        self.path.push(place(schema));
        let mut copy = Map::new();
        for (keyword, value) in keywords {
            if !PLACES.contains(&keyword.as_str())
                && let Some(value) = self.keyword(keyword, value, pointer)
            {
                copy.insert(keyword.clone(), value);
            }
        }
        if keywords.contains_key("patternProperties") && !copy.contains_key("patternProperties") {
            // It would now refuse the names that the patterns allowed.
            copy.shift_remove("additionalProperties");
        }
        let copy = match keywords.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.referred(schema, reference, copy, pointer),
            None => Value::Object(copy),
        };
        self.path.pop();
        copy
    }

    fn referred(&mut self, holder: &'a Value, reference: &str, beside: Map<String, Value>, pointer: &str) -> Value {
        let Some(target) = self.refs.resolve(holder, reference) else {
            self.losses.add(pointer, "$ref", DROPPED);
            return Value::Object(beside);
        };
        let mut target = if self.path.contains(&place(target)) {
            self.losses.add(pointer, "$ref", CUT);
            stub(target, reference.rsplit('/').next().unwrap_or_default().trim_matches('#'))
        } else {
            self.schema(target, pointer)
        };
        if beside.is_empty() {
            return target;
        }
        if let Value::Object(keywords) = &mut target
            && beside.keys().all(|keyword| ANNOTATIONS.contains(&keyword.as_str()))
        {
            keywords.extend(beside);
            return target;
        }
        let mut whole = beside;
        match whole.get_mut("allOf") {
            Some(Value::Array(parts)) => parts.push(target),
            _ => {
                whole.insert("allOf".to_owned(), json!([target]));
            }
        }
        Value::Object(whole)
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value, pointer: &str) -> Option<Value> {
        let place = format!("{pointer}{}", walk::segment(keyword));
        self.spend(keyword.len() + 6);
        if !SHOWN.contains(&keyword) {
            if walk::holds(keyword).is_some() && value.to_string().contains("\"$ref\"") {
                self.losses.add(pointer, keyword, DROPPED);
                return None;
            }
            self.spend(weight(value));
            return Some(value.clone());
        }
        Some(match (walk::holds(keyword), value) {
            (Some(Holds::Map), Value::Object(members)) => {
                let mut copies = Map::new();
                for (name, member) in members {
                    self.spend(name.len() + 6);
                    copies.insert(name.clone(), self.schema(member, &format!("{place}{}", walk::segment(name))));
                }
                Value::Object(copies)
            }
            (Some(Holds::List | Holds::OneOrList), Value::Array(list)) => {
                let items = list.iter().enumerate();
                Value::Array(items.map(|(index, item)| self.schema(item, &format!("{place}/{index}"))).collect())
            }
            (_, value) => self.schema(value, &place),
        })
    }

    fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }
}

/// What a value weighs as JSON, about.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Number(_) | Value::Bool(_) | Value::Null => 6,
        Value::Array(items) => 2 + items.iter().map(|item| weight(item) + 1).sum::<usize>(),
        Value::Object(members) => 2 + members.iter().map(|(name, value)| name.len() + weight(value) + 4).sum::<usize>(),
    }
}
