//! Waiting for providers, and telling people what is still starting or left out.

use std::time::Duration;

use tokio::time::Instant;
use toolyard::ProviderState;

use crate::app::App;
use crate::process::say;

/// How long providers may take to start before a command goes on without them.
const START: Duration = Duration::from_secs(120);
/// How often people are told that something is still starting.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits for the providers, and says which ones are still starting, down, or have tools that are left out.
pub(super) async fn wait_until_started(app: &App) {
    let deadline = Instant::now() + START;
    let starting = || {
        let providers = app.registry.providers().into_iter();
        providers.filter(|provider| provider.state == ProviderState::Starting).map(|p| p.name.to_string()).collect()
    };
    let mut names: Vec<String> = starting();
    if !names.is_empty() {
        say(&format!("starting {} (the first time may take a minute) …", names.join(", ")));
    }
    while !names.is_empty() && Instant::now() < deadline {
        app.registry.wait_started(PATIENCE).await;
        names = starting();
        if !names.is_empty() {
            say(&format!("still starting {} …", names.join(", ")));
        }
    }
    for finding in app.registry.policy_findings() {
        say(&format!("policy: {finding}"));
    }
    for provider in app.registry.providers() {
        if let (true, Some(reason)) = (provider.state != ProviderState::Up, &provider.reason) {
            say(&format!("provider {} is not up: {reason}", provider.name));
        }
        for rejected in &provider.rejected {
            say(&format!("tool {}.{} is left out: {}", provider.name, rejected.name, rejected.reason));
        }
        for warning in &provider.warnings {
            say(&format!("tool {}.{}: {}", provider.name, warning.name, warning.message));
        }
    }
}
