//! The schema of a tool's structured results.

use std::fmt;

use serde_json::Value;

use super::ArgumentSchema;
use crate::json::JsonText;

/// Larger results are not checked: reading and checking them would hold a worker up.
const MAX_CHECKED_BYTES: usize = 1 << 20;

/// Characters of a reason: it names properties, which the tool chose.
const MAX_REASON_CHARS: usize = 500;

/// A compiled schema for the structured results of one tool.
pub(crate) struct OutputSchema(ArgumentSchema);

/// What checking a result has shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutputFault {
    /// It does not fit.
    Mismatch(String),
    /// Nobody knows.
    Unchecked(String),
}

// === impl OutputSchema ===

impl OutputSchema {
    /// Compiles a schema, by the same rules as that of arguments.
    ///
    /// # Errors
    /// Says what is wrong with the schema.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let compiled = ArgumentSchema::compile(schema);
        compiled.map(Self).map_err(|error| format!("its output schema cannot be used: {}", error.reason))
    }

    /// Checks structured content of any type. What stands at a pointer in `lifted` is not what the tool sent, so no
    /// fault is found there.
    ///
    /// # Errors
    /// Names the place of the first fault; never the value that was found.
    pub(crate) fn check(&self, structured: &JsonText, lifted: &[&str]) -> Result<(), OutputFault> {
        let text = structured.as_str();
        if text.len() > MAX_CHECKED_BYTES {
            let reason = format!("structured content of {} bytes is too large to be checked", text.len());
            return Err(OutputFault::Unchecked(reason));
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|_| OutputFault::Unchecked("structured content is too deep to be checked".to_owned()))?;
        let Self(ArgumentSchema { validator, effort, .. }) = self;
        if !effort.can_check(&value) {
            return Err(OutputFault::Unchecked(
                "structured content has texts that are too long to be checked".to_owned(),
            ));
        }
        if validator.is_valid(&value) {
            return Ok(());
        }
        if !effort.can_tell(&value) {
            let reason = "structured content does not fit the output schema".to_owned();
            return Err(OutputFault::Mismatch(reason));
        }
        let fault = validator.iter_errors(&value).find(|fault| !lifted.contains(&fault.instance_path().as_str()));
        let Some(fault) = fault else { return Ok(()) };
        let place = fault.instance_path().to_string();
        let place = if place.is_empty() { "its root".to_owned() } else { format!("`{place}`") };
        let reason = format!("structured content does not fit the output schema at {place}: {}", fault.masked());
        Err(OutputFault::Mismatch(reason.chars().take(MAX_REASON_CHARS).collect()))
    }
}

impl OutputFault {
    pub(crate) fn reason(self) -> String {
        match self {
            Self::Mismatch(reason) | Self::Unchecked(reason) => reason,
        }
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutputSchema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(schema: &Value, structured: &str, lifted: &[&str]) -> Result<(), OutputFault> {
        OutputSchema::compile(schema).unwrap().check(&JsonText::parse(structured).unwrap(), lifted)
    }

    #[test]
    fn an_array_at_the_root_is_fine_and_a_fault_is_named_by_its_place_only() {
        let schema = json!({"type": "array", "items": {"type": "object", "required": ["id"],
            "properties": {"id": {"type": "string"}}}});
        assert_eq!(check(&schema, r#"[{"id": "1"}, {"id": "2"}]"#, &[]), Ok(()));
        let Err(OutputFault::Mismatch(reason)) = check(&schema, r#"[{"id": "1"}, {"id": 987654}]"#, &[]) else {
            panic!("it fits");
        };
        assert!(reason.contains("`/1/id`") && !reason.contains("987654"), "{reason}");
    }

    #[test]
    fn what_was_lifted_out_is_no_fault_but_its_neighbours_are() {
        let schema = json!({"properties": {"image": {"pattern": "^data:"}, "n": {"type": "integer"}}});
        let structured = r#"{"image": "[image 1: image/png, 3 bytes]", "n": 1}"#;
        assert!(check(&schema, structured, &[]).is_err());
        assert_eq!(check(&schema, structured, &["/image"]), Ok(()));
        assert!(check(&schema, r#"{"image": "[image 1: …]", "n": "1"}"#, &["/image"]).is_err());
    }

    #[test]
    fn what_is_too_large_or_too_deep_is_not_checked_and_says_so() {
        let large = format!("[\"{}\"]", "x".repeat(MAX_CHECKED_BYTES));
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for structured in [large, deep] {
            let fault = check(&json!({"type": "object"}), &structured, &[]).unwrap_err();
            assert!(matches!(fault, OutputFault::Unchecked(_)), "{fault:?}");
        }
    }

    #[test]
    fn a_reason_is_short_however_long_the_names_in_it_are() {
        let structured = format!("{{\"{}\": 1}}", "x".repeat(10_000));
        let fault = check(&json!({"additionalProperties": {"type": "string"}}), &structured, &[]).unwrap_err();
        assert_eq!(fault.reason().chars().count(), MAX_REASON_CHARS);
    }

    #[test]
    fn a_bad_schema_says_so() {
        for schema in [json!({"type": "strin"}), json!({"$ref": "https://x/y.json"}), json!("x")] {
            assert!(OutputSchema::compile(&schema).unwrap_err().contains("output schema"), "{schema}");
        }
    }
}
