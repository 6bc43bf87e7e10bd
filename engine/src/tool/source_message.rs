//! The parameter by which a model names the message that really asks for a call (seed 002, `needs_source`).

use serde_json::{Map, Value, json};

use crate::call::Locale;

/// The name of that parameter. The host reads it; no tool may declare it.
pub const SOURCE_MESSAGE_PARAMETER: &str = "source_message_id";
/// How many alternatives of a schema are looked into; a reference to itself would have no end.
const MAX_ALTERNATIVES: usize = 1024;
/// How deep alternatives are followed.
const MAX_DEPTH: usize = 16;

/// Why a schema cannot get the parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceMessageError {
    /// The tool declares the parameter itself.
    #[error("`{SOURCE_MESSAGE_PARAMETER}` is reserved for the host; a tool must not declare it")]
    Reserved,
    /// The schema is not an object.
    #[error("the parameters schema must be an object")]
    NotObject,
}

/// Checks that a tool does not declare the reserved parameter, in none of its alternatives.
///
/// # Errors
/// It does.
pub fn check_source_message(schema: &Value) -> Result<(), SourceMessageError> {
    let mut left = MAX_ALTERNATIVES;
    if declares(schema, schema, 0, &mut left) { Err(SourceMessageError::Reserved) } else { Ok(()) }
}

/// The schema with a required parameter `source_message_id`, described in this language.
///
/// Alternatives (`oneOf`, `anyOf`, `allOf`) that allow no further properties let this one through.
///
/// # Errors
/// The schema is not an object, or declares the parameter itself.
pub fn with_source_message(schema: &Value, locale: Locale) -> Result<Value, SourceMessageError> {
    check_source_message(schema)?;
    let mut extended = schema.as_object().cloned().ok_or(SourceMessageError::NotObject)?;
    let mut left = MAX_ALTERNATIVES;
    admit(&mut extended, schema, 0, &mut left);
    if let Some(target) = extended.get("$ref").and_then(Value::as_str) {
        // A keyword of the referenced schema cannot be reached by one beside the reference.
        let target = resolved(schema, target).and_then(Value::as_object).cloned().unwrap_or_default();
        extended.shift_remove("$ref");
        for (keyword, value) in target {
            extended.entry(keyword).or_insert(value);
        }
        admit(&mut extended, schema, 0, &mut left);
    }
    let parameter = json!({"type": "string", "minLength": 1, "description": description(locale)});
    extended.entry("type").or_insert_with(|| json!("object"));
    let properties = extended.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(SOURCE_MESSAGE_PARAMETER.to_owned(), parameter);
    }
    let required = extended.get("required").and_then(Value::as_array);
    let mut required: Vec<String> =
        required.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    required.push(SOURCE_MESSAGE_PARAMETER.to_owned());
    required.sort_unstable();
    extended.insert("required".to_owned(), json!(required));
    Ok(Value::Object(extended))
}

fn description(locale: Locale) -> &'static str {
    match locale {
        Locale::En => {
            "Id of the message that really asks for this: one of the messages received in this turn, never one of your own."
        }
        Locale::Zh => "真正提出这项请求的消息的 ID：从本轮收到的消息中选出，不能是你自己发的消息。",
    }
}

/// Whether the schema or one of its alternatives has the property.
fn declares(schema: &Value, root: &Value, depth: usize, left: &mut usize) -> bool {
    if depth > MAX_DEPTH || *left == 0 {
        return false;
    }
    *left -= 1;
    let listed = schema.get("required").and_then(Value::as_array);
    if schema.get("properties").and_then(|map| map.get(SOURCE_MESSAGE_PARAMETER)).is_some()
        || listed.is_some_and(|names| names.iter().any(|name| name == SOURCE_MESSAGE_PARAMETER))
    {
        return true;
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| resolved(root, target));
    let alternatives = ["oneOf", "anyOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    alternatives.chain(target).any(|schema| declares(schema, root, depth + 1, left))
}

/// Makes alternatives that are closed let the property through. A referenced one is copied, because others may use it.
fn admit(schema: &mut Map<String, Value>, root: &Value, depth: usize, left: &mut usize) {
    for key in ["oneOf", "anyOf", "allOf"] {
        let Some(alternatives) = schema.get_mut(key).and_then(Value::as_array_mut) else { continue };
        for alternative in alternatives {
            if depth > MAX_DEPTH || *left == 0 {
                return;
            }
            *left -= 1;
            let target = alternative.get("$ref").and_then(Value::as_str).and_then(|target| resolved(root, target));
            if let Some(target) = target.cloned() {
                *alternative = target;
            }
            let Some(alternative) = alternative.as_object_mut() else { continue };
            admit(alternative, root, depth + 1, left);
            let is_closed = ["additionalProperties", "unevaluatedProperties"]
                .into_iter()
                .any(|key| alternative.get(key).is_some_and(|value| *value != Value::Bool(true)));
            if is_closed {
                let properties = alternative.entry("properties").or_insert_with(|| json!({}));
                if let Some(properties) = properties.as_object_mut() {
                    properties.insert(SOURCE_MESSAGE_PARAMETER.to_owned(), json!(true));
                }
            }
        }
    }
}

/// The schema that a reference within the same document names.
fn resolved<'a>(root: &'a Value, target: &str) -> Option<&'a Value> {
    root.pointer(target.strip_prefix('#')?)
}

#[cfg(test)]
mod tests;
