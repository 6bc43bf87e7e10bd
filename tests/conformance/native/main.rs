//! The conformance fixture as a provider in this process, behind Toolyard's MCP endpoint over HTTP.

mod asker;
mod provider;

use std::process::ExitCode;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use provider::Native;
use tokio::net::TcpListener;
use toolyard::{Limits, NameForm, NoHost, ProviderSettings, ToolRegistry};
use toolyard_providers::{McpEndpoint, McpEndpointConfig, McpHub};
use toolyard_tests::conformance::LISTENS_ON;

#[tokio::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), String> {
    let hub = McpHub::new();
    let native = Arc::new(Native::new(hub.clone()));
    hub.declare(provider::NAME);
    let _membership = hub.join(provider::NAME, Arc::clone(&native) as _);
    let registry = ToolRegistry::new(Limits::default());
    let settings = ProviderSettings::default();
    registry.register(native, settings).await.map_err(|error| error.to_string())?;
    let name_forms = vec![(provider::NAME.to_owned(), NameForm::Bare)];
    let config = McpEndpointConfig { name_forms, ..McpEndpointConfig::default() };
    let endpoint = McpEndpoint::new(registry, hub, Arc::new(NoHost), config);
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    eprintln!("{LISTENS_ON}http://{address}/mcp");
    let router = axum::Router::new().route_service("/mcp", endpoint.http());
    axum::serve(listener, router).await.map_err(|error| error.to_string())
}
