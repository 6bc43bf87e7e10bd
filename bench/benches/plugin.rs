//! Calls of no-op tools in plugin processes: one after the other, and many at once over several processes. Beside them
//! what the same frames cost a Python process that only sends them back.
//!
//! Needs a built `toolyard` in `TOOLYARD_BIN` and a Python with `maibot-plugin-sdk` in `TOOLYARD_TEST_PYTHON`.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use toolyard::{Limits, NoHost, ProviderSettings, RawArguments, ToolBatch, ToolCall, ToolRegistry};
use toolyard_providers::{MaiBotConfig, PluginHost, RunnerConfig, Spawner};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PLUGINS: usize = 4;
const CALLERS: usize = 64;
const SEQUENTIAL: usize = 5_000;
const CONCURRENT: Duration = Duration::from_secs(5);
const WARM_UP: usize = 500;

/// A Python process that sends frames back as they are.
const ECHO: &str = r#"
import socket, sys
sock = socket.socket(fileno=0)
while data := sock.recv(262144):
    sock.sendall(data)
"#;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    let registry = start().await;
    sequential(&registry, WARM_UP).await;
    let (own, times) = sequential(&registry, SEQUENTIAL).await;
    let echo = echo(SEQUENTIAL).await;
    say(&format!("one call at a time: {:.0} µs a call (p50 {:.0}, p99 {:.0})", own, at(&times, 0.5), at(&times, 0.99)));
    say(&format!("the same frames through a Python echo: {echo:.0} µs; a call costs {:.1} times that", own / echo));
    for callers in [CALLERS, 4 * CALLERS] {
        say(&format!(
            "{PLUGINS} plugins, {callers} callers: {:.0} calls a second",
            concurrent(&registry, callers).await
        ));
    }
    registry.close(Duration::from_secs(5)).await;
}

async fn start() -> ToolRegistry {
    let spawner = Arc::new(Spawner::new(Some(variable("TOOLYARD_BIN"))).unwrap());
    let host = PluginHost::new(spawner, Arc::new(NoHost)).unwrap();
    let registry = ToolRegistry::new(Limits::default());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/noop");
    for index in 0..PLUGINS {
        let config: MaiBotConfig = serde_json::from_value(json!({"path": folder})).unwrap();
        let python = variable("TOOLYARD_TEST_PYTHON").to_str().unwrap().to_owned();
        let runner = RunnerConfig { python, watch: false, ..RunnerConfig::default() };
        let mut settings = ProviderSettings::default();
        settings.name_form = toolyard::NameForm::Qualified;
        registry.launch(Arc::new(host.maibot(&format!("p{index}"), config, runner)), settings).await.unwrap();
    }
    registry.wait_started(Duration::from_secs(60)).await;
    assert_eq!(
        registry.list_tools(&toolyard::ToolExecutionContext::default()).len(),
        PLUGINS,
        "{:?}",
        registry.providers()
    );
    registry
}

/// The mean and every single time, in microseconds.
async fn sequential(registry: &ToolRegistry, calls: usize) -> (f64, Vec<f64>) {
    let mut times = Vec::with_capacity(calls);
    let began = Instant::now();
    for _ in 0..calls {
        let one = Instant::now();
        call(registry, 0).await;
        times.push(micros(one));
    }
    let mean = micros(began) / calls as f64;
    times.sort_by(f64::total_cmp);
    (mean, times)
}

/// Calls a second.
async fn concurrent(registry: &ToolRegistry, callers: usize) -> f64 {
    let began = Instant::now();
    let caller = |index: usize| {
        let registry = registry.clone();
        tokio::spawn(async move {
            let mut calls = 0_u64;
            while began.elapsed() < CONCURRENT {
                call(&registry, index % PLUGINS).await;
                calls += 1;
            }
            calls
        })
    };
    let calls: u64 = join_all((0..callers).map(caller)).await.into_iter().map(Result::unwrap).sum();
    calls as f64 / began.elapsed().as_secs_f64()
}

async fn call(registry: &ToolRegistry, plugin: usize) {
    let call = ToolCall::new("c", format!("p{plugin}__noop"), RawArguments::from(&json!({})));
    let outcome = registry.dispatch(ToolBatch::new(vec![call])).await;
    assert!(outcome.results[0].result.success, "{:?}", outcome.results[0]);
}

/// Microseconds for a frame there and back.
async fn echo(rounds: usize) -> f64 {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let stdin = std::process::Stdio::from(std::os::fd::OwnedFd::from(theirs));
    let python = variable("TOOLYARD_TEST_PYTHON");
    let mut child =
        tokio::process::Command::new(python).args(["-c", ECHO]).stdin(stdin).kill_on_drop(true).spawn().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut socket = tokio::net::UnixStream::from_std(ours).unwrap();
    let frame = [b'x'; 160];
    let mut back = [0; 160];
    let mut began = Instant::now();
    for round in 0..rounds + WARM_UP {
        if round == WARM_UP {
            began = Instant::now();
        }
        socket.write_all(&frame).await.unwrap();
        socket.read_exact(&mut back).await.unwrap();
    }
    let mean = micros(began) / rounds as f64;
    child.kill().await.unwrap();
    mean
}

fn at(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

fn variable(name: &str) -> PathBuf {
    std::env::var_os(name).map(PathBuf::from).unwrap_or_else(|| panic!("{name} is not set; see bench/README.md"))
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}
