//! The configuration of a daemon that has the scenario's tools: scripted ones, one for each way in which calls go.

use std::fmt::Write as _;

use super::way::{End, Wait};
use super::{Scenario, TargetKind, Tool};

/// What the daemon takes by itself.
const DAEMON_BATCH_CALLS: usize = 128;
const DAEMON_IN_FLIGHT: usize = 65_536;
/// The most that it may be told to take.
const MOST_IN_FLIGHT: usize = 16 << 20;
const DAEMON_MCP_SESSIONS: u32 = 1_024;
const DAEMON_REQUESTS: usize = 4_096;
/// A call that never ends by itself.
const FOR_EVER_MS: u64 = 86_400_000;

pub(super) fn configuration(scenario: &Scenario) -> String {
    let mut text = format!("# Tools for the load scenario {:?}.\n", scenario.name);
    let calls = scenario.max_calls();
    if scenario.connections() > DAEMON_REQUESTS {
        write!(text, "\n[server]\nmax_requests = {}\n", scenario.connections()).ok();
    }
    let in_flight = scenario.connections().saturating_mul(calls);
    if calls > DAEMON_BATCH_CALLS || in_flight > DAEMON_IN_FLIGHT {
        let (calls, in_flight) = (calls.max(DAEMON_BATCH_CALLS), in_flight.clamp(DAEMON_IN_FLIGHT, MOST_IN_FLIGHT));
        write!(text, "\n[limits]\nmax_batch_calls = {calls}\nmax_in_flight = {in_flight}\n").ok();
    }
    let sessions = scenario.max_sessions();
    if scenario.target.kind == TargetKind::Mcp && sessions > DAEMON_MCP_SESSIONS {
        write!(text, "\n[mcp]\nmax_sessions = {sessions}\n").ok();
    }
    let own: Vec<&Tool> = scenario.tools.iter().filter(|tool| !tool.external).collect();
    let mut providers: Vec<&str> = Vec::new();
    for tool in &own {
        if !providers.contains(&tool.provider.as_str()) {
            providers.push(&tool.provider);
        }
    }
    for provider in providers {
        let name = toml_text(provider);
        write!(text, "\n[[providers]]\nname = {name}\nkind = \"scripted\"\nnaming = \"bare\"\n").ok();
        own.iter().filter(|tool| tool.provider == provider).for_each(|tool| add(&mut text, tool));
    }
    text
}

fn add(text: &mut String, tool: &Tool) {
    let (name, class) = (toml_text(&tool.name), tool.class.as_str());
    write!(text, "\n[[providers.tools]]\nname = {name}\nexecution = \"{class}\"\neffect = \"read\"\n").ok();
    text.push_str("reply = { fixed = \"done\" }\n");
    let latency_ms = match (tool.way.end, tool.way.wait) {
        (End::Hang, _) => FOR_EVER_MS,
        (_, Wait::Fixed(time)) => u64::try_from(time.as_micros().div_ceil(1_000)).unwrap_or(FOR_EVER_MS),
        (_, Wait::None | Wait::Uniform(..) | Wait::Normal(..)) => 0,
    };
    if latency_ms > 0 {
        writeln!(text, "latency_ms = {latency_ms}").ok();
    }
    if matches!(tool.way.end, End::Error | End::Break) {
        text.push_str("failure_rate = 1.0\n");
    }
    if tool.way.end == End::Break {
        text.push_str("breaks = true\n");
    }
    if let Some(timeout) = tool.timeout {
        writeln!(text, "timeout_ms = {}", timeout.as_millis()).ok();
    }
    if let Some(max) = tool.max_in_flight {
        writeln!(text, "max_in_flight = {max}").ok();
    }
}

fn toml_text(text: &str) -> String {
    toml::Value::from(text).to_string()
}
