//! A plugin document in a folder of its own, behind a registry.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use toolyard::{
    CallResult, Limits, NameForm, ProviderSettings, ProviderStatus, RawArguments, ToolBatch, ToolCall, ToolRegistry,
};
use toolyard_providers::{HttpConfig, HttpConnector, Resolver};

/// After this time a test says that something hangs. It measures nothing: a busy machine takes its time.
pub(crate) const HANG: Duration = Duration::from_secs(180);

/// A plugin that is up.
pub(crate) struct Plugin {
    pub(crate) registry: ToolRegistry,
    pub(crate) folder: Folder,
}

/// A folder that goes when it is dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

/// How a plugin is set up.
pub(crate) struct Setup {
    document: String,
    allow: Vec<String>,
    names: Names,
    trusted: bool,
    max_response_bytes: Option<usize>,
    files: Vec<(String, String)>,
}

/// Host names with the addresses that a test gives them.
#[derive(Clone, Debug, Default)]
struct Names(BTreeMap<String, IpAddr>);

// === impl Setup ===

impl Setup {
    /// The plugin `p` with this document.
    pub(crate) fn document(document: impl Into<String>) -> Self {
        Self {
            document: document.into(),
            allow: Vec::new(),
            names: Names::default(),
            trusted: false,
            max_response_bytes: None,
            files: Vec::new(),
        }
    }

    pub(crate) fn allow(mut self, rule: impl Into<String>) -> Self {
        self.allow.push(rule.into());
        self
    }

    pub(crate) fn name(mut self, host: &str, address: &str) -> Self {
        self.names.0.insert(host.to_owned(), address.parse().unwrap());
        self
    }

    pub(crate) fn trusted(mut self) -> Self {
        self.trusted = true;
        self
    }

    pub(crate) fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_response_bytes = Some(bytes);
        self
    }

    /// A file beside the document.
    pub(crate) fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned()));
        self
    }

    pub(crate) async fn start(self) -> Plugin {
        let folder = Folder::make();
        for (name, text) in &self.files {
            std::fs::write(folder.0.join(name), text).unwrap();
        }
        let file = folder.0.join("p.toml");
        std::fs::write(&file, &self.document).unwrap();
        let mut config = HttpConfig::new(file);
        config.allow_private = self.allow.iter().map(|rule| rule.parse().unwrap()).collect();
        config.trusted = self.trusted;
        config.max_response_bytes = self.max_response_bytes.unwrap_or(config.max_response_bytes);
        let connector = HttpConnector::new("p", config).with_resolver(Arc::new(self.names));
        let registry = ToolRegistry::new(Limits::default());
        let mut settings = ProviderSettings::default();
        settings.name_form = NameForm::Qualified;
        registry.launch(Arc::new(connector), settings).await.unwrap();
        registry.wait_started(HANG).await;
        Plugin { registry, folder }
    }
}

// === impl Folder ===

impl Folder {
    fn make() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("http-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

// === impl Plugin ===

impl Plugin {
    /// Runs one call, with its arguments as JSON text.
    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> CallResult {
        let call = ToolCall::new("c", format!("p__{tool}"), RawArguments::text(arguments));
        let outcome = self.registry.dispatch(ToolBatch::new(vec![call])).await;
        outcome.results.into_iter().next().unwrap()
    }

    pub(crate) fn status(&self) -> ProviderStatus {
        self.registry.providers().into_iter().next().unwrap()
    }
}

impl Resolver for Names {
    fn resolve(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let found = self.0.get(&host).copied();
        Box::pin(std::future::ready(match found {
            Some(address) => Ok(vec![address]),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "no such name")),
        }))
    }
}

/// A document of one tool `t`, made of its input and the lines of its request and response; `@` is the service on `port`.
pub(crate) fn one_tool(port: u16, input: &str, request_and_response: &str) -> String {
    let tool = format!(
        "plugin = \"p\"\ntitle = \"测试\"\n[secrets]\nkey = {{ file = \"key.txt\" }}\n[[tools]]\nname = \"t\"\n\
         title = \"工具\"\ndescription = \"Does it.\"\neffect = \"read\"\n{input}\n[tools.request]\n{request_and_response}\n"
    );
    tool.replace("@", &format!("http://127.0.0.1:{port}"))
}

/// The structured content of a result.
pub(crate) fn structured(result: &CallResult) -> &str {
    result.result.structured_content.as_ref().map(|json| json.as_str()).unwrap_or_default()
}

/// The same as a value.
pub(crate) fn value(result: &CallResult) -> Value {
    serde_json::from_str(structured(result)).unwrap_or_default()
}
