use serde_json::{Map, Value, json};

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

/// What every export for Gemini's `parameters` must be.
pub(super) fn assert_takes_gemini(root: &Value) {
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

fn gemini(schema: &Value) -> Value {
    let exported = project(schema, SchemaTarget::GeminiParameters).schema;
    assert_takes_gemini(&exported);
    exported
}

fn export(schema: &Value, target: SchemaTarget) -> String {
    project(schema, target).schema.to_string()
}

fn check(schema: &Value, arguments: &Value) -> Result<(), crate::result::CallError> {
    let (arguments, _) = read_arguments(&RawArguments::from(arguments), Profile::Strict, &Limits::default()).unwrap();
    ArgumentSchema::compile(schema).unwrap().check(&arguments)
}

fn loses(schema: &Value, target: SchemaTarget, pointer: &str, keyword: &str) -> bool {
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
    let expected =
        json!([{"pointer": "/properties/a", "keyword": "format", "note": "is said in the description instead"}]);
    assert_eq!(serde_json::to_value(&losses).unwrap(), expected);
}
