//! A validation error as a place and a sentence about what was expected there.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

/// The JSON pointer of the fault, and what was expected there. Values that were found are never repeated: they may be
/// secrets, and the model wrote them anyway.
pub(super) fn describe(error: &ValidationError<'_>) -> (String, String) {
    let path = error.instance_path().to_string();
    match error.kind() {
        Kind::Required { property } => {
            let pointer = child(&path, property.as_str().unwrap_or_default());
            let message = format!("the required property `{pointer}` is missing");
            (pointer, message)
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let pointer = child(&path, unexpected.first().map_or("", String::as_str));
            let message = format!("`{pointer}` is not a property of this tool's arguments");
            (pointer, message)
        }
        kind => {
            let message = format!("{} {}", subject(&path), expected(kind, error));
            (path, message)
        }
    }
}

fn subject(path: &str) -> String {
    if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") }
}

fn expected(kind: &Kind, error: &ValidationError<'_>) -> String {
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
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "must fit one of the allowed forms".to_owned(),
        Kind::OneOfMultipleValid { .. } => "must fit exactly one of the allowed forms, and fits several".to_owned(),
        Kind::FalseSchema => "must not be given".to_owned(),
        _ => format!("must fit the keyword `{}` of the schema", error.kind().keyword()),
    }
}

fn list(options: &Value) -> String {
    match options.as_array() {
        Some(options) => options.iter().map(Value::to_string).collect::<Vec<_>>().join(", "),
        None => options.to_string(),
    }
}

/// RFC 6901 escapes `~` and `/` inside a segment.
fn child(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}
