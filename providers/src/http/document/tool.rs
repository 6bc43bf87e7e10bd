//! One tool: its name, texts, schemas, effect and flags.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use toolyard::{ArgumentSchema, Effect, LocalText, ToolSpec, check_summary};

use super::HttpTool;
use super::finding::Findings;
use super::inputs::Inputs;
use super::request::read_request;
use super::response::read_response;
use super::table::{Spot, Table};
use crate::http::secret::SecretSource;

const MAX_NAME: usize = 64;
/// The longest deadline of a tool: an hour.
const MAX_TIMEOUT_MS: u64 = 3_600_000;
const EFFECTS: [(&str, Effect); 4] =
    [("read", Effect::Read), ("write", Effect::Write), ("money", Effect::Money), ("public", Effect::Public)];

/// What a tool needs to know of its document.
#[derive(Debug)]
pub(super) struct Surroundings<'a, 'n> {
    pub(super) secrets: &'a BTreeMap<String, SecretSource>,
    /// The English texts, by tool.
    pub(super) english: &'a [(&'n str, Spot<'n>)],
    /// What is odd about this tool.
    pub(super) warnings: &'a mut Vec<String>,
}

/// Reads one tool. Its name is left in `findings.tool`, for errors that are found later.
pub(super) fn read_tool(
    spot: &Spot<'_>,
    around: &mut Surroundings<'_, '_>,
    findings: &mut Findings,
) -> Option<HttpTool> {
    // Until the name is known, the place stands for it.
    findings.tool = Some(spot.path.clone());
    let mut table = spot.table(findings)?;
    let given = table.need("name", findings);
    if let Some(name) = given.as_ref().and_then(|spot| spot.text(findings)) {
        findings.tool = Some(name.to_owned());
        if !is_camel_case(name) {
            let message =
                format!("a tool's name is camelCase of 1 to {MAX_NAME} ASCII letters and digits, such as cardBalance");
            table.error(findings, format!("`{name}`: {message}"));
        }
    }
    let mut spec = ToolSpec::new(findings.tool.clone().unwrap_or_default(), "");
    read_texts(&mut table, &mut spec, around, findings);
    read_schemas(&mut table, &mut spec, findings);
    spec.effect = table.need("effect", findings).and_then(|spot| spot.word(&EFFECTS, findings));
    let mut flag = |key| table.get(key).and_then(|spot| spot.boolean(findings)).unwrap_or_default();
    spec.flags.untrusted = flag("untrusted");
    spec.flags.user_only = flag("userOnly");
    spec.flags.on_demand = flag("onDemand");
    let timeout = table.get("timeout_ms").and_then(|spot| spot.integer(1..=MAX_TIMEOUT_MS, findings));
    spec.timeout = timeout.map(Duration::from_millis);
    let inputs = Inputs::new(&spec.parameters_schema, around.secrets);
    let request =
        table.need("request", findings).and_then(|spot| read_request(&spot, &inputs, around.warnings, findings));
    let response = table.get("response").map(|spot| read_response(&spot, findings)).unwrap_or_default();
    table.finish(findings);
    let request = request?;
    if spec.effect == Some(Effect::Read) && matches!(request.method.as_str(), "PUT" | "PATCH" | "DELETE") {
        around.warnings.push(format!("its effect is read, but it sends {}", request.method));
    }
    Some(HttpTool { spec, request, response })
}

fn is_camel_case(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Titles and summaries are for people, the description for the model.
fn read_texts(table: &mut Table<'_>, spec: &mut ToolSpec, around: &mut Surroundings<'_, '_>, findings: &mut Findings) {
    let title = table.need("title", findings).and_then(|spot| spot.text(findings));
    if title.is_some_and(|title| title.is_ascii()) {
        around.warnings.push("its title is not Chinese; the English one goes into i18n.en.tools".to_owned());
    }
    let summary = table.get("summary").and_then(|spot| summary(&spot, findings));
    let description = table.need("description", findings).and_then(|spot| spot.text(findings));
    spec.description = description.unwrap_or_default().trim().to_owned();
    let mut english =
        around.english.iter().find(|(name, _)| *name == &*spec.name).and_then(|(_, spot)| spot.table(findings));
    let mut text = |key| english.as_mut().and_then(|table| table.get(key));
    let (english_title, english_summary) = (text("title"), text("summary"));
    let english_title = english_title.and_then(|spot| spot.text(findings));
    let english_summary = english_summary.and_then(|spot| self::summary(&spot, findings));
    if let Some(table) = english {
        table.finish(findings);
    }
    if english_title.is_none() {
        around.warnings.push("it has no English title; English readers see the Chinese one".to_owned());
    }
    let local = |zh: Option<&str>, en: Option<&str>| LocalText { zh: zh.map(trimmed), en: en.map(trimmed) };
    spec.titles = local(title, english_title);
    spec.summaries = local(summary, english_summary);
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

fn summary<'n>(spot: &Spot<'n>, findings: &mut Findings) -> Option<&'n str> {
    let text = spot.text(findings)?;
    match check_summary(text) {
        Ok(()) => Some(text),
        Err(error) => {
            spot.error(findings, error.to_string());
            None
        }
    }
}

fn read_schemas(table: &mut Table<'_>, spec: &mut ToolSpec, findings: &mut Findings) {
    spec.parameters_schema = match table.get("input") {
        Some(spot) => {
            let schema = schema(&spot, findings).unwrap_or_default();
            if !schema.is_null() && schema.get("type").and_then(Value::as_str) != Some("object") {
                spot.error(findings, "arguments are an object: `type` must be \"object\"");
            }
            schema
        }
        None => json!({"type": "object", "properties": {}, "additionalProperties": false}),
    };
    spec.output_schema = table.get("output").and_then(|spot| schema(&spot, findings));
}

/// A JSON Schema that can be used.
fn schema(spot: &Spot<'_>, findings: &mut Findings) -> Option<Value> {
    spot.entries(findings)?;
    let schema = spot.value();
    match ArgumentSchema::compile(&schema) {
        Ok(_) => Some(schema),
        Err(error) => {
            spot.error(findings, format!("it is no JSON Schema: {error}"));
            None
        }
    }
}
