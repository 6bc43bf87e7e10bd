//! Calls of an echo tool: directly, through Toolyard, and through whatever else stands in between, in one run.
//!
//! ```text
//! cargo build --release --package toolyard-server --bin toolyard --package toolyard-bench --bins
//! TOOLYARD_BIN=target/release/toolyard target/release/mcp-load
//! ```
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

mod target;
mod wire;

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use target::Target;
use wire::Connection;

/// Every target is measured so often, in turn; what is told is the middle.
const ROUNDS: usize = 5;
const WARM_UP: u64 = 300;
const CALLS: u64 = 2_000;
const CALLERS: usize = 32;
/// How long the callers go on.
const SPAN: Duration = Duration::from_secs(3);
const CANCELS: u64 = 10_000;
/// Calls that are given up at a time.
const CANCELLERS: u64 = 32;
const ARGUMENTS: &str = r#"{"text":"the kettle is on"}"#;

#[derive(Default)]
struct Figures {
    /// Middle time of a call by itself, in µs.
    p50: Vec<f64>,
    p99: Vec<f64>,
    /// Calls a second of all callers.
    rate: Vec<f64>,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut targets = vec![Target::direct().await, Target::bare().await, Target::toolyard().await];
    targets.extend(Target::others());
    wait_until_listed(&targets[2]).await;
    let mut figures: Vec<Figures> = targets.iter().map(|_| Figures::default()).collect();
    for round in 0..ROUNDS {
        for (target, figures) in targets.iter().zip(&mut figures) {
            let mut times = alone(&target.url).await;
            times.sort_by(f64::total_cmp);
            figures.p50.push(times[times.len() / 2]);
            figures.p99.push(times[times.len() * 99 / 100]);
            figures.rate.push(together(&target.url).await);
        }
        say(&format!("round {} of {ROUNDS}", round + 1));
    }
    tell(&targets, figures);
    let left = cancelled(&targets[2]).await;
    say(&format!("\n{CANCELS} cancelled calls; left in flight and pending: {left}"));
}

/// Times of calls by themselves, in µs.
async fn alone(url: &str) -> Vec<f64> {
    let mut connection = Connection::open(url).await.unwrap();
    let mut times = Vec::new();
    for id in 1..=WARM_UP + CALLS {
        let began = Instant::now();
        echo(&mut connection, id).await;
        if id > WARM_UP {
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    times
}

/// Calls a second of many callers in one session.
async fn together(url: &str) -> f64 {
    let first = Connection::open(url).await.unwrap();
    let ids = Arc::new(AtomicU64::new(1));
    let mut callers = Vec::new();
    let began = Instant::now();
    for _ in 0..CALLERS {
        let (mut connection, ids) = (first.another().await.unwrap(), Arc::clone(&ids));
        callers.push(tokio::spawn(async move {
            while began.elapsed() < SPAN {
                echo(&mut connection, ids.fetch_add(1, Ordering::Relaxed)).await;
            }
        }));
    }
    for caller in callers {
        caller.await.unwrap();
    }
    (ids.load(Ordering::Relaxed) - 1) as f64 / began.elapsed().as_secs_f64()
}

async fn echo(connection: &mut Connection, id: u64) {
    let answer = connection.call(id, "echo", ARGUMENTS).await.unwrap();
    assert!(answer.body.contains("the kettle is on"), "{}: {}", answer.status, answer.body);
}

/// Gives calls up one after the other, and says what is then left of them at Toolyard.
async fn cancelled(target: &Target) -> String {
    let first = Connection::open(&target.url).await.unwrap();
    let mut cancellers = Vec::new();
    for canceller in 0..CANCELLERS {
        let (mut caller, mut other) = (first.another().await.unwrap(), first.another().await.unwrap());
        cancellers.push(tokio::spawn(async move {
            for id in (1..=CANCELS).filter(|id| id % CANCELLERS == canceller) {
                // Told again until it has ended: the first time may come before the call does.
                let cancel = async {
                    loop {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                        other.cancel(id).await.unwrap();
                    }
                };
                tokio::select! {
                    ended = caller.call(id, "sleep", r#"{"ms":600000}"#) => drop(ended.unwrap()),
                    () = cancel => {}
                }
            }
        }));
    }
    for canceller in cancellers {
        canceller.await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let metrics = first.another().await.unwrap().get("/metrics").await.unwrap().body;
    let is_left = |line: &&str| line.contains("in_flight") || line.contains("pending");
    let left: Vec<&str> = metrics.lines().filter(|line| !line.starts_with('#')).filter(is_left).collect();
    left.join("; ")
}

async fn wait_until_listed(target: &Target) {
    for _ in 0..200 {
        let mut connection = Connection::open(&target.url).await.unwrap();
        if connection.get("/readyz").await.is_ok_and(|answer| answer.status == 200) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} did not become ready at {}", target.name, target.base());
}

fn tell(targets: &[Target], figures: Vec<Figures>) {
    let told: Vec<(f64, f64, f64)> =
        figures.into_iter().map(|f| (middle(f.p50), middle(f.p99), middle(f.rate))).collect();
    let (direct, bare) = (told[0], told[1]);
    say("\n| path | p50, µs | p99, µs | p50 over direct, µs | calls/s at 32 | beside bare gateway |");
    say("|---|---:|---:|---:|---:|---:|");
    for (target, (p50, p99, rate)) in targets.iter().zip(told) {
        let (more, ratio) = (p50 - direct.0, rate / bare.2);
        say(&format!("| {} | {p50:.0} | {p99:.0} | {more:.0} | {rate:.0} | {ratio:.2} |", target.name));
    }
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").ok();
}
