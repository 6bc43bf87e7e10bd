//! Gemini's `parameters`: OpenAPI 3.0 schemas, of which it takes a few words.

use serde_json::{Map, Value, json};

use super::describe;
use super::fold;
use super::inline;
use super::loss::{CUT, DESCRIBED, DROPPED, EITHER, Losses};
use super::merge::{both, is_never};
use super::types::{is_null, types};

mod plain;

/// What the whole export may weigh.
const MAX_BYTES: usize = 60 * 1024;

/// Nodes of one export.
const MAX_NODES: usize = 4_000;

/// Levels of references and parts to try, until the export is light enough.
const LEVELS: [usize; 8] = [24, 12, 8, 6, 4, 3, 2, 1];

/// Levels of compositions inside compositions.
const MAX_LEVELS: usize = 64;

/// A longer description stands in the first alternative only.
const MAX_COPIED: usize = 200;

struct Gemini<'l> {
    losses: &'l mut Losses,
    nodes: usize,
}

/// The parameters of a function: an object, without `properties` when it takes none.
pub(super) fn parameters(document: &Value, losses: &mut Losses) -> Value {
    for levels in LEVELS {
        let mut found = Losses::default();
        let Some(inlined) = inline::to_level(document, levels, inline::MAX_BYTES, &mut found) else { continue };
        let mut gemini = Gemini { losses: &mut found, nodes: 0 };
        let Value::Object(keywords) = &inlined else { continue };
        let root = Value::Object(gemini.plain("object", keywords, "", 0));
        if gemini.nodes < MAX_NODES && root.to_string().len() <= MAX_BYTES {
            losses.append(found);
            return root;
        }
    }
    losses.add("", "properties", CUT);
    json!({"type": "object"})
}

// === impl Gemini ===

impl Gemini<'_> {
    /// Any schema as a node that has a type, or alternatives that have.
    fn node(&mut self, schema: &Value, pointer: &str, level: usize) -> Map<String, Value> {
        self.nodes += 1;
        let Value::Object(keywords) = schema else { return anything(2) };
        if self.nodes >= MAX_NODES || level > MAX_LEVELS {
            self.losses.add(pointer, "", CUT);
            return anything(0);
        }
        let mut keywords = keywords.clone();
        if let Some(Value::Array(parts)) = keywords.shift_remove("allOf") {
            for part in parts.iter().filter_map(Value::as_object) {
                if !both(&mut keywords, part, false) {
                    self.losses.add(pointer, "allOf", DROPPED);
                }
            }
            if keywords.contains_key("allOf") {
                return self.node(&Value::Object(keywords), pointer, level + 1);
            }
        }
        if keywords.contains_key("anyOf") || keywords.contains_key("oneOf") {
            return self.composed(keywords, pointer, level);
        }
        let types = types(&keywords);
        let mut nodes: Vec<Map<String, Value>> =
            types.words.iter().map(|word| self.plain(word, &keywords, pointer, level)).collect();
        let mut node = match nodes.len() {
            0 => self.untyped(&keywords, pointer, types.nullable),
            1 => nodes.pop().unwrap_or_default(),
            _ => alternatives(nodes),
        };
        if types.nullable {
            make_nullable(&mut node);
        }
        node
    }

    /// No type is named: null alone, or any value.
    fn untyped(&mut self, keywords: &Map<String, Value>, pointer: &str, only_null: bool) -> Map<String, Value> {
        let mut sentences = self.sentences(keywords, &[], pointer);
        let mut node = if only_null { Map::new() } else { anything(2) };
        if only_null {
            node.insert("type".to_owned(), json!("string"));
            sentences.push("Always null.".to_owned());
        }
        let mut about = Map::new();
        if let Some(description) = keywords.get("description") {
            about.insert("description".to_owned(), description.clone());
        }
        describe::add(&mut about, &sentences);
        put_description(&mut node, about.get("description").and_then(Value::as_str).unwrap_or_default());
        node
    }

    fn composed(&mut self, mut keywords: Map<String, Value>, pointer: &str, level: usize) -> Map<String, Value> {
        let own = types(&keywords);
        let is_object = own.words == ["object"] && keywords.contains_key("properties");
        if is_object {
            // Repeating the properties in each alternative would multiply them.
            let folded = fold::fold(&Value::Object(keywords), pointer, self.losses);
            return self.node(&Value::Object(folded), pointer, level + 1);
        }
        let keyword = if keywords.contains_key("anyOf") { "anyOf" } else { "oneOf" };
        let branches = keywords.shift_remove(keyword);
        if keyword == "oneOf" {
            self.losses.add(pointer, keyword, EITHER);
        }
        if keywords.shift_remove("oneOf").is_some() {
            self.losses.add(pointer, "oneOf", DROPPED);
        }
        let description = keywords.shift_remove("description");
        keywords.shift_remove("title");
        let mut nodes: Vec<Map<String, Value>> = Vec::new();
        let mut nullable = false;
        for (index, branch) in branches.as_ref().and_then(Value::as_array).into_iter().flatten().enumerate() {
            if is_never(branch) {
                continue;
            }
            if is_null(branch) {
                nullable |= !keywords.contains_key("type") || own.nullable;
                continue;
            }
            let mut whole = branch.as_object().cloned().unwrap_or_default();
            if !both(&mut whole, &keywords, false) {
                self.losses.add(pointer, keyword, DROPPED);
            }
            let node = self.node(&Value::Object(whole), &format!("{pointer}/{keyword}/{index}"), level + 1);
            match node.get("anyOf") {
                Some(Value::Array(inner)) => nodes.extend(inner.iter().filter_map(Value::as_object).cloned()),
                _ => nodes.push(node),
            }
        }
        let mut node = match nodes.len() {
            0 => return self.node(&nothing_but(keywords, description, nullable), pointer, level + 1),
            1 => nodes.pop().unwrap_or_default(),
            _ => alternatives(nodes),
        };
        put_description(&mut node, description.as_ref().and_then(Value::as_str).unwrap_or_default());
        if nullable {
            make_nullable(&mut node);
        }
        node
    }

    /// What the form cannot say, in words. `said` are the keywords that the node itself says.
    fn sentences(&mut self, keywords: &Map<String, Value>, said: &[&str], pointer: &str) -> Vec<String> {
        let mut sentences = Vec::new();
        for (keyword, value) in keywords {
            let word = keyword.as_str();
            if said.contains(&word)
                || matches!(word, "type" | "title" | "description" | "nullable" | "if" | "then" | "else")
            {
                continue;
            }
            let sentence = describe::sentence(word, value);
            let is_annotation = matches!(word, "default" | "examples");
            if !is_annotation && (sentence.is_some() || crate::schema::walk::holds(word).is_some()) {
                self.losses.add(pointer, word, if sentence.is_some() { DESCRIBED } else { DROPPED });
            }
            sentences.extend(sentence);
        }
        if keywords.contains_key("if") {
            let sentence = describe::condition(keywords);
            self.losses.add(pointer, "if", if sentence.is_some() { DESCRIBED } else { DROPPED });
            sentences.extend(sentence);
        }
        sentences
    }
}

/// What is left when no alternative can be shown.
fn nothing_but(mut keywords: Map<String, Value>, description: Option<Value>, nullable: bool) -> Value {
    if let Some(description) = description {
        keywords.insert("description".to_owned(), description);
    }
    if nullable && !keywords.contains_key("type") {
        keywords.insert("type".to_owned(), json!("null"));
    }
    Value::Object(keywords)
}

/// Any value, to a depth: the form has no word for it.
fn anything(levels: usize) -> Map<String, Value> {
    let typed = |word: &str| Map::from_iter([("type".to_owned(), json!(word))]);
    let mut forms: Vec<Map<String, Value>> = ["string", "number", "boolean", "object"].map(typed).into();
    if levels > 0 {
        let mut list = typed("array");
        list.insert("items".to_owned(), Value::Object(anything(levels - 1)));
        forms.push(list);
    }
    let mut node = alternatives(forms);
    make_nullable(&mut node);
    node
}

/// Alternatives, each once. Nothing may stand beside `anyOf`: what holds for all of them is said in each.
fn alternatives(nodes: Vec<Map<String, Value>>) -> Map<String, Value> {
    let mut forms: Vec<Map<String, Value>> = Vec::new();
    for node in nodes {
        if !forms.contains(&node) {
            forms.push(node);
        }
    }
    if forms.len() == 1 {
        return forms.pop().unwrap_or_default();
    }
    let is_list = |form: &Map<String, Value>| {
        form.keys().all(|keyword| keyword == "type" || keyword == "enum") && form.contains_key("enum")
    };
    if forms.iter().all(is_list) {
        let mut values: Vec<Value> = Vec::new();
        for value in forms.iter().filter_map(|form| form.get("enum")?.as_array()).flatten() {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        return Map::from_iter([("type".to_owned(), json!("string")), ("enum".to_owned(), Value::Array(values))]);
    }
    Map::from_iter([("anyOf".to_owned(), json!(forms))])
}

fn make_nullable(node: &mut Map<String, Value>) {
    match node.get_mut("anyOf") {
        Some(Value::Array(forms)) => forms.iter_mut().filter_map(Value::as_object_mut).for_each(make_nullable),
        _ => {
            node.insert("nullable".to_owned(), json!(true));
        }
    }
}

fn put_description(node: &mut Map<String, Value>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(Value::Array(forms)) = node.get_mut("anyOf") {
        let copies = if text.len() > MAX_COPIED { 1 } else { forms.len() };
        forms.iter_mut().take(copies).filter_map(Value::as_object_mut).for_each(|form| put_description(form, text));
        return;
    }
    let own = node.get("description").and_then(Value::as_str).unwrap_or_default();
    let both = match own {
        "" => text.to_owned(),
        own if own.contains(text) => own.to_owned(),
        own => format!("{text} {own}"),
    };
    node.insert("description".to_owned(), json!(both));
}

#[cfg(test)]
pub(super) mod tests;
