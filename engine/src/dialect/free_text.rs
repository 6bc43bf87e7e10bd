//! OpenAI's custom tools: they take free text, which is their one argument `input` here.

use crate::call::RawArguments;
use crate::json::JsonText;

/// The one parameter of a tool that takes free text.
pub(super) const INPUT: &str = "input";

/// Free text as arguments.
pub(super) fn free_text(text: &str, cut_off: bool) -> RawArguments {
    let input = JsonText::object([(INPUT, JsonText::string(text))]);
    if cut_off { RawArguments::CutOff(input.as_str().into()) } else { RawArguments::Encoded(input.as_str().into()) }
}

/// The free text of arguments.
pub(super) fn said_freely(arguments: &JsonText) -> String {
    let input = arguments.member(INPUT).and_then(|input| input.to::<String>().ok());
    input.unwrap_or_else(|| arguments.as_str().to_owned())
}

/// Whether a call with this opaque data went to a custom tool.
pub(super) fn is_custom(opaque: Option<&JsonText>) -> bool {
    let kind = opaque.and_then(|opaque| opaque.member("type")).and_then(|kind| kind.to::<String>().ok());
    matches!(kind.as_deref(), Some("custom" | "custom_tool_call"))
}
