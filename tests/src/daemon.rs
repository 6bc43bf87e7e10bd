//! The binary under test, as a daemon and as a command.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::{Environment, in_time};

/// A running daemon. Killed when dropped.
#[derive(Debug)]
pub struct Daemon {
    /// Where it listens, such as `http://127.0.0.1:40001`.
    pub address: String,
    /// For requests to it.
    pub client: reqwest::Client,
    child: Child,
    log: Arc<Mutex<String>>,
    _config: tempfile::NamedTempFile,
}

// === impl Daemon ===

impl Daemon {
    /// Starts it with this configuration on a free port.
    pub async fn start(config: &str) -> Self {
        Self::start_with(config, &[]).await
    }

    /// The same with a temporary folder of its own.
    pub async fn start_with_temp(config: &str, temp: &Path) -> Self {
        Self::start_with(config, &[("TMPDIR", &temp.to_string_lossy())]).await
    }

    /// Starts it with this configuration on a free port, with these variables in its environment.
    pub async fn start_with(config: &str, variables: &[(&str, &str)]) -> Self {
        let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        std::fs::write(file.path(), config).unwrap();
        let mut child = Command::new(Environment::get().binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--config"])
            .arg(file.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = in_time("the daemon listens", async {
            loop {
                let line = lines.next_line().await.unwrap().expect("the daemon ended before it listened");
                if let Some(address) = line.strip_prefix("Toolyard listens on ") {
                    return address.to_owned();
                }
            }
        })
        .await;
        // Its log must go on being read, or it would block.
        let log = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let mut kept = kept.lock().unwrap();
                kept.push_str(&line);
                kept.push('\n');
            }
        });
        toolyard_providers::install_crypto_provider();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { address, client, child, log, _config: file }
    }

    /// What it has said on standard error since it listened.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Sends a batch and gives the status and the document back.
    pub async fn batch(&self, request: &Value) -> (u16, Value) {
        let sent = self.client.post(format!("{}/v1/batches", self.address)).json(request).send().await.unwrap();
        (sent.status().as_u16(), sent.json().await.unwrap())
    }

    /// The text at a path.
    pub async fn get(&self, path: &str) -> (u16, String) {
        let got = self.client.get(format!("{}{path}", self.address)).send().await.unwrap();
        (got.status().as_u16(), got.text().await.unwrap())
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> std::process::ExitStatus {
        in_time("the end of the daemon", self.child.wait()).await.unwrap()
    }
}

/// Runs the binary with these arguments to its end.
pub async fn run_cli(arguments: &[&str]) -> Output {
    let mut command = Command::new(Environment::get().binary);
    command.args(arguments).env_remove("TOOLYARD_CONFIG").stdin(Stdio::null()).kill_on_drop(true);
    in_time("the end of the command", command.output()).await.unwrap()
}

/// Runs `toolyard dispatch` on a reply, with further arguments, and reads the outcome document.
pub async fn dispatch(reply: &str, arguments: &[&str]) -> (i32, Option<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("reply.json");
    std::fs::write(&path, reply).unwrap();
    let mut all = vec!["dispatch", path.to_str().unwrap()];
    all.extend(arguments);
    let output = run_cli(&all).await;
    let errors = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), serde_json::from_slice(&output.stdout).ok(), errors)
}
