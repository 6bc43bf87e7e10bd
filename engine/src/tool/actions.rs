//! Tools that do several things: one request a thing, told apart by a field such as `action` (seed 002).

use serde_json::{Map, Value, json};

use super::parameter::{ParameterError, parameters_schema};

/// Why requests cannot be joined in one schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ActionsError {
    /// There is nothing to choose from.
    #[error("there must be at least one action")]
    None,
    /// Two requests have one name.
    #[error("the action `{action}` is declared twice")]
    Repeated {
        /// That name.
        action: String,
    },
    /// A request declares the field that tells the requests apart.
    #[error("the action `{action}` must not declare `{tag}` itself")]
    Tagged {
        /// The request.
        action: String,
        /// The field.
        tag: String,
    },
    /// A request's parameters cannot be used.
    #[error("the action `{action}`: {reason}")]
    Parameters {
        /// The request.
        action: String,
        /// Why.
        reason: ParameterError,
    },
    /// Two requests define different schemas under one name.
    #[error("the action `{action}` defines `{name}` in another way than an action before it")]
    Definition {
        /// The second request.
        action: String,
        /// The name.
        name: String,
    },
}

/// The schema of a request that is one of several actions: `oneOf` with a `discriminator`.
///
/// `tag` is the field whose value names the action. Each action's parameters may have any form that
/// [`parameters_schema`] reads. An action allows no further properties unless its schema says something of them, so that
/// a field of another action is refused.
///
/// # Errors
/// An action's parameters cannot be used, declare `tag`, or contradict another action.
pub fn actions<'a>(tag: &str, requests: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Value, ActionsError> {
    let mut names: Vec<&str> = Vec::new();
    let mut alternatives = Vec::new();
    let mut definitions = Map::new();
    for (action, parameters) in requests {
        if names.contains(&action) {
            return Err(ActionsError::Repeated { action: action.to_owned() });
        }
        names.push(action);
        let broken = |reason| ActionsError::Parameters { action: action.to_owned(), reason };
        let mut schema = match parameters_schema(&parameters).map_err(broken)? {
            Value::Object(schema) => schema,
            other => return Err(broken(ParameterError::Form { found: crate::json::a_kind(&other) })),
        };
        hoist(&mut schema, &mut definitions, action)?;
        alternatives.push(alternative(tag, action, schema)?);
    }
    if alternatives.is_empty() {
        return Err(ActionsError::None);
    }
    let mut joined = json!({"type": "object", "oneOf": alternatives, "discriminator": {"propertyName": tag}});
    if !definitions.is_empty() {
        joined["$defs"] = Value::Object(definitions);
    }
    Ok(joined)
}

/// Names the field that tells the alternatives of a generated schema apart, where there is one and the schema does not
/// name it: a required property that has one value in each alternative and never the same one twice.
pub(crate) fn mark_discriminator(schema: &mut Value) {
    let Some(alternatives) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let Some(tag) = tag_of(alternatives) else { return };
    let Some(fields) = schema.as_object_mut() else { return };
    fields.entry("type").or_insert_with(|| json!("object"));
    fields.entry("discriminator").or_insert_with(|| json!({"propertyName": tag}));
}

/// Moves the definitions of one action to the root, where references look for them.
fn hoist(schema: &mut Map<String, Value>, all: &mut Map<String, Value>, action: &str) -> Result<(), ActionsError> {
    let Some(Value::Object(definitions)) = schema.shift_remove("$defs") else { return Ok(()) };
    for (name, definition) in definitions {
        if all.get(&name).is_some_and(|known| *known != definition) {
            return Err(ActionsError::Definition { action: action.to_owned(), name });
        }
        all.insert(name, definition);
    }
    Ok(())
}

fn alternative(tag: &str, action: &str, mut schema: Map<String, Value>) -> Result<Value, ActionsError> {
    let declared = match schema.get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ => Map::new(),
    };
    if declared.contains_key(tag) {
        return Err(ActionsError::Tagged { action: action.to_owned(), tag: tag.to_owned() });
    }
    let mut properties = Map::new();
    properties.insert(tag.to_owned(), json!({"type": "string", "const": action}));
    properties.extend(declared);
    let listed = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut required: Vec<String> = listed.filter_map(Value::as_str).map(str::to_owned).collect();
    required.push(tag.to_owned());
    required.sort_unstable();
    required.dedup();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), json!(required));
    if !schema.contains_key("unevaluatedProperties") {
        schema.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    Ok(Value::Object(schema))
}

fn tag_of(alternatives: &[Value]) -> Option<String> {
    let first = alternatives.first()?.get("properties")?.as_object()?;
    first.keys().find(|tag| tells_apart(alternatives, tag)).cloned()
}

fn tells_apart(alternatives: &[Value], tag: &str) -> bool {
    let mut seen: Vec<&str> = Vec::new();
    alternatives.iter().all(|alternative| {
        let value = alternative.get("properties").and_then(|map| map.get(tag)?.get("const")?.as_str());
        let required = alternative.get("required").and_then(Value::as_array);
        let is_required = required.is_some_and(|names| names.iter().any(|name| name == tag));
        let is_new = value.is_some_and(|value| !seen.contains(&value));
        seen.extend(value);
        is_required && is_new
    })
}

#[cfg(test)]
mod tests;
