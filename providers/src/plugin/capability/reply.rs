//! Brings an answer of the bot backend into the exact form that a plugin's SDK takes apart, or refuses it.
//!
//! The SDK hands a document with `success` but without the expected key to the plugin as it is, and the plugin takes it
//! for a user id or a list of messages. So such an answer goes no further than here.

use toolyard::JsonText;

use super::ask::Refusal;
use super::table::{Capability, Document, Reply, Shape};

type Members = Vec<(String, JsonText)>;

/// The answer in its exact form. Bare values are wrapped; texts are kept, so that numbers keep their digits.
///
/// # Errors
/// `E_CAPABILITY_FAILED` names the missing key, or gives the backend's own reason for a failure.
pub(super) fn normalise(capability: &Capability, answer: JsonText) -> Result<JsonText, Refusal> {
    match capability.reply {
        Reply::Key(key, shape) => keyed(capability.name, key, shape, answer),
        Reply::Done => done(capability.name, &answer),
        Reply::Document(document) => whole(capability.name, document, &answer),
    }
}

/// `{"success": true, key: value}`.
pub(super) fn success(key: &str, value: JsonText) -> JsonText {
    JsonText::object([("success", JsonText::boolean(true)), (key, value)])
}

fn keyed(name: &str, key: &str, shape: Shape, answer: JsonText) -> Result<JsonText, Refusal> {
    let Some(members) = answer.members() else {
        return fitting(name, key, shape, answer).map(|value| success(key, value));
    };
    let succeeded = get(&members, "success");
    if let Some(value) = get(&members, key) {
        fitting(name, key, shape, value.clone())?;
        if succeeded.is_none() {
            return Ok(success(key, value.clone()));
        }
        return if succeeded.is_some_and(is_falsy) && is_null(value) {
            Err(backend_failure(name, &members))
        } else {
            Ok(answer)
        };
    }
    match succeeded {
        Some(succeeded) if is_falsy(succeeded) => Err(backend_failure(name, &members)),
        Some(_) => Err(missing(name, &[key])),
        None => fitting(name, key, shape, answer).map(|value| success(key, value)),
    }
}

fn done(name: &str, answer: &JsonText) -> Result<JsonText, Refusal> {
    let Some(mut members) = answer.members() else {
        return match answer.as_str() {
            "true" | "false" => Ok(JsonText::object([("success", answer.clone()), ("sent", answer.clone())])),
            // The id of the message that was sent.
            text if text.starts_with(|first: char| first == '"' || first.is_ascii_digit()) => {
                let yes = JsonText::boolean(true);
                let members = [("success", yes.clone()), ("sent", yes), ("message_id", answer.clone())];
                Ok(JsonText::object(members))
            }
            _ => Err(missing(name, &["success"])),
        };
    };
    if get(&members, "success").is_some() {
        return Ok(answer.clone());
    }
    let sent = get(&members, "sent").cloned().ok_or_else(|| missing(name, &["success", "sent"]))?;
    members.insert(0, ("success".to_owned(), JsonText::boolean(!is_falsy(&sent))));
    Ok(object(&members))
}

fn whole(name: &str, document: Document, answer: &JsonText) -> Result<JsonText, Refusal> {
    let mut members = match (answer.members(), document.one_of.first()) {
        (Some(members), _) => members,
        (None, Some(_)) if is_null(answer) => return Err(missing(name, document.one_of)),
        (None, Some(key)) => vec![((*key).to_owned(), answer.clone())],
        (None, None) => match answer.as_str() {
            "true" | "false" => vec![("success".to_owned(), answer.clone())],
            _ => return Err(missing(name, &["success"])),
        },
    };
    let failed = get(&members, "success").is_some_and(is_falsy);
    let has_one = document.one_of.iter().any(|key| get(&members, key).is_some_and(|value| !is_null(value)));
    if !failed && !has_one && !document.one_of.is_empty() {
        return Err(missing(name, document.one_of));
    }
    if get(&members, "success").is_none() {
        members.insert(0, ("success".to_owned(), JsonText::boolean(true)));
    }
    for (key, text) in document.filled {
        if get(&members, key).is_none()
            && let Ok(value) = JsonText::parse(text)
        {
            members.push(((*key).to_owned(), value));
        }
    }
    Ok(object(&members))
}

fn fitting(name: &str, key: &str, shape: Shape, value: JsonText) -> Result<JsonText, Refusal> {
    let first = value.as_str().chars().next().unwrap_or(' ');
    let (fits, wanted) = match shape {
        Shape::Any => (true, ""),
        Shape::List => (first == '[', "a list"),
        Shape::Object => (first == '{' || is_null(&value), "an object or null"),
        Shape::Text => (first == '"' || is_null(&value), "text or null"),
        Shape::Number => (first == '-' || first.is_ascii_digit(), "a number"),
    };
    if fits {
        return Ok(value);
    }
    let found = found(first);
    let message = format!("the bot backend answered `{name}` with {found}; it has to be {wanted} under `{key}`");
    Err(Refusal::failed(message))
}

const fn found(first: char) -> &'static str {
    match first {
        '{' => "an object",
        '[' => "a list",
        '"' => "text",
        't' | 'f' => "a boolean",
        'n' => "null",
        _ => "a number",
    }
}

fn missing(name: &str, keys: &[&str]) -> Refusal {
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    Refusal::failed(format!("the bot backend's answer to `{name}` has no {}", keys.join(" or ")))
}

fn backend_failure(name: &str, members: &Members) -> Refusal {
    let reason = ["error", "message", "reason"].iter().find_map(|key| get(members, key)?.to::<String>().ok());
    Refusal::failed(match reason {
        Some(reason) => format!("`{name}` failed: {reason}"),
        None => format!("`{name}` failed, and the bot backend does not say why"),
    })
}

fn get<'a>(members: &'a Members, key: &str) -> Option<&'a JsonText> {
    members.iter().find(|(member, _)| member == key).map(|(_, value)| value)
}

fn is_null(value: &JsonText) -> bool {
    value.as_str() == "null"
}

/// As Python sees it.
fn is_falsy(value: &JsonText) -> bool {
    matches!(value.as_str(), "false" | "null" | "0" | "\"\"" | "[]" | "{}")
}

fn object(members: &Members) -> JsonText {
    JsonText::object(members.iter().map(|(key, value)| (key.as_str(), value.clone())))
}

#[cfg(test)]
mod tests;
