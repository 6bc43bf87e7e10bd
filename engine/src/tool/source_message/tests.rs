use super::*;

fn accepts(schema: &Value, arguments: &Value) -> bool {
    jsonschema::validator_for(schema).unwrap().is_valid(arguments)
}

#[test]
fn the_host_adds_a_required_parameter_with_its_own_words() {
    let schema = json!({"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"],
        "additionalProperties": false});
    for (locale, word) in [(Locale::En, "message"), (Locale::Zh, "消息")] {
        let extended = with_source_message(&schema, locale).unwrap();
        assert_eq!(extended["required"], json!(["source_message_id", "what"]));
        let parameter = &extended["properties"]["source_message_id"];
        assert!(parameter["description"].as_str().unwrap().contains(word), "{parameter}");
        assert!(accepts(&extended, &json!({"what": "x", "source_message_id": "m1"})));
        for refused in [
            json!({"what": "x"}),
            json!({"what": "x", "source_message_id": ""}),
            json!({"what": "x", "source_message_id": 1}),
            json!({"what": "x", "source_message_id": "m1", "requester": "me"}),
        ] {
            assert!(!accepts(&extended, &refused), "{refused}");
        }
    }
}

#[test]
fn a_tool_without_parameters_gets_it_too() {
    let extended = with_source_message(&json!({}), Locale::En).unwrap();
    assert!(accepts(&extended, &json!({"source_message_id": "m1"})));
    assert!(!accepts(&extended, &json!({})));
}

#[test]
fn closed_alternatives_let_it_through_and_nothing_else() {
    let search = json!({"type": "object", "properties": {"action": {"const": "search"}, "query": {"type": "string"}},
        "required": ["action", "query"], "additionalProperties": false});
    let schemas = [
        json!({"type": "object", "oneOf": [search]}),
        json!({"oneOf": [{"$ref": "#/$defs/Search"}], "$defs": {"Search": search}}),
        json!({"$ref": "#/$defs/Request", "$defs": {"Request": {"oneOf": [{"$ref": "#/$defs/Search"}]}, "Search": search}}),
        json!({"$ref": "#/$defs/Search", "$defs": {"Search": search}}),
    ];
    for schema in schemas {
        let extended = with_source_message(&schema, Locale::En).unwrap();
        assert!(accepts(&extended, &json!({"action": "search", "query": "x", "source_message_id": "m1"})), "{schema}");
        assert!(!accepts(&extended, &json!({"action": "search", "query": "x"})), "{schema}");
        assert!(!accepts(&extended, &json!({"action": "search", "source_message_id": "m1"})), "{schema}");
        let foreign = json!({"action": "search", "query": "x", "item_id": "7", "source_message_id": "m1"});
        assert!(!accepts(&extended, &foreign), "{schema}");
    }
}

#[test]
fn a_tool_must_not_declare_it_itself() {
    let declared = json!({"type": "object", "properties": {"source_message_id": {"type": "string"}}});
    let schemas = [
        declared.clone(),
        json!({"type": "object", "oneOf": [{"type": "object"}, declared]}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": declared}}),
        json!({"type": "object", "required": ["source_message_id"]}),
    ];
    for schema in schemas {
        assert_eq!(with_source_message(&schema, Locale::En), Err(SourceMessageError::Reserved), "{schema}");
    }
    // One inside an object of the tool is another thing.
    let nested = json!({"type": "object", "properties": {"post": {"type": "object", "properties": {
        "source_message_id": {"type": "string"}}}}});
    assert_eq!(check_source_message(&nested), Ok(()));
    assert_eq!(with_source_message(&json!(true), Locale::En), Err(SourceMessageError::NotObject));
}

#[test]
fn a_schema_that_refers_to_itself_without_end_is_survived() {
    let node = json!({"anyOf": [{"$ref": "#/$defs/N"}, {"$ref": "#/$defs/N"}, {"$ref": "#/$defs/N"}],
        "additionalProperties": false});
    for schema in [json!({"$ref": "#"}), json!({"anyOf": [{"$ref": "#/$defs/N"}], "$defs": {"N": node}})] {
        let extended = with_source_message(&schema, Locale::Zh).unwrap();
        assert_eq!(extended["required"], json!(["source_message_id"]));
    }
}
