//! Programs that the suites for servers are run against.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::environment::Environment;

/// How often a daemon is asked whether its upstream is there, and the time between.
const TRIES: usize = 600;
const PAUSE: Duration = Duration::from_millis(50);
/// How long it may take to answer that.
const ANSWER: Duration = Duration::from_secs(10);
/// What the fixture's programs print before their address.
const FIXTURE: &str = "the fixture listens on ";
/// What the daemon prints before its address.
const DAEMON: &str = "Toolyard listens on ";

/// How the fixture is reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fixture {
    /// As a provider in one process with Toolyard's endpoint.
    Native,
    /// As an upstream of the daemon over stdio, in the older era.
    StdioLegacy,
    /// As an upstream of the daemon over HTTP, in the older era.
    HttpLegacy,
    /// As an upstream of the daemon over HTTP, in the newer era.
    HttpModern,
}

/// A program that listens, with what it needs. Both end when this is dropped.
pub(super) struct Program {
    address: String,
    _running: Running,
    _upstream: Option<Running>,
    _config: Option<Config>,
}

/// A child process. Killed when dropped.
struct Running(Child);

/// A configuration file. Removed when dropped.
struct Config(PathBuf);

// === impl Fixture ===

impl Fixture {
    pub(super) const ALL: [Self; 4] = [Self::Native, Self::StdioLegacy, Self::HttpLegacy, Self::HttpModern];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::StdioLegacy => "through stdio 2025-11-25",
            Self::HttpLegacy => "through HTTP 2025-11-25",
            Self::HttpModern => "through HTTP 2026-07-28",
        }
    }

    /// The revisions whose sets are run. Over stdio, a server of the older era does not say for which call it asks
    /// something, and the newer set leaves calls waiting beside those that it looks at.
    pub(super) const fn revisions(self) -> &'static [&'static str] {
        match self {
            Self::StdioLegacy => &["2025-11-25"],
            Self::Native | Self::HttpLegacy | Self::HttpModern => &["2025-11-25", "2026-07-28"],
        }
    }
}

// === impl Program ===

impl Program {
    pub(super) fn start(environment: &Environment, fixture: Fixture) -> Result<Self, String> {
        let built = environment.target.join("ci");
        let server = built.join("conformance-server");
        let (upstream, how) = match fixture {
            Fixture::Native => {
                let mut native = Command::new(built.join("conformance-native"));
                let (running, address) = Running::start(&mut native, FIXTURE)?;
                return Ok(Self { address, _running: running, _upstream: None, _config: None });
            }
            Fixture::StdioLegacy => {
                (None, format!("command = {server:?}\nargs = [\"stdio\"]\nera = \"legacy\"\nisolation = \"session\"\n"))
            }
            Fixture::HttpLegacy | Fixture::HttpModern => {
                let (running, url) = Running::start(Command::new(&server).arg("http"), FIXTURE)?;
                let era = if matches!(fixture, Fixture::HttpLegacy) { "legacy" } else { "modern" };
                (Some(running), format!("url = {url:?}\nallow_private = true\nera = {era:?}\n"))
            }
        };
        let config = Config::write(environment, &how)?;
        let mut daemon = Command::new(built.join("toolyard"));
        daemon.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(&config.0);
        let (running, address) = Running::start(&mut daemon, DAEMON)?;
        wait_until_ready(&address)?;
        Ok(Self { address: format!("{address}/mcp"), _running: running, _upstream: upstream, _config: Some(config) })
    }

    /// Where it is spoken to in MCP.
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

// === impl Running ===

impl Running {
    /// Starts a program and waits for the line on which it tells its address.
    fn start(command: &mut Command, before: &str) -> Result<(Self, String), String> {
        let what = command.get_program().to_string_lossy().into_owned();
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut running = Self(spawned.map_err(|error| format!("{what} cannot be started: {error}"))?);
        let pipe = running.0.stderr.take().ok_or("no pipe for what it says")?;
        let mut lines = BufReader::new(pipe).lines();
        let mut said = Vec::new();
        for line in lines.by_ref().map_while(Result::ok) {
            if let Some(address) = line.strip_prefix(before) {
                // What it says must go on being read, or it would block.
                std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
                return Ok((running, address.to_owned()));
            }
            said.push(line);
        }
        Err(format!("{what} ended before it listened: {}", said.join("; ")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

// === impl Config ===

impl Config {
    fn write(environment: &Environment, how: &str) -> Result<Self, String> {
        let path = environment.target.join(format!("conformance-{}.toml", std::process::id()));
        let text = format!(
            "[[providers]]\nname = \"fixture\"\nkind = \"mcp\"\nrequired = true\nnaming = \"bare\"\n\
             offers = [\"sampling\", \"elicitation\", \"roots\"]\n{how}"
        );
        std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

/// The daemon is ready once its upstream is there.
fn wait_until_ready(address: &str) -> Result<(), String> {
    let host = address.strip_prefix("http://").unwrap_or(address);
    let mut last = String::new();
    for _ in 0..TRIES {
        last = get(host, "/readyz").unwrap_or_else(|error| error.to_string());
        if last.starts_with("HTTP/1.1 200") {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Err(format!("the daemon did not become ready: {last}"))
}

fn get(host: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(ANSWER))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
