//! Opening: what a client learns of this server first, by `initialize` or `server/discover`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::JsonText;

use super::Shared;
use super::error::RpcError;
use super::features;
use super::message::Request;
use super::meta::{ClientCapabilities, negotiate, supported};
use super::page::cache_hints;
use super::session::{Offered, Session};

/// Characters of what all servers say of how to use them.
const MAX_INSTRUCTIONS: usize = 16_384;

#[derive(Deserialize)]
struct InitializeParams<'a> {
    #[serde(rename = "protocolVersion")]
    version: String,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
}

// === impl Shared ===

impl Shared {
    /// Opens a session.
    pub(super) fn initialize(
        &self,
        request: &Request,
        tenant: &Arc<str>,
    ) -> Result<(Arc<Session>, JsonText), RpcError> {
        let params: InitializeParams<'_> = request.read()?;
        let capabilities = params.capabilities.and_then(|raw| ClientCapabilities::read(raw.get())).unwrap_or_default();
        let revision = negotiate(&params.version);
        let offered = Offered { prompts: self.offers(&["prompts"]), resources: self.offers(&["resources"]) };
        let opened = self.sessions.open(tenant, capabilities, offered);
        let session =
            opened.map_err(|_| RpcError::new(RpcError::UNAVAILABLE, "too many sessions are open; try again later"))?;
        let members = [
            ("protocolVersion", JsonText::string(revision)),
            ("capabilities", self.capabilities(offered)),
            ("serverInfo", server_info()),
        ];
        let instructions = self.instructions().map(|text| ("instructions", JsonText::string(&text)));
        Ok((session, JsonText::object(members.into_iter().chain(instructions))))
    }

    pub(super) fn discover(&self) -> JsonText {
        let meta = JsonText::object([("io.modelcontextprotocol/serverInfo", server_info())]);
        let offered = Offered { prompts: self.offers(&["prompts"]), resources: self.offers(&["resources"]) };
        let members = [
            ("resultType", JsonText::string("complete")),
            ("supportedVersions", JsonText::array(supported().map(JsonText::string))),
            ("capabilities", self.capabilities(offered)),
        ];
        let instructions = self.instructions().map(|text| ("instructions", JsonText::string(&text)));
        JsonText::object(members.into_iter().chain(instructions).chain(cache_hints(0)).chain([("_meta", meta)]))
    }

    /// Whether any server declared a capability. One that is not connected may have it.
    pub(super) fn offers(&self, path: &[&str]) -> bool {
        self.hub.has_absent() || self.hub.members().iter().any(|(_, member)| features::has(&**member, path))
    }

    fn capabilities(&self, offered: Offered) -> JsonText {
        let changes = |more: Option<(&'static str, JsonText)>| {
            JsonText::object([("listChanged", JsonText::boolean(true))].into_iter().chain(more))
        };
        let mut members = vec![("tools", changes(None)), ("logging", JsonText::object([]))];
        if offered.prompts {
            members.push(("prompts", changes(None)));
        }
        if offered.resources {
            let subscribe = self.offers(&["resources", "subscribe"]);
            members.push(("resources", changes(subscribe.then(|| ("subscribe", JsonText::boolean(true))))));
        }
        if self.offers(&["completions"]) {
            members.push(("completions", JsonText::object([])));
        }
        JsonText::object(members)
    }

    fn instructions(&self) -> Option<String> {
        if let Some(instructions) = &self.config.instructions {
            return Some(instructions.clone());
        }
        let members = self.hub.members().into_iter();
        let said: Vec<(Arc<str>, String)> = members.filter_map(|(name, it)| Some((name, it.instructions()?))).collect();
        let text = match said.as_slice() {
            [] => return None,
            [(_, only)] => only.clone(),
            many => many.iter().map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>().join("\n\n"),
        };
        Some(text.chars().take(MAX_INSTRUCTIONS).collect())
    }
}

fn server_info() -> JsonText {
    JsonText::object([
        ("name", JsonText::string("toolyard")),
        ("title", JsonText::string("Toolyard")),
        ("version", JsonText::string(env!("CARGO_PKG_VERSION"))),
    ])
}
