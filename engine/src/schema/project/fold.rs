//! An object without compositions, made of what its compositions say: vendors take none at the root.

use serde_json::{Map, Value, json};

use super::loss::{CUT, DESCRIBED, FOLDED, Losses};
use super::merge::{both, either, is_never, type_words};
use super::{describe, soften};
use crate::schema::refs::Refs;
use crate::schema::walk;

/// Compositions inside compositions.
const MAX_LEVELS: usize = 12;

/// Schemas that are read for one root.
const MAX_WORK: usize = 2_000;

/// Forms that a description tells.
const MAX_FORMS: usize = 12;

/// Keywords that no vendor takes at the root.
const COMPOSED: [&str; 7] = ["$ref", "allOf", "anyOf", "oneOf", "not", "enum", "const"];

struct Fold<'a> {
    refs: Refs<'a>,
    /// References into `properties` would be narrowed if those were merged with others.
    keep_first: bool,
    work: usize,
    cut: bool,
    sentences: Vec<String>,
}

/// The document with an object at its root: of type `object`, with `properties`, without compositions.
pub(super) fn root(base: &Value, losses: &mut Losses) -> Value {
    let Value::Object(keywords) = base else { return json!({"type": "object", "properties": {}}) };
    let composed: Vec<&str> = COMPOSED.into_iter().filter(|word| keywords.contains_key(*word)).collect();
    let mut folded = if composed.is_empty() { keywords.clone() } else { fold(base, "", losses) };
    if !composed.is_empty() {
        for container in ["definitions", "$defs"] {
            if let Some(definitions) = folded.shift_remove(container) {
                folded.insert(container.to_owned(), definitions);
            }
        }
    }
    if folded.get("type") != Some(&json!("object")) {
        folded.shift_remove("type");
        folded.shift_insert(0, "type".to_owned(), json!("object"));
    }
    if !folded.get("properties").is_some_and(Value::is_object) {
        folded.shift_remove("properties");
        let after_type = folded.keys().position(|keyword| keyword == "type").map_or(0, |index| index + 1);
        folded.shift_insert(after_type, "properties".to_owned(), json!({}));
    }
    let mut folded = Value::Object(folded);
    if !composed.is_empty() {
        soften::unevaluated(&mut folded, losses);
        if refers_to_root(base) {
            soften::exclusions(&mut folded, losses);
        }
    }
    folded
}

fn refers_to_root(document: &Value) -> bool {
    let refs = Refs::of(document);
    let mut found = false;
    walk::each(document, &mut |schema, _| {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| refs.resolve(schema, to));
        found |= target.is_some_and(|target| std::ptr::eq(target, document));
    });
    found
}

/// Folds one object schema of a document in which no reference has to be followed but those of `document`.
pub(super) fn fold(schema: &Value, pointer: &str, losses: &mut Losses) -> Map<String, Value> {
    let mut into_properties = false;
    walk::each(schema, &mut |inner, _| {
        let reference = inner.get("$ref").and_then(Value::as_str);
        into_properties |= reference.is_some_and(|reference| reference.contains("#/properties/"));
    });
    let refs = Refs::of(schema);
    let mut fold = Fold { refs, keep_first: into_properties, work: 0, cut: false, sentences: Vec::new() };
    let mut folded = fold.object(schema, 0);
    for keyword in COMPOSED.into_iter().filter(|word| schema.get(word).is_some()) {
        match keyword {
            "$ref" => {}
            "allOf" | "anyOf" | "oneOf" => losses.add(pointer, keyword, FOLDED),
            _ => losses.add(pointer, keyword, DESCRIBED),
        }
    }
    if fold.cut {
        losses.add(pointer, "", CUT);
    }
    describe::add(&mut folded, &fold.sentences);
    folded
}

// === impl Fold ===

impl<'a> Fold<'a> {
    fn object(&mut self, schema: &'a Value, level: usize) -> Map<String, Value> {
        self.work += 1;
        let Value::Object(keywords) = schema else { return Map::new() };
        if level > MAX_LEVELS || self.work > MAX_WORK {
            self.cut = true;
            return Map::new();
        }
        let mut folded = keywords.clone();
        for keyword in COMPOSED {
            if let Some(value) = folded.shift_remove(keyword)
                && matches!(keyword, "not" | "enum" | "const")
            {
                self.sentences.extend(describe::sentence(keyword, &value));
            }
        }
        if level > 0 {
            self.sentences.extend(describe::condition(&folded));
            for keyword in ["if", "then", "else"] {
                folded.shift_remove(keyword);
            }
        }
        let referred = keywords.get("$ref").and_then(Value::as_str).and_then(|to| self.refs.resolve(schema, to));
        let parts = keywords.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for part in referred.into_iter().chain(parts) {
            let part = self.object(part, level + 1);
            both(&mut folded, &part, self.keep_first);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = keywords.get(keyword) {
                let united = self.alternatives(keyword, branches, level);
                both(&mut folded, &united, self.keep_first);
            }
        }
        folded
    }

    fn alternatives(&mut self, keyword: &str, branches: &'a [Value], level: usize) -> Map<String, Value> {
        let said = self.sentences.len();
        let mut views: Vec<Map<String, Value>> = Vec::new();
        let mut forms: Vec<String> = Vec::new();
        for branch in branches.iter().filter(|branch| takes_objects(branch)) {
            let view = self.object(branch, level + 1);
            let form = describe::form(&view);
            let form = if form.is_empty() { describe::short(branch) } else { form };
            forms.push(format!("({}) {form}", forms.len() + 1));
            views.push(view);
        }
        // What holds in one alternative must not be told of all.
        self.sentences.truncate(said);
        if views.len() > 1 {
            forms.truncate(MAX_FORMS);
            let how = if keyword == "oneOf" { "exactly one" } else { "at least one" };
            self.sentences.push(format!("Fits {how} of these forms: {}.", forms.join("; ")));
        }
        either(&views)
    }
}

fn takes_objects(schema: &Value) -> bool {
    let of_type = |kind: &Value| type_words(kind).iter().any(|word| word == "object");
    !is_never(schema) && schema.get("type").is_none_or(of_type)
}
