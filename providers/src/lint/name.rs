//! Names: a model should call a tool by the name that its author gave it.

use toolyard::{ToolSpec, check_tool_name};

use super::Finding;

pub(super) fn check(tool: &ToolSpec, model_name: &str) -> Option<Finding> {
    let why = match check_tool_name(&tool.name) {
        Err(error) => error.to_string(),
        Ok(()) if model_name.ends_with(&*tool.name) => return None,
        Ok(()) => "another name fits all vendors".to_owned(),
    };
    let message = format!("a model calls it `{model_name}`: {why}");
    Some(Finding::warning("name.changed", message).of(&tool.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_has_to_change_is_told() {
        let found = check(&ToolSpec::new("天气", "d"), "tool_1abcdef").unwrap();
        assert!(found.message.contains("`tool_1abcdef`"), "{found}");
        assert_eq!(check(&ToolSpec::new("crowd", "d"), "canteen__crowd"), None);
    }
}
