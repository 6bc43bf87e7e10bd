//! The only place that turns MCP's types into the engine's and back.

use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData, ServerResult};
use serde_json::{Map, Value};
use toolyard::{
    ErrorCode, InvokeResult, JsonText, ToolAnnotation, ToolExecutionResult, ToolFailure, ToolIcon, ToolInvocation,
    ToolSpec, result_from_mcp,
};

/// One page of a listing.
pub(super) struct ToolsPage {
    pub(super) tools: Vec<ToolSpec>,
    pub(super) next_cursor: Option<String>,
}

/// Reads a page of tools. rmcp refuses a page with one bad tool in it as a whole and hands over its raw value; read raw,
/// each tool stands for itself.
pub(super) fn tools_page(answer: ServerResult) -> Result<ToolsPage, ToolFailure> {
    let page = match answer {
        ServerResult::CustomResult(raw) => Ok(raw.0),
        other => serde_json::to_value(other),
    };
    let page = page.map_err(|_| broken("its list of tools cannot be read"))?;
    let Some(tools) = page.get("tools").and_then(Value::as_array) else {
        return Err(broken("its answer to tools/list has no list of tools"));
    };
    Ok(ToolsPage {
        tools: tools.iter().map(spec).collect(),
        next_cursor: page.get("nextCursor").and_then(Value::as_str).map(str::to_owned),
    })
}

/// A tool without a usable name or schema becomes a declaration that the engine leaves out, with the reason.
fn spec(tool: &Value) -> ToolSpec {
    let mut spec = ToolSpec::new(text(tool, "name").unwrap_or_default(), text(tool, "description").unwrap_or_default());
    spec.title = text(tool, "title");
    spec.parameters_schema = tool.get("inputSchema").cloned().unwrap_or(Value::Null);
    spec.output_schema = tool.get("outputSchema").cloned();
    spec.icons =
        tool.get("icons").and_then(Value::as_array).map(|icons| icons.iter().map(icon).collect()).unwrap_or_default();
    spec.annotation = tool.get("annotations").and_then(Value::as_object).map(annotation);
    if let Some(meta) = tool.get("_meta") {
        spec.metadata.insert("_meta".to_owned(), meta.clone());
    }
    spec
}

fn icon(icon: &Value) -> ToolIcon {
    let sizes = icon.get("sizes").and_then(Value::as_array);
    ToolIcon {
        src: text(icon, "src").unwrap_or_default(),
        mime_type: text(icon, "mimeType"),
        sizes: sizes
            .map(|sizes| sizes.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            .unwrap_or_default(),
    }
}

fn annotation(annotations: &Map<String, Value>) -> ToolAnnotation {
    const KNOWN: [&str; 5] = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let hint = |key: &str| annotations.get(key).and_then(Value::as_bool);
    ToolAnnotation {
        title: annotations.get("title").and_then(Value::as_str).map(str::to_owned),
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
        metadata: annotations
            .iter()
            .filter(|(key, _)| !KNOWN.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        ..ToolAnnotation::default()
    }
}

/// What a call sends.
///
/// # Errors
/// The arguments have an integer beyond 64 bits: rmcp has no place for its digits, and another number must not be sent.
pub(super) fn call_params(invocation: &ToolInvocation) -> Result<CallToolRequestParams, ToolFailure> {
    if let Some(integer) = integer_beyond_64_bits(invocation.arguments().text()) {
        let message = format!("the number {integer} does not fit: this server takes integers of up to 64 bits");
        return Err(ToolFailure::not_sent(ErrorCode::ArgumentsSchema, message));
    }
    let arguments = invocation.arguments().value().as_object().cloned().unwrap_or_default();
    Ok(CallToolRequestParams::new(invocation.tool_name().to_owned()).with_arguments(arguments))
}

/// The first integer in valid JSON that is neither an `i64` nor a `u64`.
fn integer_beyond_64_bits(json: &str) -> Option<&str> {
    let mut is_in_string = false;
    let mut is_escaped = false;
    json.split(|c: char| {
        let was_in_string = is_in_string;
        is_in_string = if is_in_string { is_escaped || c != '"' } else { c == '"' };
        is_escaped = was_in_string && c == '\\' && !is_escaped;
        // What stands in a string is cut to single characters, which are never too long.
        was_in_string || !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'))
    })
    .find(|token| {
        let digits = token.strip_prefix('-').unwrap_or(token);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_integer && token.parse::<i64>().is_err() && token.parse::<u64>().is_err()
    })
}

/// Reads the result of a call. Absent `isError` means success.
pub(super) fn result(response: CallToolResponse) -> InvokeResult {
    let CallToolResponse::Complete(result) = response else {
        return Err(broken("it asks for something that this client did not offer"));
    };
    let result = serde_json::to_value(result).map_err(|_| broken("its result cannot be read"))?;
    Ok(result_from_mcp(&JsonText::from(result)))
}

/// A JSON-RPC error in answer to a call.
pub(super) fn refusal(error: &ErrorData) -> ToolExecutionResult {
    let mut refused = ToolExecutionResult::failure(error.message.to_string());
    refused.metadata.insert("jsonrpc_code".to_owned(), error.code.0.into());
    refused
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn broken(message: &'static str) -> ToolFailure {
    ToolFailure::new(ErrorCode::ProviderProtocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::CustomResult;
    use serde_json::json;

    #[test]
    fn a_page_with_a_bad_tool_keeps_the_good_ones() {
        let raw =
            json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b"}, 7], "nextCursor": "2"});
        let page = tools_page(ServerResult::CustomResult(CustomResult::new(raw))).unwrap();
        let schemas: Vec<bool> = page.tools.iter().map(|tool| tool.parameters_schema.is_object()).collect();
        assert_eq!((schemas, page.next_cursor.as_deref()), (vec![true, false, false], Some("2")));
    }

    #[test]
    fn hints_are_read_and_other_annotations_kept() {
        let tool = json!({"name": "a", "inputSchema": {}, "annotations": {"readOnlyHint": true, "x": 1}});
        let annotation = spec(&tool).annotation.unwrap();
        assert_eq!((annotation.read_only_hint, annotation.destructive_hint), (Some(true), None));
        assert_eq!(annotation.metadata["x"], 1);
    }

    #[test]
    fn integers_beyond_64_bits_are_found_and_nothing_else() {
        for (json, found) in [
            (r#"{"id":123456789012345678901234567890}"#, Some("123456789012345678901234567890")),
            (r#"{"a":[1,-9223372036854775809]}"#, Some("-9223372036854775809")),
            (r#"{"a":18446744073709551615,"b":-9223372036854775808,"c":5.0,"d":1e40}"#, None),
            (r#"{"a":"123456789012345678901234567890","b\"123456789012345678901234567890":"\\"}"#, None),
            (r#"{"a":"\\","b":123456789012345678901234567890}"#, Some("123456789012345678901234567890")),
            (r#"{"a":12345678901234567890123.5}"#, None),
        ] {
            assert_eq!(integer_beyond_64_bits(json), found, "{json}");
        }
    }

    #[test]
    fn errors_keep_their_text_and_media_become_items() {
        let response: rmcp::model::CallToolResult = serde_json::from_value(json!({
            "content": [{"type": "text", "text": "no"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}],
            "isError": true
        }))
        .unwrap();
        let result = result(CallToolResponse::Complete(response)).unwrap();
        assert!(!result.success);
        assert_eq!(result.error_message.as_deref(), Some("no"));
        assert_eq!(result.content_items[0].image_base64(), Some(("image/png", "AAAA")));
    }
}
