//! OpenAI's strict mode: every object closed, every property required, a small set of words.

use serde_json::{Map, Value, json};

use super::gemini_json::merge_parts;
use super::loss::{DESCRIBED, DROPPED, EITHER, Loss, Losses, NEVER, NOT_STRICT};
use super::merge::{both, is_never, type_words};
use super::types::{is_null, types};
use super::{Projection, describe, fold, mend, sort_required};
use crate::schema::draft;
use crate::schema::refs::Refs;
use crate::schema::walk::{self, required, segment};

/// Limits of the API for one schema.
const MAX_PROPERTIES: usize = 5_000;
const MAX_OBJECT_LEVELS: usize = 10;
const MAX_ENUM_VALUES: usize = 1_000;
const MAX_TEXT: usize = 120_000;
const MAX_ENUM_TEXT: usize = 15_000;
const LONG_ENUM: usize = 250;

/// Schemas that are read for one copy: alternatives inside alternatives multiply.
const MAX_NODES: usize = 20_000;

/// Formats of texts that the API knows.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

struct Strict<'l> {
    losses: &'l mut Losses,
    properties: usize,
    values: usize,
    text: usize,
    nodes: usize,
}

/// Whether the schema says in strict mode what it says without: [`project_strict`] changes nothing but the order of
/// `required`, adds nothing but the empty `required` of an object that takes nothing, and leaves out nothing but the
/// name of the draft.
pub fn strict_compatible(schema: &Value) -> bool {
    let Ok(strict) = project_strict(schema) else { return false };
    let mut own = schema.clone();
    if let Value::Object(keywords) = &mut own {
        keywords.shift_remove("$schema");
    }
    walk::each_mut(&mut own, &mut |inner, _| {
        let Value::Object(keywords) = inner else { return };
        let is_closed = keywords.get("additionalProperties") == Some(&json!(false));
        let takes_nothing = keywords.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty);
        if is_closed && takes_nothing && !keywords.contains_key("required") {
            keywords.insert("required".to_owned(), json!([]));
        }
    });
    sort_required(&mut own);
    strict.losses.is_empty() && strict.schema == own
}

/// The schema for OpenAI's strict mode. Every property is required there, so that one that was optional admits null, and
/// a null that comes back for it means that it was left out. Objects that say nothing of other properties are closed.
///
/// # Errors
/// Says what cannot be expressed, and where: an object with free names, a value of any type, an array of unknown items
/// or a tuple, or a schema beyond the API's limits (5000 properties, 10 levels of objects, 1000 listed values).
pub fn project_strict(schema: &Value) -> Result<Projection, Loss> {
    if walk::is_too_deep(schema) {
        return Err(refusal("", ""));
    }
    let mut losses = Losses::default();
    let base = draft::modernise(schema);
    let rooted = fold::root(&base, &mut losses);
    let document = mend::definitions_as_defs(mend::moved(rooted, &base));
    let mut strict = Strict { losses: &mut losses, properties: 0, values: 0, text: 0, nodes: 0 };
    let Value::Object(keywords) = &document else { return Err(refusal("", "")) };
    let mut root = strict.object(keywords, "", 1)?;
    if let Some(Value::Object(definitions)) = keywords.get("$defs") {
        let mut copies = Map::new();
        for (name, definition) in definitions {
            let place = format!("/$defs{}", segment(name));
            strict.text += name.len();
            copies.insert(name.clone(), Value::Object(strict.node(definition, &place, 0)?));
        }
        root.insert("$defs".to_owned(), Value::Object(copies));
    }
    strict.within_limits()?;
    let mut schema = Value::Object(root);
    sort_required(&mut schema);
    let refs = Refs::of(&schema);
    let mut dangling = None;
    walk::each(&schema, &mut |inner, pointer| {
        let reference = inner.get("$ref").and_then(Value::as_str);
        if reference.is_some_and(|reference| refs.resolve(inner, reference).is_none()) {
            dangling.get_or_insert_with(|| refusal(pointer, "$ref"));
        }
    });
    match dangling {
        Some(reason) => Err(reason),
        None => Ok(losses.with(schema)),
    }
}

fn refusal(pointer: &str, keyword: &str) -> Loss {
    Loss { pointer: pointer.to_owned(), keyword: keyword.to_owned(), note: NOT_STRICT.to_owned() }
}

// === impl Strict ===

impl Strict<'_> {
    fn node(&mut self, schema: &Value, pointer: &str, level: usize) -> Result<Map<String, Value>, Loss> {
        let Value::Object(keywords) = schema else { return Err(refusal(pointer, "")) };
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(refusal(pointer, ""));
        }
        let mut keywords = keywords.clone();
        merge_parts(&mut keywords, pointer, self.losses);
        if let Some(reference) = keywords.get("$ref").filter(|reference| reference.is_string()) {
            let node = Map::from_iter([("$ref".to_owned(), reference.clone())]);
            for keyword in keywords.keys().filter(|word| !["$ref", "title", "description"].contains(&word.as_str())) {
                self.losses.add(pointer, keyword, DROPPED);
            }
            return Ok(node);
        }
        if keywords.contains_key("anyOf") || keywords.contains_key("oneOf") {
            return self.composed(keywords, pointer, level);
        }
        let types = types(&keywords);
        let is_scalar = |word: &&str| !["object", "array"].contains(word);
        let mut node = match types.words.as_slice() {
            [] if types.nullable => return Ok(Map::from_iter([("type".to_owned(), json!("null"))])),
            [] => return Err(refusal(pointer, "type")),
            ["object"] => self.object(&keywords, pointer, level + 1)?,
            ["array"] => self.list(&keywords, pointer, level)?,
            words if words.iter().all(is_scalar) => self.value(words, &keywords, pointer),
            words => {
                let mut forms = Vec::new();
                for word in words {
                    forms.push(match *word {
                        "object" => self.object(&keywords, pointer, level + 1)?,
                        "array" => self.list(&keywords, pointer, level)?,
                        word => self.value(&[word], &keywords, pointer),
                    });
                }
                Map::from_iter([("anyOf".to_owned(), json!(forms))])
            }
        };
        if types.nullable {
            node = or_null(node);
        }
        Ok(node)
    }

    fn composed(
        &mut self,
        mut keywords: Map<String, Value>,
        pointer: &str,
        level: usize,
    ) -> Result<Map<String, Value>, Loss> {
        if types(&keywords).words == ["object"] && keywords.contains_key("properties") {
            let folded = fold::fold(&Value::Object(keywords), pointer, self.losses);
            return self.node(&Value::Object(folded), pointer, level);
        }
        let keyword = if keywords.contains_key("anyOf") { "anyOf" } else { "oneOf" };
        let branches = keywords.shift_remove(keyword);
        if keyword == "oneOf" {
            self.losses.add(pointer, keyword, EITHER);
        }
        if keywords.shift_remove("oneOf").is_some() {
            self.losses.add(pointer, "oneOf", DROPPED);
        }
        let mut node = Map::new();
        for annotation in ["title", "description"] {
            if let Some(text) = keywords.shift_remove(annotation) {
                node.insert(annotation.to_owned(), text);
            }
        }
        let sentences: Vec<String> =
            keywords.shift_remove("default").iter().filter_map(|value| describe::sentence("default", value)).collect();
        describe::add(&mut node, &sentences);
        let mut forms: Vec<Value> = Vec::new();
        for (index, branch) in branches.as_ref().and_then(Value::as_array).into_iter().flatten().enumerate() {
            if is_never(branch) {
                continue;
            }
            let Value::Object(branch) = branch else { return Err(refusal(pointer, keyword)) };
            let mut whole = branch.clone();
            if !both(&mut whole, &keywords, false) {
                self.losses.add(pointer, keyword, DROPPED);
            }
            let place = format!("{pointer}/{keyword}/{index}");
            let form = if is_null(&Value::Object(whole.clone())) {
                json!({"type": "null"})
            } else {
                Value::Object(self.node(&Value::Object(whole), &place, level)?)
            };
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        if forms.is_empty() {
            return Err(refusal(pointer, keyword));
        }
        node.insert("anyOf".to_owned(), Value::Array(forms));
        Ok(node)
    }

    /// `level` is this object's own, counted from 1.
    fn object(
        &mut self,
        keywords: &Map<String, Value>,
        pointer: &str,
        level: usize,
    ) -> Result<Map<String, Value>, Loss> {
        if level > MAX_OBJECT_LEVELS {
            return Err(refusal(pointer, "properties"));
        }
        let more = keywords.get("additionalProperties");
        let is_closed = more == Some(&json!(false));
        if !is_closed && more.is_some() {
            return Err(refusal(pointer, "additionalProperties"));
        }
        if keywords.get("patternProperties").and_then(Value::as_object).is_some_and(|some| !some.is_empty()) {
            return Err(refusal(pointer, "patternProperties"));
        }
        let properties = keywords.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        if properties.is_empty() && !is_closed && !pointer.is_empty() {
            return Err(refusal(pointer, "properties"));
        }
        let mut shown = Map::new();
        for (name, property) in &properties {
            let place = format!("{pointer}/properties{}", segment(name));
            if is_never(property) {
                self.losses.add(&place, name, NEVER);
                continue;
            }
            self.properties += 1;
            self.text += name.len();
            let mut node = self.node(property, &place, level)?;
            if !required(keywords).any(|required| required == name) {
                node = or_null(node);
            }
            shown.insert(name.clone(), Value::Object(node));
        }
        if let Some(name) = required(keywords).find(|name| !shown.contains_key(*name)) {
            return Err(refusal(&format!("{pointer}/properties{}", segment(name)), "required"));
        }
        let mut node = annotated("object", keywords);
        let names: Vec<&String> = shown.keys().collect();
        let names = json!(names);
        node.insert("properties".to_owned(), Value::Object(shown));
        node.insert("required".to_owned(), names);
        node.insert("additionalProperties".to_owned(), json!(false));
        self.describe(&mut node, keywords, &["$defs"], pointer);
        Ok(node)
    }

    fn list(&mut self, keywords: &Map<String, Value>, pointer: &str, level: usize) -> Result<Map<String, Value>, Loss> {
        if keywords.contains_key("prefixItems") {
            return Err(refusal(pointer, "prefixItems"));
        }
        let Some(items) = keywords.get("items") else { return Err(refusal(pointer, "items")) };
        let items = self.node(items, &format!("{pointer}/items"), level)?;
        let mut node = annotated("array", keywords);
        node.insert("items".to_owned(), Value::Object(items));
        keep(&mut node, keywords, &["minItems", "maxItems"]);
        self.describe(&mut node, keywords, &[], pointer);
        Ok(node)
    }

    fn value(&mut self, words: &[&str], keywords: &Map<String, Value>, pointer: &str) -> Map<String, Value> {
        let mut node = annotated("", keywords);
        let kind = if let [word] = words { json!(word) } else { json!(words) };
        node.insert("type".to_owned(), kind);
        keep(&mut node, keywords, &["enum", "const"]);
        if words.contains(&"string") {
            // The API's engine has no look-around.
            if keywords.get("pattern").and_then(Value::as_str).is_some_and(|pattern| !pattern.contains("(?")) {
                keep(&mut node, keywords, &["pattern"]);
            }
            if keywords.get("format").is_some_and(|format| FORMATS.iter().any(|known| format == known)) {
                keep(&mut node, keywords, &["format"]);
            }
        }
        if words.contains(&"number") || words.contains(&"integer") {
            let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
            keep(&mut node, keywords, &bounds);
        }
        let values = keywords.get("enum").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let text: usize =
            values.iter().chain(keywords.get("const")).map(|value| value.as_str().map_or(0, str::len)).sum();
        self.values += values.len();
        self.text += text;
        if values.len() > LONG_ENUM && text > MAX_ENUM_TEXT {
            self.values = usize::MAX / 2;
        }
        self.describe(&mut node, keywords, &[], pointer);
        node
    }

    fn describe(&mut self, node: &mut Map<String, Value>, keywords: &Map<String, Value>, said: &[&str], pointer: &str) {
        let mut sentences = Vec::new();
        for (keyword, value) in keywords {
            let word = keyword.as_str();
            if node.contains_key(word) || said.contains(&word) || word == "nullable" {
                continue;
            }
            let sentence = if word == "if" { describe::condition(keywords) } else { describe::sentence(word, value) };
            if !["default", "examples"].contains(&word) {
                self.losses.add(pointer, word, if sentence.is_some() { DESCRIBED } else { DROPPED });
            }
            sentences.extend(sentence);
        }
        describe::add(node, &sentences);
    }

    fn within_limits(&self) -> Result<(), Loss> {
        if self.properties > MAX_PROPERTIES {
            return Err(refusal("", "properties"));
        }
        if self.values > MAX_ENUM_VALUES || self.text > MAX_TEXT {
            return Err(refusal("", "enum"));
        }
        Ok(())
    }
}

fn annotated(word: &str, keywords: &Map<String, Value>) -> Map<String, Value> {
    let mut node = Map::from_iter([("type".to_owned(), json!(word))]);
    keep(&mut node, keywords, &["title", "description"]);
    node
}

fn keep(node: &mut Map<String, Value>, keywords: &Map<String, Value>, words: &[&str]) {
    for word in words {
        if let Some(value) = keywords.get(*word) {
            node.insert((*word).to_owned(), value.clone());
        }
    }
}

/// The same, or null.
fn or_null(mut node: Map<String, Value>) -> Map<String, Value> {
    let nothing = json!({"type": "null"});
    if let Some(Value::Array(forms)) = node.get_mut("anyOf") {
        if !forms.iter().any(takes_null) {
            forms.push(nothing);
        }
        return node;
    }
    if node.contains_key("$ref") || node.contains_key("const") {
        return Map::from_iter([("anyOf".to_owned(), json!([node, nothing]))]);
    }
    if let Some(kind) = node.get_mut("type") {
        let mut words = type_words(kind);
        if !words.iter().any(|word| word == "null") {
            words.push("null".to_owned());
            *kind = json!(words);
        }
    }
    if let Some(Value::Array(values)) = node.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    node
}

fn takes_null(form: &Value) -> bool {
    form.get("type").is_some_and(|kind| type_words(kind).iter().any(|word| word == "null"))
}

#[cfg(test)]
mod tests;
