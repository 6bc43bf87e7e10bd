//! The results of MCP requests.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::caller::{Caller, Fault};
use super::tools;

/// `tools`, `prompts`, `resources` and `resourceTemplates`, as they are listed.
static DECLARATIONS: LazyLock<Value> = LazyLock::new(|| document(include_str!("documents/declarations.json")));
/// Results that are always the same, by kind and name.
static RESULTS: LazyLock<Value> = LazyLock::new(|| document(include_str!("documents/results.json")));
/// Parameters of `elicitation/create`, by name.
static FORMS: LazyLock<Value> = LazyLock::new(|| document(include_str!("documents/forms.json")));

/// What is listed once a tool has changed the list of tools, or of prompts, an odd number of times.
static EXTRA: LazyLock<[(&str, AtomicBool, Value); 2]> = LazyLock::new(|| {
    let tool =
        json!({"name": "test_now_and_then", "description": "Comes and goes.", "inputSchema": {"type": "object"}});
    let prompt = json!({"name": "test_prompt_now_and_then", "description": "Comes and goes."});
    [("tools", AtomicBool::new(false), tool), ("prompts", AtomicBool::new(false), prompt)]
});

/// Everything of a kind: `tools`, `prompts`, `resources`, `resourceTemplates`.
pub fn listed(kind: &str) -> Vec<Value> {
    let always = DECLARATIONS[kind].as_array().cloned().unwrap_or_default();
    let extra = EXTRA.iter().filter(|(of, is_there, _)| *of == kind && is_there.load(Ordering::Relaxed));
    always.into_iter().chain(extra.map(|(_, _, entry)| entry.clone())).collect()
}

/// Makes a list change.
pub(super) fn change(kind: &str) {
    for (_, is_there, _) in EXTRA.iter().filter(|(of, _, _)| *of == kind) {
        is_there.fetch_not(Ordering::Relaxed);
    }
}

/// Answers one request.
///
/// # Errors
/// What the request was refused with, or that a question of its own has to be answered first.
pub async fn answer(method: &str, params: &Value, caller: &dyn Caller) -> Result<Value, Fault> {
    match method {
        "tools/list" => Ok(json!({"tools": listed("tools")})),
        "prompts/list" => Ok(json!({"prompts": listed("prompts")})),
        "resources/list" => Ok(json!({"resources": listed("resources")})),
        "resources/templates/list" => Ok(json!({"resourceTemplates": listed("resourceTemplates")})),
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

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
