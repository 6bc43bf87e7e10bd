//! One call of a tool.

use std::borrow::Cow;
use std::sync::Arc;

use toolyard::{CallContext, InvokeResult, JsonText, ToolExecutionResult, ToolInvocation, result_from_mcp};

use super::connection::{Asker, Refusal, RpcError, id_text};
use super::failure::unusable;
use super::forward::forwarded;
use super::mirror;
use super::rounds::{self, Answered, Asked};
use super::secrets::Secrets;
use super::session::Session;

/// Runs a call. Dropping the future cancels it.
pub(super) async fn call(session: &Session, invocation: ToolInvocation, context: CallContext) -> InvokeResult {
    let wants_native = context.wants_native_result();
    let mut mirrored = forwarded(&session.options.forward_headers, &context.execution().metadata);
    let asker = Arc::new(Asker::call(&invocation, context, session.options.idle_timeout()));
    let (tool, arguments) = (JsonText::string(invocation.tool_name()), on_one_line(invocation.arguments().json()));
    let params = |inputs: &[(&'static str, JsonText)], id| {
        let meta = session.connection.envelope().with_progress(id_text(id));
        let own = [("name", tool.clone()), ("arguments", arguments.clone())];
        JsonText::object(own.into_iter().chain(inputs.iter().cloned()).chain([("_meta", meta)]))
    };
    if session.mirrors_arguments() {
        let headers = mirror::headers(&invocation.spec().parameters_schema, &arguments);
        mirrored.extend(headers.into_iter().map(|(name, value)| (format!("Mcp-Param-{name}"), value)));
    }
    let name = Some(invocation.tool_name().to_owned());
    let asked = Asked { method: Arc::from("tools/call"), name, mirrored, params };
    match rounds::ask(session, &asker, asked).await {
        Ok(answered) => complete(answered, session.connection.secrets(), wants_native),
        // The server is alive and refused: the model can act on what it says.
        Err(Refusal::Error(error)) => Ok(refused(error, wants_native)),
        Err(Refusal::Failed(failure)) => Err(session.connection.secrets().hidden_in_failure(failure.into_failure())),
    }
}

/// Absent `isError` means success. Whatever is in the result is kept; what is no result of a call fails it.
fn complete(answered: Answered, secrets: &Secrets, wants_native: bool) -> InvokeResult {
    let Answered { mut result, shape } = answered;
    if let Err(unreadable) = result.check_readable() {
        return Err(unusable(format!("the tool ran, but its result {unreadable}")));
    }
    if let Some(fault) = shape.fault {
        return Err(unusable(format!("the server answered wrongly: {fault}")));
    }
    if shape.is_error {
        result = secrets.hidden_in_json(result);
    }
    let mut read = result_from_mcp(&result);
    // How results of calls are marked since 2026-07-28 says nothing to anybody here.
    read.metadata.remove("resultType");
    read.native = wants_native.then_some(result);
    Ok(read)
}

/// A JSON-RPC error in answer to a call.
fn refused(error: RpcError, wants_native: bool) -> ToolExecutionResult {
    let mut refused = ToolExecutionResult::failure(error.message);
    refused.metadata.insert("jsonrpc_code".to_owned(), error.code.into());
    if let Some(data) = error.data.and_then(|data| data.to().ok()) {
        refused.metadata.insert("jsonrpc_data".to_owned(), data);
    }
    refused.native = wants_native.then_some(error.raw);
    refused
}

/// Arguments may be printed over several lines, where a line is a message: between the tokens of valid JSON, any white
/// space is as good as another.
fn on_one_line(arguments: &JsonText) -> JsonText {
    let text = arguments.as_str();
    let line: Cow<'_, str> =
        if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ").into() } else { text.into() };
    match line {
        Cow::Borrowed(_) => arguments.clone(),
        Cow::Owned(line) => JsonText::parse(&line).unwrap_or_else(|_| arguments.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolyard::{ErrorCode, Sent};

    #[test]
    fn arguments_go_out_on_one_line_digit_for_digit() {
        let pretty = JsonText::parse("{\n  \"n\": 123456789012345678901234567890,\r\n  \"s\": \"a\\nb\"\n}").unwrap();
        assert_eq!(on_one_line(&pretty).as_str(), "{   \"n\": 123456789012345678901234567890,    \"s\": \"a\\nb\" }");
    }

    fn complete(text: &str, wants_native: bool) -> InvokeResult {
        let mut secrets = Secrets::default();
        secrets.add("s3cret-key");
        super::complete(Answered::of(JsonText::parse(text).unwrap()), &secrets, wants_native)
    }

    #[test]
    fn results_keep_their_errors_their_media_and_any_structured_content() {
        let text = r#"{"content":[{"type":"text","text":"no"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":true,"structuredContent":[123456789012345678901234567890],"resultType":"complete","x":1}"#;
        let result = complete(text, true).unwrap();
        assert!(!result.success);
        assert_eq!(result.error_message.as_deref(), Some("no"));
        assert_eq!(result.content_items[0].image_base64(), Some(("image/png", "AAAA")));
        assert_eq!(result.structured_content.unwrap().as_str(), "[123456789012345678901234567890]");
        assert_eq!(result.native.unwrap().as_str(), text);
        assert_eq!((result.metadata.get("resultType"), result.metadata["x"].as_i64()), (None, Some(1)));
    }

    #[test]
    fn what_is_no_result_fails_its_call() {
        for text in ["[]", "7", "{}", r#"{"content":"x"}"#, r#"{"content":[],"isError":"no"}"#] {
            let failure = complete(text, false).unwrap_err();
            assert_eq!((failure.code, failure.sent), (ErrorCode::ToolResultInvalid, Sent::Yes), "{text}");
        }
        assert!(complete(r#"{"content":[]}"#, false).unwrap().success);
    }

    #[test]
    fn a_secret_is_hidden_where_a_tool_failed_and_is_data_where_it_did_not() {
        let said = |is_error: bool| {
            let text = format!(r#"{{"content":[{{"type":"text","text":"bad s3cret-key"}}],"isError":{is_error}}}"#);
            let result = complete(&text, true).unwrap();
            (result.content.clone(), result.native.unwrap().as_str().contains("s3cret-key"))
        };
        assert_eq!(said(true), ("bad ***".to_owned(), false));
        assert_eq!(said(false), ("bad s3cret-key".to_owned(), true));
    }
}
