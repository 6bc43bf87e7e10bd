//! The reading half of the connection to a runner that is loaded.

use std::sync::Arc;

use serde_json::Value;
use toolyard::JsonText;

use super::calls::Reply;
use super::handshake::{self, Frames};
use super::log;
use super::provider::Shared;
use super::requests::Requests;
use super::watchdog::Pulse;
use crate::plugin::wire::FromRunner;

/// Reads until the connection ends or something comes that is not the protocol.
pub(super) async fn read(shared: Arc<Shared>, mut frames: Frames, requests: Requests, pulse: Arc<Pulse>) {
    let why = loop {
        match handshake::next(&mut frames).await {
            Ok(frame) => {
                if let Err(why) = take(&shared, frame, &requests, &pulse) {
                    break why;
                }
            }
            Err(why) => break why,
        }
    };
    shared.attachment.leave();
    shared.link.end(why);
}

fn take(shared: &Shared, frame: FromRunner, requests: &Requests, pulse: &Pulse) -> Result<(), String> {
    match frame {
        FromRunner::Returned { id, value } => settle(shared, id, Reply::Returned(value)),
        FromRunner::Raised { id, kind, message, detail } => settle(shared, id, Reply::Raised { kind, message, detail }),
        FromRunner::Capability(frame) => requests.begin(frame, &shared.link),
        FromRunner::CapabilityCancel { id } => requests.cancel(id),
        FromRunner::Pong { id } => pulse.answered(id),
        FromRunner::Log(line) => log::forward(&shared.name, &line),
        FromRunner::Changed(document) => change(shared, document),
        FromRunner::Configured { error: None } => {
            tracing::info!(provider = %shared.name, "the plugin has taken its new configuration");
        }
        FromRunner::Configured { error: Some(error) } => {
            tracing::warn!(provider = %shared.name, error, "the plugin did not take its new configuration");
        }
        FromRunner::Unloaded => shared.unloaded.notify_one(),
        FromRunner::Hello { .. } | FromRunner::Loaded(_) | FromRunner::Failed { .. } => {
            return Err("it began its handshake anew".to_owned());
        }
    }
    Ok(())
}

/// An answer to a call that was given up acknowledges that; it goes to nobody.
fn settle(shared: &Shared, id: u64, reply: Reply) {
    if !shared.link.calls.settle(id, reply) {
        tracing::debug!(provider = %shared.name, id, "an answer came after its call was given up");
    }
}

fn change(shared: &Shared, document: Value) {
    let (document, config) = with_config_apart(document);
    match shared.dialect.read(&document) {
        Ok(plugin) => {
            shared.attachment.describe(&plugin, config);
            shared.plugin.store(Arc::new(plugin));
            shared.changed.notify_one();
        }
        Err(reason) => {
            tracing::warn!(provider = %shared.name, reason, "the plugin's new description cannot be used");
        }
    }
}

/// A plugin's configuration may hold secrets: it goes to the hub and into no description.
pub(super) fn with_config_apart(mut document: Value) -> (Value, Option<JsonText>) {
    let config = document.as_object_mut().and_then(|members| members.remove("config"));
    (document, config.map(JsonText::from))
}
