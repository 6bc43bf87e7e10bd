//! Targets: what is measured, each with the processes that it needs.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Something that answers `tools/call`.
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) url: String,
    _child: Option<Child>,
    _config: Option<tempfile::NamedTempFile>,
}

// === impl Target ===

impl Target {
    /// The echo server itself.
    pub(crate) async fn direct() -> Self {
        Self::spawn("direct", Command::new(beside()).args(["echo", "http"]), None).await
    }

    /// The bare gateway in front of the echo server.
    pub(crate) async fn bare() -> Self {
        let mut command = Command::new(beside());
        command.arg("gateway").arg(beside()).args(["echo", "stdio"]);
        Self::spawn("bare gateway", &mut command, None).await
    }

    /// Toolyard in front of the echo server.
    pub(crate) async fn toolyard() -> Self {
        let binary = std::env::var_os("TOOLYARD_BIN").expect("set TOOLYARD_BIN to the toolyard binary to be measured");
        let mut config = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        let provider = format!(
            "[[providers]]\nname = \"beside\"\nkind = \"mcp\"\nrequired = true\nnaming = \"bare\"\n\
             command = {:?}\nargs = [\"echo\", \"stdio\"]\n",
            beside()
        );
        config.write_all(provider.as_bytes()).unwrap();
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(config.path());
        Self::spawn("toolyard", &mut command, Some(config)).await
    }

    /// Others that somebody has started: `name=url` in `TOOLYARD_BENCH_MCP`, with spaces between.
    pub(crate) fn others() -> Vec<Self> {
        let named = std::env::var("TOOLYARD_BENCH_MCP").unwrap_or_default();
        let others = named.split_whitespace().filter_map(|other| other.split_once('='));
        others.map(|(name, url)| Self { name: name.into(), url: url.into(), _child: None, _config: None }).collect()
    }

    /// Where the target's server is, without a path.
    pub(crate) fn base(&self) -> String {
        self.url.trim_end_matches("/mcp").to_owned()
    }

    async fn spawn(name: &str, command: &mut Command, config: Option<tempfile::NamedTempFile>) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next_line().await.unwrap().expect("it ended before it listened");
            if let Some((_, address)) = line.split_once("istens on ") {
                break address.to_owned();
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { name: name.into(), url: format!("{address}/mcp"), _child: Some(child), _config: config }
    }
}

/// The echo server and the bare gateway, which are built beside this program.
fn beside() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("mcp-beside")
}
