//! What the MCP bench measures beside Toolyard: an echo server, and a bare gateway in front of one.
//!
//! ```text
//! mcp-beside echo stdio|http
//! mcp-beside gateway PROGRAM [ARGUMENT]...
//! ```

mod echo;
mod gateway;

use std::process::ExitCode;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use rmcp::ServerHandler;
use rmcp::service::ServiceExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use echo::Echo;
use gateway::Gateway;

type Ended = Result<(), Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match *words {
        ["echo", "stdio"] => stdio().await,
        ["echo", "http"] => http(Echo).await,
        ["gateway", program, ref rest @ ..] => match Gateway::start(program, rest).await {
            Ok(gateway) => http(gateway).await,
            Err(error) => Err(error),
        },
        _ => Err("usage: mcp-beside echo stdio|http, or mcp-beside gateway PROGRAM [ARGUMENT]...".into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn stdio() -> Ended {
    Echo.serve(rmcp::transport::stdio_pipes()).await?.waiting().await?;
    Ok(())
}

/// Serves over HTTP with sessions, on a free port that is told on standard error.
async fn http<S>(service: S) -> Ended
where
    S: ServerHandler + Clone + Send + Sync + 'static,
{
    let sessions = Arc::<LocalSessionManager>::default();
    let service =
        StreamableHttpService::new(move || Ok(service.clone()), sessions, StreamableHttpServerConfig::default());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listens on http://{}", listener.local_addr()?);
    // Without it, each answer waits for the acknowledgement of the packet before: 40 ms.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
