//! OpenAI's custom tools: they take free text, which is their one argument `input` here.

use std::borrow::Cow;

use crate::call::RawArguments;
use crate::json::JsonText;
use crate::json::outline::{Node, Outline};
use crate::json::write::JsonWriter;

/// The one parameter of a tool that takes free text.
pub(super) const INPUT: &str = "input";

/// Free text as arguments.
pub(super) fn free_text(text: &str, cut_off: bool) -> RawArguments {
    let input = JsonWriter::default().object(|input| input.text(INPUT, text));
    if cut_off { RawArguments::CutOff(input.into()) } else { RawArguments::Encoded(input.into()) }
}

/// The free text of arguments.
pub(super) fn said_freely(arguments: &JsonText) -> String {
    let outline = Outline::of(arguments.as_str());
    let input = outline.root().get(INPUT).and_then(Node::text);
    input.map_or_else(|| arguments.as_str().to_owned(), Cow::into_owned)
}

/// Whether a call with this opaque data went to a custom tool.
pub(super) fn is_custom(opaque: Option<&JsonText>) -> bool {
    opaque.is_some_and(|opaque| {
        let outline = Outline::of(opaque.as_str());
        let kind = outline.root().get("type").and_then(Node::text);
        matches!(kind.as_deref(), Some("custom" | "custom_tool_call"))
    })
}
