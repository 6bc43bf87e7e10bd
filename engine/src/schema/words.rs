//! What sloppy generators write instead of JSON Schema, put right when a tool is listed.

use serde_json::{Map, Value, json};

use super::SchemaError;
use super::walk::{self, segment};

/// Warnings that one schema can give.
const MAX_WARNINGS: usize = 50;

/// A schema in proper words.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalised {
    /// The schema; the very same value when nothing had to be put right.
    pub schema: Value,
    /// What was put right, each with its JSON pointer; at most some fifty.
    pub warnings: Vec<String>,
}

struct Repairs {
    warnings: Vec<String>,
    unknown: Option<String>,
}

/// Puts a parameters schema into proper words, before it is compiled. An empty schema becomes an object without
/// properties; type words of programming languages become those of JSON Schema (`dict`, `list`, `float`, ...; `any` means
/// no type); `required: true` of a property goes into its parent's list; keywords set to null go. Only schemas are
/// changed: not a property that is called `type`, and no value of `enum`, `const`, `default` or `examples`.
///
/// # Errors
/// The schema is null, admits no arguments at all, is nested more than 100 levels deep, or has a type word that nobody
/// can know.
pub fn normalise(schema: &Value) -> Result<Normalised, SchemaError> {
    let refuse = |reason: &str| Err(SchemaError { reason: reason.to_owned() });
    match schema {
        Value::Object(_) | Value::Bool(true) => {}
        Value::Bool(false) => return refuse("it admits no arguments at all"),
        other => return refuse(&format!("it must be an object, not {}", crate::json::a_kind(other))),
    }
    if walk::is_too_deep(schema) {
        return refuse("it is nested too deep");
    }
    let mut schema = if schema.is_object() { schema.clone() } else { json!({}) };
    let mut repairs = Repairs { warnings: Vec::new(), unknown: None };
    walk::each_mut(&mut schema, &mut |schema, pointer| {
        if let Value::Object(keywords) = schema {
            repairs.drop_nulls(keywords, pointer);
            repairs.type_words(keywords, pointer);
            repairs.required_flags(keywords, pointer);
        }
    });
    if let Some(unknown) = repairs.unknown {
        return refuse(&unknown);
    }
    root_type(&mut schema)?;
    Ok(Normalised { schema, warnings: repairs.warnings })
}

/// Arguments are always an object: a root that says nothing of its type means that.
fn root_type(root: &mut Value) -> Result<(), SchemaError> {
    let Value::Object(keywords) = root else { return Ok(()) };
    if keywords.is_empty() {
        *root = json!({"type": "object", "properties": {}});
        return Ok(());
    }
    let takes_objects = match keywords.get("type") {
        Some(Value::String(one)) => one == "object",
        Some(Value::Array(list)) => list.iter().any(|one| one == "object"),
        _ => true,
    };
    if !takes_objects {
        return Err(SchemaError { reason: "its root must be of type object".to_owned() });
    }
    let composed = ["$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "type"];
    if keywords.contains_key("properties") && !keywords.contains_key("type")
        || !keywords.keys().any(|keyword| composed.contains(&keyword.as_str()))
    {
        keywords.shift_insert(0, "type".to_owned(), json!("object"));
    }
    Ok(())
}

// === impl Repairs ===

impl Repairs {
    /// `"required": null` and its like are what a serialiser writes for "not set". Null is a value only for some words.
    fn drop_nulls(&mut self, keywords: &mut Map<String, Value>, pointer: &str) {
        let is_unset = |(keyword, value): (&String, &Value)| {
            value.is_null() && !matches!(keyword.as_str(), "default" | "const" | "example" | "examples")
        };
        let unset: Vec<String> =
            keywords.iter().filter(|member| is_unset(*member)).map(|(name, _)| name.clone()).collect();
        for keyword in unset {
            keywords.shift_remove(&keyword);
            self.warn(format!("{pointer}{}: null was left out", segment(&keyword)));
        }
    }

    fn type_words(&mut self, keywords: &mut Map<String, Value>, pointer: &str) {
        let place = format!("{pointer}/type");
        let words = match keywords.get("type") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => return,
        };
        let mut proper: Vec<&'static str> = Vec::new();
        let mut any = false;
        let mut changed = false;
        for word in &words {
            match proper_word(word) {
                Some(known) => {
                    if known != word {
                        changed = true;
                        let meaning = if known.is_empty() { "no type".to_owned() } else { format!("`{known}`") };
                        self.warn(format!("{place}: `{word}` was read as {meaning}"));
                    }
                    any |= known.is_empty();
                    if !proper.contains(&known) {
                        proper.push(known);
                    }
                }
                None => {
                    let reason =
                        || format!("`{word}` at {place} is no type; JSON Schema has object, array, string, ...");
                    self.unknown.get_or_insert_with(reason);
                }
            }
        }
        if any {
            keywords.shift_remove("type");
        } else if changed {
            let words = if proper.len() == 1 { json!(proper.first()) } else { json!(proper) };
            keywords.insert("type".to_owned(), words);
        }
    }

    /// Draft 3 said of each property whether it is required.
    fn required_flags(&mut self, keywords: &mut Map<String, Value>, pointer: &str) {
        if keywords.get("required").is_some_and(Value::is_boolean) && pointer.is_empty() {
            keywords.shift_remove("required");
            self.warn("/required: a flag says nothing here and was left out".to_owned());
        }
        let mut required = Vec::new();
        for (name, property) in keywords.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
            let Value::Object(property) = property else { continue };
            if let Some(&Value::Bool(flag)) = property.get("required") {
                property.shift_remove("required");
                let place = format!("{pointer}/properties{}/required", segment(name));
                self.warn(format!("{place}: the flag was moved into the list of its object"));
                if flag {
                    required.push(json!(name));
                }
            }
        }
        if required.is_empty() {
            return;
        }
        if let Value::Array(names) = keywords.entry("required").or_insert_with(|| json!([])) {
            required.retain(|name| !names.contains(name));
            names.append(&mut required);
        }
    }

    fn warn(&mut self, warning: String) {
        match self.warnings.len() {
            MAX_WARNINGS => self.warnings.push("and more of the kind".to_owned()),
            count if count < MAX_WARNINGS => self.warnings.push(warning),
            _ => {}
        }
    }
}

/// The word of JSON Schema; empty for "any type", none for a word that could mean anything.
fn proper_word(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "object" | "dict" | "dictionary" | "map" | "record" | "mapping" => "object",
        "array" | "list" | "tuple" | "set" => "array",
        "number" | "float" | "double" | "decimal" => "number",
        "integer" | "int" | "long" => "integer",
        "string" | "str" | "text" => "string",
        "boolean" | "bool" => "boolean",
        "null" | "none" | "nonetype" => "null",
        "any" => "",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_schemas_become_an_object_without_properties_and_others_are_refused() {
        for schema in [json!({}), json!(true)] {
            let normalised = normalise(&schema).unwrap();
            assert_eq!(normalised.schema.to_string(), r#"{"type":"object","properties":{}}"#);
        }
        for schema in [json!(null), json!(false), json!([]), json!("object"), json!({"type": "string"})] {
            assert!(normalise(&schema).is_err(), "{schema}");
        }
        let deep = (0..200).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(normalise(&deep).unwrap_err().to_string().contains("deep"));
    }

    #[test]
    fn type_words_of_programming_languages_are_understood_and_named() {
        let schema = json!({"type": "dict", "properties": {"l": {"type": "list"}, "f": {"type": "float"},
            "x": {"type": "any"}, "t": {"type": "tuple", "items": {"type": "int"}}, "u": {"type": ["str", "None"]},
            "v": {"type": ["list", "tuple"]}, "w": {"type": "STRING"}}});
        let normalised = normalise(&schema).unwrap();
        let expected = json!({"type": "object", "properties": {"l": {"type": "array"}, "f": {"type": "number"},
            "x": {}, "t": {"type": "array", "items": {"type": "integer"}}, "u": {"type": ["string", "null"]},
            "v": {"type": "array"}, "w": {"type": "string"}}});
        assert_eq!(normalised.schema.to_string(), expected.to_string());
        for warning in [
            "/type: `dict` was read as `object`",
            "/properties/l/type: `list` was read as `array`",
            "/properties/x/type: `any` was read as no type",
            "/properties/t/items/type: `int` was read as `integer`",
        ] {
            assert!(normalised.warnings.iter().any(|given| given == warning), "{warning}: {:?}", normalised.warnings);
        }
    }

    #[test]
    fn unknown_type_words_are_refused_with_their_place() {
        let error = normalise(&json!({"type": "object", "properties": {"h": {"type": "HashMap"}}})).unwrap_err();
        assert!(error.to_string().contains("`HashMap` at /properties/h/type"), "{error}");
    }

    #[test]
    fn only_schemas_are_changed() {
        let schema = json!({"type": "object", "properties": {"type": {"type": "string", "enum": ["dict"], "default": {"type": "dict"}},
            "p": {"const": {"type": "list"}, "examples": [{"type": "float"}], "default": null}}, "x-own": {"type": "dict"}});
        let normalised = normalise(&schema).unwrap();
        assert_eq!(normalised, Normalised { schema, warnings: Vec::new() });
    }

    #[test]
    fn a_root_without_a_type_means_an_object_unless_it_is_composed() {
        let with = |schema: Value| normalise(&schema).unwrap().schema.to_string();
        assert_eq!(with(json!({"properties": {"a": {}}})), r#"{"type":"object","properties":{"a":{}}}"#);
        assert_eq!(with(json!({"description": "d"})), r#"{"type":"object","description":"d"}"#);
        assert_eq!(with(json!({"type": "object"})), r#"{"type":"object"}"#);
        assert_eq!(
            with(json!({"$ref": "#/$defs/A", "$defs": {"A": {}}})),
            r##"{"$ref":"#/$defs/A","$defs":{"A":{}}}"##
        );
    }

    #[test]
    fn required_flags_and_nulls_are_put_right() {
        let schema = json!({"type": "object", "required": ["a"], "title": null, "properties": {
            "a": {"type": "string", "required": true}, "b": {"required": true}, "c": {"required": false},
            "d": {"type": "object", "required": null, "properties": {"e": {"required": true}}}}});
        let normalised = normalise(&schema).unwrap();
        let expected = json!({"type": "object", "required": ["a", "b"], "properties": {
            "a": {"type": "string"}, "b": {}, "c": {},
            "d": {"type": "object", "properties": {"e": {}}, "required": ["e"]}}});
        assert_eq!(normalised.schema.to_string(), expected.to_string());
        assert_eq!(normalised.warnings.len(), 6, "{:?}", normalised.warnings);
    }
}
