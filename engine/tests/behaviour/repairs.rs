//! What is mended in arguments and what is refused: each repair recorded, nothing lost, nothing guessed.

use serde_json::{Value, json};
use toolyard::CallStatus::{InvalidArguments, Truncated};
use toolyard::{CallPolicy, CallResult, FunctionTool, Profile, RawArguments, ToolBatch, ToolCall, ToolSpec};

use crate::fixture::{OK, registry};

/// Runs arguments against a tool with this schema that gives them back as it got them.
async fn send(schema: &Value, arguments: &str, policy: impl Into<CallPolicy>) -> CallResult {
    let echo = FunctionTool::new(ToolSpec::new("echo", "").with_parameters(schema.clone()), |invocation, _| {
        let text = invocation.arguments().text().to_owned();
        std::future::ready(Ok(toolyard::ToolExecutionResult::success(text)))
    });
    let registry = registry([echo]).await;
    let batch = ToolBatch::new(vec![ToolCall::new("c1", "echo", RawArguments::text(arguments))]).with_policy(policy);
    registry.dispatch(batch).await.results.remove(0)
}

fn repairs(result: &CallResult) -> Vec<String> {
    result.repairs.iter().map(|repair| format!("{}:{}", repair.kind.as_str(), repair.pointer)).collect()
}

fn city() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

#[tokio::test(start_paused = true)]
async fn what_is_mended_runs_with_the_same_value_and_says_what_was_done() {
    let optional = json!({"type": "object", "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["q"]});
    let lists = json!({"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}, "opt": {"type": "object"}}});
    let edit =
        json!({"type": "object", "properties": {"replace_all": {"type": "boolean"}}, "required": ["replace_all"]});
    let id = json!({"type": "object", "properties": {"id": {"type": "integer"}, "x": {"type": ["number", "null"]}}});
    let nested =
        json!({"type": "object", "properties": {"o": {"type": "object", "properties": {"n": {"type": "integer"}}}}});
    let choice = json!({"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "e": {"enum": [3, 6]}}});
    let text = json!({"type": "object", "properties": {"t": {"type": "string"}}});
    for (schema, written, got, mended) in [
        (&city(), "{\"city\":\"paris\"} I will now check.", r#"{"city":"paris"}"#, vec!["trailing_text:"]),
        (&city(), "{\"city\":\"paris\"}\n```\n</tool_call>", r#"{"city":"paris"}"#, vec!["trailing_text:"]),
        (&city(), "```json\n{\"city\":\"paris\"}\n```", r#"{"city":"paris"}"#, vec!["code_fence:"]),
        (&city(), "{\"city\":\"a\nb\",}", r#"{"city":"a\nb"}"#, vec!["control_characters:", "trailing_comma:"]),
        (&city(), r#""{\"city\":\"**/*.md\"}""#, r#"{"city":"**/*.md"}"#, vec!["double_encoded_root:"]),
        (
            &lists,
            r#"{"ids":"[\"a\",\"b\"]","opt":"{}"}"#,
            r#"{"ids":["a","b"],"opt":{}}"#,
            vec!["double_encoded_value:/ids", "double_encoded_value:/opt"],
        ),
        (&edit, r#"{"replace_all":"false"}"#, r#"{"replace_all":false}"#, vec!["string_to_boolean:/replace_all"]),
        (&edit, r#"{"replace_all":"False"}"#, r#"{"replace_all":false}"#, vec!["string_to_boolean:/replace_all"]),
        (&edit, r#"{"replace_all":"FALSE"}"#, r#"{"replace_all":false}"#, vec!["string_to_boolean:/replace_all"]),
        (&edit, r#"{"replace_all":" false "}"#, r#"{"replace_all":false}"#, vec!["string_to_boolean:/replace_all"]),
        (
            &id,
            r#"{"id":"1234567890123456789012345"}"#,
            r#"{"id":1234567890123456789012345}"#,
            vec!["string_to_integer:/id"],
        ),
        (&id, r#"{"x":"1.50"}"#, r#"{"x":1.50}"#, vec!["string_to_number:/x"]),
        (&id, r#"{"x":"null"}"#, r#"{"x":null}"#, vec!["string_to_null:/x"]),
        (&text, r#"{"t":653247040368672768}"#, r#"{"t":"653247040368672768"}"#, vec!["number_to_string:/t"]),
        (
            &nested,
            r#"{"o":"{\"n\":\"5\"}"}"#,
            r#"{"o":{"n":5}}"#,
            vec!["double_encoded_value:/o", "string_to_integer:/o/n"],
        ),
        (&choice, r#"{"n":"5"}"#, r#"{"n":5}"#, vec!["string_to_integer:/n"]),
        (&choice, r#"{"e":"6"}"#, r#"{"e":6}"#, vec!["string_to_integer:/e"]),
        (&optional, r#"{"q":"x","limit":null}"#, r#"{"q":"x"}"#, vec!["null_optional:/limit"]),
    ] {
        let result = send(schema, written, Profile::Lenient).await;
        assert_eq!((result.status, result.history_content().as_str()), (OK, got), "{written}: {:?}", result.error);
        assert_eq!(repairs(&result), mended, "{written}");
        let strict = send(schema, written, Profile::Strict).await;
        let is_for_all = mended == ["null_optional:/limit"];
        assert_eq!(strict.status == OK, is_for_all, "strict: {written}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_fits_is_never_touched() {
    let both = json!({"type": "object", "properties": {"content": {"type": "string"}, "tag": {"type": ["string", "array"]},
        "any": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]}}});
    let number = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let big = r#"{"n":123456789012345678901234567890}"#;
    for (schema, written) in [
        (&both, r#"{"content":"[1,2]","tag":"[1]"}"#),
        (&both, r#"{"content":"true","any":"5"}"#),
        (&number, r#"{"n":5.0}"#),
        (&number, r#"{"n":2512292042121000001}"#),
        (&number, big),
        (&json!({}), r#"{"t":"\ud83c\udf78 ok"}"#),
    ] {
        let result = send(schema, written, Profile::Lenient).await;
        assert_eq!((result.status, result.history_content().as_str()), (OK, written), "{:?}", result.error);
        assert_eq!(repairs(&result), [""; 0], "{written}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_mended_without_doubt_is_refused_with_place_and_reason() {
    let closed = json!({"type": "object", "properties": {"path": {"type": "string"}, "mode": {"type": "string"}}, "additionalProperties": false});
    let edit = json!({"type": "object", "properties": {"replace_all": {"type": "boolean"}, "n": {"type": "integer"}}});
    for (schema, written, place, said) in [
        (&city(), "{\"city\":\"a\"}{\"city\":\"b\"}", Some(""), "more than one JSON value"),
        (&city(), "{\"city\":\"a\"} and {\"city\":\"b\"}", Some(""), "more than one JSON value"),
        (&city(), "[\"paris\"]", None, "arguments must be an object, got array"),
        (&city(), "\"paris\"", None, "arguments must be an object, got string"),
        (&city(), "42", None, "arguments must be an object, got number"),
        (&city(), "true", None, "arguments must be an object, got boolean"),
        (&city(), "", Some("/city"), "required property `/city` is missing"),
        (&edit, r#"{"replace_all":"no"}"#, Some("/replace_all"), "boolean"),
        (&edit, r#"{"replace_all":"0"}"#, Some("/replace_all"), "boolean"),
        (&edit, r#"{"replace_all":"off"}"#, Some("/replace_all"), "boolean"),
        (&edit, r#"{"n":5.5}"#, Some("/n"), "integer"),
        (&edit, r#"{"n":true}"#, Some("/n"), "integer"),
        (&edit, r#"{"n":"007"}"#, Some("/n"), "integer"),
        (&edit, r#"{"n":NaN}"#, Some("/n"), "`/n` is NaN"),
        (&edit, r#"{"n":[1,-Infinity]}"#, Some("/n/1"), "-Infinity"),
        (&edit, r#"{"n":1e999}"#, Some("/n"), "out of range"),
        (&city(), r#"{"t":{"u":"a\ud83d b"}}"#, Some("/t/u"), "lone surrogate"),
        (&closed, r#"{"path":"a","tags":"x"}"#, Some("/tags"), "allowed: path, mode"),
        (&closed, r#"{"path":"/tmp/a","path":"/"}"#, Some("/path"), "duplicate key path"),
        (&city(), "{'city': 'paris'}", Some(""), "not valid JSON"),
    ] {
        let result = send(schema, written, Profile::Lenient).await;
        assert_eq!(result.status, InvalidArguments, "{written}");
        let error = result.error.unwrap();
        assert!(error.message.contains(said), "{written}: {}", error.message);
        assert!(!error.message.contains("EOF") && !error.message.contains("column 0"), "{}", error.message);
        assert_eq!(error.pointer.as_deref().filter(|p| !p.is_empty()), place.filter(|p| !p.is_empty()), "{written}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_told_at_once() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "c"]});
    let error = send(&schema, r#"{"a":[],"b":{}}"#, Profile::Lenient).await.error.unwrap();
    for place in ["`/a`", "`/b`", "`/c`"] {
        assert!(error.message.contains(place), "{}", error.message);
    }
}

#[tokio::test(start_paused = true)]
async fn text_that_stops_inside_a_value_is_cut_off_in_every_profile() {
    let half = [
        "{\"city\":\"half a sen",
        "{\"city\":\"two\nlines",
        "```json\n{\"city\":",
        "\"{\\\"city\\\":\\\"pa\"",
        "{\"a\":[1,",
    ];
    for written in half {
        for profile in [Profile::Strict, Profile::Lenient] {
            if profile == Profile::Strict && written.starts_with('"') {
                continue;
            }
            let result = send(&city(), written, profile).await;
            assert_eq!(result.status, Truncated, "{written} {profile:?}");
            assert!(result.error.unwrap().message.contains("output limit"), "{written}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_and_empty_properties_are_dropped_only_when_the_policy_says_so() {
    let closed = json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false});
    let strip = CallPolicy { strip_unknown: true, ..CallPolicy::default() };
    let result = send(&closed, r#"{"path":"a","tags":"x"}"#, strip).await;
    assert_eq!(
        (result.history_content().as_str(), repairs(&result)),
        (r#"{"path":"a"}"#, vec!["dropped:/tags".into()])
    );

    let lamp = json!({"type": "object", "properties": {"name": {"type": "string"}, "area": {"type": "string"},
        "domain": {"type": "array", "items": {"type": "string"}}}, "required": ["name"]});
    let written = r#"{"name":"","area":"","domain":[]}"#;
    let drop = CallPolicy { drop_empty_optionals: true, ..CallPolicy::default() };
    let result = send(&lamp, written, drop).await;
    assert_eq!(result.history_content(), r#"{"name":""}"#);
    assert_eq!(repairs(&result), ["dropped:/area", "dropped:/domain"]);
    assert_eq!(send(&lamp, written, CallPolicy::default()).await.history_content(), written);
}

#[tokio::test(start_paused = true)]
async fn the_form_that_was_meant_decides_what_is_coerced() {
    let search = json!({"type": "object", "properties": {"action": {"const": "search"}, "limit": {"type": "integer"}}, "required": ["action"]});
    let say = json!({"type": "object", "properties": {"action": {"const": "say"}, "limit": {"type": "string", "maxLength": 1}}, "required": ["action"]});
    let schema = json!({"type": "object", "properties": {"request": {"oneOf": [search, say]}}});
    let result = send(&schema, r#"{"request":{"action":"search","limit":"50"}}"#, Profile::Lenient).await;
    assert_eq!(result.history_content(), r#"{"request":{"action":"search","limit":50}}"#, "{:?}", result.error);
    let result = send(&schema, r#"{"request":{"action":"say","limit":"50"}}"#, Profile::Lenient).await;
    assert_eq!(result.status, InvalidArguments, "a text that is too long is no number");
}
