//! Preview: every tool as a model would see it, or why it would not.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::catalogue::source;
use super::{Catalogue, CatalogueEntry, Guides, catalogue, guides};
use crate::dialect::{DefinitionForm, StrictMode};
use crate::gate::{self, Caller};
use crate::registry::{ProviderState, ProviderStatus, RoutingTable, listed};
use crate::result::CallError;
use crate::tool::ToolId;

/// Every tool as a model would see it, or why it would not; and what it is told beside the definitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Preview {
    /// Every tool that has a name, sorted by it.
    pub tools: Vec<PreviewedTool>,
    /// What no call can reach, whoever makes it.
    pub left_out: Vec<LeftOut>,
    /// What plugins say of their tools.
    pub guides: Guides,
    /// What there is to find.
    pub catalogue: Catalogue,
}

/// A tool as a model would see it, or why it would not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PreviewedTool {
    /// The name under which a model calls it.
    pub model_name: Arc<str>,
    /// Its id.
    pub tool_id: ToolId,
    /// The provider that listed it.
    pub provider: Arc<str>,
    /// Whose it is, in its provider's words.
    pub source: String,
    /// What the catalogue and a search say of it.
    pub summary: String,
    /// Whether the model sees it.
    pub state: PreviewState,
    /// What a call of it would be refused with, where it is not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<CallError>,
    /// Whether the model is told its plugin's guide.
    pub guide: bool,
    /// What the model sees, or would see were it not for the reason, in the form asked for.
    pub definition: Value,
}

/// Whether a model sees a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewState {
    /// Its definition is in the request.
    Listed,
    /// It has to be found first.
    Findable,
    /// It cannot be used.
    Refused,
}

/// Something that no call can reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The provider.
    pub provider: Arc<str>,
    /// The tool's name within it; absent where it is the whole provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Why.
    pub reason: String,
}

/// What a preview is made of.
pub(crate) struct Previewer<'a> {
    pub(crate) table: &'a RoutingTable,
    pub(crate) caller: &'a Caller<'a>,
    pub(crate) form: DefinitionForm,
    pub(crate) strict: Option<StrictMode>,
}

/// Declarations that became no tool, tools whose names others have, and providers that are not up.
fn left_out(table: &RoutingTable, providers: &[ProviderStatus]) -> Vec<LeftOut> {
    let mut left_out = Vec::new();
    for ProviderStatus { name: provider, state, reason, rejected, .. } in providers {
        if *state != ProviderState::Up {
            let reason = reason.clone().unwrap_or_else(|| "it is starting".to_owned());
            left_out.push(LeftOut { provider: Arc::clone(provider), tool: None, reason });
        }
        left_out.extend(rejected.iter().map(|tool| LeftOut {
            provider: Arc::clone(provider),
            tool: Some(tool.name.clone()),
            reason: tool.reason.clone(),
        }));
    }
    left_out.extend(table.shadowed.iter().map(|shadow| LeftOut {
        provider: Arc::clone(&shadow.provider),
        tool: Some(shadow.tool.to_string()),
        reason: format!("`{}` has its name", shadow.by),
    }));
    left_out
}

// === impl Previewer ===

impl Previewer<'_> {
    pub(crate) fn preview(&self, providers: &[ProviderStatus]) -> Preview {
        let guides = guides(self.table, self.caller);
        let tools = (0..self.table.routes.len()).map(|index| self.tool(index, &guides)).collect();
        Preview {
            tools,
            left_out: left_out(self.table, providers),
            guides,
            catalogue: catalogue(self.table, self.caller),
        }
    }

    fn tool(&self, index: usize, guides: &Guides) -> PreviewedTool {
        let route = &self.table.routes[index];
        let tool = &route.tool;
        let (state, reason) = match (gate::may_list(tool, self.caller), gate::may_find(tool, self.caller)) {
            (Ok(()), _) => (PreviewState::Listed, None),
            (Err(refusal), Ok(())) => (PreviewState::Findable, Some(*refusal.error)),
            // Finding it would help nobody: this is why.
            (Err(_), Err(refusal)) => (PreviewState::Refused, Some(*refusal.error)),
        };
        let CatalogueEntry { summary, .. } = CatalogueEntry::of(route);
        PreviewedTool {
            model_name: Arc::clone(&route.model_name),
            tool_id: tool.origin.tool_id.clone(),
            provider: Arc::clone(&tool.handle.name),
            source: source(&tool.spec).to_owned(),
            summary,
            state,
            reason,
            guide: guides.0.iter().any(|guide| guide.provider == tool.handle.name),
            definition: self.form.define(&[listed(self.table, index, route)], self.strict).document,
        }
    }
}
