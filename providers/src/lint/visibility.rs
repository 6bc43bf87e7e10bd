//! Visibility: a MaiBot tool that says nothing of it is only found by search (seed 000, `core_tool`).

use toolyard::{ToolSpec, Visibility};

use super::Finding;

pub(super) fn check(kind: &str, tool: &ToolSpec) -> Option<Finding> {
    let is_said = ["visibility", "core_tool"].iter().any(|key| tool.metadata.get(*key).is_some_and(|v| !v.is_null()));
    if kind != "maibot" || is_said || tool.visibility != Some(Visibility::Deferred) {
        return None;
    }
    let message = "it is deferred, because it says nothing else: a model has to search for it first. Write core_tool=True \
                   for a tool that is used often and does no harm, or visibility=\"deferred\" where it is meant";
    Some(Finding::warning("visibility.deferred", message).of(&tool.name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_deferred_unsaid_is_told() {
        let mut tool = ToolSpec::new("a", "d");
        tool.visibility = Some(Visibility::Deferred);
        assert_eq!(check("maibot", &tool).unwrap().code, "visibility.deferred");
        assert_eq!(check("lenbot", &tool), None);
        tool.metadata.insert("core_tool".to_owned(), json!(false));
        assert_eq!(check("maibot", &tool), None);
    }
}
