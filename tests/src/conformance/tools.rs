//! What the tools do that do more than give the same result every time.

use std::time::Duration;

use serde_json::{Value, json};

use super::answers::{always, change, form, text};
use super::caller::{Caller, Fault, Said, Unanswered};

/// Between two things that a tool tells.
const PAUSE: Duration = Duration::from_millis(50);
const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";
const ROOTS: &str = "roots/list";
static NOTHING: Value = Value::Null;

/// Runs a tool.
pub(super) async fn call(name: &str, arguments: &Value, caller: &dyn Caller) -> Result<Value, Fault> {
    if let Some(result) = always("tools", name) {
        return Ok(result);
    }
    match name {
        "test_tool_with_logging" => log_three_lines(caller).await,
        "test_logging_tool" => {
            caller.tell(Said::Log("one line")).await;
            Ok(says("logged"))
        }
        "test_tool_with_progress" => progress(caller).await,
        "test_trigger_tool_change" => {
            change("tools");
            tell(Said::ToolsChanged, caller).await
        }
        "test_trigger_prompt_change" => {
            change("prompts");
            tell(Said::PromptsChanged, caller).await
        }
        "test_elicitation" => {
            let mut contact = form("contact");
            contact["message"] = text(arguments, "message")?.into();
            elicit("contact", contact, "User response", caller).await
        }
        "test_elicitation_sep1034_defaults" => {
            elicit("defaults", form("defaults"), "Elicitation completed", caller).await
        }
        "test_elicitation_sep1330_enums" => elicit("enums", form("enums"), "Elicitation completed", caller).await,
        "test_streaming_elicitation" => {
            caller.tell(Said::Progress(50)).await;
            elicit("user_name", form("name"), "Hello", caller).await
        }
        "test_sampling" => {
            let question = text(arguments, "prompt")?;
            let given = caller.ask("answer", SAMPLE, sampling(question, 100)).await?;
            Ok(says(&format!("LLM response: {}", spoken(&given)?)))
        }
        "test_missing_capability" => needs_sampling(caller).await,
        _ => match name.strip_prefix("test_input_required_result_") {
            Some(kind) => input_required(kind, caller).await,
            None => Err(Fault::invalid(format!("no tool {name}"))),
        },
    }
}

/// Tools that need something of their client before they can go on.
async fn input_required(kind: &str, caller: &dyn Caller) -> Result<Value, Fault> {
    match kind {
        "elicitation" => {
            let given = caller.ask("user_name", ELICIT, form("name")).await?;
            let name = accepted(&given)?["name"].as_str().unwrap_or("nobody").to_owned();
            Ok(says(&format!("Hello, {name}!")))
        }
        "sampling" => {
            let question = sampling("What is the capital of France?", 100);
            let given = caller.ask("capital_question", SAMPLE, question).await?;
            Ok(says(spoken(&given)?))
        }
        "list_roots" => {
            let given = caller.ask("client_roots", ROOTS, json!({})).await?;
            Ok(says(&format!("roots: {}", given["roots"])))
        }
        "request_state" | "tampered_state" => {
            let given = caller.ask("confirm", ELICIT, form("confirm")).await?;
            Ok(says(&format!("state-ok, {}", accepted(&given)?)))
        }
        "multi_round" => {
            let name = caller.ask("step1", ELICIT, form("step1")).await?;
            let name = accepted(&name)?.clone();
            let color = caller.ask("step2", ELICIT, form("step2")).await?;
            Ok(says(&format!("{name} and {}", accepted(&color)?)))
        }
        "multiple_inputs" => {
            let (name, greeting, roots) = futures::join!(
                caller.ask("user_name", ELICIT, form("name")),
                caller.ask("greeting", SAMPLE, sampling("Generate a greeting", 50)),
                caller.ask("client_roots", ROOTS, json!({})),
            );
            Ok(says(&format!("{} {} {}", name?["content"], greeting?["content"], roots?["roots"])))
        }
        "capabilities" => {
            let (greeting, name) = futures::join!(
                caller.ask("greeting", SAMPLE, sampling("Generate a greeting", 50)),
                caller.ask("user_name", ELICIT, form("name")),
            );
            let given: Vec<String> = [greeting, name].into_iter().flatten().map(|given| given.to_string()).collect();
            if given.is_empty() { Err(Fault::Later) } else { Ok(says(&given.join(" "))) }
        }
        _ => Err(Fault::invalid(format!("no tool test_input_required_result_{kind}"))),
    }
}

async fn elicit(key: &str, form: Value, before: &str, caller: &dyn Caller) -> Result<Value, Fault> {
    let given = caller.ask(key, ELICIT, form).await?;
    accepted(&given)?;
    Ok(says(&format!("{before}: action={}, content={}", text(&given, "action")?, given["content"])))
}

async fn needs_sampling(caller: &dyn Caller) -> Result<Value, Fault> {
    match caller.ask("answer", SAMPLE, sampling("Are you there?", 10)).await {
        Ok(given) => Ok(says(spoken(&given)?)),
        Err(Unanswered::Refused(_)) => Err(Fault::needs_sampling()),
        Err(Unanswered::Later) => Err(Fault::Later),
    }
}

async fn log_three_lines(caller: &dyn Caller) -> Result<Value, Fault> {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        caller.tell(Said::Log(line)).await;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(says("Three lines were logged"))
}

async fn progress(caller: &dyn Caller) -> Result<Value, Fault> {
    for done in [0, 50, 100] {
        caller.tell(Said::Progress(done)).await;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(says("Done"))
}

async fn tell(said: Said, caller: &dyn Caller) -> Result<Value, Fault> {
    caller.tell(said).await;
    Ok(says("told"))
}

/// The content of a form; nothing where the person did not accept.
pub(super) fn accepted(given: &Value) -> Result<&Value, Fault> {
    match given["action"].as_str() {
        Some("accept") if given["content"].is_object() => Ok(&given["content"]),
        Some("decline" | "cancel") => Ok(&NOTHING),
        _ => Err(Fault::invalid("this is no answer to a form")),
    }
}

fn sampling(question: &str, max_tokens: u32) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": question}});
    json!({"messages": [message], "maxTokens": max_tokens})
}

/// What the client's model said.
fn spoken(given: &Value) -> Result<&str, Fault> {
    given["content"]["text"].as_str().ok_or_else(|| Fault::invalid("this is no answer of a model"))
}

fn says(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}
