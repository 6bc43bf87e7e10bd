use serde_json::{Map, Value, json};

use super::gemini::tests::gemini;
use super::*;
use crate::call::{Profile, RawArguments, read_arguments};
use crate::limits::Limits;
use crate::schema::{ArgumentSchema, normalise};

const ALL: [SchemaTarget; 7] = [
    SchemaTarget::OpenAi,
    SchemaTarget::OpenAiStrict,
    SchemaTarget::Anthropic,
    SchemaTarget::GeminiParameters,
    SchemaTarget::GeminiJsonSchema,
    SchemaTarget::Ollama,
    SchemaTarget::Whole,
];

pub(super) fn export(schema: &Value, target: SchemaTarget) -> String {
    project(schema, target).schema.to_string()
}

pub(super) fn check(schema: &Value, arguments: &Value) -> Result<(), crate::result::CallError> {
    let (arguments, _) = read_arguments(RawArguments::from(arguments), Profile::Strict, &Limits::default()).unwrap();
    ArgumentSchema::compile(schema).unwrap().check(&arguments)
}

pub(super) fn loses(schema: &Value, target: SchemaTarget, pointer: &str, keyword: &str) -> bool {
    project(schema, target).losses.iter().any(|loss| loss.pointer == pointer && loss.keyword == keyword)
}

#[test]
fn references_stay_where_they_are_followed_and_are_inlined_where_not() {
    let schema = json!({"type": "object", "properties": {"t": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}},
        "$defs": {"A": {"type": "object", "properties": {"n": {"type": "string"}}}}});
    assert_eq!(
        gemini(&schema),
        json!({"type": "object", "properties": {"t":
            {"type": "object", "properties": {"n": {"type": "string"}}, "nullable": true}}})
    );
    for target in [SchemaTarget::OpenAi, SchemaTarget::Anthropic, SchemaTarget::GeminiJsonSchema, SchemaTarget::Whole] {
        assert_eq!(export(&schema, target), schema.to_string(), "{target:?}");
        assert!(project(&schema, target).losses.is_empty());
    }
    assert!(!export(&schema, SchemaTarget::Ollama).contains('$'));
}

#[test]
fn allowed_values_are_checked_whatever_the_export_says() {
    let schema =
        json!({"type": "object", "properties": {"h": {"type": "integer", "enum": [3, 6, 12]}, "k": {"const": 7}}});
    assert!(check(&schema, &json!({"h": 3, "k": 7})).is_ok());
    assert!(check(&schema, &json!({"h": 4})).is_err());
    assert!(check(&schema, &json!({"k": 8})).is_err());
}

#[test]
fn a_tool_without_parameters_is_an_object_that_each_vendor_takes() {
    for schema in
        [json!({"type": "object"}), normalise(&json!({})).unwrap().schema, json!({}), json!(true), json!(null)]
    {
        for target in
            [SchemaTarget::OpenAi, SchemaTarget::Anthropic, SchemaTarget::GeminiJsonSchema, SchemaTarget::Ollama]
        {
            assert_eq!(export(&schema, target), r#"{"type":"object","properties":{}}"#, "{target:?} {schema}");
        }
        assert_eq!(gemini(&schema), json!({"type": "object"}));
    }
}

#[test]
fn exclusive_alternatives_give_way_when_what_they_name_is_widened() {
    let schema = json!({"type": "object", "properties": {"x": {"oneOf": [
        {"type": "object", "properties": {"a": false}}, {"type": "object", "required": ["a"]}]}}});
    let exported = project(&schema, SchemaTarget::OpenAi);
    let forms = json!([{"type": "object", "properties": {}}, {"type": "object", "required": ["a"]}]);
    assert_eq!(exported.schema["properties"]["x"], json!({"anyOf": forms}));
    assert!(loses(&schema, SchemaTarget::OpenAi, "/properties/x", "oneOf"));
}

#[test]
fn boolean_schemas_and_properties_that_admit_nothing_are_handled() {
    let schema = json!({"type": "object", "properties": {"any": true, "never": false, "not": {"not": {}},
        "l": {"type": "array", "items": true}, "y": {"type": "string"}}, "required": ["y", "never"]});
    for target in [SchemaTarget::OpenAi, SchemaTarget::Anthropic, SchemaTarget::Ollama, SchemaTarget::GeminiJsonSchema]
    {
        let exported = project(&schema, target).schema;
        let expected = json!({"type": "object", "properties": {"any": {}, "l": {"type": "array", "items": {}},
            "y": {"type": "string"}}, "required": ["y"]});
        assert_eq!(exported.to_string(), expected.to_string(), "{target:?}");
        assert!(loses(&schema, target, "/properties/never", "never"));
    }
    let names: Vec<String> = gemini(&schema)["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["any", "l", "y"]);
    assert!(check(&schema, &json!({"y": "", "never": 1})).is_err());
    assert!(check(&json!({"properties": {"any": true}}), &json!({"any": null})).is_ok());
}

#[test]
fn arrays_get_items_where_vendors_ask_for_them() {
    let schema = json!({"type": "object", "properties": {"l": {"type": ["array", "null"]}}});
    let exported = project(&schema, SchemaTarget::OpenAi).schema;
    assert_eq!(exported["properties"]["l"], json!({"type": ["array", "null"], "items": {}}));
    gemini(&schema);
}

#[test]
fn alternatives_at_the_root_become_one_object_and_a_sentence() {
    let schema = json!({"type": "object", "anyOf": [
        {"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]},
        {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}]});
    let expected = json!({"type": "object", "properties": {"content": {"type": "string"}, "url": {"type": "string"}},
        "description": "Fits at least one of these forms: (1) content; (2) url."});
    for target in [SchemaTarget::OpenAi, SchemaTarget::Anthropic, SchemaTarget::Ollama, SchemaTarget::GeminiJsonSchema]
    {
        assert_eq!(project(&schema, target).schema, expected, "{target:?}");
        assert!(loses(&schema, target, "", "anyOf"));
    }
    assert_eq!(gemini(&schema), expected);
    assert_eq!(export(&schema, SchemaTarget::Whole), schema.to_string());
    assert!(check(&schema, &json!({})).is_err());
    assert!(check(&schema, &json!({"url": "x"})).is_ok());
}

#[test]
fn alternatives_that_only_require_are_told_and_still_checked() {
    let properties = json!({"id": {"type": "string"}, "title": {"type": "string"}, "body": {"type": "string"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["id"],
        "anyOf": [{"required": ["title"]}, {"required": ["body"]}]});
    let exported = project(&schema, SchemaTarget::Anthropic).schema;
    let expected = json!({"type": "object", "properties": properties, "required": ["id"],
        "description": "Fits at least one of these forms: (1) title; (2) body."});
    assert_eq!(exported, expected);
    assert!(check(&schema, &json!({"id": "1"})).is_err());
}

#[test]
fn an_action_that_is_told_by_a_fixed_value_becomes_a_list_of_values() {
    let form = |action: &str, name: &str| {
        json!({"type": "object", "properties": {"action": {"type": "string", "const": action}, name: {"type": "string"}},
            "required": ["action", name], "additionalProperties": false})
    };
    let schema = json!({"oneOf": [form("open", "url"), form("search", "query")]});
    let expected = json!({"type": "object",
        "properties": {"action": {"type": "string", "enum": ["open", "search"]}, "url": {"type": "string"}, "query": {"type": "string"}},
        "required": ["action"], "additionalProperties": false,
        "description": "Fits exactly one of these forms: (1) action = \"open\", url; (2) action = \"search\", query."});
    assert_eq!(project(&schema, SchemaTarget::Anthropic).schema, expected);
}

#[test]
fn many_parts_that_name_one_property_do_not_grow_deep() {
    let parts: Vec<Value> = (0..300).map(|least| json!({"properties": {"n": {"minimum": least}}})).collect();
    let exported = project(&json!({"type": "object", "allOf": parts}), SchemaTarget::OpenAi).schema;
    assert_eq!(exported["properties"]["n"]["allOf"].as_array().map(Vec::len), Some(300));
    assert!(!walk::is_too_deep(&exported));
}

#[test]
fn conditions_at_the_root_are_simplified_and_reported() {
    let schema = json!({"type": "object", "properties": {"mode": {"type": "string"}},
        "allOf": [{"if": {"properties": {"mode": {"const": "big"}}}, "then": {"required": ["size"]}}]});
    let exported = project(&schema, SchemaTarget::Anthropic);
    assert_eq!(exported.schema["properties"], json!({"mode": {"type": "string"}}));
    assert!(exported.schema.get("allOf").is_none());
    let description = exported.schema["description"].as_str().unwrap();
    assert!(description.contains("if {\"properties\":{\"mode\":{\"const\":\"big\"}}} then {\"required\":[\"size\"]}"));
    let told: Vec<String> = exported.losses.iter().map(ToString::to_string).collect();
    assert!(told[0].starts_with("schema_simplified: `allOf` at the root"), "{told:?}");
}

#[test]
fn a_root_that_is_a_reference_is_shown_and_what_was_moved_is_still_found() {
    let schema = json!({"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "description": "n",
        "properties": {"next": {"$ref": "#/$defs/Node"}}}}});
    let exported = project(&schema, SchemaTarget::OpenAi).schema;
    assert_eq!(exported["properties"], json!({"next": {"$ref": "#/$defs/Node"}}));
    assert_eq!(exported["description"], "n");
    let schema = json!({"type": "object", "properties": {"b": {"$ref": "#/anyOf/0/properties/a"}},
        "anyOf": [{"properties": {"a": {"type": "integer"}}}, {"required": ["b"]}]});
    let exported = project(&schema, SchemaTarget::Anthropic).schema;
    assert_eq!(exported["properties"]["b"], json!({"$ref": "#/$defs/moved_a"}));
    assert_eq!(exported["$defs"], json!({"moved_a": {"type": "integer"}}));
}

#[test]
fn names_that_anthropic_refuses_are_told_in_words() {
    let schema = json!({"type": "object", "properties": {"城市": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["城市", "days"], "additionalProperties": false});
    let exported = project(&schema, SchemaTarget::Anthropic).schema;
    let expected = json!({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"],
        "description": "Also takes the property \"城市\" (required): {\"type\":\"string\"}."});
    assert_eq!(exported, expected);
    assert!(loses(&schema, SchemaTarget::Anthropic, "/properties/城市", "城市"));
    assert!(export(&schema, SchemaTarget::OpenAi).contains("\"城市\":"));
}

#[test]
fn exports_never_change_what_is_registered() {
    let schema = json!({"type": "object", "properties": {"s": {"type": "string", "enum": ["a", ""]}}});
    gemini(&schema);
    assert!(export(&schema, SchemaTarget::OpenAi).contains(r#"["a",""]"#));
}

#[test]
fn exports_with_references_hold_each_definition_once() {
    let member = json!({"type": "string", "description": "d".repeat(40)});
    let big: Map<String, Value> = (0..6).map(|index| (format!("q{index}"), member.clone())).collect();
    let properties: Map<String, Value> =
        (0..8).map(|index| (format!("p{index}"), json!({"$ref": "#/$defs/Big"}))).collect();
    let schema =
        json!({"type": "object", "properties": properties, "$defs": {"Big": {"type": "object", "properties": big}}});
    for target in [SchemaTarget::OpenAi, SchemaTarget::Anthropic, SchemaTarget::GeminiJsonSchema, SchemaTarget::Whole] {
        let exported = export(&schema, target);
        assert!(exported.len() * 100 <= schema.to_string().len() * 105, "{target:?}");
    }
}

#[test]
fn old_drafts_are_exported_in_the_words_of_today() {
    let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {
        "p": {"type": "array", "items": [{"type": "integer"}, {"$ref": "#/definitions/S", "minLength": 9}], "additionalItems": false}},
        "required": ["z", "p"], "definitions": {"S": {"type": "string"}}});
    let exported = project(&schema, SchemaTarget::OpenAi).schema;
    let expected = json!({"type": "object", "properties": {"p": {"type": "array",
        "prefixItems": [{"type": "integer"}, {"$ref": "#/definitions/S"}], "items": {"not": {}}}},
        "required": ["p", "z"], "definitions": {"S": {"type": "string"}}});
    assert_eq!(exported, expected);
    assert_eq!(exported["required"], json!(["p", "z"]));
}

#[test]
fn sloppy_type_words_are_exported_in_proper_ones() {
    let schema = json!({"type": "dict", "properties": {"l": {"type": "list"}, "f": {"type": "float"},
        "x": {"type": "any"}, "t": {"type": "tuple", "items": {"type": "integer"}}}});
    let schema = normalise(&schema).unwrap().schema;
    let exported = project(&schema, SchemaTarget::OpenAi).schema;
    let expected = json!({"type": "object", "properties": {"l": {"type": "array", "items": {}}, "f": {"type": "number"},
        "x": {}, "t": {"type": "array", "items": {"type": "integer"}}}});
    assert_eq!(exported, expected);
    assert_eq!(gemini(&schema)["properties"]["t"], json!({"type": "array", "items": {"type": "integer"}}));
}

#[test]
fn schemas_beyond_the_depth_limit_become_an_empty_object_with_a_loss() {
    let deep = (0..300).fold(json!({}), |inner, _| json!({"items": inner}));
    for target in ALL.into_iter().filter(|target| *target != SchemaTarget::Whole) {
        let exported = project(&deep, target);
        assert_eq!(exported.schema["type"], "object", "{target:?}");
        assert!(!exported.losses.is_empty());
    }
}

#[test]
fn losses_are_serialised_with_their_place() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "format": "uri"}}});
    let losses = project(&schema, SchemaTarget::GeminiParameters).losses;
    let expected = json!([{"code": "schema_simplified", "pointer": "/properties/a", "keyword": "format", "note": "is said in the description instead"}]);
    assert_eq!(serde_json::to_value(&losses).unwrap(), expected);
}
