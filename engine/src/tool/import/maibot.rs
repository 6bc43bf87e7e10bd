//! MaiBot's form: a component with everything that the decorator recorded in `metadata`.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{DefinitionError, name_of, schema, text_of};
use crate::tool::ToolSpec;
use crate::tool::description::{DeclaredText, PARAMETER_HEADING, ToolText};
use crate::tool::legacy_action::legacy_action;
use crate::tool::parameter::parameters_schema;

/// Fields that become fields of the tool; all others stay in its metadata.
const CONSUMED: [&str; 8] = [
    "brief_description",
    "description",
    "detailed_description",
    "enabled",
    "metadata",
    "parameters",
    "parameters_raw",
    "timeout_ms",
];
/// Fields of the component that matter where the decorator's own are absent.
const COMPONENT_FIELDS: [&str; 4] = ["allowed_session", "chat_scope", "platforms", "plugin_id"];

/// The metadata of a definition, if it is a component.
pub(super) fn metadata(fields: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let metadata = fields.get("metadata")?.as_object()?;
    let is_component = kind(fields).is_some()
        || ["handler_name", "invoke_method", "parameters_raw"].into_iter().any(|key| metadata.contains_key(key));
    is_component.then_some(metadata)
}

/// A component that is a tool or an old action.
pub(super) fn definition(
    fields: &Map<String, Value>,
    metadata: &Map<String, Value>,
) -> Result<ToolSpec, DefinitionError> {
    let name = name_of(fields)?;
    let mut spec = match kind(fields).map(|kind| kind.to_ascii_uppercase()).as_deref() {
        None | Some("TOOL") => tool(name, &flattened(metadata))?,
        Some("ACTION") => legacy_action(name, &flattened(metadata)),
        Some(other) => return Err(DefinitionError::NotFunction(other.to_owned())),
    };
    for key in COMPONENT_FIELDS {
        if let Some(value) = fields.get(key).filter(|value| !says_nothing(value)) {
            let kept = spec.metadata.entry(key).or_insert(Value::Null);
            if says_nothing(kept) {
                *kept = value.clone();
            }
        }
    }
    Ok(spec)
}

fn tool(name: &str, metadata: &Map<String, Value>) -> Result<ToolSpec, DefinitionError> {
    let parameters = arguments(metadata)?;
    let is_action = metadata.get("legacy_action") == Some(&Value::Bool(true));
    let detailed = text_of(metadata, "detailed_description")?;
    let text = DeclaredText {
        name,
        brief_description: text_of(metadata, "brief_description")?,
        description: text_of(metadata, "description")?,
        // That of an old action is all made by the SDK.
        detailed_description: if is_action { "" } else { author_part(detailed.trim()) },
    };
    let mut spec =
        ToolSpec::new(name, "").with_text(ToolText::declared(&text, &parameters)).with_parameters(parameters);
    spec.enabled = metadata.get("enabled").and_then(Value::as_bool).unwrap_or(true);
    spec.timeout = timeout(metadata)?;
    spec.output_schema = schema::output(metadata)?;
    spec.metadata = metadata.iter().filter(|(key, _)| !CONSUMED.contains(&key.as_str())).map(clone_field).collect();
    Ok(spec)
}

fn kind(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("type").or_else(|| fields.get("component_type")).and_then(Value::as_str)
}

/// Old SDKs put what the author gave beyond the declared fields one level deeper.
fn flattened(metadata: &Map<String, Value>) -> Map<String, Value> {
    let mut flat = metadata.clone();
    if let Some(Value::Object(nested)) = flat.shift_remove("metadata") {
        for (key, value) in nested {
            flat.entry(key).or_insert(value);
        }
    }
    flat
}

fn arguments(metadata: &Map<String, Value>) -> Result<Value, DefinitionError> {
    for key in ["parameters_raw", "parameters"] {
        if let Some(declared) = metadata.get(key).filter(|declared| !is_empty(declared)) {
            return parameters_schema(declared).map_err(|reason| DefinitionError::Parameters { key, reason });
        }
    }
    let is_declared = ["parameters_raw", "parameters"].into_iter().any(|key| metadata.contains_key(key));
    match schema::unknown_schema(metadata) {
        Some(key) if !is_declared => Err(DefinitionError::UnknownKey(key.to_owned())),
        _ => Ok(json!({"type": "object", "properties": {}})),
    }
}

/// A deadline in milliseconds, written as a number or as text; 0 means none of its own.
fn timeout(metadata: &Map<String, Value>) -> Result<Option<Duration>, DefinitionError> {
    let millis = match metadata.get("timeout_ms") {
        None | Some(Value::Null) => Some(0),
        Some(Value::Number(number)) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    match millis {
        Some(0) => Ok(None),
        Some(millis) => Ok(Some(Duration::from_millis(millis))),
        None => Err(DefinitionError::Field { key: "timeout_ms", expected: "a number of milliseconds, 0 or more" }),
    }
}

/// The whole part of a number of milliseconds, if it is one.
fn whole(millis: f64) -> Option<u64> {
    let span = Duration::try_from_secs_f64(millis / 1000.0).ok()?;
    u64::try_from(span.as_millis()).ok()
}

/// The detailed description without what the SDK has put in front of it, where that says nothing more: the author wrote
/// nothing, or wrote about the parameters as well.
fn author_part(detailed: &str) -> &str {
    if !detailed.starts_with(PARAMETER_HEADING) {
        return detailed;
    }
    let (generated, author) = detailed.split_once("\n\n").unwrap_or((detailed, ""));
    let is_generated = generated.lines().skip(1).all(|line| line.trim().is_empty() || line.starts_with('-'));
    let is_better = author.trim().is_empty() || author.contains(PARAMETER_HEADING);
    if is_generated && is_better { author.trim() } else { detailed }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The values that the runner fills in where the author said nothing.
fn says_nothing(value: &Value) -> bool {
    is_empty(value) || value == "all" || value == ""
}

fn clone_field((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}
