//! The reading half of the connection to a runner that is loaded.

use std::sync::Arc;

use serde_json::Value;
use toolyard::JsonText;

use super::calls::Reply;
use super::handshake::{self, Frames, SAID};
use super::log::{Gate, cut};
use super::provider::Shared;
use super::requests::Requests;
use super::watchdog::Pulse;
use crate::plugin::wire::FromRunner;

/// Reads until the connection ends or something comes that is not the protocol.
pub(super) async fn read(shared: Arc<Shared>, mut frames: Frames, requests: Requests, pulse: Arc<Pulse>) {
    let mut gate = Gate::default();
    let why = loop {
        match handshake::next(&mut frames).await {
            Ok(frame) => {
                if let Err(why) = take(&shared, frame, &requests, &pulse, &mut gate) {
                    break why;
                }
            }
            Err(why) => break why,
        }
    };
    shared.attachment.leave();
    shared.link.end(why);
}

fn take(shared: &Shared, frame: FromRunner, requests: &Requests, pulse: &Pulse, gate: &mut Gate) -> Result<(), String> {
    match frame {
        FromRunner::Returned { id, value } => settle(shared, id, Reply::Returned(value)),
        FromRunner::Raised { id, kind, message, detail } => settle(shared, id, Reply::Raised { kind, message, detail }),
        FromRunner::Capability(frame) => requests.begin(frame, &shared.link),
        FromRunner::CapabilityCancel { id } => requests.cancel(id),
        FromRunner::Pong { id } => pulse.answered(id),
        FromRunner::Log(line) => gate.forward(&shared.name, &line),
        FromRunner::Changed(document) => change(shared, document, gate),
        FromRunner::Configured { error } => tell_configured(&shared.name, error.as_deref(), gate),
        FromRunner::Unloaded => shared.unloaded.notify_one(),
        FromRunner::Hello { .. } | FromRunner::Loaded(_) | FromRunner::Failed { .. } => {
            return Err("it began its handshake anew".to_owned());
        }
    }
    Ok(())
}

fn tell_configured(provider: &str, error: Option<&str>, gate: &mut Gate) {
    if !gate.admits(provider, 0) {
        return;
    }
    match error.map(|error| cut(error, SAID)) {
        None => tracing::info!(provider, "the plugin has taken its new configuration"),
        Some(error) => tracing::warn!(provider, error, "the plugin did not take its new configuration"),
    }
}

/// An answer to a call that was given up acknowledges that; it goes to nobody.
fn settle(shared: &Shared, id: u64, reply: Reply) {
    if !shared.link.calls.settle(id, reply) {
        tracing::debug!(provider = %shared.name, id, "an answer came after its call was given up");
    }
}

fn change(shared: &Shared, document: Value, gate: &mut Gate) {
    let (document, config) = with_config_apart(document);
    match shared.dialect.read(&document) {
        Ok(plugin) => {
            shared.attachment.describe(&plugin, config);
            shared.plugin.store(Arc::new(plugin));
            shared.changed.notify_one();
        }
        Err(reason) if gate.admits(&shared.name, 0) => {
            tracing::warn!(provider = %shared.name, reason, "the plugin's new description cannot be used");
        }
        Err(_untold) => {}
    }
}

/// A plugin's configuration may hold secrets: it goes to the hub and into no description.
pub(super) fn with_config_apart(mut document: Value) -> (Value, Option<JsonText>) {
    let config = document.as_object_mut().and_then(|members| members.remove("config"));
    (document, config.map(JsonText::from))
}
