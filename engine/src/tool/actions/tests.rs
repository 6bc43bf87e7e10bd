use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::FunctionTool;

fn content_query() -> Value {
    let search = json!([{"name": "query", "param_type": "string", "description": "关键词"}]);
    let read = json!({"item_id": {"type": "string", "description": "来源列表返回的真实 ID", "required": true}});
    actions("action", [("search", search), ("read", read)]).unwrap()
}

/// What a discriminated request must let through and refuse, whoever made its schema.
fn check_requests(schema: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    for accepted in [json!({"action": "search", "query": "x"}), json!({"action": "read", "item_id": "7"})] {
        assert!(validator.is_valid(&accepted), "{accepted}");
    }
    for refused in [
        json!({"action": "search"}),
        json!({"action": "search", "query": "x", "item_id": "7"}),
        json!({"action": "read", "item_id": "7", "extra": true}),
        json!({"action": "delete", "item_id": "7"}),
        json!({"query": "x"}),
        json!({"action": "search", "query": 3}),
    ] {
        assert!(!validator.is_valid(&refused), "{refused}");
    }
    assert_eq!(schema["discriminator"], json!({"propertyName": "action"}));
    assert_eq!(schema["type"], "object");
}

#[test]
fn a_request_is_one_of_the_actions_and_nothing_between() {
    let schema = content_query();
    check_requests(&schema);
    assert_eq!(
        schema["oneOf"][0],
        json!({"type": "object", "properties": {"action": {"type": "string", "const": "search"},
            "query": {"type": "string", "description": "关键词"}}, "required": ["action", "query"],
            "additionalProperties": false})
    );
}

#[test]
fn a_tagged_enum_of_a_typed_handler_is_such_a_request() {
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
    enum Request {
        Search { query: String },
        Read { item_id: String },
    }
    let tool =
        FunctionTool::typed("content_query", "搜索或读取内容。", |request: Request| async move { Ok(request) });
    check_requests(&tool.spec().parameters_schema);
}

#[test]
fn an_untagged_choice_gets_no_discriminator() {
    let alternatives = [
        json!({"oneOf": [{"properties": {"a": {"const": "x"}}, "required": ["a"]}, {"properties": {"b": {}}}]}),
        json!({"oneOf": [{"properties": {"a": {"const": "x"}}}, {"properties": {"a": {"const": "y"}}}]}),
        json!({"oneOf": [{"properties": {"a": {"const": "x"}}, "required": ["a"]},
            {"properties": {"a": {"const": "x"}}, "required": ["a"]}]}),
        json!({"oneOf": []}),
        json!({"type": "object"}),
    ];
    for schema in alternatives {
        let mut marked = schema.clone();
        mark_discriminator(&mut marked);
        assert_eq!(marked, schema);
    }
}

#[test]
fn definitions_of_an_action_move_to_the_root() {
    let search = json!({"type": "object", "properties": {"page": {"$ref": "#/$defs/Page"}},
        "$defs": {"Page": {"type": "integer"}}});
    let schema = actions("action", [("search", search.clone()), ("list", search.clone())]).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&json!({"action": "list", "page": 2})));
    assert!(!validator.is_valid(&json!({"action": "list", "page": "2"})));
    let other = json!({"type": "object", "$defs": {"Page": {"type": "string"}}});
    let refused = actions("action", [("search", search), ("list", other)]);
    assert_eq!(refused, Err(ActionsError::Definition { action: "list".to_owned(), name: "Page".to_owned() }));
}

#[test]
fn actions_that_contradict_each_other_are_refused() {
    assert_eq!(actions("action", []), Err(ActionsError::None));
    let twice = actions("action", [("a", json!({})), ("a", json!({}))]);
    assert_eq!(twice, Err(ActionsError::Repeated { action: "a".to_owned() }));
    let tagged = actions("action", [("a", json!({"action": {"type": "string"}}))]);
    assert_eq!(tagged, Err(ActionsError::Tagged { action: "a".to_owned(), tag: "action".to_owned() }));
    let broken = actions("action", [("a", json!("x"))]).unwrap_err();
    assert!(broken.to_string().starts_with("the action `a`: the parameters must be"), "{broken}");
}
