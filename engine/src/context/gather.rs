//! gather: asks the context providers, all at once, and takes what comes in time.

use std::sync::Arc;

use futures::future::join_all;
use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use super::{ContextProvider, ContextQuery, ContextRequest, PluginStore, StoreSpace};
use crate::call::Locale;
use crate::discovery::{block, cut};
use crate::engine::Engine;
use crate::metrics;
use crate::policy::ContextPolicy;
use crate::text;

/// What context providers said before a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GatheredContext {
    /// What they said, sorted by provider.
    pub facts: Vec<ContextFact>,
    /// Those that did not answer in time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<Arc<str>>,
    /// Those that panicked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Arc<str>>,
}

/// What one context provider said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ContextFact {
    /// Who.
    pub provider: Arc<str>,
    /// What: data, as the plugin wrote it.
    pub text: String,
    /// Whether it said more than is let through.
    pub truncated: bool,
}

enum Answer {
    Said(String),
    Nothing,
    Late,
    Panicked,
}

pub(crate) async fn gather(
    engine: &Engine,
    providers: Vec<Arc<dyn ContextProvider>>,
    policy: &ContextPolicy,
    request: ContextRequest,
) -> GatheredContext {
    let deadline = Instant::now() + policy.timeout;
    let asked = providers.into_iter().map(|provider| ask(engine, provider, &request, deadline));
    let mut gathered = GatheredContext::default();
    for (provider, answer) in join_all(asked.collect::<Vec<_>>()).await {
        metrics::record_context(&provider, answer.as_str());
        match answer {
            Answer::Said(text) => {
                let (text, truncated) = cut(text.trim(), policy.max_bytes);
                gathered.facts.push(ContextFact { provider, text: text.to_owned(), truncated });
            }
            Answer::Nothing => {}
            Answer::Late => gathered.late.push(provider),
            Answer::Panicked => gathered.failed.push(provider),
        }
    }
    gathered
}

/// In a task of its own: one that blocks its thread makes no other late. It starts now, not when it is awaited.
fn ask(
    engine: &Engine,
    provider: Arc<dyn ContextProvider>,
    request: &ContextRequest,
    deadline: Instant,
) -> impl Future<Output = (Arc<str>, Answer)> + use<> {
    let name: Arc<str> = provider.name().into();
    let space = StoreSpace { tenant: request.context.tenant.as_str().into(), plugin: Arc::clone(&name) };
    let query = ContextQuery {
        text: Arc::clone(&request.text),
        context: Arc::clone(&request.context),
        session: request.session.clone(),
        store: PluginStore::new(engine.contexts.store(), space),
        host: Arc::clone(&engine.host),
        deadline,
    };
    let task = AbortOnDropHandle::new(tokio::spawn(async move { provider.context(query).await }));
    async move {
        let answer = match timeout_at(deadline, task).await {
            Ok(Ok(Some(text))) if !text.trim().is_empty() => Answer::Said(text),
            Ok(Ok(_)) => Answer::Nothing,
            Ok(Err(_panicked)) => Answer::Panicked,
            Err(_elapsed) => Answer::Late,
        };
        (name, answer)
    }
}

// === impl GatheredContext ===

impl GatheredContext {
    /// What was said, for a prompt: a block each, marked as data, none of which can end its block; empty where nothing was
    /// said.
    pub fn text(&self, locale: Locale) -> String {
        if self.facts.is_empty() {
            return String::new();
        }
        let blocks = self.facts.iter().map(|fact| block("tool_context", &[("source", &fact.provider)], &fact.text));
        let parts = std::iter::once(text::discovery::context_head(locale).to_owned()).chain(blocks);
        parts.collect::<Vec<_>>().join("\n\n")
    }
}

// === impl Answer ===

impl Answer {
    const fn as_str(&self) -> &'static str {
        match self {
            Self::Said(_) => "said",
            Self::Nothing => "nothing",
            Self::Late => "late",
            Self::Panicked => "panicked",
        }
    }
}
