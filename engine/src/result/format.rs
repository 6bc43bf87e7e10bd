//! The result builder and the three formatters of seed 004.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde_json::Value;

use super::ToolExecutionResult;

/// Builds a result step by step (seed 004, `ToolResultBuilder`).
#[derive(Clone, Debug)]
pub struct ToolResultBuilder {
    result: ToolExecutionResult,
}

/// `title`, then a sorted line `key: value` for each section; the title alone when there are none.
pub fn format_tool_result(title: &str, sections: &BTreeMap<String, String>) -> ToolExecutionResult {
    let mut lines = vec![title.to_owned()];
    lines.extend(sections.iter().map(|(key, value)| format!("{key}: {value}")));
    ToolExecutionResult::success(lines.join("\n"))
}

/// A numbered list, or `(no items)`.
pub fn format_list_result<T: Display>(items: &[T]) -> ToolExecutionResult {
    if items.is_empty() {
        return ToolExecutionResult::success("(no items)");
    }
    let lines: Vec<String> = items.iter().enumerate().map(|(index, item)| format!("{}. {item}", index + 1)).collect();
    ToolExecutionResult::success(lines.join("\n"))
}

/// `<operation> failed: <message>`, or `unknown error` without an error; a failure either way.
pub fn format_error_result(operation: &str, error: Option<&dyn Display>) -> ToolExecutionResult {
    let message = match error {
        Some(error) => format!("{operation} failed: {error}"),
        None => "unknown error".to_owned(),
    };
    ToolResultBuilder::new().error(message).build()
}

// === impl ToolResultBuilder ===

impl ToolResultBuilder {
    /// A success without content.
    pub fn new() -> Self {
        Self { result: ToolExecutionResult::success("") }
    }

    /// Sets the text.
    #[must_use]
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.result.content = content.into();
        self
    }

    /// Sets the text and marks the result as a failure.
    #[must_use]
    pub fn error(mut self, content: impl Into<String>) -> Self {
        let content = content.into();
        self.result.error_message = Some(content.clone());
        self.result.content = content;
        self.result.success = false;
        self
    }

    /// Sets whether the result is a failure.
    #[must_use]
    pub fn is_error(mut self, is_error: bool) -> Self {
        self.result.success = !is_error;
        self
    }

    /// Adds a pair for the caller.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.result.metadata.insert(key.into(), Value::String(value.into()));
        self
    }

    /// The result.
    pub fn build(self) -> ToolExecutionResult {
        self.result
    }
}

impl Default for ToolResultBuilder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_sorted_and_a_title_can_stand_alone() {
        let sections = BTreeMap::from([("b".to_owned(), "2".to_owned()), ("a".to_owned(), "1".to_owned())]);
        assert_eq!(format_tool_result("T", &sections).content, "T\na: 1\nb: 2");
        assert_eq!(format_tool_result("T", &BTreeMap::new()).content, "T");
    }

    #[test]
    fn lists_are_numbered_and_may_be_empty() {
        assert_eq!(format_list_result(&["alpha", "beta"]).content, "1. alpha\n2. beta");
        assert_eq!(format_list_result::<&str>(&[]).content, "(no items)");
    }

    #[test]
    fn errors_name_the_operation() {
        let failed = format_error_result("search", Some(&"no route"));
        assert_eq!((failed.content.as_str(), failed.success), ("search failed: no route", false));
        assert_eq!(format_error_result("search", None).content, "unknown error");
    }

    #[test]
    fn the_builder_sets_each_field() {
        let result = ToolResultBuilder::new().content("hello").metadata("format", "json").build();
        assert!(result.success);
        assert_eq!(result.metadata["format"], "json");
        assert!(!ToolResultBuilder::new().content("x").is_error(true).build().success);
    }
}
