//! HttpConnector: reads a document and makes a provider of it, anew on each start.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Deserialize;
use toolyard::{
    ErrorCode, ProviderConnector, ProviderKind, RejectedTool, Remarks, ToolFailure, ToolProvider, ToolWarning,
};

use super::KIND;
use super::allow::AllowRule;
use super::client::Clients;
use super::document::{DocumentFormat, HttpPlugin, MAX_DOCUMENT_BYTES};
use super::provider::HttpProvider;
use super::redact::Redactor;
use super::resolve::{Guard, Resolver, SystemResolver};
use super::secret::{Secrets, read_secrets};
use crate::watch::{FileWatch, watched};

/// How the reason begins for which a tool without its secret is left out.
pub(crate) const SECRET: &str = "its secret";

/// A plugin document, as configured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpConfig {
    /// The document: `.toml` or `.json`.
    pub file: PathBuf,
    /// What its tools may connect to beside the public internet.
    #[serde(default)]
    pub allow_private: Vec<AllowRule>,
    /// Whether its results count as trusted, except of tools that declare `untrusted`. Default false: all are untrusted.
    #[serde(default)]
    pub trusted: bool,
    /// Bytes of one answer. Default 1 MiB.
    #[serde(default = "default_response_bytes")]
    pub max_response_bytes: usize,
}

/// Makes providers of one plugin document.
#[derive(Debug)]
pub struct HttpConnector {
    name: String,
    config: HttpConfig,
    resolver: Arc<dyn Resolver>,
}

// === impl HttpConfig ===

impl HttpConfig {
    /// This document, with defaults for everything else.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            allow_private: Vec::new(),
            trusted: false,
            max_response_bytes: default_response_bytes(),
        }
    }
}

fn default_response_bytes() -> usize {
    1 << 20
}

// === impl HttpConnector ===

impl HttpConnector {
    /// A connector for the document `config.file` under the provider name `name`.
    pub fn new(name: impl Into<String>, config: HttpConfig) -> Self {
        Self { name: name.into(), config, resolver: Arc::new(SystemResolver) }
    }

    /// The same, finding addresses of host names in another way.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolver>) -> Self {
        self.resolver = resolver;
        self
    }

    async fn open(&self) -> Result<Arc<dyn ToolProvider>, ToolFailure> {
        let (name, config, resolver) = (self.name.clone(), self.config.clone(), Arc::clone(&self.resolver));
        let watch = FileWatch::file(&config.file);
        let opened = tokio::task::spawn_blocking(move || open(name, &config, resolver)).await;
        let opened = opened.unwrap_or_else(|error| Err(format!("it could not be read: {error}")));
        let provider = opened.map_err(|reason| {
            let message = format!("{}: {reason}", self.config.file.display());
            ToolFailure::not_sent(ErrorCode::ProviderDown, message)
        })?;
        Ok(watched(Arc::new(provider), watch))
    }
}

impl ProviderConnector for HttpConnector {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ProviderKind {
        KIND
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn ToolProvider>, ToolFailure>> {
        Box::pin(self.open())
    }
}

/// Blocks on the file system.
fn open(name: String, config: &HttpConfig, resolver: Arc<dyn Resolver>) -> Result<HttpProvider, String> {
    let format = DocumentFormat::of(&config.file).ok_or("a plugin document ends in .toml or .json")?;
    let text = read(&config.file).map_err(|error| format!("it cannot be read: {error}"))?;
    let plugin = HttpPlugin::read(&text, format).map_err(|errors| errors.to_string())?;
    let (secrets, missing) = read_secrets(&plugin.secrets, config.file.parent().unwrap_or(Path::new(".")));
    let guard = Arc::new(Guard { allow: config.allow_private.clone(), resolver });
    Ok(assemble(name, config, plugin, secrets, &missing, guard))
}

fn assemble(
    name: String,
    config: &HttpConfig,
    plugin: HttpPlugin,
    secrets: Secrets,
    missing: &BTreeMap<String, String>,
    guard: Arc<Guard>,
) -> HttpProvider {
    let guide = plugin.instructions().map(str::to_owned);
    let mut remarks = Remarks { rejected: plugin.rejected, warnings: plugin.warnings };
    if plugin.name != name {
        let message = format!("the document calls itself `{}`, but its tools are called by `{name}`", plugin.name);
        remarks.warnings.push(ToolWarning { name: plugin.name, message });
    }
    let clients = Clients::new(Arc::clone(&guard));
    let mut provider = HttpProvider {
        name,
        specs: Vec::new(),
        tools: std::collections::HashMap::new(),
        remarks,
        guide,
        redactor: Redactor::new(&secrets),
        secrets,
        clients,
        max_response_bytes: config.max_response_bytes,
    };
    for mut tool in plugin.tools {
        let secret = tool
            .request
            .templates()
            .flat_map(|template| template.secrets())
            .find_map(|name| missing.get(name).map(|reason| format!("{SECRET} `{name}` is missing: {reason}")));
        let base = &tool.request.url.base;
        if let Some(reason) = secret.or_else(|| guard.check(base).err().map(|refused| refused.to_string())) {
            provider.remarks.rejected.push(RejectedTool { name: tool.spec.name.to_string(), reason });
            continue;
        }
        // Made now, because reading the system's certificates takes a while; what goes wrong is told by the call.
        provider.clients.client(base).ok();
        tool.spec.flags.untrusted |= !config.trusted;
        provider.specs.push(tool.spec.clone());
        provider.tools.insert(Arc::clone(&tool.spec.name), tool);
    }
    provider
}

fn read(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let limit = MAX_DOCUMENT_BYTES as u64;
    std::fs::File::open(file)?.take(limit + 1).read_to_string(&mut text)?;
    Ok(text)
}
