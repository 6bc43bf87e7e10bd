//! Definitions with their fields side by side: MCP, Anthropic, OpenAI Responses, xbot, and Toolyard's own.

use serde_json::{Map, Value};

use super::{DefinitionError, name_of, schema, text_of};
use crate::tool::description::{DeclaredText, LocalText, ToolText};
use crate::tool::{ToolAnnotation, ToolIcon, ToolSpec};

/// Fields that stay in the metadata: facts of the definition that decide nothing here.
const KEPT: [&str; 5] = ["_meta", "behavior", "execution", "strict", "version"];

/// OpenAI's chat completions: the definition is under `function`.
pub(super) fn wrapped(outer: &Map<String, Value>, function: &Map<String, Value>) -> Result<ToolSpec, DefinitionError> {
    let has_schema = function.keys().any(|key| key == "parameters" || key.to_ascii_lowercase().contains("schema"));
    let misplaced = if outer.contains_key("parameters") { Some("parameters") } else { schema::unknown_schema(outer) };
    if let (false, Some(key)) = (has_schema, misplaced) {
        return Err(DefinitionError::UnknownKey(key.to_owned()));
    }
    let mut spec = definition(function)?;
    if let (Some(strict), false) = (outer.get("strict"), spec.metadata.contains_key("strict")) {
        spec.metadata.insert("strict".to_owned(), strict.clone());
    }
    Ok(spec)
}

/// Bedrock: the schema stands under `json`, one level deeper than elsewhere.
pub(super) fn bedrock(spec: &Map<String, Value>) -> Result<ToolSpec, DefinitionError> {
    let mut plain = spec.clone();
    if let Some(Value::Object(schema)) = spec.get("inputSchema") {
        let Some(json) = schema.get("json").filter(|_| schema.len() == 1) else {
            return Err(DefinitionError::Field {
                key: "inputSchema",
                expected: "an object with the schema under `json`",
            });
        };
        plain.insert("inputSchema".to_owned(), json.clone());
    }
    definition(&plain)
}

/// A definition with its fields side by side.
pub(super) fn definition(fields: &Map<String, Value>) -> Result<ToolSpec, DefinitionError> {
    let name = name_of(fields)?;
    let parameters = schema::arguments(fields)?;
    let mut spec = ToolSpec::new(name, "").with_text(text(name, fields, &parameters)?).with_parameters(parameters);
    spec.output_schema = schema::output(fields)?;
    spec.title = Some(text_of(fields, "title")?).filter(|title| !title.trim().is_empty()).map(str::to_owned);
    spec.titles = local_text(fields.get("titles"));
    spec.summaries = local_text(fields.get("summaries"));
    spec.icons = fields.get("icons").and_then(Value::as_array).into_iter().flatten().filter_map(icon).collect();
    spec.annotation = annotation(fields);
    for key in KEPT {
        if let Some(value) = fields.get(key).filter(|value| !value.is_null()) {
            spec.metadata.insert(key.to_owned(), value.clone());
        }
    }
    Ok(spec)
}

fn text(name: &str, fields: &Map<String, Value>, parameters: &Value) -> Result<ToolText, DefinitionError> {
    let description = text_of(fields, "description")?;
    let brief = text_of(fields, "brief_description")?;
    let detailed = text_of(fields, "detailed_description")?;
    if !detailed.trim().is_empty() {
        let declared = DeclaredText { name, brief_description: brief, description, detailed_description: detailed };
        return Ok(ToolText::declared(&declared, parameters));
    }
    let summary = [brief, text_of(fields, "summary")?].into_iter().find(|text| !text.trim().is_empty());
    if description.trim().is_empty() {
        return Ok(ToolText::layered(None, summary.unwrap_or_default()));
    }
    Ok(ToolText::layered(summary, description))
}

fn local_text(value: Option<&Value>) -> LocalText {
    value.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
}

/// An icon with an address; without one there is nothing to show.
fn icon(icon: &Value) -> Option<ToolIcon> {
    let text = |key: &str| icon.get(key).and_then(Value::as_str).map(str::to_owned);
    let sizes = match icon.get("sizes") {
        Some(Value::String(size)) => vec![size.clone()],
        Some(Value::Array(sizes)) => sizes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    Some(ToolIcon { src: text("src")?, mime_type: text("mimeType").or_else(|| text("mime_type")), sizes })
}

/// MCP's annotations, or those of a tool that Toolyard lists.
fn annotation(fields: &Map<String, Value>) -> Option<ToolAnnotation> {
    if let Some(own) = fields.get("annotation") {
        return serde_json::from_value(own.clone()).ok();
    }
    let annotations = fields.get("annotations")?.as_object()?;
    let mut read = ToolAnnotation::default();
    for (key, value) in annotations {
        match (key.as_str(), value) {
            ("title", Value::String(title)) => read.title = Some(title.clone()),
            ("readOnlyHint", Value::Bool(hint)) => read.read_only_hint = Some(*hint),
            ("destructiveHint", Value::Bool(hint)) => read.destructive_hint = Some(*hint),
            ("idempotentHint", Value::Bool(hint)) => read.idempotent_hint = Some(*hint),
            ("openWorldHint", Value::Bool(hint)) => read.open_world_hint = Some(*hint),
            ("priority", Value::Number(priority)) => read.priority = priority.as_f64(),
            ("audience", Value::Array(audience)) => {
                read.audience = audience.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            }
            _ => {
                read.metadata.insert(key.clone(), value.clone());
            }
        }
    }
    Some(read)
}
