//! Where the things are that `cargo xtask test` has set up.

use std::path::PathBuf;

use toolyard_providers::{CommandSpec, McpConfig};

/// What `cargo xtask test` has set up.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The binary under test.
    pub binary: PathBuf,
    /// The load generator under test.
    pub loadgen: PathBuf,
    /// The Python of the tests.
    pub python: PathBuf,
    /// The Node packages of the tests.
    pub node_modules: PathBuf,
}

// === impl Environment ===

impl Environment {
    /// Reads it from the variables that xtask sets.
    ///
    /// # Panics
    /// Says how to run the tests when a variable is missing.
    pub fn get() -> Self {
        Self {
            binary: variable("TOOLYARD_BIN"),
            loadgen: variable("TOOLYARD_LOADGEN_BIN"),
            python: variable("TOOLYARD_TEST_PYTHON"),
            node_modules: variable("TOOLYARD_TEST_NODE_MODULES"),
        }
    }
}

fn variable(name: &str) -> PathBuf {
    std::env::var_os(name).map(PathBuf::from).unwrap_or_else(|| {
        panic!("{name} is not set: these tests are run by `cargo xtask test`, which sets up what they need")
    })
}

/// mcp-server-time, a real MCP server in Python.
pub fn time_server(environment: &Environment) -> McpConfig {
    let args = ["-m", "mcp_server_time", "--local-timezone", "UTC"].map(str::to_owned).to_vec();
    McpConfig::stdio(CommandSpec { command: text(&environment.python), args, ..CommandSpec::default() })
}

/// server-everything, a real MCP server in Node.
pub fn everything_server(environment: &Environment) -> McpConfig {
    let script = environment.node_modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let args = vec![text(&script), "stdio".to_owned()];
    McpConfig::stdio(CommandSpec { command: "node".to_owned(), args, ..CommandSpec::default() })
}

fn text(path: &std::path::Path) -> String {
    path.to_str().map(str::to_owned).unwrap_or_else(|| panic!("{} is not UTF-8", path.display()))
}
