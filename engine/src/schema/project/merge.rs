//! Two schemas as one: what both demand, and what either may be.
//!
//! Both only widen: where one schema cannot say it all, a constraint is left out.

use serde_json::{Map, Value, json};

/// Keywords that only mean something together: taken from one side or the other.
const GROUPS: [&[&str]; 3] =
    [&["prefixItems", "items"], &["contains", "minContains", "maxContains"], &["if", "then", "else"]];

/// Names and definitions belong to the place where a schema stands, not to what it demands.
const PLACE: [&str; 7] = ["$defs", "definitions", "$id", "$anchor", "$dynamicAnchor", "$schema", "$comment"];

/// What a property may be, once for the alternatives that name it.
#[derive(Debug, Default)]
struct Alternatives {
    names: Vec<String>,
    forms: Map<String, Value>,
}

/// One schema for what both demand. Says whether everything could be said. `keep_first` takes the first side's schema of
/// a property that both name, instead of demanding both.
pub(super) fn both(first: &mut Map<String, Value>, second: &Map<String, Value>, keep_first: bool) -> bool {
    let mut whole = true;
    let taken: Vec<&[&str]> =
        GROUPS.into_iter().filter(|group| group.iter().any(|word| first.contains_key(*word))).collect();
    for word in ["unevaluatedProperties", "unevaluatedItems"] {
        // What counts as evaluated changes when schemas move.
        whole &= first.shift_remove(word).is_none() && !second.contains_key(word);
    }
    for (keyword, value) in second {
        let word = keyword.as_str();
        if PLACE.contains(&word) || word.starts_with("unevaluated") {
            continue;
        }
        if taken.iter().any(|group| group.contains(&word)) {
            whole &= first.get(word) == Some(value);
            continue;
        }
        let Some(mine) = first.get_mut(word) else {
            first.insert(keyword.clone(), value.clone());
            continue;
        };
        whole &= match (word, mine, value) {
            (_, mine, value) if mine == value => true,
            ("title" | "description" | "default" | "examples" | "deprecated", _, _) => true,
            ("type", mine, value) => both_types(mine, value),
            ("required", Value::Array(mine), Value::Array(value)) => {
                let new: Vec<Value> = value.iter().filter(|name| !mine.contains(name)).cloned().collect();
                mine.extend(new);
                true
            }
            ("properties" | "patternProperties", Value::Object(mine), Value::Object(value)) => {
                both_maps(mine, value, keep_first)
            }
            ("additionalProperties", mine, Value::Bool(false)) => {
                *mine = json!(false);
                true
            }
            ("additionalProperties", mine @ Value::Bool(true), value) => {
                *mine = value.clone();
                true
            }
            ("additionalProperties", Value::Bool(false), _) | ("additionalProperties", _, Value::Bool(true)) => true,
            _ => false,
        };
    }
    whole
}

/// One object schema that admits what any of them admits. A property is taken to be what those say that name it.
pub(super) fn either(views: &[Map<String, Value>]) -> Map<String, Value> {
    let mut found = Alternatives::default();
    for view in views {
        for (name, schema) in view.get("properties").and_then(Value::as_object).into_iter().flatten() {
            found.add(name, schema);
        }
    }
    let mut united = Map::new();
    let properties = found.united();
    if !properties.is_empty() {
        united.insert("properties".to_owned(), Value::Object(properties));
    }
    let in_all = |name: &&str| views.iter().all(|view| super::walk::required(view).any(|other| other == *name));
    let required: Vec<&str> =
        views.first().map(|first| super::walk::required(first).filter(in_all).collect()).unwrap_or_default();
    if !required.is_empty() {
        united.insert("required".to_owned(), json!(required));
    }
    let closed = |view: &Map<String, Value>| {
        view.get("additionalProperties") == Some(&json!(false)) && !view.contains_key("patternProperties")
    };
    if !views.is_empty() && views.iter().all(closed) {
        united.insert("additionalProperties".to_owned(), json!(false));
    }
    united
}

/// Whether no value can fit.
pub(super) fn is_never(schema: &Value) -> bool {
    let all = |schema: &Value| schema == &json!(true) || schema.as_object().is_some_and(Map::is_empty);
    schema == &json!(false) || schema.get("not").is_some_and(all)
}

// === impl Alternatives ===

impl Alternatives {
    fn add(&mut self, name: &str, schema: &Value) {
        let forms = self.forms.entry(name.to_owned()).or_insert_with(|| json!([]));
        if let Value::Array(forms) = forms {
            if forms.is_empty() {
                self.names.push(name.to_owned());
            }
            if !forms.contains(schema) {
                forms.push(schema.clone());
            }
        }
    }

    fn united(mut self) -> Map<String, Value> {
        let mut properties = Map::new();
        for name in self.names {
            if let Some(Value::Array(mut forms)) = self.forms.shift_remove(&name) {
                if forms.iter().any(|form| !is_never(form)) {
                    forms.retain(|form| !is_never(form));
                }
                properties.insert(name, one_of_forms(forms));
            }
        }
        properties
    }
}

/// Fixed values become one list of values; other forms are alternatives.
fn one_of_forms(mut forms: Vec<Value>) -> Value {
    if forms.len() == 1 {
        return forms.pop().unwrap_or_default();
    }
    let plain = ["const", "type", "title", "description", "default"];
    let is_fixed = |form: &Value| {
        form.as_object().is_some_and(|form| {
            form.contains_key("const") && form.keys().all(|keyword| plain.contains(&keyword.as_str()))
        })
    };
    let kind = forms.first().and_then(|form| form.get("type")).cloned();
    let alike = forms.iter().all(|form| form.get("type") == kind.as_ref() && is_fixed(form));
    if !alike {
        return json!({"anyOf": forms});
    }
    let mut values: Vec<&Value> = Vec::new();
    for value in forms.iter().filter_map(|form| form.get("const")) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let mut united = Map::new();
    if let Some(kind) = kind {
        united.insert("type".to_owned(), kind);
    }
    united.insert("enum".to_owned(), json!(values));
    if let Some(description) = forms.iter().find_map(|form| form.get("description")) {
        united.insert("description".to_owned(), description.clone());
    }
    Value::Object(united)
}

fn both_maps(mine: &mut Map<String, Value>, other: &Map<String, Value>, keep_first: bool) -> bool {
    let mut whole = true;
    for (name, schema) in other {
        match mine.get_mut(name) {
            None => {
                mine.insert(name.clone(), schema.clone());
            }
            Some(known) if known == schema => {}
            Some(_) if keep_first => whole = false,
            Some(known) => demand_also(known, schema),
        }
    }
    whole
}

/// Parts stand in one list: a part inside a part inside a part would grow too deep to be read.
fn demand_also(known: &mut Value, schema: &Value) {
    let is_list = known.as_object().is_some_and(|keywords| keywords.len() == 1);
    match known.get_mut("allOf") {
        Some(Value::Array(parts)) if is_list => {
            if !parts.contains(schema) {
                parts.push(schema.clone());
            }
        }
        _ => *known = json!({"allOf": [known.take(), schema]}),
    }
}

/// The types that both lists name. Nothing in common is kept as it was: no value fits, which needs no telling.
fn both_types(mine: &mut Value, other: &Value) -> bool {
    let (first, second) = (type_words(mine), type_words(other));
    let has = |list: &[String], word: &str| list.iter().any(|one| one == word);
    let mut common: Vec<String> = first
        .iter()
        .filter(|word| has(&second, word) || (*word == "integer" && has(&second, "number")))
        .cloned()
        .collect();
    if has(&second, "integer") && has(&first, "number") && !has(&first, "integer") {
        common.push("integer".to_owned());
    }
    match common.as_slice() {
        [] => return false,
        [one] => *mine = json!(one),
        _ => *mine = json!(common),
    }
    true
}

/// The words of `type`, however it is written.
pub(super) fn type_words(value: &Value) -> Vec<String> {
    match value {
        Value::String(one) => vec![one.clone()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
