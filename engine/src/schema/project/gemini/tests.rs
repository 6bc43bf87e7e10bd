use serde_json::{Map, Value, json};

use super::super::tests::{check, export, loses};
use super::super::{SchemaTarget, project, project_strict};
use crate::schema::walk;

/// What every export for Gemini's `parameters` must be.
pub(in crate::schema::project) fn assert_takes_gemini(root: &Value) {
    fn check(node: &Value, place: &str) {
        let allowed = [
            "type",
            "format",
            "title",
            "description",
            "nullable",
            "enum",
            "items",
            "properties",
            "required",
            "minItems",
            "maxItems",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "pattern",
            "anyOf",
            "propertyOrdering",
        ];
        let keywords = node.as_object().unwrap_or_else(|| panic!("{place}: {node}"));
        for keyword in keywords.keys() {
            assert!(allowed.contains(&keyword.as_str()), "{place}: {keyword}");
        }
        if let Some(forms) = keywords.get("anyOf") {
            assert_eq!(keywords.len(), 1, "{place}: nothing may stand beside anyOf: {node}");
            assert!(forms.as_array().unwrap().len() > 1, "{place}");
            forms.as_array().unwrap().iter().for_each(|form| check(form, &format!("{place}/anyOf")));
            return;
        }
        let kind = keywords.get("type").and_then(Value::as_str).unwrap_or_else(|| panic!("{place}: {node}"));
        assert!(["string", "number", "integer", "boolean", "array", "object"].contains(&kind), "{place}: {kind}");
        if kind == "array" {
            check(&keywords["items"], &format!("{place}/items"));
        }
        for value in keywords.get("enum").and_then(Value::as_array).into_iter().flatten() {
            assert!(kind == "string" && value.as_str().is_some_and(|text| !text.is_empty()), "{place}: {value}");
        }
        let properties = keywords.get("properties").and_then(Value::as_object);
        assert!(properties.is_none_or(|properties| !properties.is_empty()), "{place}: empty properties");
        for (name, property) in properties.into_iter().flatten() {
            check(property, &format!("{place}/{name}"));
        }
        for name in walk::required(keywords) {
            assert!(properties.is_some_and(|properties| properties.contains_key(name)), "{place}: {name}");
        }
    }
    assert_eq!(root["type"], "object");
    assert!(root.to_string().len() < 64 * 1024);
    check(root, "");
}

pub(in crate::schema::project) fn gemini(schema: &Value) -> Value {
    let exported = project(schema, SchemaTarget::GeminiParameters).schema;
    assert_takes_gemini(&exported);
    exported
}

#[test]
fn references_may_be_pointers_into_properties_with_escapes() {
    let schema = json!({"type": "object", "properties": {"my headers/x": {"type": "object", "description": "d"},
        "actions": {"type": "array", "items": {"$ref": "#/properties/my%20headers~1x"}}}});
    let expected = json!({"type": "object", "description": "d"});
    assert_eq!(gemini(&schema)["properties"]["actions"]["items"], expected);
    assert_eq!(project(&schema, SchemaTarget::Ollama).schema["properties"]["actions"]["items"], expected);
}

#[test]
fn recursion_ends_in_a_stub_and_is_still_checked() {
    let schema = json!({"type": "object", "properties": {"nodes": {"type": "array", "items": {"type": "object",
        "properties": {"v": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/properties/nodes/items"}}}}}}});
    let exported = gemini(&schema);
    let stub = &exported["properties"]["nodes"]["items"]["properties"]["children"]["items"];
    assert_eq!(stub, &json!({"type": "object", "description": "Has the form of `items` again."}));
    assert_eq!(export(&schema, SchemaTarget::OpenAi), schema.to_string());
    let error = check(&schema, &json!({"nodes": [{"v": "a", "children": [{"v": "b", "children": [{"v": 3}]}]}]}));
    assert_eq!(error.unwrap_err().pointer.as_deref(), Some("/nodes/0/children/0/children/0/v"));
}

#[test]
fn mutual_recursion_and_exponential_definitions_stay_small() {
    let mutual = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {
        "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
        "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}}});
    assert!(loses(&mutual, SchemaTarget::GeminiParameters, "/properties/a/properties/b/properties/a", "$ref"));
    gemini(&mutual);
    let mut defs = Map::new();
    for link in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", link + 1)});
        let property = json!({"anyOf": [next, {"type": "array", "items": next}]});
        defs.insert(format!("d{link}"), json!({"type": "object", "properties": {"x": property, "y": next}}));
    }
    defs.insert("d30".to_owned(), json!({"type": "string", "description": "d".repeat(300)}));
    let wide = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs});
    assert_eq!(gemini(&wide)["properties"]["a"]["type"], "object");
    assert!(export(&wide, SchemaTarget::Ollama).len() < 64 * 1024);
    assert_eq!(export(&wide, SchemaTarget::OpenAi), wide.to_string());
}

#[test]
fn alternatives_inside_alternatives_end_in_time() {
    let nested = (0..40).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "array", "items": inner, "anyOf": [{"minItems": 1}, {"minItems": 2}]}),
    );
    let schema = json!({"type": "object", "properties": {"x": nested}});
    gemini(&schema);
    assert!(project_strict(&schema).is_err());
}

#[test]
fn a_schema_that_is_itself_too_large_is_shown_as_a_bare_object() {
    let properties: Map<String, Value> =
        (0..5000).map(|index| (format!("property_{index}"), json!({"type": "string", "enum": ["aaaaaaaa"]}))).collect();
    let schema = json!({"type": "object", "properties": properties});
    assert_eq!(gemini(&schema), json!({"type": "object"}));
    assert!(loses(&schema, SchemaTarget::GeminiParameters, "", "properties"));
}

#[test]
fn values_become_the_gemini_form_that_says_them_best() {
    let cases = [
        (json!({"type": ["string", "number"]}), json!({"anyOf": [{"type": "string"}, {"type": "number"}]})),
        (json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true})),
        (json!({"const": "USD"}), json!({"type": "string", "enum": ["USD"]})),
        (json!({"const": 7}), json!({"type": "integer", "description": "Always 7."})),
        (
            json!({"type": "integer", "enum": [3, 6, 12]}),
            json!({"type": "integer", "description": "One of: 3, 6, 12."}),
        ),
        (json!({"enum": ["a", "b", null]}), json!({"type": "string", "enum": ["a", "b"], "nullable": true})),
        (
            json!({"type": "string", "enum": ["a", ""]}),
            json!({"type": "string", "enum": ["a"], "description": "It may also be the empty string."}),
        ),
        (json!({"anyOf": [{"const": "a"}, {"const": "b"}]}), json!({"type": "string", "enum": ["a", "b"]})),
        (
            json!({"description": "d", "oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string", "description": "d", "nullable": true},
                {"type": "integer", "description": "d", "nullable": true}]}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "description": "Other properties: {\"type\":\"string\"}."}),
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false, "minItems": 2}),
            json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "minItems": 2,
                "description": "The items in order: [{\"type\":\"string\"},{\"type\":\"integer\"}]."}),
        ),
        (
            json!({"type": "string", "format": "uri", "minLength": 1, "default": "x"}),
            json!({"type": "string", "minLength": 1, "description": "Format: uri. Default: \"x\"."}),
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0, "maximum": 5, "multipleOf": 0.5}),
            json!({"type": "number", "minimum": 0, "maximum": 5, "description": "Greater than 0. A multiple of 0.5."}),
        ),
        (
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"type": "null"}}}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"},
                "b": {"type": "string", "description": "Always null.", "nullable": true}}, "required": ["a"]}),
        ),
    ];
    for (schema, expected) in cases {
        let exported =
            gemini(&json!({"type": "object", "properties": {"x": schema}, "$defs": {"N": {"type": "number"}}}));
        assert_eq!(exported["properties"]["x"], expected, "{schema}");
    }
}

#[test]
fn gemini_json_schema_keeps_its_words_and_tells_the_others() {
    let schema = json!({"type": "object", "properties": {
        "m": {"allOf": [{"$ref": "#/definitions/M"}], "description": "d"},
        "n": {"type": "integer", "exclusiveMinimum": 1, "default": 5},
        "s": {"type": "string", "minLength": 2, "pattern": "^a"}, "e": {"enum": ["a", null]},
        "c": {"const": "x"}}, "required": ["n", "gone"], "definitions": {"M": {"enum": ["a"]}}});
    let expected = json!({"type": "object", "properties": {"m": {"$ref": "#/$defs/M"},
        "n": {"type": "integer", "minimum": 1, "description": "Greater than 1. Default: 5."},
        "s": {"type": "string", "description": "At least 2 characters. Matches the pattern ^a."},
        "e": {"anyOf": [{"enum": ["a"]}, {"type": "null"}]},
        "c": {"enum": ["x"]}}, "required": ["n"], "$defs": {"M": {"enum": ["a"]}}});
    assert_eq!(project(&schema, SchemaTarget::GeminiJsonSchema).schema, expected);
    assert!(loses(&schema, SchemaTarget::GeminiJsonSchema, "/properties/s", "pattern"));
    assert!(!loses(&schema, SchemaTarget::GeminiJsonSchema, "/properties/n", "default"));
}
