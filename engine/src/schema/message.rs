//! A validation error as a place and a sentence about what was expected there.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use crate::json::pointer_to;

/// Forms of a choice that one sentence tells of.
const MAX_FORMS: usize = 6;
/// Allowed properties that one sentence names.
const MAX_ALLOWED: usize = 40;

/// A fault inside one form of a choice.
type Fault = ValidationError<'static>;

/// The JSON pointer of the fault, and what was expected there. Values that were found are never repeated: they may be
/// secrets, and the model wrote them anyway.
///
/// `schema` is the whole schema, where allowed properties are looked up.
pub(super) fn describe(error: &ValidationError<'_>, schema: &Value) -> (String, String) {
    let path = error.instance_path().to_string();
    match error.kind() {
        Kind::Required { property } => {
            let pointer = pointer_to(&path, property.as_str().unwrap_or_default());
            let message = format!("the required property `{pointer}` is missing");
            (pointer, message)
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let pointer = pointer_to(&path, unexpected.first().map_or("", String::as_str));
            let mut message = format!("`{pointer}` is not a property of this tool's arguments");
            let allowed = allowed(error, schema);
            if !allowed.is_empty() {
                message.push_str(&format!("; allowed: {}", allowed.join(", ")));
            }
            (pointer, message)
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => choice(context, path, schema),
        kind => {
            let message = format!("{} {}", subject(&path), expected(kind));
            (path, message)
        }
    }
}

/// A fault in a choice between forms. Told of the one form that was meant, where the others are out of the question: they
/// want another type, or another value of the property that tells the forms apart.
fn choice(context: &[Vec<Fault>], path: String, schema: &Value) -> (String, String) {
    let tags: Vec<&Fault> = context.iter().flatten().filter(|fault| is_tag(fault, &path)).collect();
    let is_out = |fault: &Fault| {
        let at = fault.instance_path().as_str();
        let is_other_value = matches!(fault.kind(), Kind::Constant { .. } | Kind::Enum { .. })
            && tags.iter().any(|tag| tag.instance_path().as_str() == at);
        is_other_value || (at == path && matches!(fault.kind(), Kind::Type { .. }))
    };
    let mut meant = context.iter().filter(|form| !form.iter().any(is_out)).filter_map(|form| form.first());
    match (meant.next(), meant.next()) {
        (Some(fault), None) if context.len() > 1 => describe(fault, schema),
        (None, _) if !tags.is_empty() => values(context, &tags),
        _ => {
            let message = format!("{} {}", subject(&path), forms(context, schema));
            (path, message)
        }
    }
}

/// Whether the fault is the wrong value of a property that tells the forms of the choice at `path` apart.
fn is_tag(fault: &Fault, path: &str) -> bool {
    let below = fault.instance_path().as_str().strip_prefix(path).and_then(|rest| rest.strip_prefix('/'));
    matches!(fault.kind(), Kind::Constant { .. }) && below.is_some_and(|name| !name.contains('/'))
}

/// What the property may be that tells the forms apart, when it is none of them.
fn values(context: &[Vec<Fault>], tags: &[&Fault]) -> (String, String) {
    let path = tags.first().map_or("", |tag| tag.instance_path().as_str());
    let mut values: Vec<String> = Vec::new();
    for fault in context.iter().flatten().filter(|fault| fault.instance_path().as_str() == path) {
        let allowed = match fault.kind() {
            Kind::Constant { expected_value } => expected_value.to_string(),
            Kind::Enum { options } => list(options),
            _ => continue,
        };
        if !values.contains(&allowed) {
            values.push(allowed);
        }
    }
    let number = if values.len() == 1 { "" } else { "one of " };
    (path.to_owned(), format!("{} must be {number}{}", subject(path), values.join(", ")))
}

/// The properties that the schema names at the place of an unexpected one.
fn allowed<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Vec<&'s str> {
    let path = error.schema_path().as_str();
    let owner = path.rsplit_once('/').map_or("", |(owner, _keyword)| owner);
    let properties = schema.pointer(owner).and_then(|owner| owner.get("properties")).and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).take(MAX_ALLOWED).collect()
}

fn subject(path: &str) -> String {
    if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") }
}

fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind: TypeKind::Single(single) } => format!("must be of type {single}"),
        Kind::Type { kind: TypeKind::Multiple(set) } => {
            let names: Vec<String> = set.iter().map(|one| one.to_string()).collect();
            format!("must be of type {}", names.join(" or "))
        }
        Kind::Enum { options } => format!("must be one of {}", list(options)),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} properties"),
        Kind::UniqueItems => "must not have equal items".to_owned(),
        Kind::Pattern { pattern } => format!("must match the pattern {pattern}"),
        Kind::Format { format } => format!("must be a valid {format}"),
        Kind::OneOfMultipleValid { .. } => "must fit exactly one of the allowed forms, and fits several".to_owned(),
        Kind::FalseSchema => "must not be given".to_owned(),
        _ => format!("must fit the keyword `{}` of the schema", kind.keyword()),
    }
}

/// What each form of a choice misses, when that is short to say.
fn forms(context: &[Vec<Fault>], schema: &Value) -> String {
    let mut told: Vec<String> = Vec::new();
    for message in context.iter().filter_map(|form| form.first()).map(|fault| describe(fault, schema).1) {
        if !told.contains(&message) {
            told.push(message);
        }
    }
    if told.is_empty() || told.len() > MAX_FORMS {
        return "must fit one of the allowed forms".to_owned();
    }
    format!("must fit one of the allowed forms ({})", told.join("; or "))
}

fn list(options: &Value) -> String {
    match options.as_array() {
        Some(options) => options.iter().map(Value::to_string).collect::<Vec<_>>().join(", "),
        None => options.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(schema: &Value, value: &Value) -> (String, String) {
        let validator = jsonschema::validator_for(schema).unwrap();
        let error = validator.iter_errors(value).next().unwrap();
        describe(&error, schema)
    }

    /// Two forms that `action` tells apart, as pydantic writes a union with a discriminator.
    fn union() -> Value {
        let optional = json!({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]});
        let info = json!({"action": {"const": "info"}, "aid": optional, "order": {"enum": ["asc", "desc"]}});
        let comments = json!({"action": {"const": "comments"}, "page": {"type": "integer", "maximum": 9}});
        let form = |properties| json!({"type": "object", "properties": properties, "required": ["action"], "additionalProperties": false});
        json!({"properties": {"request": {"oneOf": [form(info), form(comments)]}}})
    }

    #[test]
    fn a_fault_in_a_choice_is_told_of_the_form_that_was_meant() {
        let cases = [
            (json!({"action": "comments", "page": 10}), "/request/page", "`/request/page` must be at most 9"),
            (
                json!({"action": "info", "page": 1}),
                "/request/page",
                "`/request/page` is not a property of this tool's arguments; allowed: action, aid, order",
            ),
            (
                json!({"action": "info", "aid": 1.5}),
                "/request/aid",
                "`/request/aid` must fit one of the allowed forms (`/request/aid` must be of type integer; or \
                 `/request/aid` must be of type null)",
            ),
            (json!({"action": "info", "aid": 0}), "/request/aid", "`/request/aid` must be at least 1"),
            (
                json!({"action": "info", "order": "up"}),
                "/request/order",
                "`/request/order` must be one of \"asc\", \"desc\"",
            ),
            (json!({"action": "other"}), "/request/action", "`/request/action` must be one of \"info\", \"comments\""),
            (
                json!({}),
                "/request",
                "`/request` must fit one of the allowed forms (the required property `/request/action` is missing)",
            ),
        ];
        for (request, pointer, message) in cases {
            assert_eq!(
                told(&union(), &json!({"request": request})),
                (pointer.to_owned(), message.to_owned()),
                "{request}"
            );
        }
    }

    #[test]
    fn a_choice_that_nothing_tells_apart_is_told_whole() {
        let schema = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        let (pointer, message) = told(&schema, &json!({}));
        assert_eq!(pointer, "");
        assert!(message.contains("`/a` is missing; or the required property `/b` is missing"), "{message}");
    }
}
