//! Reading tool definitions in the forms of the vendors: MCP, Anthropic, OpenAI, Gemini, xbot, MaiBot.
//!
//! Each definition is imported or rejected on its own. None is ever registered with its parameters lost: a definition
//! that keeps its schema where this reader does not look is rejected, and says where.

mod gemini;
mod maibot;
mod plain;
mod schema;

use serde::Serialize;
use serde_json::{Map, Value};

use super::ToolSpec;
use super::parameter::ParameterError;

/// The most definitions that one document may hold.
const MAX_DEFINITIONS: usize = 10_000;
/// Under which of these keys a document keeps its list.
const LISTS: [&str; 3] = ["tools", "functions", "components"];

/// What was read of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ImportedDefinitions {
    /// The tools, in the order of the document.
    pub tools: Vec<ImportedTool>,
    /// What is not imported, in the order of the document.
    pub rejected: Vec<RejectedDefinition>,
}

/// One tool of a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedTool {
    /// Where the tool comes from, if the document says so under `server`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its declaration.
    pub spec: ToolSpec,
}

/// A definition that is not imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RejectedDefinition {
    /// Where it stands, as a JSON pointer.
    pub pointer: String,
    /// The name of the tool, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: String,
}

/// Why a document cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It is neither a list nor an object.
    #[error("tool definitions are a list or an object, not {found}")]
    Form {
        /// What it is.
        found: &'static str,
    },
    /// It holds too many definitions.
    #[error("there are {count} tool definitions; at most {MAX_DEFINITIONS} are read")]
    TooMany {
        /// How many there are.
        count: usize,
    },
}

/// Why one definition is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum DefinitionError {
    #[error("a tool definition is an object, not {0}")]
    Form(&'static str),
    #[error("it has no name")]
    Unnamed,
    #[error("`{0}` is not a function that can be called here")]
    NotFunction(String),
    #[error("`{key}` must be {expected}")]
    Field { key: &'static str, expected: &'static str },
    #[error("`{0}` must not be null; leave it out if the tool takes no parameters")]
    NullSchema(&'static str),
    #[error("its parameters may stand under `{0}`, which is not understood; put the JSON Schema under `parameters`")]
    UnknownKey(String),
    #[error("`{0}` and `{1}` contradict each other")]
    Contradiction(&'static str, &'static str),
    #[error("`{key}`: {reason}")]
    Parameters { key: &'static str, reason: ParameterError },
}

/// Reads tool definitions: one, a list of any forms, or an object with a list under `tools`.
///
/// Understood are MCP (`inputSchema`), Anthropic (`input_schema`), OpenAI chat completions (`function`) and Responses
/// (`type: function`), Gemini (`functionDeclarations`), Bedrock (`toolSpec`), xbot's ToolDef, MaiBot's components, and what Toolyard itself
/// lists. A `server` beside the name, or beside the list, is kept.
///
/// # Errors
/// The document is neither a list nor an object, or is too large. A bad definition is no error: it stands among the
/// rejected ones.
pub fn import_definitions(document: &Value) -> Result<ImportedDefinitions, ImportError> {
    let mut imported = ImportedDefinitions::default();
    match document {
        Value::Array(entries) => imported.read_list(entries, "", None)?,
        Value::Object(fields) => {
            let list = LISTS.into_iter().find_map(|key| Some((key, fields.get(key)?.as_array()?)));
            match list {
                Some((key, entries)) => imported.read_list(entries, &format!("/{key}"), server_of(fields))?,
                None => imported.read(document, String::new(), None),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(ImportError::Form { found: crate::json::a_kind(document) });
        }
    }
    Ok(imported)
}

// === impl ImportedDefinitions ===

impl ImportedDefinitions {
    fn read_list(&mut self, entries: &[Value], place: &str, server: Option<String>) -> Result<(), ImportError> {
        let count = entries.iter().map(|entry| gemini::declarations(entry).map_or(1, |(_, list)| list.len())).sum();
        if count > MAX_DEFINITIONS {
            return Err(ImportError::TooMany { count });
        }
        for (index, entry) in entries.iter().enumerate() {
            self.read(entry, format!("{place}/{index}"), server.clone());
        }
        Ok(())
    }

    fn read(&mut self, entry: &Value, pointer: String, server: Option<String>) {
        let Value::Object(fields) = entry else {
            return self.reject(pointer, None, &DefinitionError::Form(crate::json::a_kind(entry)));
        };
        let server = server_of(fields).or(server);
        let Some((key, declarations)) = gemini::declarations(entry) else {
            return self.add(definition(fields), fields, pointer, server);
        };
        for own in fields.keys().filter(|own| *own != key && *own != "server") {
            self.reject(format!("{pointer}/{own}"), None, &DefinitionError::NotFunction(own.clone()));
        }
        for (index, declaration) in declarations.iter().enumerate() {
            let pointer = format!("{pointer}/{key}/{index}");
            match declaration {
                Value::Object(fields) => self.add(gemini::definition(fields), fields, pointer, server.clone()),
                other => self.reject(pointer, None, &DefinitionError::Form(crate::json::a_kind(other))),
            }
        }
    }

    fn add(
        &mut self,
        read: Result<ToolSpec, DefinitionError>,
        fields: &Map<String, Value>,
        pointer: String,
        server: Option<String>,
    ) {
        match read {
            Ok(spec) => self.tools.push(ImportedTool { server, spec }),
            Err(error) => {
                let name = fields.get("name").or_else(|| inner(fields)?.get("name")).and_then(Value::as_str);
                self.reject(pointer, name.map(str::to_owned), &error);
            }
        }
    }

    fn reject(&mut self, pointer: String, name: Option<String>, error: &DefinitionError) {
        self.rejected.push(RejectedDefinition { pointer, name, reason: error.to_string() });
    }
}

/// A definition in any form but Gemini's list.
fn definition(fields: &Map<String, Value>) -> Result<ToolSpec, DefinitionError> {
    if let Some(metadata) = maibot::metadata(fields) {
        return maibot::definition(fields, metadata);
    }
    if let Some(Value::Object(function)) = fields.get("function") {
        return plain::wrapped(fields, function);
    }
    if let Some(Value::Object(spec)) = fields.get("toolSpec") {
        return plain::bedrock(spec);
    }
    match fields.get("type").and_then(Value::as_str) {
        None | Some("function") => plain::definition(fields),
        // Anthropic's word for a tool of the caller; OpenAI's for one that takes free text, which has no schema.
        Some("custom") if fields.contains_key("input_schema") => plain::definition(fields),
        Some(other) => Err(DefinitionError::NotFunction(other.to_owned())),
    }
}

/// The object in which some vendors wrap a definition.
fn inner(fields: &Map<String, Value>) -> Option<&Value> {
    fields.get("function").or_else(|| fields.get("toolSpec"))
}

fn server_of(fields: &Map<String, Value>) -> Option<String> {
    fields.get("server").and_then(Value::as_str).filter(|server| !server.trim().is_empty()).map(str::to_owned)
}

/// A name with something in it.
fn name_of(fields: &Map<String, Value>) -> Result<&str, DefinitionError> {
    let name = fields.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    name.ok_or(DefinitionError::Unnamed)
}

/// A text that may be absent or `null`.
fn text_of<'a>(fields: &'a Map<String, Value>, key: &'static str) -> Result<&'a str, DefinitionError> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(DefinitionError::Field { key, expected: "text" }),
    }
}

#[cfg(test)]
mod tests;
