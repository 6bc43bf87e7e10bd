//! The definitions of tools, as vendors take them.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Dialect, ReplyError};
use crate::registry::ListedTool;
use crate::schema::{Loss, SchemaTarget, project, project_strict, strict_compatible};

/// Characters that OpenAI takes as the description of a function.
const OPENAI_MAX_DESCRIPTION: usize = 1_024;

/// A form of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DefinitionForm {
    /// OpenAI chat completions: `{"type": "function", "function": {…}}`.
    OpenAiChat,
    /// The same with `strict`, every definition rewritten to what strict mode takes where that can be.
    OpenAiStrict,
    /// OpenAI Responses: `{"type": "function", "name": …}`.
    OpenAiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini, with `parametersJsonSchema`.
    Gemini,
    /// Gemini's older form, with `parameters` in a subset of OpenAPI.
    GeminiSchema,
    /// Ollama.
    Ollama,
    /// Amazon Bedrock converse.
    Bedrock,
    /// MCP `tools/list`, under the names that the providers gave.
    Mcp,
    /// Toolyard's own: the whole declaration.
    Native,
}

/// Whether OpenAI is asked to keep the model to the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StrictMode {
    /// Never.
    Off,
    /// Where the schema can be used as it stands; no schema is rewritten.
    Auto,
    /// Wherever the schema can be rewritten: optional properties become nullable and required. The `null` is taken out of
    /// the arguments again before they are checked.
    On,
}

/// Definitions with what became of each tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definitions {
    /// The document for the vendor.
    pub document: Value,
    /// One entry a tool, in the order of the model names.
    pub tools: Vec<DefinedTool>,
}

/// What became of one tool.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DefinedTool {
    /// The name under which the model calls it.
    pub name: String,
    /// The provider.
    pub provider: String,
    /// Bytes of its definition as JSON.
    pub bytes: usize,
    /// Tokens that its definition takes, estimated: a token for four bytes of ASCII, and for each other character.
    pub tokens: usize,
    /// What the definition does not say any more.
    pub losses: Vec<Loss>,
}

// === impl DefinitionForm ===

impl DefinitionForm {
    /// Every form.
    pub const ALL: [Self; 10] = [
        Self::OpenAiChat,
        Self::OpenAiStrict,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::GeminiSchema,
        Self::Ollama,
        Self::Bedrock,
        Self::Mcp,
        Self::Native,
    ];

    /// The name on the command line and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiStrict => "openai-strict",
            Self::GeminiSchema => "gemini-schema",
            Self::OpenAiChat => Dialect::OpenAiChat.as_str(),
            Self::OpenAiResponses => Dialect::OpenAiResponses.as_str(),
            Self::Anthropic => Dialect::Anthropic.as_str(),
            Self::Gemini => Dialect::Gemini.as_str(),
            Self::Ollama => Dialect::Ollama.as_str(),
            Self::Bedrock => Dialect::Bedrock.as_str(),
            Self::Mcp => Dialect::Mcp.as_str(),
            Self::Native => Dialect::Native.as_str(),
        }
    }

    /// The definitions of these tools. `strict` counts for OpenAI's forms only; each has a mode of its own without it.
    pub fn define(self, tools: &[ListedTool], strict: Option<StrictMode>) -> Definitions {
        let strict = strict.unwrap_or(if self == Self::OpenAiStrict { StrictMode::On } else { StrictMode::Off });
        let mut documents = Vec::with_capacity(tools.len());
        let mut defined = Vec::with_capacity(tools.len());
        for tool in tools {
            let mut losses = Vec::new();
            let document = self.one(tool, strict, &mut losses);
            let text = document.to_string();
            defined.push(DefinedTool {
                name: tool.model_name.to_string(),
                provider: tool.spec.provider_name.to_string(),
                bytes: text.len(),
                tokens: tokens(&text),
                losses,
            });
            documents.push(document);
        }
        let document = match self {
            Self::Gemini | Self::GeminiSchema => json!([{"functionDeclarations": documents}]),
            _ => Value::Array(documents),
        };
        Definitions { document, tools: defined }
    }

    fn one(self, tool: &ListedTool, strict: StrictMode, losses: &mut Vec<Loss>) -> Value {
        let schema = &tool.spec.parameters_schema;
        let mut projected = |target: SchemaTarget| {
            let projection = project(schema, target);
            losses.extend(projection.losses);
            projection.schema
        };
        let (name, description) = (&*tool.model_name, description(tool));
        match self {
            Self::OpenAiChat | Self::OpenAiStrict | Self::OpenAiResponses => openai(self, tool, strict, losses),
            Self::Anthropic => {
                json!({"name": name, "description": description, "input_schema": projected(SchemaTarget::Anthropic)})
            }
            Self::Gemini => json!({"name": name, "description": description,
                "parametersJsonSchema": projected(SchemaTarget::GeminiJsonSchema)}),
            Self::GeminiSchema => gemini_schema(name, &description, projected(SchemaTarget::GeminiParameters)),
            Self::Ollama => json!({"type": "function", "function": {"name": name, "description": description,
                "parameters": projected(SchemaTarget::Ollama)}}),
            Self::Bedrock => bedrock(name, &description, &projected(SchemaTarget::Anthropic)),
            Self::Mcp => mcp(tool),
            Self::Native => json!(tool),
        }
    }
}

fn openai(form: DefinitionForm, tool: &ListedTool, strict: StrictMode, losses: &mut Vec<Loss>) -> Value {
    let schema = &tool.spec.parameters_schema;
    let rewritten = match strict {
        StrictMode::Off => None,
        StrictMode::Auto => project_strict(schema).ok().filter(|_| strict_compatible(schema)).map(|it| it.schema),
        StrictMode::On => match project_strict(schema) {
            Ok(projection) => {
                losses.extend(projection.losses);
                Some(projection.schema)
            }
            Err(loss) => {
                losses.push(loss);
                None
            }
        },
    };
    let is_strict = rewritten.is_some();
    let parameters = rewritten.unwrap_or_else(|| {
        let projection = project(schema, SchemaTarget::OpenAi);
        losses.extend(projection.losses);
        projection.schema
    });
    let mut function = Map::new();
    function.insert("name".to_owned(), json!(tool.model_name));
    function.insert("description".to_owned(), json!(cut(description(tool), losses)));
    function.insert("parameters".to_owned(), parameters);
    // Responses keeps models to the schema unless told otherwise; servers that only speak chat may not know the word.
    if is_strict || strict != StrictMode::Off || form == DefinitionForm::OpenAiResponses {
        function.insert("strict".to_owned(), json!(is_strict));
    }
    if form == DefinitionForm::OpenAiResponses {
        let kind = ("type".to_owned(), json!("function"));
        return Value::Object(std::iter::once(kind).chain(function).collect());
    }
    json!({"type": "function", "function": function})
}

/// A function without parameters has no `parameters`: the vendor refuses an object without properties.
fn gemini_schema(name: &str, description: &str, parameters: Value) -> Value {
    let is_empty = parameters.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    if is_empty {
        return json!({"name": name, "description": description});
    }
    json!({"name": name, "description": description, "parameters": parameters})
}

/// The vendor refuses an empty description, and takes none.
fn bedrock(name: &str, description: &str, schema: &Value) -> Value {
    let input = json!({"json": schema});
    if description.is_empty() {
        return json!({"toolSpec": {"name": name, "inputSchema": input}});
    }
    json!({"toolSpec": {"name": name, "description": description, "inputSchema": input}})
}

fn mcp(tool: &ListedTool) -> Value {
    let spec = &tool.spec;
    let mut document =
        json!({"name": tool.given_name, "description": spec.description, "inputSchema": spec.parameters_schema});
    if let Some(title) = &spec.title {
        document["title"] = json!(title);
    }
    if let Some(schema) = &spec.output_schema {
        document["outputSchema"] = schema.clone();
    }
    document
}

/// The description for the model. A name that had to change stands in it.
fn description(tool: &ListedTool) -> String {
    tool.spec.description_as(&tool.model_name).into_owned()
}

fn cut(description: String, losses: &mut Vec<Loss>) -> String {
    if description.chars().count() <= OPENAI_MAX_DESCRIPTION {
        return description;
    }
    losses.push(Loss {
        pointer: "/description".to_owned(),
        keyword: "description".to_owned(),
        note: format!("cut to {OPENAI_MAX_DESCRIPTION} characters, which is all that the vendor takes"),
    });
    let mut cut: String = description.chars().take(OPENAI_MAX_DESCRIPTION - 1).collect();
    cut.push('…');
    cut
}

fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + other
}

/// The names of all forms, for people.
pub(super) fn names() -> String {
    DefinitionForm::ALL.map(DefinitionForm::as_str).join(", ")
}

impl From<Dialect> for DefinitionForm {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::OpenAiChat => Self::OpenAiChat,
            Dialect::OpenAiResponses => Self::OpenAiResponses,
            Dialect::Anthropic => Self::Anthropic,
            Dialect::Gemini => Self::Gemini,
            Dialect::Ollama => Self::Ollama,
            Dialect::Bedrock => Self::Bedrock,
            Dialect::Mcp => Self::Mcp,
            Dialect::Native => Self::Native,
        }
    }
}

impl fmt::Display for DefinitionForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DefinitionForm {
    type Err = ReplyError;

    fn from_str(name: &str) -> Result<Self, ReplyError> {
        let known = Self::ALL.into_iter().find(|form| form.as_str() == name);
        known.ok_or_else(|| ReplyError::UnknownDefinitions(name.to_owned()))
    }
}

// === impl StrictMode ===

impl FromStr for StrictMode {
    type Err = ReplyError;

    fn from_str(name: &str) -> Result<Self, ReplyError> {
        match name {
            "off" => Ok(Self::Off),
            "auto" => Ok(Self::Auto),
            "on" => Ok(Self::On),
            other => Err(ReplyError::UnknownStrict(other.to_owned())),
        }
    }
}
