//! Texts for people, which declarative plugins have (seed 003, "Text for people").

use toolyard::ToolSpec;

use super::Finding;

pub(super) fn check(kind: &str, tool: &ToolSpec) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut warn = |is_wrong: bool, code: &'static str, message: &str| {
        if kind == "http" && is_wrong {
            findings.push(Finding::warning(code, message).of(&tool.name));
        }
    };
    let title = tool.titles.zh.as_deref();
    // The same sentences as the document's own warnings have, so that nothing is told twice.
    warn(
        title.is_some_and(str::is_ascii),
        "title.not_chinese",
        "its title is not Chinese; the English one goes into i18n.en.tools",
    );
    warn(
        tool.titles.en.is_none(),
        "title.english_missing",
        "it has no English title; English readers see the Chinese one",
    );
    warn(
        tool.summaries.zh.is_some() && tool.summaries.en.is_none(),
        "summary.english_missing",
        "it has no English summary; English readers see none",
    );
    findings
}
