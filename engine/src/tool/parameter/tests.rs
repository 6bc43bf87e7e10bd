use proptest::prelude::*;
use serde_json::json;

use super::*;

fn search() -> Vec<ToolParameterInfo> {
    vec![
        ToolParameterInfo::required("query", ToolParamType::String, "搜索关键词"),
        ToolParameterInfo {
            default: Some(json!(5)),
            ..ToolParameterInfo::optional("limit", ToolParamType::Integer, "返回结果数量上限")
        },
    ]
}

#[test]
fn a_list_of_parameters_becomes_the_schema_of_the_arguments() {
    let expected = json!({"type": "object", "properties": {
        "query": {"type": "string", "description": "搜索关键词"},
        "limit": {"type": "integer", "description": "返回结果数量上限", "default": 5},
    }, "required": ["query"]});
    assert_eq!(ToolParameterInfo::arguments_schema(&search()), Ok(expected.clone()));
    // The record that the SDK writes, with every field.
    let dumped = json!([
        {"name": "query", "param_type": "string", "description": "搜索关键词", "required": true, "enum_values": null,
            "items_schema": null, "properties": null, "required_properties": [], "additional_properties": null,
            "default": null},
        {"name": "limit", "param_type": "integer", "description": "返回结果数量上限", "required": false,
            "enum_values": null, "items_schema": null, "properties": null, "required_properties": [],
            "additional_properties": null, "default": 5},
    ]);
    assert_eq!(parameters_schema(&dumped), Ok(expected));
}

#[test]
fn every_type_has_its_word_and_every_field_its_keyword() {
    let cases = [
        (
            json!({"name": "p", "param_type": "STRING", "enum_values": ["a", "b"]}),
            json!({"type": "string", "enum": ["a", "b"]}),
        ),
        (json!({"name": "p", "param_type": "Integer", "default": 0}), json!({"type": "integer", "default": 0})),
        (json!({"name": "p", "param_type": "number"}), json!({"type": "number"})),
        (json!({"name": "p", "param_type": "FLOAT", "default": 0.5}), json!({"type": "number", "default": 0.5})),
        (json!({"name": "p", "param_type": "boolean", "default": false}), json!({"type": "boolean", "default": false})),
        (json!({"name": "p", "param_type": "array"}), json!({"type": "array"})),
        (
            json!({"name": "p", "param_type": "array", "items_schema": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        (json!({"name": "p", "param_type": "object"}), json!({"type": "object"})),
        (
            json!({"name": "p", "param_type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "integer"}},
                "required_properties": ["z", "a"], "additional_properties": false}),
            json!({"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "integer"}},
                "required": ["a", "z"], "additionalProperties": false}),
        ),
        (
            json!({"name": "p", "param_type": "object", "additional_properties": {"type": "string"}}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
        ),
        (json!({"name": "p", "enum_values": [], "description": null}), json!({"type": "string"})),
        (
            json!({"name": "p", "param_type": "integer", "minimum": 1, "maximum": 72, "ui_hint": "slider"}),
            json!({"type": "integer", "minimum": 1, "maximum": 72}),
        ),
    ];
    for (record, expected) in cases {
        let read = parameter_of(&record, 0).unwrap();
        assert_eq!(read.to_schema(), expected, "{record}");
        assert!(read.required, "{record}");
    }
}

#[test]
fn a_default_does_not_make_a_parameter_optional() {
    let declared = json!([{"name": "limit", "param_type": "integer", "default": 5}]);
    assert_eq!(parameters_schema(&declared).unwrap()["required"], json!(["limit"]));
}

#[test]
fn xbots_records_are_optional_unless_they_say_otherwise() {
    let declared = json!([
        {"name": "city", "type": "string", "description": "city name", "required": true},
        {"name": "days", "type": "array", "items": {"type": "integer"}},
    ]);
    assert_eq!(
        parameters_schema(&declared),
        Ok(json!({"type": "object", "properties": {
            "city": {"type": "string", "description": "city name"},
            "days": {"type": "array", "items": {"type": "integer"}},
        }, "required": ["city"]}))
    );
}

#[test]
fn a_map_requires_what_says_so() {
    let cases = [
        (
            json!({"query": {"type": "string", "description": "搜索关键词"},
                "limit": {"type": "integer", "description": "返回结果数量上限", "default": 5}}),
            json!({"type": "object", "properties": {"query": {"type": "string", "description": "搜索关键词"},
                "limit": {"type": "integer", "description": "返回结果数量上限", "default": 5}}}),
        ),
        (
            json!({"b": {"type": "string", "required": true}, "a": {"type": "string", "required": true},
                "c": {"type": "string", "required": false}}),
            json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"},
                "c": {"type": "string"}}, "required": ["a", "b"]}),
        ),
        (
            json!({"options": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"},
                "y": {"type": "string", "required": true}}}}),
            json!({"type": "object", "properties": {"options": {"type": "object", "required": ["x", "y"],
                "properties": {"x": {"type": "string"}, "y": {"type": "string"}}}}}),
        ),
        (
            json!({"query": {"type": "string"}, "required": ["query"]}),
            json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}),
        ),
        (json!({"anything": {}}), json!({"type": "object", "properties": {"anything": {}}})),
    ];
    for (declared, expected) in cases {
        assert_eq!(parameters_schema(&declared), Ok(expected), "{declared}");
    }
}

#[test]
fn parameters_may_be_called_like_keywords() {
    let named = |name: &str| json!({name: {"type": "string"}});
    for name in ["type", "properties", "required", "items", "title", "description", "default", "enum", "format"] {
        let expected = json!({"type": "object", "properties": named(name)});
        assert_eq!(parameters_schema(&named(name)), Ok(expected), "{name}");
    }
    let both = json!({"type": {"type": "string"}, "properties": {"type": "object", "properties": {"a": {}}}});
    assert_eq!(parameters_schema(&both), Ok(json!({"type": "object", "properties": both})));
}

#[test]
fn a_json_schema_stays_as_it_is() {
    let schemas = [
        json!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]}),
        json!({"properties": {"properties": {"type": "object"}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}),
        json!({"properties": {}}),
        json!({"type": "object"}),
        json!({"type": ["object", "null"], "properties": {"a": true}}),
        json!({"type": "dict", "properties": {"f": {"type": "float"}}}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}),
        json!({"oneOf": [{"type": "object"}]}),
        json!({"additionalProperties": {"type": "string"}}),
        json!({"additionalProperties": false}),
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema"}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-order": {"type": "list"}}),
    ];
    for schema in schemas {
        assert_eq!(parameters_schema(&schema), Ok(schema.clone()));
    }
}

#[test]
fn nothing_declared_means_no_parameters() {
    let none = json!({"type": "object", "properties": {}});
    for declared in [json!(null), json!([]), json!({})] {
        assert_eq!(parameters_schema(&declared), Ok(none.clone()), "{declared}");
    }
}

#[test]
fn declarations_that_would_lose_parameters_are_refused() {
    let cases = [
        (json!("query"), "the parameters must be a list of records, a map of schemas or a JSON Schema, not a string"),
        (json!(true), "the parameters must be a list of records, a map of schemas or a JSON Schema, not a boolean"),
        (json!(["query"]), "parameter 1 cannot be read: it must be an object, not a string"),
        (json!([{"name": " ", "param_type": "string"}]), "parameter 1 cannot be read: it has no name"),
        (json!([{"param_type": "string"}]), "parameter 1 cannot be read: missing field `name`"),
        (
            json!([{"name": "a", "in": "query", "schema": {"type": "string"}}]),
            "parameter 1 cannot be read: its key `schema` is not understood",
        ),
        (
            json!([{"name": "a", "param_type": "HashMap"}]),
            "parameter 1 cannot be read: `HashMap` is no parameter type; use string, integer, number, float, boolean, array \
             or object",
        ),
        (json!([{"name": "a"}, {"name": "a"}]), "parameter `a` is declared twice"),
        (json!({"city": "城市名称"}), "the declaration of parameter `city` is not a JSON Schema"),
        (json!({"city": {"desc": "城市名称"}}), "the declaration of parameter `city` is not a JSON Schema"),
        (
            json!({"type": "object", "city": {"type": "string"}}),
            "`city` stands beside the keywords of the schema; parameters belong under `properties`",
        ),
        (
            json!({"description": "x", "city": {"type": "string"}}),
            "`city` stands beside the keywords of the schema; parameters belong under `properties`",
        ),
        (json!({"city": {"type": "string"}, "required": ["town"]}), "`town` is required but not declared"),
        (json!({"type": "string"}), "the arguments of a call are an object, but the schema wants `string`"),
        (
            json!({"type": ["array", "null"]}),
            "the arguments of a call are an object, but the schema wants `array | null`",
        ),
    ];
    for (declared, expected) in cases {
        assert_eq!(
            parameters_schema(&declared).map_err(|error| error.to_string()),
            Err(expected.to_owned()),
            "{declared}"
        );
    }
}

#[test]
fn a_record_survives_being_written_and_read() {
    for parameter in search() {
        let written = serde_json::to_value(&parameter).unwrap();
        assert_eq!(serde_json::from_value::<ToolParameterInfo>(written).unwrap(), parameter);
    }
    let words = ["string", "integer", "number", "float", "boolean", "array", "object"];
    for word in words {
        let read: ToolParamType = serde_json::from_value(json!(word.to_uppercase())).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), word);
    }
}

#[test]
fn a_deep_declaration_neither_fails_nor_overflows() {
    let mut schema = json!({"type": "string", "required": true});
    for _ in 0..200 {
        schema = json!({"type": "object", "properties": {"a": schema}});
    }
    let read = parameters_schema(&json!({"top": schema})).unwrap();
    assert!(read["properties"]["top"].is_object());
}

fn any_json() -> impl Strategy<Value = Value> {
    let word =
        prop_oneof!["type", "properties", "required", "items", "object", "string", "name", "param_type", "[a-c]"];
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), word.clone().prop_map(Value::from)];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_accepted_keeps_every_declared_name(declared in any_json()) {
        let Ok(schema) = parameters_schema(&declared) else { return Ok(()) };
        prop_assert!(schema.is_object());
        if let Value::Array(records) = &declared {
            for record in records {
                prop_assert!(schema["properties"].get(record["name"].as_str().unwrap()).is_some());
            }
        } else if let Value::Object(fields) = &declared && schema != declared {
            for (name, _) in fields.iter().filter(|(name, value)| *name != "required" || !value.is_array()) {
                prop_assert!(schema["properties"].get(name).is_some(), "{} lost from {}", name, declared);
            }
        }
    }
}
