//! Toolyard as an MCP server: both eras over HTTP, one client over standard streams, real clients of other projects.

mod asking;
mod client;
mod features;
mod http;
mod sdks;
mod stdio;

use std::time::Duration;

use toolyard_tests::{Daemon, Environment};

const PATIENCE: Duration = Duration::from_secs(30);

/// The folder of the tests.
fn tests() -> &'static std::path::Path {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A server of ours that asks, reports, logs and remembers what was cancelled.
fn asking() -> String {
    let python = Environment::get().python;
    let script = tests().join("servers/asking_mcp.py");
    format!(
        "[[providers]]\nname = \"asking\"\nkind = \"mcp\"\noffers = [\"sampling\", \"elicitation\"]\nrequired = true\n\
         command = {:?}\nargs = [{:?}]\n",
        python.display().to_string(),
        script.display().to_string(),
    )
}

/// A daemon with that server, and this before it in its configuration. Ready when this returns.
async fn daemon(before: &str) -> Daemon {
    let daemon = Daemon::start(&format!("{before}\n{}", asking())).await;
    let ready = async {
        while !daemon.get("/v1/tools").await.1.contains("asking__echo") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, ready).await.expect("the server behind the daemon did not start");
    daemon
}
