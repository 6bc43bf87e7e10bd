//! One node of one type.

use serde_json::{Map, Value, json};

use super::super::describe;
use super::super::loss::{DESCRIBED, DROPPED, NEVER};
use super::super::merge::is_never;
use super::super::types::ABOUT;
use super::{Gemini, anything};
use crate::schema::walk::{required, segment};

// === impl Gemini ===

impl Gemini<'_> {
    /// The node for one of the types that a schema admits.
    pub(super) fn plain(
        &mut self,
        word: &'static str,
        keywords: &Map<String, Value>,
        pointer: &str,
        level: usize,
    ) -> Map<String, Value> {
        let mut node = Map::from_iter([("type".to_owned(), json!(word))]);
        for annotation in ["title", "description"] {
            if let Some(text) =
                keywords.get(annotation).filter(|text| text.as_str().is_some_and(|text| !text.is_empty()))
            {
                node.insert(annotation.to_owned(), text.clone());
            }
        }
        let mut extra = Vec::new();
        match word {
            "string" => self.text(&mut node, keywords, pointer),
            "integer" | "number" => number(&mut node, keywords, word, &mut extra),
            "array" => self.list(&mut node, keywords, pointer, level),
            "object" => self.object(&mut node, keywords, pointer, level),
            _ => {}
        }
        let mut said: Vec<&str> = node.keys().map(String::as_str).collect();
        if node.contains_key("enum") {
            said.push("const");
        }
        // What is about another type than this one does not bind it.
        let others = ABOUT.into_iter().filter(|(kind, _)| *kind != word && !(word == "integer" && *kind == "number"));
        said.extend(others.flat_map(|(_, words)| words.iter()));
        if word == "object" {
            said.extend(["properties", "required", "propertyOrdering"]);
        }
        let mut sentences = self.sentences(keywords, &said, pointer);
        sentences.extend(extra);
        describe::add(&mut node, &sentences);
        node
    }

    fn text(&mut self, node: &mut Map<String, Value>, keywords: &Map<String, Value>, pointer: &str) {
        let fixed = keywords.get("const").map(|value| vec![value.clone()]);
        let listed = || keywords.get("enum").and_then(Value::as_array).cloned();
        let keyword = if fixed.is_some() { "const" } else { "enum" };
        if let Some(values) = fixed.or_else(listed) {
            let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            let shown: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
            if !shown.is_empty() {
                node.insert("enum".to_owned(), json!(shown));
            }
            if shown.len() < texts.len() {
                // The API refuses the empty string among the values.
                self.losses.add(pointer, keyword, DESCRIBED);
                describe::add(node, &["It may also be the empty string.".to_owned()]);
            }
        }
        if let Some(format) = keywords.get("format").filter(|format| *format == "date-time" || *format == "enum") {
            node.insert("format".to_owned(), format.clone());
        }
        lengths(node, keywords, ["minLength", "maxLength"]);
        // The API's engine has no look-around.
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str).filter(|text| !text.contains("(?")) {
            node.insert("pattern".to_owned(), json!(pattern));
        }
    }

    fn list(&mut self, node: &mut Map<String, Value>, keywords: &Map<String, Value>, pointer: &str, level: usize) {
        let items = keywords.get("items");
        let prefix = keywords.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
        let most = keywords.get("maxItems").and_then(Value::as_u64);
        let goes_on = items.is_none_or(|items| !is_never(items)) && most.is_none_or(|most| most > prefix.len() as u64);
        let mut forms = prefix;
        let shown = if forms.is_empty() {
            match items {
                Some(items) if !is_never(items) => self.node(items, &format!("{pointer}/items"), level + 1),
                _ => anything(1),
            }
        } else {
            if goes_on {
                forms.push(items.cloned().unwrap_or_else(|| json!({})));
            }
            self.losses.add(pointer, "prefixItems", DESCRIBED);
            let any = |form: &Value| form == &json!(true) || form.as_object().is_some_and(Map::is_empty);
            if forms.iter().any(any) {
                anything(1)
            } else {
                self.node(&json!({"anyOf": forms}), &format!("{pointer}/prefixItems"), level + 1)
            }
        };
        node.insert("items".to_owned(), Value::Object(shown));
        lengths(node, keywords, ["minItems", "maxItems"]);
    }

    fn object(&mut self, node: &mut Map<String, Value>, keywords: &Map<String, Value>, pointer: &str, level: usize) {
        let mut shown = Map::new();
        for (name, property) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let place = format!("{pointer}/properties{}", segment(name));
            if is_never(property) {
                self.losses.add(&place, name, NEVER);
            } else {
                shown.insert(name.clone(), Value::Object(self.node(property, &place, level + 1)));
            }
        }
        let mut names: Vec<&str> = required(keywords).collect();
        names.sort_unstable();
        names.dedup();
        if names.iter().any(|name| !shown.contains_key(*name)) {
            self.losses.add(pointer, "required", DROPPED);
            names.retain(|name| shown.contains_key(*name));
        }
        let ordering = keywords.get("propertyOrdering").and_then(Value::as_array);
        let ordering: Vec<&str> = ordering.into_iter().flatten().filter_map(Value::as_str).collect();
        let is_whole = !ordering.is_empty() && ordering.iter().all(|name| shown.contains_key(*name));
        if is_whole {
            node.insert("propertyOrdering".to_owned(), json!(ordering));
        }
        if !shown.is_empty() {
            // An empty list of properties is refused.
            node.insert("properties".to_owned(), Value::Object(shown));
        }
        if !names.is_empty() {
            node.insert("required".to_owned(), json!(names));
        }
    }
}

fn number(node: &mut Map<String, Value>, keywords: &Map<String, Value>, word: &str, extra: &mut Vec<String>) {
    let formats: [&str; 2] = if word == "integer" { ["int32", "int64"] } else { ["float", "double"] };
    if let Some(format) = keywords.get("format").filter(|format| formats.iter().any(|known| format == known)) {
        node.insert("format".to_owned(), format.clone());
    } else if let Some(format) = keywords.get("format") {
        extra.extend(describe::sentence("format", format));
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let limit = keywords.get(bound).or_else(|| keywords.get(exclusive)).filter(|limit| limit.is_number());
        if let Some(limit) = limit {
            node.insert(bound.to_owned(), limit.clone());
        }
    }
}

fn lengths(node: &mut Map<String, Value>, keywords: &Map<String, Value>, words: [&str; 2]) {
    for word in words {
        if let Some(limit) = keywords.get(word).filter(|limit| limit.is_u64()) {
            node.insert(word.to_owned(), limit.clone());
        }
    }
}
