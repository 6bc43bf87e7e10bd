//! `tools/list`: the registry's tools, out of its snapshot. No provider is asked.

use toolyard::{DefinitionForm, JsonText, ListedTool};

use super::Shared;
use super::held::Outcome;
use super::message::Request;
use super::page;
use super::peer::Peer;

/// One page of the tools that the client may see, sorted by name.
pub(super) fn list(shared: &Shared, request: &Request, peer: &Peer) -> Outcome {
    let after = page::after(request)?;
    let tools = shared.registry.list_tools(&peer.context);
    let start = after.map_or(0, |after| tools.partition_point(|tool| *tool.model_name <= *after));
    let rest = tools.get(start..).unwrap_or_default();
    let shown = rest.get(..shared.config.page_size).unwrap_or(rest);
    let last = shown.last().filter(|_| shown.len() < rest.len()).map(|tool| &*tool.model_name);
    let definitions = shown.iter().map(|tool| definition(tool, peer)).collect();
    Ok(page::page("tools", definitions, last, peer))
}

/// The definition: as the tool's own server gave it where there is one, but for the name.
fn definition(tool: &ListedTool, peer: &Peer) -> JsonText {
    let native = tool.spec.native.as_ref().and_then(JsonText::members);
    let members = native.or_else(|| made(tool).members()).unwrap_or_default();
    // Clients of the older revisions lose the whole list over an output schema that is no object's.
    let outputs_object =
        tool.spec.output_schema.as_ref().is_none_or(|schema| schema.get("type") == Some(&"object".into()));
    let name = JsonText::string(&tool.given_name);
    let kept = members.iter().filter(|(key, _)| key != "outputSchema" || outputs_object || peer.is_modern());
    let renamed = kept.map(|(key, value)| (key.as_str(), if key == "name" { name.clone() } else { value.clone() }));
    JsonText::object(renamed)
}

fn made(tool: &ListedTool) -> JsonText {
    let defined = DefinitionForm::Mcp.define(std::slice::from_ref(tool), None).document;
    let mut members = defined.get(0).map(JsonText::from).and_then(|made| made.members()).unwrap_or_default();
    if let Some(annotation) = &tool.spec.annotation {
        let hints = [
            ("readOnlyHint", annotation.read_only_hint),
            ("destructiveHint", annotation.destructive_hint),
            ("idempotentHint", annotation.idempotent_hint),
            ("openWorldHint", annotation.open_world_hint),
        ];
        let hints = hints.into_iter().filter_map(|(key, hint)| Some((key, JsonText::boolean(hint?))));
        let title = annotation.title.as_deref().map(|title| ("title", JsonText::string(title)));
        members.push(("annotations".to_owned(), JsonText::object(title.into_iter().chain(hints))));
    }
    if let Some(meta) = tool.spec.metadata.get("_meta") {
        members.push(("_meta".to_owned(), JsonText::from(meta)));
    }
    JsonText::object(members.iter().map(|(key, value)| (key.as_str(), value.clone())))
}
