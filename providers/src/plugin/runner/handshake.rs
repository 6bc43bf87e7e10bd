//! The handshake: hello, load, loaded.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::Value;
use tokio::net::unix::OwnedReadHalf;
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};
use toolyard::{ErrorCode, ToolFailure};

use super::link::{Link, describe};
use super::log::{Gate, cut};
use super::requests;
use crate::plugin::wire::{self, FromRunner, PROTOCOL};

/// Bytes of a sentence that a plugin may have said in its runner's name.
pub(super) const SAID: usize = 4 << 10;

/// The reading half of the connection to a runner.
pub(super) type Frames = FramedRead<OwnedReadHalf, LengthDelimitedCodec>;

pub(super) fn frames(socket: OwnedReadHalf, max_frame_bytes: usize) -> Frames {
    let codec = LengthDelimitedCodec::builder().max_frame_length(max_frame_bytes).new_codec();
    FramedRead::new(socket, codec)
}

/// The next frame; an error ends the connection.
pub(super) async fn next(frames: &mut Frames) -> Result<FromRunner, String> {
    match frames.next().await {
        Some(Ok(frame)) => wire::read(&frame).map_err(|error| format!("it sent {error}")),
        Some(Err(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err("it sent a frame over the size limit".to_owned())
        }
        Some(Err(error)) => Err(describe(&error)),
        None => Err("it closed the connection".to_owned()),
    }
}

/// Waits for the hello and checks who says it.
pub(super) async fn hello(frames: &mut Frames, token: &str) -> Result<(), ToolFailure> {
    match next(frames).await.map_err(broken)? {
        FromRunner::Hello { protocol, .. } if protocol != PROTOCOL => Err(broken(format!(
            "its runner speaks protocol {protocol}, not {PROTOCOL}; install the runner of this version"
        ))),
        FromRunner::Hello { token: said, .. } if said != token => Err(broken("it did not give its token".to_owned())),
        FromRunner::Hello { runner, python, .. } => {
            tracing::debug!(runner, python, "a runner has started");
            Ok(())
        }
        _ => Err(broken("its first frame was no hello".to_owned())),
    }
}

/// Waits until the plugin is loaded. Plugins may ask for capabilities while they load.
pub(super) async fn loaded(
    frames: &mut Frames,
    link: &Arc<Link>,
    requests: &requests::Requests,
    name: &str,
) -> Result<Value, ToolFailure> {
    let mut gate = Gate::default();
    loop {
        match next(frames).await.map_err(broken)? {
            FromRunner::Loaded(plugin) => return Ok(plugin),
            FromRunner::Failed { stage, message, detail } => {
                let [stage, message, detail] = [&stage, &message, &detail].map(|said| cut(said, SAID));
                if !detail.is_empty() {
                    tracing::warn!(provider = name, stage, detail, "the plugin did not load");
                }
                let message = format!("the plugin cannot be loaded ({stage}): {message}");
                return Err(ToolFailure::not_sent(ErrorCode::ProviderDown, message));
            }
            FromRunner::Log(line) => gate.forward(name, &line),
            FromRunner::Capability(frame) => requests.begin(frame, link),
            FromRunner::CapabilityCancel { id } => requests.cancel(id),
            _ => {}
        }
    }
}

fn broken(reason: String) -> ToolFailure {
    ToolFailure::not_sent(ErrorCode::ProviderProtocol, reason)
}
