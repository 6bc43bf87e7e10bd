//! Board: everything that a server says comes here and goes to whom it concerns.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc};
use toolyard::{ErrorCode, JsonText, Progress};

use super::asker::{Asker, Mail};
use super::count::Counts;
use super::message::{self, Message, Reply, RpcError, ServerRequest};
use super::pending::{Answer, Pending};
use crate::mcp::hub::{McpEvent, McpEventKind, McpHub};
use crate::mcp::upstream::bridge::{Admitted, Bridge, BridgedRequest};
use crate::mcp::upstream::failure::unusable;
use crate::mcp::upstream::log::{Gate, SeldomGate};
use crate::mcp::upstream::secrets::Secrets;
use crate::mcp::upstream::transport::{Failed, Inbox};

/// Where everything goes that a server says.
pub(in crate::mcp::upstream) struct Board {
    pub(super) provider: Arc<str>,
    pub(super) pending: Pending,
    pub(super) bridge: Bridge,
    pub(super) counts: Counts,
    ears: Ears,
    errands: mpsc::Sender<Errand>,
    gate: Gate,
    flooded: SeldomGate,
}

/// Who hears what a server says by itself.
#[derive(Clone, Debug)]
pub(in crate::mcp::upstream) struct Ears {
    pub(in crate::mcp::upstream) hub: McpHub,
    /// The tenant whose session it is; absent for the one that all share.
    pub(in crate::mcp::upstream) tenant: Option<Arc<str>>,
    pub(in crate::mcp::upstream) tools_changed: Arc<Notify>,
    /// What none of them is to hear.
    pub(in crate::mcp::upstream) secrets: Secrets,
}

/// Something to be done for the server that no asker does.
#[derive(Debug)]
pub(super) enum Errand {
    Send(JsonText),
    Answer(BridgedRequest),
}

/// What parameters of a notification may have that says to whom they belong.
#[derive(Deserialize)]
struct Related<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

// === impl Board ===

impl Board {
    pub(super) fn new(provider: Arc<str>, bridge: Bridge, ears: Ears, errands: mpsc::Sender<Errand>) -> Self {
        let counts = Counts::of(&provider);
        Self {
            provider,
            pending: Pending::default(),
            bridge,
            counts,
            ears,
            errands,
            gate: Gate::default(),
            flooded: SeldomGate::default(),
        }
    }

    fn take(&self, message: Message<'_>, bytes: usize, answering: Option<u64>) {
        match message {
            Message::Reply { id, reply: Reply::Error(error) } => self.refused(id, error),
            Message::Reply { id, reply } => self.settle(id, Answer::Said(reply)),
            Message::StrayError(error) => match answering {
                Some(id) => self.refused(id, error),
                None => self.say(|provider| {
                    tracing::warn!(provider, code = error.code, "the server could not read a message");
                }),
            },
            Message::Request(request) => self.request(request, answering),
            Message::Notification { method, params } => self.notification(&method, params, answering),
            Message::BrokenReply { id, why } => {
                let message = format!("the server's answer cannot be used: {why}");
                self.fail(id, Failed::Failed(unusable(message)));
            }
            Message::Noise => self.noise(bytes),
        }
    }

    pub(super) fn secrets(&self) -> &Secrets {
        &self.ears.secrets
    }

    fn refused(&self, id: u64, mut error: RpcError) {
        if let Cow::Owned(hidden) = self.secrets().hidden_in(&error.message) {
            error.message = hidden;
        }
        error.data = error.data.map(|data| self.secrets().hidden_in_json(data));
        error.raw = self.secrets().hidden_in_json(error.raw);
        self.settle(id, Answer::Said(Reply::Error(error)));
    }

    fn settle(&self, id: u64, answer: Answer) {
        let place = self.pending.settle(id, answer);
        self.counts.settled(place);
    }

    fn request(&self, request: ServerRequest, answering: Option<u64>) {
        // A progress token of a request is its sender's own number: it says nothing of calls here.
        let asker = self.asker(answering, None);
        let errand = match self.bridge.admit(request) {
            Admitted::Answered(answer) => Errand::Send(answer),
            Admitted::Bridged(bridged) => match asker {
                Some(asker) => return self.mail(&asker, Mail::Request(bridged)),
                None => Errand::Answer(bridged),
            },
        };
        if self.errands.try_send(errand).is_err() {
            self.counts.requests.increment(1);
            if self.flooded.admits() {
                tracing::warn!(provider = %self.provider, "the server asks too much at once; requests are left out");
            }
        }
    }

    fn notification(&self, method: &str, params: Option<&RawValue>, answering: Option<u64>) {
        let params = params.map_or("{}", RawValue::get);
        match method {
            "notifications/progress" => self.progress(params),
            "notifications/message" => self.log(params, answering),
            "notifications/tools/list_changed" => self.ears.tools_changed.notify_one(),
            "notifications/prompts/list_changed" => self.tell(McpEventKind::PromptsChanged),
            "notifications/resources/list_changed" => self.tell(McpEventKind::ResourcesChanged),
            "notifications/resources/updated" => {
                if let Some(uri) = text_at(params, "uri") {
                    self.tell(McpEventKind::ResourceUpdated { uri });
                }
            }
            "notifications/cancelled" => {
                if let Some(id) = json(params).and_then(|params| params.member("requestId")) {
                    self.bridge.take_back(&id);
                }
            }
            // What nobody knows here is nobody's.
            _ => {}
        }
    }

    fn progress(&self, params: &str) {
        #[derive(Deserialize)]
        struct Report<'a> {
            #[serde(borrow, rename = "progressToken")]
            token: &'a RawValue,
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Ok(Report { token, progress, total, message }) = serde_json::from_str(params) else { return };
        if let Some(asker) = number(token).and_then(|id| self.pending.asker(id)) {
            let message = message.map(|message| self.secrets().hidden_in(&message).into_owned());
            asker.progress(Progress { done: progress, total, message });
        }
    }

    fn log(&self, params: &str, answering: Option<u64>) {
        let line = json(params).map(JsonText::with_whole_characters).filter(|line| line.check_readable().is_ok());
        let Some(line) = line else {
            self.counts.logs.increment(1);
            return;
        };
        let line = self.secrets().hidden_in_json(line);
        match self.asker(answering, Some(params)) {
            Some(asker) => self.mail(&asker, Mail::Log(line)),
            None => self.tell(McpEventKind::Log { params: line }),
        }
    }

    fn mail(&self, asker: &Asker, mail: Mail) {
        match asker.mail(mail) {
            Ok(()) => {}
            Err(Mail::Log(_)) => self.counts.logs.increment(1),
            Err(Mail::Request(_)) => self.counts.requests.increment(1),
        }
    }

    fn tell(&self, kind: McpEventKind) {
        let Ears { hub, tenant, .. } = &self.ears;
        hub.tell(McpEvent { provider: Arc::clone(&self.provider), tenant: tenant.clone(), kind });
    }

    /// Whom a message concerns: the request in whose stream it came, the one whose progress token it has, or the only one.
    fn asker(&self, answering: Option<u64>, params: Option<&str>) -> Option<Arc<Asker>> {
        if let Some(id) = answering {
            return self.pending.asker(id);
        }
        let related: Option<Related<'_>> = params.and_then(|params| serde_json::from_str(params).ok());
        let token = related.and_then(|related| number(related.meta?.progress_token?));
        match token {
            Some(id) => self.pending.asker(id),
            None => self.pending.only_asker(),
        }
    }

    /// Says something in the log, unless too much was said already.
    fn say(&self, say: impl FnOnce(&str)) {
        if self.gate.admits(&self.provider) {
            say(&self.provider);
        }
    }
}

impl Inbox for Board {
    fn receive(&self, message: &[u8], answering: Option<u64>) {
        message::read(message, |said| self.take(said, message.len(), answering));
    }

    fn fail(&self, id: u64, failure: Failed) {
        if let Failed::Failed(failure) = &failure
            && matches!(
                failure.code,
                ErrorCode::ToolResultInvalid | ErrorCode::ToolFailed | ErrorCode::ProviderProtocol
            )
        {
            self.counts.broken.increment(1);
            self.say(|provider| tracing::warn!(provider, request = id, "{}", failure.message));
        }
        self.settle(id, Answer::Failed(failure));
    }

    fn noise(&self, bytes: usize) {
        self.counts.noise_bytes.increment(bytes as u64);
        self.say(|provider| tracing::debug!(provider, bytes, "the server said something that is no message"));
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Board").field("provider", &self.provider).finish_non_exhaustive()
    }
}

fn number(raw: &RawValue) -> Option<u64> {
    raw.get().trim_matches('"').parse().ok()
}

fn json(text: &str) -> Option<JsonText> {
    JsonText::parse(text).ok()
}

fn text_at(params: &str, key: &str) -> Option<String> {
    json(params)?.member(key)?.text()
}
