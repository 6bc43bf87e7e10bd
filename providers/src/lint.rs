//! Lint: what the author of a plugin should know of its tools and of what a call of them gave, beyond what keeps them from
//! working (seed 000, "Verify and Troubleshoot"; seed 003, "Checklist"). One file a group of rules.

mod description;
#[cfg(feature = "http")]
mod document;
mod finding;
mod handler;
mod name;
mod result;
mod schema;
mod texts;
mod visibility;

use serde_json::Value;
use toolyard::{ListedTool, ProviderStatus, RejectedTool, ToolWarning};

#[cfg(feature = "http")]
pub use document::lint_document;
pub use finding::{Finding, FindingLevel};
pub use result::lint_result;

/// Findings about one plugin that are told.
const MAX_FINDINGS: usize = 1_000;

/// Everything there is to find about a plugin that is loaded, its provider's remarks included: `tools` are all that it has,
/// whether a model may see them or not; `document` is what it says of itself, where its kind says more than the tools.
pub fn lint_plugin(status: &ProviderStatus, tools: &[ListedTool], document: Option<&Value>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = status.rejected.iter().map(rejected).collect();
    if let Some(document) = document.filter(|_| status.kind == "maibot") {
        findings.extend(handler::check(document, tools));
    }
    for tool in tools {
        let (kind, spec) = (status.kind, &tool.spec);
        findings.extend(name::check(spec, &tool.model_name));
        findings.extend(description::check(spec));
        findings.extend(visibility::check(kind, spec));
        findings.extend(texts::check(kind, spec));
        findings.extend(schema::check(kind, spec));
    }
    let is_told = |warning: &ToolWarning, findings: &[Finding]| {
        findings.iter().any(|f| f.message == warning.message && f.tool.as_ref() == Some(&warning.name))
    };
    for warning in &status.warnings {
        if !is_told(warning, &findings) {
            let found = Finding::warning("remark", warning.message.clone());
            let is_tool = tools.iter().any(|tool| *tool.spec.name == *warning.name);
            findings.push(if is_tool { found.of(&warning.name) } else { found.at(warning.name.clone()) });
        }
    }
    findings.truncate(MAX_FINDINGS);
    findings
}

/// A tool that is left out. Its author may well not have the secret that a user has.
fn rejected(RejectedTool { name, reason }: &RejectedTool) -> Finding {
    #[cfg(feature = "http")]
    if reason.starts_with(crate::http::SECRET) {
        return Finding::warning("tool.secret_missing", format!("it is left out: {reason}")).of(name);
    }
    Finding::error("tool.rejected", format!("it is left out: {reason}")).of(name)
}
