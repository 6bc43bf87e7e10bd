use serde_json::json;

use super::super::tests::export;
use super::super::{SchemaTarget, project};
use super::*;

#[test]
fn strict_mode_closes_objects_and_makes_optional_properties_nullable() {
    let schema = json!({"type": "object", "properties": {
        "url": {"type": "string", "format": "uri"}, "n": {"type": "integer", "default": 5},
        "e": {"enum": ["a", "b"]}, "o": {"type": "object", "properties": {"x": {"const": 1}}, "required": ["x"]},
        "r": {"$ref": "#/$defs/R"}, "u": {"oneOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["url"], "$defs": {"R": {"type": "array", "items": {"$ref": "#/$defs/R"}}}});
    let expected = json!({"type": "object", "properties": {
        "url": {"type": "string", "description": "Format: uri."},
        "n": {"type": ["integer", "null"], "description": "Default: 5."},
        "e": {"type": ["string", "null"], "enum": ["a", "b", null]},
        "o": {"type": ["object", "null"], "properties": {"x": {"type": "integer", "const": 1}}, "required": ["x"], "additionalProperties": false},
        "r": {"anyOf": [{"$ref": "#/$defs/R"}, {"type": "null"}]}, "u": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["e", "n", "o", "r", "u", "url"], "additionalProperties": false,
        "$defs": {"R": {"type": "array", "items": {"$ref": "#/$defs/R"}}}});
    assert_eq!(project_strict(&schema).unwrap().schema, expected);
    assert!(!strict_compatible(&schema));
    assert!(strict_compatible(&expected));
    assert_eq!(export(&expected, SchemaTarget::OpenAiStrict), expected.to_string());
}

#[test]
fn the_name_of_the_draft_and_an_absent_list_of_nothing_do_not_keep_a_schema_from_strict_mode() {
    let draft = "http://json-schema.org/draft-07/schema#";
    let nothing = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let closed = |inner: &Value| json!({"$schema": draft, "type": "object", "properties": {"x": inner}, "required": ["x"], "additionalProperties": false});
    for schema in [nothing.clone(), closed(&nothing), closed(&json!({"type": "string"}))] {
        assert!(strict_compatible(&schema), "{schema}");
    }
    let open = json!({"type": "object", "properties": {}});
    let optional = json!({"type": "object", "properties": {"x": {"type": "string"}}, "additionalProperties": false});
    let default = closed(&json!({"type": "string", "default": "a"}));
    for schema in [open.clone(), closed(&open), optional, default] {
        assert!(!strict_compatible(&schema), "{schema}");
    }
}

#[test]
fn a_schema_that_is_not_strict_is_otherwise_sent_unchanged() {
    let schema = json!({"type": "object", "properties": {"url": {"type": "string", "format": "uri"},
        "n": {"type": "integer", "default": 5}}, "required": ["url"]});
    assert!(!strict_compatible(&schema));
    assert_eq!(export(&schema, SchemaTarget::OpenAi), schema.to_string());
}

#[test]
fn strict_mode_says_what_it_cannot_express() {
    let deep =
        (0..12).fold(json!({"type": "string"}), |inner, _| json!({"type": "object", "properties": {"x": inner}}));
    let values: Vec<String> = (0..1001).map(|index| index.to_string()).collect();
    let cases = [
        (json!({"type": "object", "additionalProperties": true}), "/properties/x", "additionalProperties"),
        (json!({"type": "object"}), "/properties/x", "properties"),
        (json!({}), "/properties/x", "type"),
        (json!(true), "/properties/x", ""),
        (json!({"type": "array"}), "/properties/x", "items"),
        (json!({"type": "array", "prefixItems": [{"type": "string"}]}), "/properties/x", "prefixItems"),
        (
            json!({"type": "object", "properties": {}, "patternProperties": {"a": {}}}),
            "/properties/x",
            "patternProperties",
        ),
        (json!({"type": "string", "enum": values}), "", "enum"),
    ];
    for (schema, pointer, keyword) in cases {
        let root = json!({"type": "object", "properties": {"x": schema}, "required": ["x"]});
        let loss = project_strict(&root).unwrap_err();
        assert_eq!((loss.pointer.as_str(), loss.keyword.as_str()), (pointer, keyword), "{schema}");
        assert_eq!(project(&root, SchemaTarget::OpenAiStrict).losses[0], loss);
    }
    assert_eq!(project_strict(&deep).unwrap_err().keyword, "properties");
}
