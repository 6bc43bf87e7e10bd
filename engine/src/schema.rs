//! JSON Schema: compiled once when a tool is listed, used for each of its calls.
//!
//! Drafts by `$schema`, 2020-12 where it is absent. Nothing is ever fetched: a reference to the network makes the schema
//! bad, and a bad schema disables only its tool.

mod coerce;
mod cost;
mod draft;
mod effort;
mod message;
mod nulls;
mod optional;
mod output;
mod project;
mod refs;
mod titles;
mod walk;
mod words;

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, ValidationOptions, Validator};
use serde_json::{Map, Value};

use effort::Effort;

use crate::call::{Arguments, CallPolicy, Edits, reread};
use crate::limits::Limits;
use crate::result::{CallError, ErrorCode, Repair};

pub(crate) use output::{OutputFault, OutputSchema};
pub use project::{Loss, Projection, SchemaTarget, project, project_strict, strict_compatible};
pub use titles::strip_titles;
pub use words::{Normalised, normalise};

/// Rounds of coercion: a value that was decoded may hold values to be coerced.
const MAX_ROUNDS: usize = 4;
/// Errors that one refusal tells of.
const MAX_ERRORS_TOLD: usize = 5;
/// Steps back that one search of a pattern may take.
const MAX_BACKTRACKS: usize = 20_000;

/// A compiled schema for the arguments of one tool.
pub struct ArgumentSchema {
    validator: Validator,
    source: Arc<Value>,
    effort: Effort,
    /// Whether it admits a call without arguments, which need not be found out again for each.
    admits_none: bool,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its parameters schema cannot be used: {reason}")]
pub struct SchemaError {
    reason: String,
}

// === impl ArgumentSchema ===

impl ArgumentSchema {
    /// Compiles a schema. Costs some ten microseconds: done when a tool is listed, never for a call.
    ///
    /// # Errors
    /// Says what is wrong with the schema, and where; also when its references multiply beyond any use.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        if !(schema.is_object() || schema.is_boolean()) {
            let reason = format!("it must be an object, not {}", crate::json::a_kind(schema));
            return Err(SchemaError { reason });
        }
        cost::check(schema).map_err(|reason| SchemaError { reason })?;
        let built = options().build(schema).or_else(|error| {
            // Many generators write draft 4's `"exclusiveMinimum": true`, or a list under `items`, whatever draft they name.
            options().build(&draft::modernise(schema)).map_err(|_| error)
        });
        let validator = built.map_err(|error| {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "its root".to_owned() } else { place };
            SchemaError { reason: format!("{} (at {place})", error.masked()) }
        })?;
        let admits_none = validator.is_valid(&Value::Object(Map::new()));
        Ok(Self { validator, source: Arc::new(schema.clone()), effort: Effort::of(schema), admits_none })
    }

    /// Whether a call without arguments fits as it is.
    pub(crate) fn admits_none(&self) -> bool {
        self.admits_none
    }

    /// Checks arguments, and coerces what the policy admits when they do not fit.
    ///
    /// # Errors
    /// As [`ArgumentSchema::check`], for what is left after coercion.
    pub fn admit(
        &self,
        arguments: Arguments,
        policy: &CallPolicy,
        limits: &Limits,
    ) -> Result<(Arguments, Vec<Repair>), CallError> {
        let mut arguments = arguments;
        let mut repairs = Vec::new();
        if policy.drop_empty_optionals {
            let (edits, dropped) = optional::empty(&self.source, arguments.value());
            arguments = edited(arguments, &edits, limits)?;
            repairs.extend(dropped);
        }
        self.check_effort(arguments.value())?;
        for round in 0..MAX_ROUNDS {
            if self.validator.is_valid(arguments.value()) {
                return Ok((arguments, repairs));
            }
            if !self.effort.can_tell(arguments.value()) {
                break;
            }
            let (mut edits, mut made) = coerce::coerce(self.validator.iter_errors(arguments.value()), policy);
            if round == 0 {
                made.extend(optional::null(&self.source, arguments.value(), &mut edits));
            }
            if edits.is_empty() {
                break;
            }
            arguments = edited(arguments, &edits, limits)?;
            repairs.extend(made);
        }
        self.check(&arguments)?;
        Ok((arguments, repairs))
    }

    /// Checks arguments as they are.
    ///
    /// # Errors
    /// Names the first few faults, each with its place as a JSON pointer and what was expected there; never the value that
    /// was found. The error's own pointer is that of the first.
    pub fn check(&self, arguments: &Arguments) -> Result<(), CallError> {
        self.check_effort(arguments.value())?;
        if self.validator.is_valid(arguments.value()) {
            return Ok(());
        }
        if !self.effort.can_tell(arguments.value()) {
            let message =
                "the arguments do not fit the tool's schema; they are too many, or nested too deep, to say where";
            return Err(CallError::new(ErrorCode::ArgumentsSchema, message));
        }
        let errors = self.validator.iter_errors(arguments.value()).take(MAX_ERRORS_TOLD);
        let mut told: Vec<(String, String)> = errors.map(|error| message::describe(&error, &self.source)).collect();
        told.dedup();
        let messages: Vec<&str> = told.iter().map(|(_, message)| message.as_str()).collect();
        match told.first() {
            Some((pointer, _)) => {
                Err(CallError::new(ErrorCode::ArgumentsSchema, messages.join("; ")).at(pointer.clone()))
            }
            // What does not fit is never let through for want of words.
            None => Err(CallError::new(ErrorCode::ArgumentsSchema, "the arguments do not fit the tool's schema")),
        }
    }

    fn check_effort(&self, value: &Value) -> Result<(), CallError> {
        if self.effort.can_check(value) {
            return Ok(());
        }
        let message =
            "the arguments have texts that are too long for the patterns of the tool's schema; give shorter ones";
        Err(CallError::new(ErrorCode::ArgumentsSchema, message))
    }
}

fn edited(arguments: Arguments, edits: &Edits, limits: &Limits) -> Result<Arguments, CallError> {
    match edits.apply(arguments.text()) {
        Some(text) if !edits.is_empty() => reread(text, limits),
        _ => Ok(arguments),
    }
}

/// Nothing is fetched, and a pattern that searches too long fails its call instead of holding a worker up.
fn options() -> ValidationOptions<'static> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS);
    jsonschema::options().offline().with_pattern_options(patterns)
}

impl fmt::Debug for ArgumentSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArgumentSchema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Profile, RawArguments, read_arguments};
    use crate::limits::Limits;
    use serde_json::json;

    fn check(schema: &Value, arguments: &Value) -> Result<(), CallError> {
        let (arguments, _) =
            read_arguments(RawArguments::from(arguments), Profile::Strict, &Limits::default()).unwrap();
        ArgumentSchema::compile(schema).unwrap().check(&arguments)
    }

    #[test]
    fn a_missing_property_is_named_by_its_own_pointer() {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
        let error = check(&schema, &json!({})).unwrap_err();
        assert_eq!(error.pointer.as_deref(), Some("/city"));
        assert!(error.message.contains("required"), "{}", error.message);
    }

    #[test]
    fn the_place_is_found_at_any_depth_and_the_value_stays_out() {
        let schema = json!({"type": "object", "properties": {"a/b": {"type": "array", "items": {"type": "integer"}}}});
        let error = check(&schema, &json!({"a/b": [1, "secret"]})).unwrap_err();
        assert_eq!(error.pointer.as_deref(), Some("/a~1b/1"));
        assert_eq!(error.message, "`/a~1b/1` must be of type integer");
    }

    #[test]
    fn an_unexpected_property_is_named() {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let error = check(&schema, &json!({"x": 1})).unwrap_err();
        assert_eq!(error.pointer.as_deref(), Some("/x"));
    }

    #[test]
    fn bad_schemas_and_references_to_the_network_say_why() {
        for schema in [json!({"type": "strin"}), json!({"$ref": "http://127.0.0.1:1/x.json"}), json!([])] {
            let error = ArgumentSchema::compile(&schema).unwrap_err();
            assert!(error.to_string().contains("schema"), "{error}");
        }
    }

    #[test]
    fn draft_4_bounds_in_a_newer_schema_are_understood() {
        let bound = json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true});
        let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"n": bound}});
        assert!(check(&schema, &json!({"n": 0})).is_err());
        assert!(check(&schema, &json!({"n": 1})).is_ok());
    }

    #[test]
    fn a_list_under_items_means_a_tuple_in_any_draft() {
        let schema =
            json!({"properties": {"t": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}}});
        assert!(check(&schema, &json!({"t": [1, "a"]})).is_ok());
        assert_eq!(check(&schema, &json!({"t": ["a", 1]})).unwrap_err().pointer.as_deref(), Some("/t/0"));
    }

    #[test]
    fn a_schema_that_never_ends_is_refused() {
        for schema in [json!({"$ref": "#"}), json!({"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}})] {
            let error = ArgumentSchema::compile(&schema).unwrap_err();
            assert!(error.to_string().contains("refers to itself"), "{error}");
        }
    }

    #[test]
    fn a_pattern_that_searches_for_ever_fails_its_call_only() {
        let schema = json!({"properties": {"s": {"type": "string", "pattern": "^(?=(a+)+$)b?(a+)+$"}}});
        assert!(check(&schema, &json!({"s": "a".repeat(40) + "!"})).is_err());
    }

    #[test]
    fn the_draft_is_chosen_by_the_schema_keyword() {
        let schema = json!({"$schema": "http://json-schema.org/draft-04/schema#",
            "type": "object", "properties": {"n": {"type": "number", "maximum": 5, "exclusiveMaximum": true}}});
        assert!(check(&schema, &json!({"n": 5})).is_err());
        assert!(check(&schema, &json!({"n": 4})).is_ok());
    }
}
