//! The document as a whole: the plugin's name, texts and secrets, and its tools one by one.

use std::collections::{BTreeMap, BTreeSet};

use toolyard::{LocalText, RejectedTool, ToolWarning};

use super::finding::{DocumentError, Findings, hint};
use super::node::{Node, parse};
use super::table::{Spot, Table};
use super::tool::{Surroundings, read_tool};
use super::{DocumentFormat, HttpPlugin, HttpTool, MAX_DOCUMENT_BYTES};
use crate::http::secret::SecretSource;

const MAX_TOOLS: usize = 256;
const MAX_NAME: usize = 64;

/// The English texts of a document.
#[derive(Debug, Default)]
struct English<'n> {
    title: Option<String>,
    tools: Vec<(&'n str, Spot<'n>)>,
}

/// Reads what can be read, and gives everything that is wrong beside it.
pub(super) fn read(text: &str, format: DocumentFormat) -> (Option<HttpPlugin>, Vec<DocumentError>) {
    if text.len() > MAX_DOCUMENT_BYTES {
        return (None, vec![DocumentError::new(&format!("it is longer than {MAX_DOCUMENT_BYTES} bytes"))]);
    }
    let root = match parse(text, format) {
        Ok(root) => root,
        Err(error) => return (None, vec![error]),
    };
    let mut findings = Findings::default();
    let plugin = read_plugin(&root, &mut findings);
    (plugin, findings.errors)
}

fn read_plugin(root: &Node, findings: &mut Findings) -> Option<HttpPlugin> {
    let mut table = Spot { node: root, path: String::new() }.table(findings)?;
    let name = table.need("plugin", findings).and_then(|spot| plugin_name(&spot, findings));
    let title = table.need("title", findings).and_then(|spot| spot.text(findings)).map(str::to_owned);
    let instructions = table.get("instructions").and_then(|spot| spot.text(findings)).map(str::to_owned);
    let secrets = table.get("secrets").map(|spot| read_secrets(&spot, findings)).unwrap_or_default();
    let english = table.get("i18n").and_then(|spot| read_english(&spot, findings)).unwrap_or_default();
    let tools = table.need("tools", findings).and_then(|spot| spot.list(findings)).unwrap_or_default();
    if tools.is_empty() || tools.len() > MAX_TOOLS {
        table.error(findings, format!("a plugin has 1 to {MAX_TOOLS} tools, written as [[tools]]"));
    }
    table.finish(findings);
    let mut plugin = HttpPlugin {
        name: name.unwrap_or_default(),
        titles: LocalText { zh: title, en: english.title },
        instructions,
        secrets,
        tools: Vec::new(),
        rejected: Vec::new(),
        warnings: Vec::new(),
    };
    read_tools(&mut plugin, &tools, &english.tools, findings);
    Some(plugin)
}

fn plugin_name(spot: &Spot<'_>, findings: &mut Findings) -> Option<String> {
    let name = spot.text(findings)?;
    let is_legal = name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !is_legal {
        spot.error(
            findings,
            format!("a plugin's name is a letter and up to {MAX_NAME} letters, digits, `_` and `-` of ASCII"),
        );
    }
    is_legal.then(|| name.to_owned())
}

fn read_secrets(spot: &Spot<'_>, findings: &mut Findings) -> BTreeMap<String, SecretSource> {
    let mut secrets = BTreeMap::new();
    for (name, spot) in spot.entries(findings).unwrap_or_default() {
        let Some(mut table) = spot.table(findings) else { continue };
        let variable = table.get("env").map(|spot| spot.text(findings));
        let file = table.get("file").map(|spot| spot.text(findings));
        match (variable, file) {
            (Some(variable), None) => {
                secrets.insert(name.to_owned(), SecretSource::Env(variable.unwrap_or_default().to_owned()));
            }
            (None, Some(file)) => {
                secrets.insert(name.to_owned(), SecretSource::File(file.unwrap_or_default().into()));
            }
            _ => table.error(findings, "a secret has either `env`, the name of a variable, or `file`, a path"),
        }
        table.finish(findings);
    }
    secrets
}

fn read_english<'n>(spot: &Spot<'n>, findings: &mut Findings) -> Option<English<'n>> {
    let mut table = spot.table(findings)?;
    let english = table.get("en");
    table.finish(findings);
    let mut table: Table<'n> = english?.table(findings)?;
    let title = table.get("title").and_then(|spot| spot.text(findings)).map(str::to_owned);
    let tools = table.get("tools").and_then(|spot| spot.entries(findings)).unwrap_or_default();
    table.finish(findings);
    Some(English { title, tools })
}

/// A tool with anything wrong is left out, and costs no other.
fn read_tools(plugin: &mut HttpPlugin, tools: &[Spot<'_>], english: &[(&str, Spot<'_>)], findings: &mut Findings) {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for spot in tools.iter().take(MAX_TOOLS) {
        let before = findings.errors.len();
        let mut warnings = Vec::new();
        let mut around = Surroundings { secrets: &plugin.secrets, english, warnings: &mut warnings };
        let tool = read_tool(spot, &mut around, findings);
        let name = findings.tool.take().unwrap_or_default();
        if !names.insert(name.clone()) {
            findings.tool = Some(name.clone());
            spot.error(findings, format!("there is a tool `{name}` already"));
            findings.tool = None;
        }
        let wrong: Vec<String> = findings.errors.iter().skip(before).map(sentence).collect();
        match tool.filter(|_| wrong.is_empty()) {
            Some(tool) => keep(plugin, tool, warnings),
            None => plugin.rejected.push(RejectedTool { name, reason: wrong.join("; ") }),
        }
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    for (name, spot) in english.iter().filter(|(name, _)| !names.contains(*name)) {
        spot.error(findings, format!("there is no tool `{name}`{}", hint(name, &known)));
    }
}

fn keep(plugin: &mut HttpPlugin, tool: HttpTool, warnings: Vec<String>) {
    let name = tool.spec.name.to_string();
    plugin.warnings.extend(warnings.into_iter().map(|message| ToolWarning { name: name.clone(), message }));
    plugin.tools.push(tool);
}

/// The error without its tool's name.
fn sentence(error: &DocumentError) -> String {
    DocumentError { tool: None, ..error.clone() }.to_string()
}
