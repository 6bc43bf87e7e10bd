//! Toolyard's own form, for backends that have read the model's reply themselves.

use serde_json::value::RawValue;

use super::reply::{Fields, ParsedReply, ReplyBuilder, ReplyError, arguments, document, is_list, missing, verbatim};
use super::{Dialect, IdRule, role};
use crate::call::ToolCall;
use crate::json::JsonText;
use crate::result::CallResult;

/// Reads `{"calls": […]}`, or the list alone.
pub(super) fn parse(reply: &str) -> Result<ParsedReply, ReplyError> {
    let document = document(reply)?;
    let fields = Fields::of(document);
    let calls = if is_list(document) { serde_json::from_str(document.get()).ok() } else { fields.list("calls") };
    let calls: Vec<&RawValue> = calls.ok_or_else(|| missing(Dialect::Native.as_str(), "calls"))?;
    let mut builder = ReplyBuilder::default();
    for call in calls.into_iter().map(Fields::of) {
        let arguments = arguments(call.get("arguments"), false);
        let opaque = call.get("opaque").map(verbatim);
        builder.call(ToolCall::new(call.text("call_id"), call.text("tool"), arguments).with_opaque(opaque));
    }
    builder.reasoning(&fields.text("reasoning"));
    Ok(builder.build())
}

pub(super) fn messages(results: &[CallResult], ids: IdRule) -> Vec<JsonText> {
    let message = |result: &CallResult| {
        role(
            "tool",
            [
                ("call_id", JsonText::string(&ids.apply(result.call_id.as_str()))),
                ("tool", JsonText::string(&result.tool)),
                ("content", JsonText::string(&result.history_content())),
                ("is_error", JsonText::boolean(!result.is_success())),
            ],
        )
    };
    results.iter().map(message).collect()
}
