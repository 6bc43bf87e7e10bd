//! The checkers find what vendors refuse.

use serde_json::{Value, json};

use super::{Problems, anthropic, bedrock, gemini, mcp, ollama, openai};

type Check = fn(&Value) -> Problems;

fn chat(name: &str, description: &str, strict: bool, parameters: &Value) -> Value {
    json!([{"type": "function", "function":
        {"name": name, "description": description, "parameters": parameters, "strict": strict}}])
}

fn openapi(parameters: &Value) -> Value {
    json!([{"functionDeclarations": [{"name": "f", "description": "d", "parameters": parameters}]}])
}

fn with(property: &Value) -> Value {
    json!({"type": "object", "properties": {"x": property}, "required": ["x"], "additionalProperties": false})
}

#[test]
fn what_vendors_take_has_no_problems() {
    let schema = with(&json!({"type": "string"}));
    let plain = json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]});
    let json_schema =
        json!([{"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": schema}]}]);
    let responses =
        json!([{"type": "function", "name": "f", "description": "d", "parameters": schema, "strict": true}]);
    let taken: [(Check, Value); 9] = [
        (openai::chat, chat("f", "d", true, &schema)),
        (openai::responses, responses),
        (anthropic::check, json!([{"name": "f", "description": "", "input_schema": schema}])),
        (bedrock::check, json!([{"toolSpec": {"name": "f", "inputSchema": {"json": schema}}}])),
        (gemini::parameters, openapi(&plain)),
        (gemini::parameters, json!([{"functionDeclarations": [{"name": "f", "description": "d"}]}])),
        (gemini::json_schema, json_schema),
        (
            ollama::check,
            json!([{"type": "function", "function": {"name": "f", "description": "", "parameters": schema}}]),
        ),
        (mcp::check, json!([{"name": "f", "inputSchema": {"type": "object"}}])),
    ];
    for (check, document) in taken {
        assert_eq!(check(&document).0, [""; 0], "{document}");
    }
}

#[test]
fn what_vendors_refuse_is_found() {
    let fine = with(&json!({"type": "string"}));
    let list = |items: &Value| json!({"type": "array", "items": items});
    let deep = (0..11).fold(json!({"type": "string"}), |inner, _| with(&inner));
    let long_key = json!({"type": "object", "properties": {"a b": {}}});
    let input = |schema: &Value| json!([{"name": "f", "description": "d", "input_schema": schema}]);
    let refused: [(Check, Value); 20] = [
        (openai::chat, chat("a.b", "d", false, &fine)),
        (openai::chat, chat(&"f".repeat(65), "d", false, &fine)),
        (openai::chat, chat("f", &"d".repeat(1_025), false, &fine)),
        (openai::chat, chat("f", "d", false, &json!({"type": "object"}))),
        (openai::chat, chat("f", "d", false, &with(&json!({"type": "array"})))),
        (openai::chat, chat("f", "d", false, &with(&json!({"$ref": "#/$defs/None"})))),
        (openai::chat, chat("f", "d", true, &json!({"type": "object", "properties": {}}))),
        (openai::chat, chat("f", "d", true, &with(&json!({"type": "string", "minLength": 1})))),
        (openai::chat, chat("f", "d", true, &deep)),
        (openai::chat, Value::Array(vec![chat("f", "d", false, &fine)[0].clone(); 2])),
        (anthropic::check, input(&json!({"type": "object", "properties": {}, "oneOf": [{}]}))),
        (anthropic::check, input(&long_key)),
        (bedrock::check, json!([{"toolSpec": {"name": "f", "description": "", "inputSchema": {"json": fine}}}])),
        (gemini::parameters, openapi(&fine)),
        (gemini::parameters, openapi(&json!({"type": "object", "properties": {}}))),
        (gemini::parameters, openapi(&json!({"type": "object", "properties": {"x": {"type": ["string", "null"]}}}))),
        (
            gemini::parameters,
            openapi(&json!({"type": "object", "properties": {"x": {"type": "string", "enum": [""]}}})),
        ),
        (
            gemini::parameters,
            openapi(&json!({"type": "object", "properties": {"x": list(&json!({"type": "integer", "enum": [1]}))}})),
        ),
        (
            ollama::check,
            json!([{"type": "function", "function": {"name": "f", "description": "", "parameters": with(&json!({"$ref": "#"}))}}]),
        ),
        (mcp::check, json!([{"name": "f", "inputSchema": {"properties": {}}}])),
    ];
    for (check, document) in refused {
        assert!(!check(&document).0.is_empty(), "{document}");
    }
}
