//! Plugin documents: what they say, checked as a whole, so that everything that is wrong is told at once.

mod finding;
mod inputs;
mod node;
mod plugin;
mod request;
mod response;
mod table;
mod tool;

use std::collections::BTreeMap;
use std::path::Path;

use toolyard::{LocalText, RejectedTool, ToolSpec, ToolWarning};

pub use finding::{DocumentError, DocumentErrors};

use super::request::RequestPlan;
use super::response::ResponsePlan;
use super::secret::SecretSource;

/// The longest document.
pub(super) const MAX_DOCUMENT_BYTES: usize = 256 << 10;

/// The notation of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

/// A declarative plugin, as its document declares it.
#[derive(Clone, Debug)]
pub struct HttpPlugin {
    pub(super) name: String,
    titles: LocalText,
    instructions: Option<String>,
    pub(super) secrets: BTreeMap<String, SecretSource>,
    /// In the order of the document.
    pub(super) tools: Vec<HttpTool>,
    pub(super) rejected: Vec<RejectedTool>,
    pub(super) warnings: Vec<ToolWarning>,
}

/// A tool with what its calls do.
#[derive(Clone, Debug)]
pub(super) struct HttpTool {
    pub(super) spec: ToolSpec,
    pub(super) request: RequestPlan,
    pub(super) response: ResponsePlan,
}

/// Reads a document that is to be free of errors, as its author wants to know it. Looks at no secret and connects to
/// nothing.
///
/// # Errors
/// Everything that is wrong, each with its place.
pub fn check_document(text: &str, format: DocumentFormat) -> Result<HttpPlugin, DocumentErrors> {
    let (plugin, errors) = plugin::read(text, format);
    plugin.filter(|_| errors.is_empty()).ok_or_else(|| DocumentErrors::new(errors))
}

// === impl DocumentFormat ===

impl DocumentFormat {
    /// The notation of a file, by the end of its name.
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "toml" => Some(Self::Toml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

// === impl HttpPlugin ===

impl HttpPlugin {
    /// Reads a document whose broken tools cost only themselves.
    pub(super) fn read(text: &str, format: DocumentFormat) -> Result<Self, DocumentErrors> {
        let (plugin, errors) = plugin::read(text, format);
        let is_whole = errors.iter().all(|error| error.tool.is_some());
        plugin.filter(|_| is_whole).ok_or_else(|| DocumentErrors::new(errors))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title for people.
    pub fn titles(&self) -> &LocalText {
        &self.titles
    }

    /// Its guide: what the model is told about its tools in every request.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Its tools, in the order of the document.
    pub fn tools(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|tool| &tool.spec)
    }

    /// What is odd about tools that work all the same.
    pub fn warnings(&self) -> &[ToolWarning] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests;
