//! Mirror: arguments that HTTP requests of revision 2026-07-28 say in their headers too (`x-mcp-header`).

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolyard::JsonText;

const KEYWORD: &str = "x-mcp-header";

/// Looks whether the headers that a tool's schema asks for can be made.
///
/// # Errors
/// What is wrong with them.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    if is_elsewhere(schema, false) {
        return Err(format!("`{KEYWORD}` stands where no argument of its own is"));
    }
    let mut seen = HashSet::new();
    walk(schema, &mut Vec::new(), &mut |path, property, header| {
        let place = path.join(".");
        let Some(header) = header.as_str().filter(|header| !header.is_empty() && header.bytes().all(is_token)) else {
            return Err(format!("`{KEYWORD}` of `{place}` is no name of a header"));
        };
        if !seen.insert(header.to_ascii_lowercase()) {
            return Err(format!("`{KEYWORD}` of `{place}` is another argument's already"));
        }
        match property.get("type").and_then(Value::as_str) {
            Some("string" | "integer" | "boolean") => Ok(()),
            _ => Err(format!("`{KEYWORD}` of `{place}` needs a string, an integer or a boolean")),
        }
    })
}

/// The headers of a call, by their names after `Mcp-Param-`, with the values of their arguments as text.
pub(super) fn headers(schema: &Value, arguments: &JsonText) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    let walked = walk(schema, &mut Vec::new(), &mut |path, _property, header| {
        let value = path.iter().try_fold(arguments.clone(), |value, key| value.member(key));
        let text = value.and_then(|value| match value.as_str().as_bytes().first() {
            Some(b'{' | b'[' | b'n') | None => None,
            Some(b'"') => value.text(),
            Some(_) => Some(value.as_str().to_owned()),
        });
        headers.extend(header.as_str().map(str::to_owned).zip(text));
        Ok(())
    });
    debug_assert!(walked.is_ok(), "nothing is refused");
    headers
}

type Visit<'v, 'a> = dyn FnMut(&[&'a str], &'a Map<String, Value>, &'a Value) -> Result<(), String> + 'v;

/// Visits every argument that has a header, nested ones included.
fn walk<'a>(schema: &'a Value, path: &mut Vec<&'a str>, visit: &mut Visit<'_, 'a>) -> Result<(), String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name);
        if let Some(property) = property.as_object()
            && let Some(header) = property.get(KEYWORD)
        {
            visit(path, property, header)?;
        }
        walk(property, path, visit)?;
        path.pop();
    }
    Ok(())
}

/// Whether the keyword stands anywhere but at a property that is reached through `properties` alone.
fn is_elsewhere(schema: &Value, is_property: bool) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    schema.iter().any(|(key, value)| match (key.as_str(), value) {
        (KEYWORD, _) => !is_property,
        ("properties", Value::Object(properties)) => properties.values().any(|value| is_elsewhere(value, true)),
        // Here are values and names, and no schemas.
        ("default" | "const" | "enum" | "examples" | "dependentRequired", _) => false,
        (_, value) => holds(value),
    })
}

/// Whether the keyword stands anywhere in it.
fn holds(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, value)| key == KEYWORD || holds(value)),
        Value::Array(items) => items.iter().any(holds),
        _ => false,
    }
}

/// A character of an HTTP token (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_with_a_header_are_found_and_keep_their_digits() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "where": {"type": "object", "properties": {"id": {"type": "integer", "x-mcp-header": "Id"}}},
            "absent": {"type": "boolean", "x-mcp-header": "Absent"},
            "plain": {"type": "string"}
        }});
        check(&schema).unwrap();
        let arguments =
            JsonText::parse(r#"{"where":{"id":123456789012345678901234567890},"region":"北","plain":"x"}"#).unwrap();
        let expected = [("Region", "北"), ("Id", "123456789012345678901234567890")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(headers(&schema, &arguments), expected);
    }

    #[test]
    fn headers_that_cannot_be_made_are_refused() {
        let one = |property: Value| json!({"properties": {"a": property}});
        for schema in [
            one(json!({"type": "string", "x-mcp-header": ""})),
            one(json!({"type": "string", "x-mcp-header": "a b"})),
            one(json!({"type": "string", "x-mcp-header": 7})),
            one(json!({"type": "number", "x-mcp-header": "A"})),
            one(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"x-mcp-header": "A"}),
            json!({"anyOf": [one(json!({"type": "string", "x-mcp-header": "A"}))]}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}}),
        ] {
            assert!(check(&schema).is_err(), "{schema}");
        }
        check(&one(json!({"type": "string", "default": {"x-mcp-header": "A"}}))).unwrap();
    }
}
