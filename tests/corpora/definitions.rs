//! Definitions of public tools: imported, exported for every vendor, called under the names they were exported with.

mod served;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::{
    ArgumentSchema, DefinitionForm, Definitions, Limits, ListedTool, Profile, RawArguments, StrictMode, ToolCall,
    ToolExecutionContext, ToolRegistry,
};

use crate::vendor::{self, Problems};
use served::{Read, served};

/// A form, with each strict mode where that counts.
const EXPORTS: [(DefinitionForm, Option<StrictMode>); 15] = [
    (DefinitionForm::OpenAiChat, None),
    (DefinitionForm::OpenAiChat, Some(StrictMode::Off)),
    (DefinitionForm::OpenAiChat, Some(StrictMode::Auto)),
    (DefinitionForm::OpenAiChat, Some(StrictMode::On)),
    (DefinitionForm::OpenAiStrict, None),
    (DefinitionForm::OpenAiResponses, None),
    (DefinitionForm::OpenAiResponses, Some(StrictMode::Auto)),
    (DefinitionForm::OpenAiResponses, Some(StrictMode::On)),
    (DefinitionForm::Anthropic, None),
    (DefinitionForm::Gemini, None),
    (DefinitionForm::GeminiSchema, None),
    (DefinitionForm::Ollama, None),
    (DefinitionForm::Bedrock, None),
    (DefinitionForm::Mcp, None),
    (DefinitionForm::Native, None),
];

/// What a form has to say, or report as lost.
const CONSTRAINTS: [&str; 19] = [
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "propertyNames",
    "not",
    "if",
    "dependentRequired",
];

fn export(registry: &ToolRegistry, form: DefinitionForm, strict: Option<StrictMode>) -> Definitions {
    registry.define(&ToolExecutionContext::default(), form, strict)
}

fn check(form: DefinitionForm, document: &Value) -> Problems {
    match form {
        DefinitionForm::OpenAiChat | DefinitionForm::OpenAiStrict => vendor::openai::chat(document),
        DefinitionForm::OpenAiResponses => vendor::openai::responses(document),
        DefinitionForm::Anthropic => vendor::anthropic::check(document),
        DefinitionForm::Gemini => vendor::gemini::json_schema(document),
        DefinitionForm::GeminiSchema => vendor::gemini::parameters(document),
        DefinitionForm::Ollama => vendor::ollama::check(document),
        DefinitionForm::Bedrock => vendor::bedrock::check(document),
        DefinitionForm::Mcp => vendor::mcp::check(document),
        _ => Problems::default(),
    }
}

/// The definitions one by one, with the name and the schema of each; Gemini leaves the schema of a tool out that takes
/// nothing.
fn each(form: DefinitionForm, document: &Value) -> Vec<(String, Value)> {
    let nothing = json!({"type": "object"});
    let one = |tool: &Value| {
        let (named, schema) = match form {
            DefinitionForm::OpenAiChat | DefinitionForm::OpenAiStrict | DefinitionForm::Ollama => {
                (&tool["function"], &tool["function"]["parameters"])
            }
            DefinitionForm::OpenAiResponses => (tool, &tool["parameters"]),
            DefinitionForm::Anthropic => (tool, &tool["input_schema"]),
            DefinitionForm::Gemini => (tool, &tool["parametersJsonSchema"]),
            DefinitionForm::GeminiSchema => (tool, tool.get("parameters").unwrap_or(&nothing)),
            DefinitionForm::Bedrock => (&tool["toolSpec"], &tool["toolSpec"]["inputSchema"]["json"]),
            DefinitionForm::Mcp => (tool, &tool["inputSchema"]),
            _ => (tool, &tool["parameters_schema"]),
        };
        (named["name"].as_str().unwrap().to_owned(), schema.clone())
    };
    match form {
        DefinitionForm::Gemini | DefinitionForm::GeminiSchema => {
            vendor::gemini::declarations(document).iter().map(one).collect()
        }
        DefinitionForm::Native => vendor::listed(document)
            .iter()
            .map(|tool| {
                let name = tool["model_name"].as_str().unwrap_or_else(|| panic!("no model name in {tool}"));
                (name.to_owned(), tool["parameters_schema"].clone())
            })
            .collect(),
        _ => vendor::listed(document).iter().map(one).collect(),
    }
}

#[tokio::test]
async fn every_public_tool_registers_however_it_is_read() {
    for read in [Read::Imported, Read::Declared] {
        let (registry, count) = served(read, false).await;
        assert_eq!(count, 644);
        for status in registry.providers() {
            assert_eq!(format!("{:?} {:?}", status.rejected, status.warnings), "[] []", "{}", status.name);
        }
        let listed = registry.list_tools(&ToolExecutionContext::default());
        assert_eq!(listed.len(), count, "{read:?}: names clash");
    }
}

#[tokio::test]
async fn every_export_is_one_that_the_vendor_takes() {
    for read in [Read::Imported, Read::Declared] {
        let (registry, count) = served(read, false).await;
        for (form, strict) in EXPORTS {
            let exported = export(&registry, form, strict);
            assert_eq!(each(form, &exported.document).len(), count, "{form} {strict:?}");
            let problems = check(form, &exported.document).0;
            assert!(problems.is_empty(), "{form} {strict:?}: {} problems\n{}", problems.len(), problems.join("\n"));
            let rows = exported.tools.iter().zip(each(form, &exported.document));
            assert!(form == DefinitionForm::Mcp || rows.into_iter().all(|(row, (name, _))| row.name == name), "{form}");
        }
        let asked = |mode| vendor::openai::count_strict(&export(&registry, DefinitionForm::OpenAiChat, mode).document);
        let (off, auto, on) = (asked(None), asked(Some(StrictMode::Auto)), asked(Some(StrictMode::On)));
        println!("strict: {off} off, {auto} auto, {on} on, of {count}");
        assert!(off == 0 && auto > 80 && auto < on && on > 550, "{off} {auto} {on}");
    }
}

#[tokio::test]
async fn the_same_tools_give_the_same_bytes_whatever_their_order() {
    let (one, _) = served(Read::Imported, false).await;
    let (other, _) = served(Read::Imported, true).await;
    for (form, strict) in EXPORTS {
        let bytes = |registry| export(registry, form, strict).document.to_string();
        assert!(bytes(&one) == bytes(&other), "{form} {strict:?}");
        assert!(bytes(&one) == bytes(&one), "{form} {strict:?}");
    }
}

#[tokio::test]
async fn a_call_of_an_exported_name_reaches_its_tool_with_what_the_schema_shows() {
    let (registry, _) = served(Read::Imported, false).await;
    let listed = registry.list_tools(&ToolExecutionContext::default());
    let context = Arc::new(ToolExecutionContext::default());
    for (form, strict) in EXPORTS {
        let exported = each(form, &export(&registry, form, strict).document);
        for (tool, (name, schema)) in listed.iter().zip(exported) {
            let own = values::of(&tool.spec.parameters_schema).remove(0);
            // A strict model cannot leave a property out: it writes null.
            let written =
                if values::is_strict(&schema) { values::with_nulls(&own, &schema, &schema) } else { own.clone() };
            let call = ToolCall::new("c", name.as_str(), RawArguments::from(&written));
            let result = registry.invoke(call, Arc::clone(&context)).await.unwrap();
            let place = format!("{form} {strict:?} {name}");
            let id = format!("{}.{}", tool.spec.provider_name, tool.spec.name);
            assert_eq!(result.origin.as_ref().unwrap().tool_id.as_str(), id, "{place}");
            assert!(result.is_success(), "{place}: {:?} for {written}", result.error);
            let ran: Value = serde_json::from_str(&result.result.content).unwrap();
            // A null that the tool takes stays.
            assert_eq!(values::without_nulls(&ran), values::without_nulls(&own), "{place}: {written}");
            assert!(fits(&ran, &own_schema(tool)) && (written != own || ran == own), "{place}: {ran}");
        }
    }
}

#[tokio::test]
async fn what_a_tool_takes_every_exported_schema_takes() {
    let (registry, _) = served(Read::Imported, false).await;
    let listed = registry.list_tools(&ToolExecutionContext::default());
    for (form, strict) in EXPORTS {
        let exported = each(form, &export(&registry, form, strict).document);
        for (tool, (name, schema)) in listed.iter().zip(exported) {
            let is_strict = values::is_strict(&schema);
            let readable =
                if form == DefinitionForm::GeminiSchema { values::from_openapi(&schema) } else { schema.clone() };
            let copy = ArgumentSchema::compile(&readable).unwrap();
            for value in values::of(&tool.spec.parameters_schema) {
                assert!(fits(&value, &own_schema(tool)), "{name}: the sample {value} is bad");
                let shown = if is_strict { values::with_nulls(&value, &schema, &schema) } else { value };
                assert!(fits(&shown, &copy), "{form} {strict:?} {name}: {shown} is refused by {schema}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_form_does_not_say_is_reported() {
    let (registry, count) = served(Read::Imported, false).await;
    let listed = registry.list_tools(&ToolExecutionContext::default());
    for (form, strict) in EXPORTS {
        let exported = export(&registry, form, strict);
        let with_losses = exported.tools.iter().filter(|tool| !tool.losses.is_empty()).count();
        let mut words: BTreeMap<&str, usize> = BTreeMap::new();
        exported
            .tools
            .iter()
            .flat_map(|tool| &tool.losses)
            .for_each(|loss| *words.entry(&loss.keyword).or_default() += 1);
        println!("{form} {strict:?}: {with_losses} of {count} tools lose something: {words:?}");
        let schemas = each(form, &exported.document);
        for ((tool, row), (name, schema)) in listed.iter().zip(&exported.tools).zip(schemas) {
            for word in CONSTRAINTS {
                // Old drafts say that a bound is exclusive beside it.
                let newer = if word == "minimum" { "exclusiveMinimum" } else { word };
                let is_there = [word, newer].iter().any(|word| values::count(&schema, word) > 0);
                let is_gone = values::count(&tool.spec.parameters_schema, word) > 0 && !is_there;
                let is_told = row.losses.iter().any(|loss| loss.keyword == word);
                assert!(!is_gone || is_told, "{form} {strict:?} {name}: `{word}` is gone, and nobody is told");
            }
        }
        if matches!(form, DefinitionForm::Mcp | DefinitionForm::Native) {
            assert_eq!(with_losses, 0, "{form} says everything");
        }
    }
}

fn own_schema(tool: &ListedTool) -> ArgumentSchema {
    ArgumentSchema::compile(&tool.spec.parameters_schema).unwrap()
}

fn fits(value: &Value, schema: &ArgumentSchema) -> bool {
    let call = ToolCall::new("c", "t", RawArguments::from(value));
    let (arguments, _) = call.read(Profile::Strict, &Limits::default()).unwrap();
    schema.check(&arguments).is_ok()
}
