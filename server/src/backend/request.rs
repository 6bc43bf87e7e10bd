//! The document of a request, the same on every way to the backend.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::Instant;
use toolyard::{CallId, HostCaller, HostRequest, JsonText, ToolExecutionContext};
use uuid::Uuid;

use super::trouble::Trouble;

/// Id of a request, unique for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RequestId(Uuid);

/// A request as the backend reads it.
#[derive(Serialize)]
struct RequestDocument<'a> {
    id: RequestId,
    capability: &'a str,
    payload: &'a JsonText,
    provider: &'a str,
    caller: Option<CallerDocument<'a>>,
    /// Milliseconds that are left from now.
    deadline_ms: u64,
}

#[derive(Serialize)]
struct CallerDocument<'a> {
    call_id: &'a CallId,
    tool: &'a str,
    context: &'a ToolExecutionContext,
}

/// Writes a request, with the time that is left at this moment.
pub(super) fn document(id: RequestId, request: &HostRequest) -> Result<Box<RawValue>, Trouble> {
    let HostRequest { capability, payload, provider, caller, deadline } = request;
    let left = deadline.saturating_duration_since(Instant::now()).as_millis();
    let document = RequestDocument {
        id,
        capability,
        payload,
        provider,
        caller: caller.as_ref().map(CallerDocument::new),
        deadline_ms: u64::try_from(left).unwrap_or(u64::MAX),
    };
    to_raw_value(&document).map_err(|error| Trouble::unwritable(&error))
}

// === impl RequestId ===

impl RequestId {
    pub(crate) fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// Nothing where the text is no id of ours.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(Self)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

// === impl CallerDocument ===

impl<'a> CallerDocument<'a> {
    fn new(caller: &'a HostCaller) -> Self {
        Self { call_id: &caller.call_id, tool: &caller.tool, context: &caller.context }
    }
}
