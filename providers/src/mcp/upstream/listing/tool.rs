//! One tool, from the text that its server sent to a ToolSpec.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolyard::{Effect, JsonText, RejectedTool, ToolAnnotation, ToolIcon, ToolSpec, ToolWarning, Visibility};

use super::{Listing, Rules};
use crate::mcp::upstream::mirror;

/// Characters of a name that are shown where there is something wrong with its tool.
const SHOWN: usize = 100;

/// The name of a tool of which nothing else may be readable.
pub(super) fn name_of(declared: &JsonText) -> String {
    declared.member("name").and_then(|name| name.text()).unwrap_or_default()
}

/// Reads one tool into the listing: among the tools, or among those that are left out.
pub(super) fn read(raw: &RawValue, rules: Rules, listing: &mut Listing) {
    let members: Result<HashMap<String, &RawValue>, _> = serde_json::from_str(raw.get());
    let Ok(members) = members else {
        return listing.reject(String::new(), "it is no object".to_owned());
    };
    let Some(name) = text(&members, "name").filter(|name| !name.trim().is_empty()) else {
        return listing.reject(String::new(), "it has no name".to_owned());
    };
    let schema = match members.get("inputSchema").map(|schema| serde_json::from_str(schema.get())) {
        Some(Ok(schema @ Value::Object(_))) => schema,
        Some(Ok(_)) => return listing.reject(name, "its inputSchema is no object".to_owned()),
        Some(Err(error)) => return listing.reject(name, format!("its inputSchema cannot be read: {error}")),
        None => return listing.reject(name, "it has no inputSchema".to_owned()),
    };
    if rules.mirrors_arguments
        && let Err(reason) = mirror::check(&schema)
    {
        return listing.reject(name, reason);
    }
    let output_schema = match value(&members, "outputSchema") {
        None | Some(Value::Object(_)) => value(&members, "outputSchema"),
        Some(_) => {
            listing.warn(&name, "its outputSchema is no object and is not used");
            None
        }
    };
    let mut spec = ToolSpec::new(name, text(&members, "description").unwrap_or_default()).with_parameters(schema);
    spec.title = text(&members, "title");
    spec.output_schema = output_schema;
    spec.icons = value(&members, "icons")
        .as_ref()
        .and_then(Value::as_array)
        .map(|icons| icons.iter().map(icon).collect())
        .unwrap_or_default();
    spec.annotation = value(&members, "annotations").as_ref().and_then(Value::as_object).map(annotation);
    // What a server says of who may see a tool is kept, and decides nothing.
    spec.visibility = Some(Visibility::Deferred);
    if let Some(meta) = value(&members, "_meta") {
        spec.metadata.insert("_meta".to_owned(), meta);
    }
    spec.flags.untrusted = !rules.trusted;
    if rules.trusted && spec.annotation.as_ref().is_some_and(|annotation| annotation.read_only_hint == Some(true)) {
        spec.effect = Some(Effect::Read);
    }
    spec.native = Some(JsonText::from(raw));
    listing.tools.push(spec);
}

fn icon(icon: &Value) -> ToolIcon {
    let sizes = icon.get("sizes").and_then(Value::as_array);
    let text = |key: &str| icon.get(key).and_then(Value::as_str).map(str::to_owned);
    ToolIcon {
        src: text("src").unwrap_or_default(),
        mime_type: text("mimeType"),
        sizes: sizes
            .map(|sizes| sizes.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            .unwrap_or_default(),
    }
}

fn annotation(annotations: &Map<String, Value>) -> ToolAnnotation {
    const KNOWN: [&str; 5] = ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    let hint = |key: &str| annotations.get(key).and_then(Value::as_bool);
    let others = annotations.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str()));
    ToolAnnotation {
        title: annotations.get("title").and_then(Value::as_str).map(str::to_owned),
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
        metadata: others.map(|(key, value)| (key.clone(), value.clone())).collect(),
        ..ToolAnnotation::default()
    }
}

fn text(members: &HashMap<String, &RawValue>, key: &str) -> Option<String> {
    JsonText::from(*members.get(key)?).text()
}

/// A member's value; nothing where it is absent, `null` or too deep.
fn value(members: &HashMap<String, &RawValue>, key: &str) -> Option<Value> {
    serde_json::from_str(members.get(key)?.get()).ok().filter(|value: &Value| !value.is_null())
}

// === impl Listing ===

impl Listing {
    pub(super) fn reject(&mut self, name: String, reason: String) {
        let name = if name.is_empty() { "(no name)".to_owned() } else { name.chars().take(SHOWN).collect() };
        self.remarks.rejected.push(RejectedTool { name, reason });
    }

    fn warn(&mut self, name: &str, message: &str) {
        let name = name.chars().take(SHOWN).collect();
        self.remarks.warnings.push(ToolWarning { name, message: message.to_owned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(tools: &[&str], trusted: bool) -> Listing {
        let mut listing = Listing::default();
        for tool in tools {
            read(serde_json::from_str(tool).unwrap(), Rules { trusted, ..Rules::default() }, &mut listing);
        }
        listing
    }

    #[test]
    fn a_bad_tool_is_left_out_with_its_reason_and_costs_no_other() {
        let deep = format!(r#"{{"name":"deep","inputSchema":{{"a":{}1{}}}}}"#, "[".repeat(200), "]".repeat(200));
        let tools = [
            "7",
            r#"{"inputSchema":{}}"#,
            r#"{"name":"none"}"#,
            r#"{"name":"boolean","inputSchema":true}"#,
            &deep,
            r#"{"name":"good","inputSchema":{"type":"object"},"outputSchema":true}"#,
        ];
        let listing = read_all(&tools, false);
        let names: Vec<&str> = listing.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["good"]);
        let rejected: Vec<&str> = listing.remarks.rejected.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(rejected, ["(no name)", "(no name)", "none", "boolean", "deep"]);
        assert_eq!(listing.remarks.warnings[0].name, "good");
    }

    #[test]
    fn a_tool_keeps_its_own_text_whatever_is_in_it() {
        let raw = r#"{"name":"a", "inputSchema":{"type":"object","x-max":123456789012345678901234567890},"x-unknown":[1],"execution":{"taskSupport":"optional"}}"#;
        assert_eq!(read_all(&[raw], false).tools[0].native.as_ref().unwrap().as_str(), raw);
    }

    #[test]
    fn hints_decide_only_where_the_server_is_trusted() {
        let raw = r#"{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":true,"x":1},"_meta":{"visibility":"visible"}}"#;
        let (untrusted, trusted) = (read_all(&[raw], false), read_all(&[raw], true));
        let (untrusted, trusted) = (&untrusted.tools[0], &trusted.tools[0]);
        assert_eq!((untrusted.effect, untrusted.flags.untrusted), (None, true));
        assert_eq!((trusted.effect, trusted.flags.untrusted), (Some(Effect::Read), false));
        let annotation = untrusted.annotation.as_ref().unwrap();
        assert_eq!((annotation.read_only_hint, annotation.destructive_hint), (Some(true), None));
        assert_eq!(annotation.metadata["x"], 1);
        assert_eq!(untrusted.metadata["_meta"]["visibility"], "visible", "kept");
        assert_eq!(
            (untrusted.visibility, trusted.visibility),
            (Some(Visibility::Deferred), Some(Visibility::Deferred))
        );
    }
}
