//! The public tools, each server's as a provider of its own.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::{
    FunctionProvider, FunctionTool, Limits, NameForm, ProviderSettings, ToolExecutionResult, ToolRegistry, ToolSpec,
    import_definitions,
};

use crate::recordings;

/// How the definitions are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read {
    /// As a document.
    Imported,
    /// Field by field, the schema as it stands.
    Declared,
}

/// A registry of all tools, and how many there are. Names of tools are unique only within their server.
pub(super) async fn served(read: Read, backwards: bool) -> (ToolRegistry, usize) {
    let mut servers: Vec<(String, Vec<Value>)> = servers().into_iter().collect();
    if backwards {
        servers.reverse();
    }
    let registry = ToolRegistry::new(Limits::default());
    let mut count = 0;
    for (server, definitions) in servers {
        let mut specs = match read {
            Read::Imported => imported(&definitions),
            Read::Declared => definitions.iter().map(declared).collect(),
        };
        assert_eq!(specs.len(), definitions.len(), "{server}");
        count += specs.len();
        if backwards {
            specs.reverse();
        }
        let echo = |spec| {
            FunctionTool::new(spec, |invocation, _| {
                ready(Ok(ToolExecutionResult::success(invocation.arguments().text())))
            })
        };
        let provider = specs.into_iter().map(echo).fold(FunctionProvider::new(server), FunctionProvider::with_tool);
        let mut settings = ProviderSettings::default();
        settings.name_form = NameForm::Qualified;
        registry.register(Arc::new(provider), settings).await.unwrap();
    }
    (registry, count)
}

fn imported(definitions: &[Value]) -> Vec<ToolSpec> {
    let read = import_definitions(&json!({"tools": definitions})).unwrap();
    assert!(read.rejected.is_empty(), "{:?}", read.rejected);
    read.tools.into_iter().map(|tool| tool.spec).collect()
}

fn declared(definition: &Value) -> ToolSpec {
    let description = definition["description"].as_str().unwrap_or_default();
    ToolSpec::new(definition["name"].as_str().unwrap(), description).with_parameters(definition["inputSchema"].clone())
}

fn servers() -> BTreeMap<String, Vec<Value>> {
    let read = |corpus: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(recordings().join(corpus).join("tools.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let mut servers = BTreeMap::from([("toolsnaps".to_owned(), read("toolsnaps"))]);
    for entry in read("livemcpbench") {
        for (server, listing) in entry["tools"].as_object().unwrap() {
            let name: String = server.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            servers.entry(name).or_default().extend(listing["tools"].as_array().unwrap().iter().cloned());
        }
    }
    servers
}
