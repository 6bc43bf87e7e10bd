//! The results of MCP requests.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::caller::{Caller, Fault};
use super::tools;

/// `tools`, `prompts`, `resources` and `resourceTemplates`, as they are listed.
static DECLARATIONS: LazyLock<Value> = LazyLock::new(|| document(include_str!("documents/declarations.json")));
/// Results that are always the same, by kind and name.
static RESULTS: LazyLock<Value> = LazyLock::new(|| document(include_str!("documents/results.json")));
/// Parameters of `elicitation/create`, by name.
static FORMS: LazyLock<Value> = LazyLock::new(|| document(include_str!("documents/forms.json")));

/// Everything that the fixture lists.
pub fn declarations() -> &'static Value {
    &DECLARATIONS
}

/// Answers one request.
///
/// # Errors
/// What the request was refused with, or that a question of its own has to be answered first.
pub async fn answer(method: &str, params: &Value, caller: &dyn Caller) -> Result<Value, Fault> {
    match method {
        "tools/list" => Ok(listed("tools")),
        "prompts/list" => Ok(listed("prompts")),
        "resources/list" => Ok(listed("resources")),
        "resources/templates/list" => Ok(listed("resourceTemplates")),
        "tools/call" => tools::call(text(params, "name")?, &params["arguments"], caller).await,
        "prompts/get" => prompt(text(params, "name")?, &params["arguments"], caller).await,
        "resources/read" => resource(text(params, "uri")?),
        "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => Ok(json!({})),
        "completion/complete" => Ok(json!({"completion": {"values": ["test one", "test two"], "total": 2}})),
        _ => Err(Fault::unknown_method(method)),
    }
}

async fn prompt(name: &str, arguments: &Value, caller: &dyn Caller) -> Result<Value, Fault> {
    if let Some(result) = always("prompts", name) {
        return Ok(result);
    }
    let of = |argument: &str| text(arguments, argument);
    let messages = match name {
        "test_prompt_with_arguments" => {
            let text = format!("Prompt with arguments: arg1='{}', arg2='{}'", of("arg1")?, of("arg2")?);
            vec![json!({"type": "text", "text": text})]
        }
        "test_prompt_with_embedded_resource" => {
            let text = "Embedded resource content for testing.";
            let resource = json!({"uri": of("resourceUri")?, "mimeType": "text/plain", "text": text});
            vec![
                json!({"type": "resource", "resource": resource}),
                json!({"type": "text", "text": "Please process the embedded resource above."}),
            ]
        }
        "test_input_required_result_prompt" => {
            let given = caller.ask("user_context", "elicitation/create", form("context")).await?;
            let text = format!("The context is {}", tools::accepted(&given)?);
            vec![json!({"type": "text", "text": text})]
        }
        _ => return Err(Fault::invalid(format!("no prompt {name}"))),
    };
    let messages: Vec<Value> =
        messages.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Ok(json!({"messages": messages}))
}

fn resource(uri: &str) -> Result<Value, Fault> {
    if let Some(result) = always("resources", uri) {
        return Ok(result);
    }
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let Some(id) = id.filter(|id| !id.contains('/')) else { return Err(Fault::no_resource(uri)) };
    let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string();
    Ok(json!({"contents": [{"uri": uri, "mimeType": "application/json", "text": text}]}))
}

/// The result that a name always has, if it has one.
pub(super) fn always(kind: &str, name: &str) -> Option<Value> {
    RESULTS[kind].get(name).cloned()
}

/// The parameters of a question for a person.
pub(super) fn form(name: &str) -> Value {
    FORMS[name].clone()
}

pub(super) fn text<'a>(object: &'a Value, key: &str) -> Result<&'a str, Fault> {
    object[key].as_str().ok_or_else(|| Fault::invalid(format!("`{key}` is missing")))
}

fn listed(kind: &str) -> Value {
    json!({kind: DECLARATIONS[kind]})
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
