//! The handshake: which revision is spoken with a server, and what the server says of itself.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::{ErrorCode, JsonText, ToolFailure};

use super::connection::{Connection, Refusal, Request, RpcError};
use super::transport::{Era, Opened, SendFailure};
use crate::mcp::envelope::{Envelope, client_info};
use crate::mcp::era::{EraMemory, LEGACY, MODERN, legacy_revision};

/// How long a server may leave `server/discover` unanswered until `initialize` is tried beside it.
const PROBE: Duration = Duration::from_secs(2);
/// Code of a request whose revision the server does not speak.
const UNSUPPORTED_VERSION: i64 = -32022;

/// What a server said of itself.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) opened: Opened,
    pub(super) capabilities: JsonText,
    pub(super) instructions: Option<String>,
}

/// Why one way to open a connection did not work.
#[derive(Debug)]
enum Rejection {
    /// The server does not speak this era.
    WrongEra(String),
    Failed(ToolFailure),
}

/// Opens a connection: asks in the era that is configured or remembered, and in the other one when that does not work.
///
/// # Errors
/// The server speaks neither, or breaks off.
pub(super) async fn open(connection: &Connection, memory: &EraMemory) -> Result<Server, ToolFailure> {
    let plan = memory.plan();
    let opened = match (plan.first, plan.may_change) {
        (Era::Legacy, false) => initialize(connection).await.map_err(Rejection::into_failure),
        (Era::Modern, false) => discover(connection).await.map_err(Rejection::into_failure),
        (Era::Modern, true) => probe(connection).await,
        (Era::Legacy, true) => match initialize(connection).await {
            Err(Rejection::WrongEra(_)) => discover(connection).await.map_err(Rejection::into_failure),
            opened => opened.map_err(Rejection::into_failure),
        },
    };
    match opened {
        Ok((server, era)) => {
            memory.learn(era);
            accept(connection, &server).await?;
            Ok(server)
        }
        Err(failure) => {
            memory.doubt(plan);
            Err(failure)
        }
    }
}

/// A server and the era to begin with next time.
type Introduced = (Server, Era);

/// Asks for the newer era, and for the older one as soon as that is refused, or besides when there is no answer.
async fn probe(connection: &Connection) -> Result<Introduced, ToolFailure> {
    let discovered = discover(connection);
    tokio::pin!(discovered);
    match tokio::time::timeout(PROBE, &mut discovered).await {
        Ok(Ok(server)) => return Ok(server),
        Ok(Err(Rejection::WrongEra(_))) => return initialize(connection).await.map_err(Rejection::into_failure),
        Ok(Err(Rejection::Failed(failure))) => return Err(failure),
        Err(_silent) => {}
    }
    // It may be slow only: then both are answered, and it counts what it was asked last.
    let initialized = initialize(connection);
    tokio::pin!(initialized);
    tokio::select! {
        biased;
        found = &mut discovered => match (initialized.await, found) {
            (Ok((server, _)), Ok(_)) => Ok((server, Era::Modern)),
            (Err(_), Ok(found)) => Ok(found),
            (server, Err(_)) => server.map_err(Rejection::into_failure),
        },
        server = &mut initialized => server.map_err(Rejection::into_failure),
    }
}

/// From 2026-07-28.
async fn discover(connection: &Connection) -> Result<Introduced, Rejection> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovered<'a> {
        supported_versions: Vec<String>,
        #[serde(borrow)]
        capabilities: Option<&'a RawValue>,
        #[serde(default)]
        instructions: Option<String>,
    }
    let envelope = Envelope::new(MODERN, connection.bridge().capabilities());
    let params = envelope.around(&JsonText::object([]));
    let said = match put(connection, "server/discover", params.clone()).await {
        // It names this very revision: some refuse only the first request, to see what the client does.
        Err(refusal) if speaks_modern(&refusal) => put(connection, "server/discover", params).await,
        said => said,
    };
    let said = said.map_err(Rejection::from)?;
    let discovered: Discovered<'_> = serde_json::from_str(said.as_str())
        .map_err(|error| Rejection::WrongEra(format!("its answer to server/discover cannot be read: {error}")))?;
    if !discovered.supported_versions.iter().any(|version| version == MODERN) {
        let versions = shown(&discovered.supported_versions.join(", "));
        return Err(Rejection::WrongEra(format!("it speaks {versions}, and not {MODERN}")));
    }
    let server = Server {
        opened: Opened { era: Era::Modern, revision: MODERN.into() },
        capabilities: object(discovered.capabilities),
        instructions: discovered.instructions,
    };
    Ok((server, Era::Modern))
}

/// Up to 2025-11-25.
async fn initialize(connection: &Connection) -> Result<Introduced, Rejection> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized<'a> {
        protocol_version: String,
        #[serde(borrow)]
        capabilities: Option<&'a RawValue>,
        #[serde(default)]
        instructions: Option<String>,
    }
    let params = JsonText::object([
        ("protocolVersion", JsonText::string(LEGACY)),
        ("capabilities", connection.bridge().capabilities()),
        ("clientInfo", client_info()),
    ]);
    let said = put(connection, "initialize", params).await.map_err(Rejection::from)?;
    let initialized: Initialized<'_> = serde_json::from_str(said.as_str())
        .map_err(|error| failed(format!("its answer to initialize cannot be read: {error}")))?;
    let Some(revision) = legacy_revision(&initialized.protocol_version) else {
        let version = shown(&initialized.protocol_version);
        return Err(failed(format!("it speaks the revision {version}, which is not known here")));
    };
    let server = Server {
        opened: Opened { era: Era::Legacy, revision: revision.into() },
        capabilities: object(initialized.capabilities),
        instructions: initialized.instructions,
    };
    Ok((server, Era::Legacy))
}

/// Both sides know now how they speak.
async fn accept(connection: &Connection, server: &Server) -> Result<(), ToolFailure> {
    connection.transport().opened(&server.opened);
    match server.opened.era {
        Era::Modern => {
            let envelope = Envelope::new(&server.opened.revision, connection.bridge().capabilities());
            connection.set_envelope(envelope);
            Ok(())
        }
        Era::Legacy => {
            connection.set_envelope(Envelope::default());
            let told = connection.notify("notifications/initialized", JsonText::object([])).await;
            told.map_err(|failure| Rejection::from(failure).into_failure())
        }
    }
}

async fn put(connection: &Connection, method: &str, params: JsonText) -> Result<JsonText, Refusal> {
    let method: Arc<str> = method.into();
    let request =
        Request { method, params: |_id| params, name: None, mirrored: Vec::new(), asker: None, cancels: false };
    connection.request(request).await
}

/// Whether the server refuses a revision and says that it speaks 2026-07-28.
fn speaks_modern(refusal: &Refusal) -> bool {
    let Refusal::Error(RpcError { code: UNSUPPORTED_VERSION, data: Some(data), .. }) = refusal else { return false };
    let supported: Option<Vec<String>> = data.member("supported").and_then(|supported| supported.to().ok());
    supported.is_some_and(|versions| versions.iter().any(|version| version == MODERN))
}

fn object(raw: Option<&RawValue>) -> JsonText {
    raw.map_or_else(|| JsonText::object([]), JsonText::from)
}

/// What a server says may be long.
fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}

fn failed(message: String) -> Rejection {
    Rejection::Failed(ToolFailure::not_sent(ErrorCode::ProviderProtocol, message))
}

// === impl Rejection ===

impl Rejection {
    fn into_failure(self) -> ToolFailure {
        match self {
            Self::WrongEra(message) => ToolFailure::not_sent(ErrorCode::ProviderProtocol, message),
            Self::Failed(failure) => failure,
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Error(RpcError { code, message, .. }) => {
                let message = shown(&message);
                Self::WrongEra(format!("it refused the handshake with error {code}: {message}"))
            }
            Refusal::Failed(failure) => Self::from(failure),
        }
    }
}

impl From<SendFailure> for Rejection {
    fn from(failure: SendFailure) -> Self {
        match failure {
            SendFailure::WrongEra(message) => Self::WrongEra(message),
            SendFailure::SessionLost => failed("it forgot the session at once".to_owned()),
            SendFailure::Failed(failure) => Self::Failed(failure),
        }
    }
}
