//! What a handler's signature says against the declaration of its tool (seed 000, "Verify and Troubleshoot").

use std::fmt;

use serde_json::{Map, Value};
use toolyard::ToolSpec;

use super::python::is_true;

/// What the host gives to every handler that can take it.
const GIVEN: [&str; 7] = ["stream_id", "chat_id", "group_id", "user_id", "platform", "reasoning", "message"];
/// What old actions get besides.
const GIVEN_TO_ACTIONS: &str = "action_data";

/// One way in which a handler and its declaration disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandlerFault {
    /// The plugin has nothing to call.
    Missing,
    /// A declared parameter that the handler does not take.
    Refused { handler: String, parameter: String },
    /// A parameter without default that is not declared.
    Undeclared { handler: String, parameter: String },
    /// A parameter without default that is declared, but which a call may leave out.
    Optional { handler: String, parameter: String },
}

/// The tools in a plugin's document whose handlers disagree with them, by name.
pub(crate) fn faults_of<'a>(
    document: &Value,
    find: impl Fn(&str) -> Option<&'a ToolSpec>,
) -> Vec<(String, HandlerFault)> {
    let components = document.get("components").and_then(Value::as_array).into_iter().flatten();
    let tools =
        components.filter(|component| matches!(component.get("type").and_then(Value::as_str), Some("TOOL" | "ACTION")));
    let named = tools.filter_map(|tool| Some((tool.get("name")?.as_str()?, tool.get("handler"))));
    let found = named.filter_map(|(name, handler)| Some((name, faults(handler, find(name)?))));
    found.flat_map(|(name, faults)| faults.into_iter().map(move |fault| (name.to_owned(), fault))).collect()
}

/// How the handler, as the runner describes it, and the tool disagree.
pub(super) fn faults(handler: Option<&Value>, tool: &ToolSpec) -> Vec<HandlerFault> {
    let Some(handler) = handler.filter(|handler| handler.is_object()) else { return Vec::new() };
    let Some(found) = handler.get("name").and_then(Value::as_str) else { return vec![HandlerFault::Missing] };
    let names = |key: &str| -> Vec<&str> {
        handler.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let (accepted, needed, handler_name) = (names("accepts"), names("needs"), found.to_owned());
    let properties = tool.parameters_schema.get("properties").and_then(Value::as_object);
    let declared: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let required = tool.parameters_schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
    let is_action = is_true(tool.metadata.get("legacy_action"));
    let is_given = |name: &str| GIVEN.contains(&name) || (is_action && name == GIVEN_TO_ACTIONS);
    let mut faults = Vec::new();
    if !is_true(handler.get("any")) {
        let refused = declared.iter().filter(|name| !accepted.contains(name));
        faults.extend(
            refused.map(|name| HandlerFault::Refused { handler: handler_name.clone(), parameter: (*name).to_owned() }),
        );
    }
    for name in needed.into_iter().filter(|name| !is_given(name) && !is_required(name)) {
        let (handler, parameter) = (handler_name.clone(), name.to_owned());
        faults.push(if declared.contains(&name) {
            HandlerFault::Optional { handler, parameter }
        } else {
            HandlerFault::Undeclared { handler, parameter }
        });
    }
    faults
}

// === impl HandlerFault ===

impl HandlerFault {
    /// The parameter that it is about, if it is about one.
    pub(crate) fn parameter(&self) -> Option<&str> {
        match self {
            Self::Missing => None,
            Self::Refused { parameter, .. } | Self::Undeclared { parameter, .. } | Self::Optional { parameter, .. } => {
                Some(parameter)
            }
        }
    }
}

impl fmt::Display for HandlerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("its plugin has no handler for it; calls will fail"),
            Self::Refused { handler, parameter } => {
                write!(f, "its handler `{handler}` does not take the parameter `{parameter}` that it declares")
            }
            Self::Undeclared { handler, parameter } => write!(
                f,
                "its handler `{handler}` needs the parameter `{parameter}`, which it does not declare; declare it or give \
                 it a default"
            ),
            Self::Optional { handler, parameter } => write!(
                f,
                "its handler `{handler}` needs the parameter `{parameter}`, which a call may leave out; declare it as \
                 required or give it a default"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults_with(handler: Value, parameters: Value) -> Vec<String> {
        let tool = ToolSpec::new("search", "d").with_parameters(parameters);
        faults(Some(&handler), &tool).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_handler_and_its_declaration_must_agree() {
        let parameters = json!({"type": "object", "properties": {"q": {}, "n": {}}, "required": ["q"]});
        let handler = |any: bool, accepts: Value, needs: Value| json!({"name": "f", "any": any, "accepts": accepts, "needs": needs});
        assert_eq!(faults_with(handler(true, json!(["q"]), json!(["q", "stream_id"])), parameters.clone()), [""; 0]);
        let refused = faults_with(handler(false, json!(["q"]), json!([])), parameters.clone());
        assert_eq!(refused, ["its handler `f` does not take the parameter `n` that it declares"]);
        let needy = faults_with(handler(true, json!([]), json!(["n", "unit"])), parameters.clone());
        assert!(needy[0].contains("`n`, which a call may leave out"), "{needy:?}");
        assert!(needy[1].contains("`unit`, which it does not declare"), "{needy:?}");
        let missing = faults_with(json!({"name": null}), parameters);
        assert_eq!(missing, ["its plugin has no handler for it; calls will fail"]);
    }
}
