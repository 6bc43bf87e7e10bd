//! Listing: the tools of a server, page by page, each tool by itself.

mod tool;

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::{ErrorCode, JsonText, Remarks, ToolFailure, ToolSpec, ToolWarning};

use super::connection::{Refusal, Request};
use super::session::Session;
use crate::mcp::invisible;

/// Pages of one listing; a server that sends more is broken.
const MAX_PAGES: usize = 1_000;
/// Tools of one server; the engine's own limit is lower, unless it was raised.
const MAX_TOOLS: usize = 10_000;
/// Bytes of all pages together.
const MAX_BYTES: usize = 64 << 20;

const METHOD_NOT_FOUND: i64 = -32601;

/// What a server lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    pub(super) tools: Vec<ToolSpec>,
    pub(super) remarks: Remarks,
    /// What the server sent of each tool, before anything was taken out of it.
    pub(super) declared: Vec<JsonText>,
}

/// What holds for the tools of a server.
#[derive(Clone, Copy, Debug, Default)]
struct Rules {
    /// Its word counts.
    trusted: bool,
    /// Its tools may ask for headers.
    mirrors_arguments: bool,
}

/// One page as it came.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Lists all pages. One tool that cannot be read costs no other: it is left out, with the reason. A list that goes in
/// circles or has no end costs what is beyond, not what was listed before.
///
/// # Errors
/// The server does not answer, or with something that is no list.
pub(super) async fn list(session: &Session) -> Result<Listing, ToolFailure> {
    let mut listing = Listing::default();
    let rules = Rules { trusted: session.options.trusted, mirrors_arguments: session.mirrors_arguments() };
    let (mut seen, mut bytes) = (HashSet::new(), 0);
    let mut cursor: Option<String> = None;
    loop {
        let text = match page(session, cursor.as_deref()).await {
            Ok(text) => text,
            // It does not say that it has tools, and is right.
            Err(Refusal::Error(error)) if error.code == METHOD_NOT_FOUND && !session.has("tools") => {
                return Ok(listing);
            }
            Err(refusal) => return Err(failure(refusal)),
        };
        let page: Page<'_> = serde_json::from_str(text.as_str())
            .map_err(|error| protocol(format!("its answer to tools/list has no list of tools: {error}")))?;
        bytes += text.as_str().len();
        for raw in page.tools {
            listing.add(&JsonText::from(raw), rules);
        }
        let Some(next) = page.next_cursor else { return Ok(listing) };
        let problem = if !seen.insert(next.clone()) {
            "its list of tools goes in circles; only what came before is used"
        } else if seen.len() >= MAX_PAGES || listing.tools.len() >= MAX_TOOLS || bytes >= MAX_BYTES {
            "its list of tools has no end; only what came first is used"
        } else {
            cursor = Some(next);
            continue;
        };
        listing.remarks.warnings.push(ToolWarning { name: "tools/list".to_owned(), message: problem.to_owned() });
        return Ok(listing);
    }
}

async fn page(session: &Session, cursor: Option<&str>) -> Result<JsonText, Refusal> {
    let params = JsonText::object(cursor.map(|cursor| ("cursor", JsonText::string(cursor))));
    let request = Request {
        method: Arc::from("tools/list"),
        params: |_id| session.connection.envelope().around(&params),
        name: None,
        mirrored: Vec::new(),
        asker: None,
        cancels: true,
    };
    session.request(request).await
}

// === impl Listing ===

impl Listing {
    /// Adds what the server sent of a tool, without the characters that nobody sees.
    fn add(&mut self, declared: &JsonText, rules: Rules) {
        let stripped = invisible::stripped(&declared.clone().with_whole_characters());
        if let Err(unreadable) = stripped.json.check_readable() {
            // Its page would be lost to everybody whom it is handed on to.
            return self.reject(tool::name_of(declared), format!("its declaration {unreadable}"));
        }
        let Ok(raw) = serde_json::from_str::<&RawValue>(stripped.json.as_str()) else { return };
        tool::read(raw, rules, self);
        if self.tools.len() == self.declared.len() {
            return;
        }
        self.declared.push(declared.clone());
        let name = self.tools.last().map(|tool| tool.name.to_string());
        if let (Some(name), Some(message)) = (name, stripped.warning) {
            self.remarks.warnings.push(ToolWarning { name, message });
        }
    }
}

fn failure(refusal: Refusal) -> ToolFailure {
    match refusal {
        Refusal::Error(error) => {
            let message: String = error.message.chars().take(200).collect();
            protocol(format!("it refused tools/list with error {}: {message}", error.code))
        }
        Refusal::Failed(failure) => failure.into_failure(),
    }
}

fn protocol(message: String) -> ToolFailure {
    ToolFailure::new(ErrorCode::ProviderProtocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_no_client_could_read_is_left_out_and_halves_of_characters_are_replaced() {
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let tool = |name: &str, more: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},{more}}}"#);
        let mut listing = Listing::default();
        for declared in [
            tool("deep", &format!(r#""_meta":{{"a":{}}}"#, nested(50_000))),
            tool("huge", r#""_meta":{"a":1e999}"#),
            tool("half", r#""description":"a\ud800b""#),
        ] {
            listing.add(&JsonText::parse(&declared).unwrap(), Rules::default());
        }
        let rejected: Vec<&str> = listing.remarks.rejected.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(rejected, ["deep", "huge"]);
        assert_eq!(listing.tools.len(), 1);
        let native = listing.tools[0].native.as_ref().unwrap();
        assert!(native.as_str().contains(r"a\ufffdb") && listing.declared.len() == 1, "{native}");
    }
}
