//! Sessions: who takes part in a conversation, which messages came, what the model has loaded.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolyard::{LoadedSet, ReceivedMessage, SessionKey, SessionProfile, SessionState, TurnId, TurnStart};

use super::Shared;
use super::batches::check_content_type;
use super::object::read_object;
use super::problem::Problem;

/// Bytes of the ids of tenants, sessions, turns and messages: each is kept for as long as its session.
const MAX_ID_BYTES: usize = 256;

/// Whose session it is; that of the empty tenant where absent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tenant {
    #[serde(default)]
    tenant: String,
}

/// What begins a turn, or adds messages to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnRequest {
    id: String,
    #[serde(default)]
    messages: Vec<ReceivedMessage>,
}

/// What is loaded from outside.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadRequest {
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    providers: Vec<String>,
}

type OfTenant = Result<Query<Tenant>, QueryRejection>;
type InPath<T> = Result<Path<T>, PathRejection>;
type Body = Result<Bytes, BytesRejection>;

/// Opens a session with this profile, in the place of the one that it had.
pub(super) async fn put(
    State(shared): State<Arc<Shared>>,
    session: InPath<String>,
    tenant: OfTenant,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SessionState>, Problem> {
    let key = key(session?.0, tenant)?;
    let profile: SessionProfile = read(&headers, body)?;
    let SessionProfile { stream_id, group_id, platform, user_id, role, .. } = &profile;
    for (what, text) in
        [("stream_id", stream_id), ("group_id", group_id), ("platform", platform), ("user_id", user_id), ("role", role)]
    {
        if !text.is_empty() {
            check_id(what, text)?;
        }
    }
    Ok(Json(shared.app.registry.sessions().open(&key, Some(profile)).await))
}

/// How a session stands.
pub(super) async fn get(
    State(shared): State<Arc<Shared>>,
    session: InPath<String>,
    tenant: OfTenant,
) -> Result<Json<SessionState>, Problem> {
    let key = key(session?.0, tenant)?;
    shared.app.registry.sessions().state(&key).map(Json).ok_or_else(|| unknown(&key))
}

/// Cancels what the session has in flight and forgets it.
pub(super) async fn end(
    State(shared): State<Arc<Shared>>,
    session: InPath<String>,
    tenant: OfTenant,
) -> Result<StatusCode, Problem> {
    let key = key(session?.0, tenant)?;
    match shared.app.registry.sessions().end(&key).await {
        Ok(true) => Ok(StatusCode::NO_CONTENT),
        Ok(false) => Err(unknown(&key)),
        Err(error) => Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "session.storage", error.to_string())),
    }
}

/// Begins a turn with the messages received, or adds messages to the one under way.
pub(super) async fn begin_turn(
    State(shared): State<Arc<Shared>>,
    session: InPath<String>,
    tenant: OfTenant,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SessionState>, Problem> {
    let key = key(session?.0, tenant)?;
    let TurnRequest { id, messages } = read(&headers, body)?;
    check_id("the turn's id", &id)?;
    for message in &messages {
        check_id("a message's id", &message.id)?;
    }
    let start = TurnStart { id: TurnId(id.into()), messages };
    let begun = shared.app.registry.sessions().begin_turn(&key, start).await;
    begun.map(Json).map_err(|over| Problem::new(StatusCode::CONFLICT, "turn.over", over.to_string()))
}

/// Marks a message as taken back: it can be the source of no call any more.
pub(super) async fn recall(
    State(shared): State<Arc<Shared>>,
    names: InPath<(String, String)>,
    tenant: OfTenant,
) -> Result<StatusCode, Problem> {
    let (session, message) = names?.0;
    let key = key(session, tenant)?;
    match shared.app.registry.sessions().recall(&key, &message) {
        Ok(true) => Ok(StatusCode::NO_CONTENT),
        Ok(false) => {
            let detail = format!("the session `{}` knows no message `{message}`", key.session);
            Err(Problem::new(StatusCode::NOT_FOUND, "message.unknown", detail))
        }
        Err(_unknown) => Err(unknown(&key)),
    }
}

/// Loads deferred tools, as if the model had found them.
pub(super) async fn load(
    State(shared): State<Arc<Shared>>,
    session: InPath<String>,
    tenant: OfTenant,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<SessionState>, Problem> {
    let key = key(session?.0, tenant)?;
    let LoadRequest { tools, providers } = read(&headers, body)?;
    for name in tools.iter().chain(&providers) {
        check_id("a name", name)?;
    }
    let more = resolve(&shared, &tools, providers)?;
    Ok(Json(shared.app.registry.sessions().load(&key, &more).await))
}

/// Tools by their ids, or by the names that a model calls. A tool that its provider has not listed yet may be named by id.
fn resolve(shared: &Shared, tools: &[String], providers: Vec<String>) -> Result<LoadedSet, Problem> {
    let known = shared.app.registry.providers();
    let is_provider = |name: &str| known.iter().any(|provider| *provider.name == *name);
    let of_provider = |name: &str| name.match_indices('.').any(|(dot, _)| is_provider(&name[..dot]));
    let unknown = |what: &str, name: &str| {
        Err(Problem::new(
            StatusCode::NOT_FOUND,
            "tool.unknown",
            format!("there is no {what} `{name}`; nothing was loaded"),
        ))
    };
    let mut set = LoadedSet::default();
    for name in tools {
        match shared.app.registry.tool_id(name) {
            Some(id) => set.tools.insert(id.as_str().into()),
            None if of_provider(name) => set.tools.insert(name.as_str().into()),
            None => return unknown("tool", name),
        };
    }
    for name in providers {
        if !is_provider(&name) {
            return unknown("provider", &name);
        }
        set.providers.insert(name.into());
    }
    Ok(set)
}

/// Forgets what the session has loaded: its history was compacted, and the model has lost sight of what it found.
pub(super) async fn unload(
    State(shared): State<Arc<Shared>>,
    session: InPath<String>,
    tenant: OfTenant,
) -> Result<StatusCode, Problem> {
    let key = key(session?.0, tenant)?;
    match shared.app.registry.sessions().unload_all(&key) {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(_unknown) => Err(unknown(&key)),
    }
}

/// An id that is kept must not be long.
pub(super) fn check_id(what: &str, id: &str) -> Result<(), Problem> {
    if (1..=MAX_ID_BYTES).contains(&id.len()) {
        return Ok(());
    }
    Err(Problem::bad_request("request.invalid", format!("{what} must have 1 to {MAX_ID_BYTES} bytes")))
}

/// The empty tenant is one, too.
pub(super) fn check_tenant(tenant: &str) -> Result<(), Problem> {
    if tenant.is_empty() { Ok(()) } else { check_id("the tenant", tenant) }
}

fn key(session: String, tenant: OfTenant) -> Result<SessionKey, Problem> {
    let Query(Tenant { tenant }) = tenant?;
    check_id("the session", &session)?;
    check_tenant(&tenant)?;
    Ok(SessionKey { tenant: tenant.into(), session: session.into() })
}

fn read<T: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<T, Problem> {
    let body = body?;
    check_content_type(headers)?;
    read_object(&body)
}

fn unknown(key: &SessionKey) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "session.unknown", format!("there is no session `{}`", key.session))
}

#[cfg(test)]
mod tests;
