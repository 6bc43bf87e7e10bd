//! What an idle session costs: `cargo run --release -p toolyard --example idle_sessions`.
//!
//! Prints the resident memory of the process, divided by the sessions that were opened, for sessions that have done less
//! and more. Linux only.

use std::io::Write;
use std::sync::Arc;

use toolyard::{Limits, LoadedSet, ReceivedMessage, SessionKey, SessionProfile, ToolRegistry, TurnId, TurnStart};

const SESSIONS: usize = 100_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut limits = Limits::default();
    limits.max_sessions = 10 * SESSIONS;
    let registry = ToolRegistry::new(limits);
    let mut before = resident_bytes()?;
    for kind in ["opened", "with a profile", "with a profile, ten loaded tools, and a turn of one message"] {
        for number in 0..SESSIONS {
            let key = SessionKey { tenant: "tenant".into(), session: format!("{kind}-{number}").into() };
            open(&registry, &key, kind).await;
        }
        let now = resident_bytes()?;
        let each = now.saturating_sub(before) / SESSIONS;
        writeln!(std::io::stdout(), "{SESSIONS} sessions, {kind}: {each} bytes each")?;
        before = now;
    }
    Ok(())
}

async fn open(registry: &ToolRegistry, key: &SessionKey, kind: &str) {
    let sessions = registry.sessions();
    if kind == "opened" {
        sessions.open(key, None).await;
        return;
    }
    let profile = SessionProfile {
        group_id: "onebot:group:80001".to_owned(),
        platform: "onebot".to_owned(),
        user_id: "onebot:70002".to_owned(),
        role: "guest".to_owned(),
        is_group_chat: true,
        ..SessionProfile::default()
    };
    sessions.open(key, Some(profile)).await;
    if kind == "with a profile" {
        return;
    }
    let tools = (0..10).map(|n| Arc::from(format!("notes.tool_{n}"))).collect();
    sessions.load(key, &LoadedSet { tools, ..LoadedSet::default() }).await;
    let body = serde_json::json!({"text": "hello, what is there for lunch today?", "sender": {"uid": "onebot:70002"}});
    let message = ReceivedMessage {
        id: "message".into(),
        sender: "onebot:70002".into(),
        body: Arc::new(body),
        ..ReceivedMessage::default()
    };
    sessions.begin_turn(key, TurnStart { id: TurnId("turn".into()), messages: vec![message] }).await.ok();
}

fn resident_bytes() -> Result<usize, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kib: usize = line.split_whitespace().next().unwrap_or_default().parse()?;
    Ok(kib * 1024)
}
