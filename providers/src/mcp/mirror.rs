//! Mirrors: arguments that are repeated in `Mcp-Param-*` headers, as a tool's schema asks for it (`x-mcp-header`, 2026-07-28).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use toolyard::JsonText;

const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "Mcp-Param-";

/// The mirrors of a server's tools, by tool.
pub(super) type Mirrors = HashMap<Arc<str>, Vec<Mirror>>;

/// An argument and the header that repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mirror {
    path: Vec<String>,
    header: String,
}

/// The mirrors that a schema asks for.
///
/// # Errors
/// What is wrong with one of them; the tool cannot be called in the way that it asks for.
pub(super) fn read(schema: &Value) -> Result<Vec<Mirror>, String> {
    let mut found = Vec::new();
    walk(schema, &mut Some(Vec::new()), &mut found)?;
    let mut seen = HashSet::new();
    match found.iter().find(|mirror: &&Mirror| !seen.insert(mirror.header.to_ascii_lowercase())) {
        Some(twice) => Err(format!("it asks for the header `{}` twice in `{ANNOTATION}`", twice.header)),
        None => Ok(found),
    }
}

/// The headers of a call with these arguments.
pub(super) fn headers(mirrors: &[Mirror], arguments: &JsonText) -> Vec<(String, String)> {
    let said = |mirror: &Mirror| {
        let mut keys = mirror.path.iter();
        let first = arguments.member(keys.next()?)?;
        let value = keys.try_fold(first, |value, key| value.member(key))?;
        let text = value.text().unwrap_or_else(|| value.as_str().to_owned());
        (value != JsonText::null()).then(|| (format!("{PREFIX}{}", mirror.header), text))
    };
    mirrors.iter().filter_map(said).collect()
}

/// Walks a schema; `path` leads to it along `properties` alone, if it can be reached so. Schemas are no deeper than they
/// could be read.
fn walk(schema: &Value, path: &mut Option<Vec<String>>, found: &mut Vec<Mirror>) -> Result<(), String> {
    let members = match schema {
        Value::Object(members) => members,
        Value::Array(items) => return items.iter().try_for_each(|item| walk(item, &mut None, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok(()),
    };
    for (word, value) in members {
        match (word.as_str(), value) {
            (ANNOTATION, header) => found.push(mirror(members, header, path.as_deref())?),
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    let mut inner = path.as_ref().map(|path| [path.as_slice(), std::slice::from_ref(name)].concat());
                    walk(property, &mut inner, found)?;
                }
            }
            ("$defs" | "definitions" | "dependentSchemas" | "patternProperties", Value::Object(schemas)) => {
                schemas.values().try_for_each(|schema| walk(schema, &mut None, found))?;
            }
            // These hold data and names, and no schemas.
            ("default" | "const" | "enum" | "examples" | "dependentRequired", _) => {}
            (_, value) => walk(value, &mut None, found)?,
        }
    }
    Ok(())
}

fn mirror(schema: &Map<String, Value>, header: &Value, path: Option<&[String]>) -> Result<Mirror, String> {
    let wrong = |why: &str| Err(format!("its `{ANNOTATION}` {why}"));
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return wrong("stands where no single argument can be meant");
    };
    let Some(header) = header.as_str().filter(|header| !header.is_empty() && header.bytes().all(is_token)) else {
        return wrong("is no name of a header");
    };
    if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        return wrong("is asked for an argument that is no string, integer or boolean");
    }
    Ok(Mirror { path: path.to_vec(), header: header.to_owned() })
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_repeated_as_the_schema_asks() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "in": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "on": {"type": "boolean", "x-mcp-header": "On"}, "off": {"type": "boolean", "x-mcp-header": "Off"},
            "data": {"default": {"x-mcp-header": 7}}
        }});
        let mirrors = read(&schema).unwrap();
        let arguments = r#"{"region":"äß","in":{"n":123456789012345678901234567890},"on":true,"off":null}"#;
        let expected = [("Region", "äß"), ("N", "123456789012345678901234567890"), ("On", "true")];
        let expected = expected.map(|(name, value)| (format!("Mcp-Param-{name}"), value.to_owned()));
        assert_eq!(headers(&mirrors, &JsonText::parse(arguments).unwrap()), expected);
    }

    #[test]
    fn what_cannot_be_repeated_is_said() {
        for (schema, said) in [
            (json!({"x-mcp-header": "A"}), "no single argument"),
            (json!({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}), "no name"),
            (json!({"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}), "no name"),
            (json!({"properties": {"a": {"type": "string", "x-mcp-header": 7}}}), "no name"),
            (json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}), "no string"),
            (json!({"properties": {"a": {"items": {"type": "string", "x-mcp-header": "A"}}}}), "no single argument"),
            (json!({"$defs": {"d": {"type": "string", "x-mcp-header": "A"}}}), "no single argument"),
            (
                json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}}),
                "twice",
            ),
        ] {
            let error = read(&schema).unwrap_err();
            assert!(error.contains(said), "{schema}: {error}");
        }
    }
}
