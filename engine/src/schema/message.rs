//! A validation error as a place and a sentence about what was expected there.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use crate::json::pointer_to;

/// Forms of a choice that one sentence tells of.
const MAX_FORMS: usize = 6;
/// Allowed properties that one sentence names.
const MAX_ALLOWED: usize = 40;

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
        kind => {
            let message = format!("{} {}", subject(&path), expected(kind, error));
            (path, message)
        }
    }
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
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => forms(context),
        Kind::OneOfMultipleValid { .. } => "must fit exactly one of the allowed forms, and fits several".to_owned(),
        Kind::FalseSchema => "must not be given".to_owned(),
        _ => format!("must fit the keyword `{}` of the schema", error.kind().keyword()),
    }
}

/// What each form of a choice misses, when that is short to say.
fn forms(context: &[Vec<ValidationError<'static>>]) -> String {
    let told: Vec<String> = context
        .iter()
        .filter_map(|branch| branch.first())
        .filter(|error| !matches!(error.kind(), Kind::AnyOf { .. } | Kind::OneOfNotValid { .. }))
        .map(|error| describe(error, &Value::Null).1)
        .collect();
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
