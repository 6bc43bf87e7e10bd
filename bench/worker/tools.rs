//! The tools: what each is asked, what it answers, and the registry that has them all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolyard::{ExecutionClass, FunctionProvider, FunctionTool, Limits, ProviderSettings, RegistryError, ToolRegistry};

const PROVIDERS: usize = 5;
const TOOLS_PER_PROVIDER: usize = 10;
/// All of them.
pub(crate) const TOOLS: usize = PROVIDERS * TOOLS_PER_PROVIDER;

/// What a tool is asked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
    limit: i64,
}

/// What it answers.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Found {
    pub(crate) tool: String,
    pub(crate) query: String,
    pub(crate) limit: i64,
}

pub(crate) fn name(tool: usize) -> String {
    format!("p{}_tool{}", tool / TOOLS_PER_PROVIDER, tool % TOOLS_PER_PROVIDER)
}

/// The registry with all tools, each of which waits for as many milliseconds as `sleep_ms` says.
pub(crate) async fn registry(class: ExecutionClass, sleep_ms: &Arc<AtomicU64>) -> Result<ToolRegistry, RegistryError> {
    let registry = ToolRegistry::new(Limits::default());
    for provider in 0..PROVIDERS {
        let tools = (provider * TOOLS_PER_PROVIDER..(provider + 1) * TOOLS_PER_PROVIDER)
            .map(|number| tool(name(number), Arc::clone(sleep_ms)).with_execution(class));
        let provider = tools.fold(FunctionProvider::new(format!("p{provider}")), FunctionProvider::with_tool);
        registry.register(Arc::new(provider), ProviderSettings::default()).await?;
    }
    Ok(registry)
}

fn tool(name: String, sleep_ms: Arc<AtomicU64>) -> FunctionTool {
    FunctionTool::typed(&name.clone(), "Searches.", move |Query { query, limit }| {
        let (tool, sleep_ms) = (name.clone(), sleep_ms.load(Ordering::Relaxed));
        async move {
            if sleep_ms > 0 {
                tokio::time::sleep(Duration::from_millis(sleep_ms)).await;
            }
            Ok(Found { tool, query, limit })
        }
    })
}
