//! Toolyard's MCP client in front of the suites' own servers: it connects as a provider of an engine would, calls every
//! tool, and reads what else there is.
//!
//! The suite gives the server's address as the last argument, and says in the environment what it is after.

mod bot;
mod sample;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bot::Bot;
use serde_json::{Value, json};
use tokio::time::Instant;
use toolyard::{
    HostPort, JsonText, Limits, ListedTool, ProviderSettings, ProviderState, RawArguments, ToolBatch, ToolCall,
    ToolExecutionContext, ToolRegistry,
};
use toolyard_providers::{
    AllowRule, McpConfig, McpConnector, McpFeatures, McpHttpConfig, McpHub, McpOffer, McpRequest, McpTransport,
    Spawner, install_crypto_provider,
};

const NAME: &str = "suite";
/// For connecting, and for each request.
const PATIENCE: Duration = Duration::from_secs(15);
/// Tools of the suite that one server has and the client is to give the other's schema to.
const ECHO_OF_SCHEMA: (&str, &str) = ("json_schema_echo", "json_schema_2020_12_tool");

#[tokio::main]
async fn main() -> ExitCode {
    match drive().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

async fn drive() -> Result<(), String> {
    let url = std::env::args().next_back().ok_or("the address of a server is missing")?;
    let url = url.parse().map_err(|error| format!("{url} is no address: {error}"))?;
    install_crypto_provider();
    let spawner = Arc::new(Spawner::new(None).map_err(|error| error.to_string())?);
    let bot: Arc<dyn HostPort> = Arc::new(Bot);
    let registry = ToolRegistry::with_host(Limits::default(), Arc::clone(&bot));
    let hub = McpHub::new();
    let mut http = McpHttpConfig::new(url);
    http.allow_private = vec![AllowRule::nearby()];
    let mut config = McpConfig::new(McpTransport::Http(http));
    config.options.offers = vec![McpOffer::Sampling, McpOffer::Elicitation, McpOffer::Roots];
    let connector = McpConnector::new(NAME, config, spawner, hub.clone()).with_host(Arc::clone(&bot));
    let settings = ProviderSettings::default();
    registry.launch(Arc::new(connector), settings).await.map_err(|error| error.to_string())?;
    registry.wait_started(PATIENCE).await;
    let state = registry.providers().into_iter().find(|provider| &*provider.name == NAME);
    if state.as_ref().is_none_or(|provider| provider.state != ProviderState::Up) {
        return Err(format!("it did not connect: {state:?}"));
    }
    call_tools(&registry).await;
    if let Some(features) = hub.member(NAME) {
        read_the_rest(&*features, &bot).await;
    }
    registry.close(Duration::from_secs(3)).await;
    Ok(())
}

/// Calls every tool once, one after the other: with the arguments that the suite wants, else with some that fit.
async fn call_tools(registry: &ToolRegistry) {
    let tools = registry.list_tools(&ToolExecutionContext::default());
    let context: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|context| serde_json::from_str(&context).ok())
        .unwrap_or_default();
    if let Some(wanted) = context["toolCalls"].as_array() {
        for call in wanted {
            let name = call["name"].as_str().unwrap_or_default();
            let tool = tools.iter().find(|tool| &*tool.spec.name == name);
            if let Some(tool) = tool {
                run(registry, tool, &call["arguments"]).await;
            }
        }
        return;
    }
    for tool in &tools {
        let (echo, focal) = ECHO_OF_SCHEMA;
        let schema_of = |name: &str| tools.iter().find(|tool| &*tool.spec.name == name).map(schema);
        let arguments = match schema_of(focal) {
            Some(schema) if &*tool.spec.name == echo => json!({"schema": schema}),
            _ => sample::arguments(&tool.spec.parameters_schema),
        };
        run(registry, tool, &arguments).await;
    }
}

/// The schema as the client has it.
fn schema(tool: &ListedTool) -> Value {
    tool.spec.parameters_schema.clone()
}

async fn run(registry: &ToolRegistry, tool: &ListedTool, arguments: &Value) {
    let call = ToolCall::new("call", Arc::clone(&tool.model_name), RawArguments::from(arguments));
    let outcome = registry.dispatch(ToolBatch::new(vec![call])).await;
    for result in &outcome.results {
        eprintln!("{}: {:?}: {}", tool.model_name, result.status, result.history_content());
    }
}

/// Lists prompts and resources, and gets each.
async fn read_the_rest(features: &dyn McpFeatures, bot: &Arc<dyn HostPort>) {
    let capabilities: Value = features.capabilities().to().unwrap_or_default();
    for (kind, list, get, key) in
        [("prompts", "prompts/list", "prompts/get", "name"), ("resources", "resources/list", "resources/read", "uri")]
    {
        if !capabilities[kind].is_object() {
            continue;
        }
        let listed = ask(features, bot, list, json!({})).await;
        for entry in listed[kind].as_array().into_iter().flatten() {
            ask(features, bot, get, json!({key: entry[key]})).await;
        }
    }
}

async fn ask(features: &dyn McpFeatures, bot: &Arc<dyn HostPort>, method: &str, params: Value) -> Value {
    let request = McpRequest {
        session: "".into(),
        method: method.into(),
        params: JsonText::from(params),
        tenant: "".into(),
        deadline: Instant::now() + PATIENCE,
        host: Some(Arc::clone(bot)),
    };
    match features.request(request).await {
        Ok(result) => result.to().unwrap_or_default(),
        Err(refusal) => {
            eprintln!("{method}: {refusal:?}");
            Value::Null
        }
    }
}
