//! Guides: what plugins tell the model about all of their tools at once (seed 002, `instructions`).

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use serde::Serialize;

use super::block::{block, cut};
use crate::gate::{self, Caller};
use crate::provider::GuideRule;
use crate::registry::{ProviderHandle, RoutingTable};

/// Bytes of one guide; the rest is left out.
pub(crate) const MAX_GUIDE_BYTES: usize = 64 << 10;

/// What one incarnation of a provider tells the model.
#[derive(Clone, Debug)]
pub(crate) struct ProviderGuide {
    text: Arc<str>,
    is_cut: bool,
    handle: Arc<ProviderHandle>,
    rule: GuideRule,
}

/// What a plugin tells the model about its tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Guide {
    /// Whose it is.
    pub provider: Arc<str>,
    /// What kind of provider that is.
    pub kind: &'static str,
    /// What it says: data, as the plugin wrote it.
    pub text: Arc<str>,
}

/// The guides that a caller's model is told, sorted by provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Guides(pub Vec<Guide>);

/// The guides of the providers of which one tool is listed to the caller, or could be.
pub(crate) fn guides(table: &RoutingTable, caller: &Caller<'_>) -> Guides {
    let wanted = table.guides.iter().filter(|guide| guide.rule != GuideRule::Never);
    let mut unseen: HashMap<*const ProviderHandle, &ProviderGuide, RandomState> =
        wanted.map(|guide| (Arc::as_ptr(&guide.handle), guide)).collect();
    let mut guides = Vec::new();
    for route in &table.routes {
        if unseen.is_empty() {
            break;
        }
        let place = Arc::as_ptr(&route.tool.handle);
        let Some(guide) = unseen.get(&place) else { continue };
        let is_told = match guide.rule {
            GuideRule::Always => gate::may_find(&route.tool, caller).is_ok(),
            GuideRule::WhenUsable => gate::may_list(&route.tool, caller).is_ok(),
            GuideRule::Never => false,
        };
        if is_told {
            guides.push(guide.shown());
            unseen.remove(&place);
        }
    }
    guides.sort_by(|a, b| a.provider.cmp(&b.provider));
    Guides(guides)
}

// === impl ProviderGuide ===

impl ProviderGuide {
    /// Nothing where there is nothing to tell.
    pub(crate) fn new(text: &str, handle: &Arc<ProviderHandle>, rule: GuideRule) -> Option<Self> {
        let (text, is_cut) = cut(text.trim(), MAX_GUIDE_BYTES);
        (!text.is_empty()).then(|| Self { text: text.into(), is_cut, handle: Arc::clone(handle), rule })
    }

    /// Whether it was longer than allowed.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn shown(&self) -> Guide {
        let ProviderHandle { name, kind, .. } = &*self.handle;
        Guide { provider: Arc::clone(name), kind: kind.as_str(), text: Arc::clone(&self.text) }
    }
}

// === impl Guides ===

impl Guides {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The guides for a prompt, a block each, marked with their source; empty where there are none. Nothing that a guide
    /// says can end its block.
    pub fn text(&self) -> String {
        let blocks = self
            .0
            .iter()
            .map(|guide| block("tool_guide", &[("source", &guide.provider), ("kind", guide.kind)], &guide.text));
        blocks.collect::<Vec<_>>().join("\n\n")
    }
}
