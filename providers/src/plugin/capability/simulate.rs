//! A bot backend that is not there: plausible or recorded answers, marked as simulated.

mod answers;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;
use serde::Serialize;
use toolyard::{ErrorCode, HostPort, HostRequest, JsonText, ToolFailure};

/// The largest recording, and what is kept of what was "sent".
const MAX_RECORDING_BYTES: u64 = 16 << 20;
const MAX_SENT: usize = 256;
const MAX_PAYLOAD_CHARS: usize = 2048;
/// Capabilities whose first use is logged.
const MAX_LOGGED: usize = 256;

/// Answers every known capability without a bot, in the right shape. Nothing is sent anywhere; what would have been
/// sent is kept in a short list.
#[derive(Debug, Default)]
pub struct SimulatedHost {
    recorded: BTreeMap<String, JsonText>,
    state: Mutex<State>,
}

/// Something that a plugin believes to have sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulatedSend {
    /// Its number, from 1.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The plugin's provider.
    pub provider: String,
    /// Such as `send.text`.
    pub capability: String,
    /// The arguments as JSON text, cut after 2048 characters.
    pub payload: String,
}

/// A recording cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The file cannot be read.
    #[error("the recorded answers in {} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is too large.
    #[error("the recorded answers in {} have more than {MAX_RECORDING_BYTES} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is no JSON object of capabilities.
    #[error("recorded answers are a JSON object, with an answer under the name of each capability: {source}")]
    Json {
        /// Where it is not.
        source: serde_json::Error,
    },
}

#[derive(Debug, Default)]
struct State {
    sent: VecDeque<SimulatedSend>,
    count: u64,
    logged: BTreeSet<String>,
}

// === impl SimulatedHost ===

impl SimulatedHost {
    /// Plausible answers only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Recorded answers where there are some, plausible ones otherwise. The recording is a JSON object: under the name
    /// of a capability stands its answer, as the bot backend gives it or as the bare value.
    ///
    /// # Errors
    /// Fails when the text is no JSON object.
    pub fn with_recording(text: &str) -> Result<Self, SimulateError> {
        let recorded = serde_json::from_str(text).map_err(|source| SimulateError::Json { source })?;
        Ok(Self { recorded, state: Mutex::default() })
    }

    /// The same, from a file of at most 16 MiB. Blocks while it reads.
    ///
    /// # Errors
    /// Fails when the file cannot be read, is too large, or is no JSON object.
    pub fn from_file(path: &Path) -> Result<Self, SimulateError> {
        let unreadable = |source| SimulateError::File { path: path.to_owned(), source };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(MAX_RECORDING_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > MAX_RECORDING_BYTES {
            return Err(SimulateError::TooLarge { path: path.to_owned() });
        }
        Self::with_recording(&text)
    }

    /// What plugins believe to have sent, oldest first; the last 256.
    pub fn sent(&self) -> Vec<SimulatedSend> {
        self.lock().sent.iter().cloned().collect()
    }

    fn answer(&self, request: &HostRequest) -> Result<JsonText, ToolFailure> {
        let name = request.capability.as_str();
        self.log_once(name);
        let number = if is_sending(name) { self.keep(request) } else { 0 };
        if let Some(recorded) = self.recorded.get(name) {
            return Ok(answers::marked(recorded));
        }
        let answer = answers::plausible(name, &request.payload, number);
        answer.ok_or_else(|| {
            let message = format!("nothing is recorded for `{name}`, and there is no plausible answer to it");
            ToolFailure::not_sent(ErrorCode::ToolUnavailable, message)
        })
    }

    fn keep(&self, request: &HostRequest) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut state = self.lock();
        state.count += 1;
        let number = state.count;
        state.sent.push_back(SimulatedSend {
            number,
            at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            provider: request.provider.to_string(),
            capability: request.capability.clone(),
            payload: request.payload.as_str().chars().take(MAX_PAYLOAD_CHARS).collect(),
        });
        if state.sent.len() > MAX_SENT {
            state.sent.pop_front();
        }
        number
    }

    fn log_once(&self, name: &str) {
        let mut state = self.lock();
        let is_new = state.logged.len() < MAX_LOGGED && state.logged.insert(name.to_owned());
        drop(state);
        if is_new {
            tracing::info!(capability = name, "answers to this capability are simulated");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostPort for SimulatedHost {
    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<JsonText, ToolFailure>> {
        Box::pin(std::future::ready(self.answer(&request)))
    }
}

fn is_sending(name: &str) -> bool {
    name.starts_with("send.") || matches!(name, "lenbot.send" | "host.route_message" | "maisaka.proactive.trigger")
}

#[cfg(test)]
mod tests;
