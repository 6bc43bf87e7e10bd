use serde_json::json;

use super::*;

fn import_one(definition: Value) -> ToolSpec {
    let mut imported = import_definitions(&definition).unwrap();
    assert_eq!(imported.rejected, [], "{definition}");
    assert_eq!(imported.tools.len(), 1, "{definition}");
    imported.tools.remove(0).spec
}

fn reason(definition: Value) -> String {
    let imported = import_definitions(&definition).unwrap();
    assert_eq!(imported.tools, [], "{definition}");
    imported.rejected[0].reason.clone()
}

#[test]
fn every_vendors_form_gives_the_same_tool() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let forms = [
        json!({"name": "weather", "description": "Tells.", "inputSchema": schema}),
        json!({"name": "weather", "description": "Tells.", "input_schema": schema}),
        json!({"type": "custom", "name": "weather", "description": "Tells.", "input_schema": schema,
            "cache_control": {"type": "ephemeral"}}),
        json!({"type": "function", "function": {"name": "weather", "description": "Tells.", "parameters": schema}}),
        json!({"type": "function", "name": "weather", "description": "Tells.", "parameters": schema}),
        json!({"functionDeclarations": [{"name": "weather", "description": "Tells.", "parametersJsonSchema": schema}]}),
        json!({"function_declarations": [{"name": "weather", "description": "Tells.", "parameters": {"type": "OBJECT",
            "properties": {"city": {"type": "STRING"}}, "required": ["city"]}}]}),
        json!({"name": "weather", "description": "Tells.", "parameters": {"type": "OBJECT",
            "properties": {"city": {"type": "STRING"}}, "required": ["city"]}}),
        json!({"toolSpec": {"name": "weather", "description": "Tells.", "inputSchema": {"json": schema}}}),
        json!({"name": "weather", "description": "Tells.",
            "parameters": [{"name": "city", "type": "string", "required": true}]}),
        json!({"name": "weather", "description": "Tells.", "input_schema": schema,
            "parameters": [{"name": "city", "type": "string", "required": true}]}),
        json!({"name": "weather", "type": "TOOL", "metadata": {"description": "Tells.", "brief_description": "Tells.",
            "parameters": [{"name": "city", "param_type": "string", "required": true}], "parameters_raw": {}}}),
        json!({"name": "weather", "component_type": "tool", "metadata": {"description": "Tells.",
            "parameters": [], "parameters_raw": {"city": {"type": "string", "required": true}}}}),
        json!({"name": "weather", "description": "Tells.", "parameters_schema": schema, "provider_name": "x"}),
    ];
    for form in forms {
        let spec = import_one(form.clone());
        assert_eq!((&*spec.name, spec.description.as_str()), ("weather", "Tells."), "{form}");
        assert_eq!(spec.parameters_schema, schema, "{form}");
    }
}

#[test]
fn each_definition_stands_for_itself() {
    let document = json!([
        {"name": "a", "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}}},
        {"type": "function", "function": {"name": "b", "parameters": {"type": "object",
            "properties": {"y": {"type": "string"}}}}},
        {"name": "c", "schema": {"type": "object"}},
        "d",
        {"inputSchema": {"type": "object"}},
        {"toolSpec": {"name": "e", "inputSchema": {"type": "object"}}},
    ]);
    let imported = import_definitions(&document).unwrap();
    let parameters: Vec<_> = imported.tools.iter().map(|tool| &tool.spec.parameters_schema["properties"]).collect();
    assert_eq!(parameters, [&json!({"x": {"type": "string"}}), &json!({"y": {"type": "string"}})]);
    let rejected: Vec<_> = imported.rejected.iter().map(|one| (one.pointer.as_str(), one.name.as_deref())).collect();
    assert_eq!(rejected, [("/2", Some("c")), ("/3", None), ("/4", None), ("/5", Some("e"))]);
    assert!(imported.rejected[0].reason.contains("`schema`"), "{}", imported.rejected[0].reason);
}

#[test]
fn a_definition_whose_parameters_would_be_lost_is_rejected() {
    let object = json!({"type": "object", "properties": {"x": {}}});
    let cases = [
        (json!({"name": "c", "schema": {"type": "object"}}), "`schema`"),
        (json!({"name": "c", "json_schema": object}), "`json_schema`"),
        (json!({"name": "c", "params": {"x": {"type": "string"}}}), "`params`"),
        (json!({"name": "c", "arguments": ["x"]}), "`arguments`"),
        (json!({"name": "c", "properties": {"x": {}}, "required": ["x"]}), "`properties`"),
        (json!({"name": "c", "shape": object}), "`shape`"),
        (json!({"name": "c", "request": {"$ref": "#/x"}}), "`request`"),
        (json!({"type": "function", "function": {"name": "c", "schema": object}}), "`schema`"),
        (json!({"type": "function", "function": {"name": "c"}, "parameters": object}), "`parameters`"),
        (json!({"name": "c", "type": "TOOL", "metadata": {"schema": object}}), "`schema`"),
        (json!({"name": "c", "inputSchema": null}), "`inputSchema` must not be null"),
        (json!({"name": "c", "input_schema": null}), "`input_schema` must not be null"),
        (json!({"name": "c", "inputSchema": true}), "not a boolean"),
        (json!({"name": "c", "inputSchema": []}), "not an array"),
        (json!({"name": "c", "inputSchema": {"x": {"type": "string"}}}), "`x`"),
        (json!({"name": "c", "inputSchema": {"type": "string"}}), "`string`"),
        (json!({"name": "c", "inputSchema": object, "input_schema": {"type": "object"}}), "contradict"),
        (json!({"name": "c", "parameters": "x: string"}), "not a string"),
        (json!({"name": "c", "outputSchema": "text", "inputSchema": object}), "`outputSchema`"),
        (json!({"name": "c", "description": 7}), "`description` must be text"),
        (json!({"name": "  ", "inputSchema": object}), "no name"),
        (json!({"type": "web_search_20250305", "name": "web_search"}), "`web_search_20250305`"),
        (json!({"type": "custom", "name": "c", "format": {"type": "grammar"}}), "`custom`"),
        (json!({"name": "c", "type": "COMMAND", "metadata": {"command_pattern": "^/x"}}), "`COMMAND`"),
    ];
    for (definition, expected) in cases {
        let reason = reason(definition.clone());
        assert!(reason.contains(expected), "{definition}: {reason}");
    }
}

#[test]
fn no_schema_at_all_means_no_parameters() {
    let forms = [
        json!({"name": "ping"}),
        json!({"name": "ping", "parameters": null}),
        json!({"name": "ping", "schema": null}),
        json!({"type": "function", "function": {"name": "ping"}}),
        json!({"functionDeclarations": [{"name": "ping"}]}),
        json!({"function_declarations": [{"name": "ping", "parameters": null, "parameters_json_schema": null}]}),
        json!({"name": "ping", "parameters": []}),
        json!({"name": "ping", "parameters": [], "input_schema": null}),
        json!({"name": "ping", "outputSchema": {"type": "object"}, "_meta": {"type": "object"}}),
        json!({"name": "ping", "metadata": {"handler_name": "x", "parameters": [], "parameters_raw": {}, "config_schema": {}}}),
    ];
    for form in forms {
        assert_eq!(import_one(form).parameters_schema, json!({"type": "object", "properties": {}}));
    }
}

#[test]
fn mcps_fields_are_kept() {
    let spec = import_one(json!({"name": "weather", "title": "Weather", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"t": {"type": "number"}}},
        "annotations": {"title": "W", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": true, "x": 1},
        "icons": [{"src": "https://a/b.png", "mimeType": "image/png", "sizes": ["48x48"]}, {"sizes": "any"}],
        "_meta": {"visibility": "visible"}}));
    assert_eq!(spec.title.as_deref(), Some("Weather"));
    assert_eq!(spec.output_schema, Some(json!({"type": "object", "properties": {"t": {"type": "number"}}})));
    let annotation = spec.annotation.unwrap();
    let hints = [
        annotation.read_only_hint,
        annotation.destructive_hint,
        annotation.idempotent_hint,
        annotation.open_world_hint,
    ];
    assert_eq!(hints, [Some(true), Some(false), Some(true), Some(true)]);
    assert_eq!((annotation.title.as_deref(), &annotation.metadata["x"]), (Some("W"), &json!(1)));
    assert_eq!(spec.icons.len(), 1);
    assert_eq!(
        (spec.icons[0].mime_type.as_deref(), &spec.icons[0].sizes),
        (Some("image/png"), &vec!["48x48".to_owned()])
    );
    // What a server says there grants nothing.
    assert_eq!(Value::Object(spec.metadata), json!({"_meta": {"visibility": "visible"}}));
}

#[test]
fn the_version_and_strictness_stay_in_the_metadata() {
    let spec = import_one(json!({"name": "x", "version": "1.2.3", "parameters": []}));
    assert_eq!(spec.metadata["version"], "1.2.3");
    for form in [
        json!({"type": "function", "function": {"name": "x", "parameters": {}, "strict": true}}),
        json!({"type": "function", "name": "x", "parameters": {}, "strict": true}),
    ] {
        assert_eq!(import_one(form).metadata["strict"], true);
    }
}

#[test]
fn the_server_is_kept_beside_each_tool() {
    let document = json!({"server": "default", "tools": [
        {"name": "a"}, {"server": "local", "name": "代码计算器"}, {"server": "g", "functionDeclarations": [{"name": "b"}]},
    ]});
    let imported = import_definitions(&document).unwrap();
    let names: Vec<_> = imported.tools.iter().map(|tool| (tool.server.as_deref(), &*tool.spec.name)).collect();
    assert_eq!(names, [(Some("default"), "a"), (Some("local"), "代码计算器"), (Some("g"), "b")]);
}

#[test]
fn geminis_dialect_becomes_json_schema() {
    let spec =
        import_one(json!({"functionDeclarations": [{"name": "x", "parameters": {"type": "OBJECT", "properties": {
        "type": {"type": "STRING", "nullable": true, "enum": ["A", "B"]},
        "list": {"type": "ARRAY", "minItems": "2", "items": {"type": "TYPE_UNSPECIFIED"}},
        "either": {"anyOf": [{"type": "INTEGER"}, {"type": "BOOLEAN"}], "nullable": true},
    }, "required": ["list"]}, "response": {"type": "OBJECT"}}]}));
    assert_eq!(
        spec.parameters_schema,
        json!({"type": "object", "properties": {
            "type": {"type": ["string", "null"], "enum": ["A", "B", null]},
            "list": {"type": "array", "minItems": 2, "items": {}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"type": "null"}]},
        }, "required": ["list"]})
    );
    assert_eq!(spec.output_schema, Some(json!({"type": "object"})));
}

#[test]
fn a_vendors_own_tool_beside_geminis_functions_is_named() {
    let imported =
        import_definitions(&json!([{"functionDeclarations": [{"name": "a"}, 7], "googleSearch": {}}])).unwrap();
    assert_eq!(imported.tools.len(), 1);
    let rejected: Vec<_> = imported.rejected.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(rejected, ["/0/googleSearch", "/0/functionDeclarations/1"]);
}

#[test]
fn what_maibots_sdk_writes_becomes_a_tool() {
    let spec = import_one(json!({"name": "search", "type": "TOOL", "plugin_id": "a.b", "chat_scope": "all",
        "metadata": {"core_tool": true, "timeout_ms": "5000", "chat_scope": "group", "description": "搜索互联网获取信息",
            "enabled": true, "platforms": [], "brief_description": "搜索互联网获取信息",
            "detailed_description": "参数说明：\n- query：string，必填。搜索关键词\n\n不要用于闲聊。",
            "parameters": [{"name": "query", "param_type": "string", "description": "搜索关键词", "required": true,
                "enum_values": null, "items_schema": null, "properties": null, "required_properties": [],
                "additional_properties": null, "default": null}],
            "parameters_raw": {}, "invoke_method": "plugin.invoke_tool", "handler_name": "handle_search"}}));
    assert_eq!(spec.brief(), "搜索互联网获取信息");
    assert_eq!(
        spec.description,
        "搜索互联网获取信息\n\n参数说明：\n- query：string，必填。搜索关键词\n\n不要用于闲聊。"
    );
    assert_eq!(spec.timeout, Some(std::time::Duration::from_secs(5)));
    assert_eq!(
        Value::Object(spec.metadata),
        json!({"core_tool": true, "chat_scope": "group", "platforms": [], "invoke_method": "plugin.invoke_tool",
            "handler_name": "handle_search", "plugin_id": "a.b"})
    );
}

#[test]
fn only_what_the_author_wrote_is_added_to_the_description() {
    let full = |detailed: &str| {
        import_one(json!({"name": "s", "type": "TOOL", "metadata": {"brief_description": "搜索",
            "detailed_description": detailed, "parameters_raw": {"q": {"type": "string"}}}}))
        .description
    };
    assert_eq!(full("参数说明：\n- q：string，可选。无额外说明"), "搜索");
    assert_eq!(
        full("参数说明：\n- q：string，可选\n\n使用。参数说明：\n- q：关键词"),
        "搜索\n\n使用。参数说明：\n- q：关键词"
    );
    assert_eq!(full("使用搜索引擎。"), "搜索\n\n参数说明：\n- q：string，可选\n\n使用搜索引擎。");
}

#[test]
fn extras_that_old_sdks_nest_are_found() {
    let spec = import_one(json!({"name": "s", "type": "TOOL", "metadata": {"description": "x", "parameters": [],
        "metadata": {"core_tool": true, "timeout_ms": 100}}}));
    assert_eq!(
        (&spec.metadata["core_tool"], spec.timeout),
        (&json!(true), Some(std::time::Duration::from_millis(100)))
    );
}

#[test]
fn a_bad_timeout_rejects_its_tool_only() {
    let tool = |timeout: Value| json!({"name": "s", "type": "TOOL", "metadata": {"timeout_ms": timeout}});
    for bad in [json!(-1), json!("soon"), json!(true), json!([])] {
        assert!(reason(tool(bad.clone())).contains("`timeout_ms`"), "{bad}");
    }
    for (good, millis) in
        [(json!(0), None), (json!(null), None), (json!(1500.9), Some(1500)), (json!(" 20 "), Some(20))]
    {
        assert_eq!(import_one(tool(good.clone())).timeout, millis.map(std::time::Duration::from_millis), "{good}");
    }
}

#[test]
fn old_actions_are_tools_in_either_form() {
    let raw = json!({"name": "act", "type": "ACTION", "metadata": {"description": "旧动作",
        "action_parameters": {"a": "甲", "b": ""}, "activation_type": "keyword", "activation_keywords": ["k"]}});
    let converted = json!({"name": "act", "type": "TOOL", "metadata": {"legacy_action": true,
        "legacy_component_type": "ACTION", "activation_type": "keyword", "activation_keywords": ["k"],
        "action_parameters": {"a": "甲", "b": ""}, "description": "旧动作", "brief_description": "旧动作",
        "detailed_description": "参数说明：\n- a：string，可选。甲\n\n兼容旧 Action 激活方式：keyword。", "parameters": [],
        "parameters_raw": {"type": "object", "properties": {"a": {"type": "string", "description": "甲"},
            "b": {"type": "string", "description": "兼容旧 Action 参数"}}}}});
    let specs = [import_one(raw), import_one(converted)];
    for spec in &specs {
        assert_eq!(spec.description, "旧动作");
        assert_eq!(spec.metadata["legacy_action"], true);
        assert_eq!(spec.metadata["legacy_component_type"], "ACTION");
        assert_eq!(spec.metadata["activation_keywords"], json!(["k"]));
        assert_eq!(
            spec.parameters_schema["properties"]["b"],
            json!({"type": "string", "description": "兼容旧 Action 参数"})
        );
        assert!(spec.parameters_schema.get("required").is_none());
    }
}

#[test]
fn what_toolyard_lists_can_be_imported_again() {
    let mut spec = ToolSpec::new("balance", "Use when the user asks for the balance.")
        .with_parameters(json!({"type": "object", "properties": {"card": {"type": "string"}}}));
    spec.brief_description = Some("Reads the balance.".to_owned());
    spec.titles = crate::LocalText::new("校园卡余额", "Card balance");
    spec.output_schema = Some(json!({"type": "object"}));
    assert_eq!(import_one(serde_json::to_value(&spec).unwrap()), spec);
}

#[test]
fn a_document_of_another_kind_is_an_error() {
    for document in [json!(null), json!("tools"), json!(7)] {
        assert!(matches!(import_definitions(&document), Err(ImportError::Form { .. })), "{document}");
    }
    let many = Value::from(vec![json!({"name": "a"}); 10_001]);
    assert_eq!(import_definitions(&many), Err(ImportError::TooMany { count: 10_001 }));
    let nested = json!([{"functionDeclarations": vec![json!({"name": "a"}); 10_001]}]);
    assert_eq!(import_definitions(&nested), Err(ImportError::TooMany { count: 10_001 }));
}
