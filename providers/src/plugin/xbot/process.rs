//! PluginProcess: a plugin's process and the lines to and from it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;
use toolyard::{ErrorCode, ToolFailure};

use super::XbotConfig;
use super::answer::{self, Answer, Malformed, Said};
use super::command::command;
use super::line::{Line, LineReader};
use super::manifest::Manifest;
use super::request;
use super::tools::Activated;
use crate::process::{ChildProcess, Spawner};

/// Bytes between two answers that are no answer; a plugin that writes more is broken.
const FLOOD: usize = 16 << 20;
/// Time for a child whose output has ended to be found dead: it is about to end, and its end says more. Only one that goes
/// on without its output is waited for so long, or one on a machine that is very busy.
const END: Duration = Duration::from_secs(2);
/// Time for a dead child's last lines to be read.
const LAST_LINES: Duration = Duration::from_millis(200);

/// What is needed to start a plugin, again and again.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) spawner: Arc<Spawner>,
    pub(super) config: XbotConfig,
    pub(super) manifest: Manifest,
}

/// A running plugin.
#[derive(Debug)]
pub(super) struct PluginProcess {
    /// Answers come in any order, by id.
    pub(super) request_ids: bool,
    lines: LineReader<ChildStdout>,
    /// Gone once the plugin takes nothing more.
    stdin: Option<ChildStdin>,
    outgoing: VecDeque<u8>,
    skipped: Skipped,
    /// How the process ended, while its last lines are read.
    dead: Option<String>,
    child: ChildProcess,
}

/// Lines that are no answer.
#[derive(Debug, Default)]
struct Skipped {
    lines: u64,
    /// Bytes since the last answer.
    bytes: usize,
}

/// What comes of a plugin.
#[derive(Debug)]
pub(super) enum Heard {
    Answer(Answer),
    Malformed(Malformed),
    /// Nothing, but everything is written, or a line that is no answer is out of the way.
    Nothing,
    /// Its process or its output has ended, or is of no use any more.
    End(String),
}

// === impl PluginProcess ===

impl PluginProcess {
    /// Starts and activates a plugin. On failure no process is left.
    pub(super) async fn start(launch: &Arc<Launch>) -> Result<(Self, Activated), ToolFailure> {
        let down = |reason: String| ToolFailure::not_sent(ErrorCode::ProviderDown, reason);
        let asked = Arc::clone(launch);
        let spec = tokio::task::spawn_blocking(move || command(&asked.config, &asked.manifest)).await;
        let spec = spec.map_err(|error| down(format!("its files cannot be read: {error}")))?.map_err(down)?;
        let (child, (stdout, stdin)) = ChildProcess::start(&launch.spawner, &spec)
            .await
            .map_err(|error| down(format!("`{}` cannot be started: {error}", spec.command)))?;
        let mut process = Self {
            request_ids: false,
            lines: LineReader::new(stdout, launch.config.max_line_bytes, FLOOD),
            stdin: Some(stdin),
            outgoing: VecDeque::new(),
            skipped: Skipped::default(),
            dead: None,
            child,
        };
        let limit = launch.manifest.timeout;
        let activated = match timeout(limit, process.activate(launch)).await {
            Ok(activated) => activated,
            Err(_elapsed) => {
                let skipped = process.skipped.lines;
                Err(down(format!("it did not answer `activate` within {limit:?}; {skipped} other lines were skipped")))
            }
        };
        match activated {
            Ok(activated) => {
                process.request_ids = activated.request_ids;
                Ok((process, activated))
            }
            Err(failure) => {
                process.kill().await;
                Err(failure)
            }
        }
    }

    /// Until the plugin is up, nobody can be given a wrong answer: what is no answer for certain is passed over.
    async fn activate(&mut self, launch: &Launch) -> Result<Activated, ToolFailure> {
        self.send(&request::activate(&launch.manifest.id));
        let protocol = |reason: String| ToolFailure::not_sent(ErrorCode::ProviderProtocol, reason);
        loop {
            match self.next().await {
                Heard::Answer(answer) => {
                    let read = Activated::read(answer, &launch.manifest, launch.config.prefix_descriptions);
                    return read.map_err(protocol);
                }
                Heard::Malformed(malformed) if malformed.is_answer => return Err(protocol(malformed.why)),
                Heard::Malformed(_) | Heard::Nothing => {}
                Heard::End(reason) => return Err(ToolFailure::not_sent(ErrorCode::ProviderDown, reason)),
            }
        }
    }

    /// Writes a line as soon as the plugin takes it, while [`PluginProcess::next`] is awaited.
    pub(super) fn send(&mut self, line: &str) {
        self.outgoing.extend(line.as_bytes());
    }

    /// Takes the last line back, if the plugin has got nothing of it.
    pub(super) fn take_back(&mut self, bytes: usize) -> bool {
        let rest = self.outgoing.len().checked_sub(bytes);
        if let Some(rest) = rest {
            self.outgoing.truncate(rest);
        }
        rest.is_some()
    }

    /// Bytes that the plugin has not taken yet.
    pub(super) fn unwritten(&self) -> usize {
        self.outgoing.len()
    }

    /// Whether something that it wrote waits to be heard.
    pub(super) fn has_line(&self) -> bool {
        self.lines.has_line()
    }

    /// What comes next, while lines that were sent are written. May be given up at any time: nothing is lost.
    pub(super) async fn next(&mut self) -> Heard {
        if let Some(reason) = &self.dead {
            return match timeout(LAST_LINES, self.lines.next()).await {
                Ok(Some(line)) => self.hear(&line),
                Ok(None) | Err(_) => Heard::End(reason.clone()),
            };
        }
        let Self { lines, stdin, outgoing, child, .. } = self;
        let is_writing = !outgoing.is_empty();
        tokio::select! {
            line = lines.next() => match line {
                Some(line) => self.hear(&line),
                None => Heard::End(self.last_words().await),
            },
            written = write(stdin, outgoing), if is_writing => {
                if written {
                    return Heard::Nothing;
                }
                Heard::End(format!("it does not read its standard input: {}", self.last_words().await))
            }
            reason = child.ended() => {
                self.dead = Some(reason);
                Heard::Nothing
            }
        }
    }

    fn hear(&mut self, line: &Line) -> Heard {
        let heard = match answer::read(line) {
            Said::Answer(answer) => {
                self.skipped.bytes = 0;
                return Heard::Answer(answer);
            }
            Said::Malformed(malformed) => Heard::Malformed(malformed),
            Said::Noise => Heard::Nothing,
        };
        self.skipped.count(line.written).map_or(heard, Heard::End)
    }

    async fn last_words(&self) -> String {
        if self.lines.is_flooded() {
            return format!("it writes a line without end: more than {FLOOD} bytes");
        }
        match timeout(END, self.child.ended()).await {
            Ok(reason) => reason,
            Err(_elapsed) => "it closed its standard output".to_owned(),
        }
    }

    /// Asks the plugin to end, which has `unanswered` calls in hand, and ends it.
    pub(super) async fn deactivate(mut self, grace: Duration, id: u64, unanswered: usize) {
        self.send(&request::deactivate(self.request_ids.then_some(id)));
        let asked = timeout(grace, self.deactivated(id, unanswered)).await;
        let Self { child, lines, stdin, .. } = self;
        drop((stdin, lines));
        match asked {
            Ok(()) => child.stop().await,
            Err(_elapsed) => child.kill().await,
        }
    }

    async fn deactivated(&mut self, id: u64, mut unanswered: usize) {
        loop {
            match self.next().await {
                Heard::End(_) => return,
                Heard::Answer(answer) if self.request_ids && answer.id != Some(id) => {}
                Heard::Nothing => {}
                Heard::Answer(_) | Heard::Malformed(_) if self.request_ids || unanswered == 0 => return,
                Heard::Answer(_) | Heard::Malformed(_) => unanswered -= 1,
            }
        }
    }

    /// Ends the process at once.
    pub(super) async fn kill(self) {
        self.child.kill().await;
    }
}

/// Writes some of what is to be written. False when the plugin takes nothing more.
async fn write(stdin: &mut Option<ChildStdin>, outgoing: &mut VecDeque<u8>) -> bool {
    let (part, _) = outgoing.as_slices();
    let written = match stdin {
        Some(stdin) => stdin.write(part).await.unwrap_or_default(),
        None => 0,
    };
    outgoing.drain(..written.min(outgoing.len()));
    written > 0
}

// === impl Skipped ===

impl Skipped {
    /// Why the plugin is to be ended, if so.
    fn count(&mut self, bytes: usize) -> Option<String> {
        if self.lines == 0 {
            tracing::debug!(bytes, "a plugin writes to its standard output what is no answer");
        }
        self.lines += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        (self.bytes > FLOOD).then(|| format!("it wrote {} bytes and more that are no answer", self.bytes))
    }
}
