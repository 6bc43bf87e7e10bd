//! Prompts: `prompts/list` and `prompts/get`, over all servers.

use std::sync::Arc;

use toolyard::{JsonText, NameForm};

use super::error::RpcError;
use super::features::{self, Listing};
use super::held::Outcome;
use super::host::CallHost;
use super::message::Request;
use super::peer::Peer;
use super::{Shared, page, render};
use crate::mcp::hub::McpFeatures;

/// A prompt as clients know it.
struct Named {
    name: String,
    provider: Arc<str>,
    /// The name that its server gave it.
    given: String,
    prompt: JsonText,
}

/// One page of the prompts, in the order of the servers.
pub(super) async fn list(shared: &Shared, request: &Request, peer: &Peer) -> Outcome {
    let after = page::after(request)?;
    let prompts = named(shared, shared.list(peer, "prompts", "prompts/list", "prompts").await);
    let start = after.and_then(|after| prompts.iter().position(|p| p.name == after)).map_or(0, |place| place + 1);
    let rest = prompts.get(start..).unwrap_or_default();
    let shown = rest.get(..shared.config.page_size).unwrap_or(rest);
    let last = shown.last().filter(|_| shown.len() < rest.len()).map(|prompt| prompt.name.as_str());
    let entries = shown.iter().map(|prompt| renamed(&prompt.prompt, &prompt.name)).collect();
    Ok(page::page("prompts", entries, last, peer))
}

/// One prompt, filled in by its server.
pub(super) async fn get(shared: &Shared, request: &Request, peer: &Peer, host: Arc<CallHost>) -> Outcome {
    let name = request.params.member("name").and_then(|name| name.text()).unwrap_or_default();
    let (features, given) = find(shared, peer, &name).await?;
    let params = renamed(&own(&request.params), &given);
    let answer = features::request(&*features, features::ask("prompts/get", params, peer, Some(host))).await?;
    Ok(render::for_era(answer, peer))
}

/// The server of a prompt, and its name there.
pub(super) async fn find(shared: &Shared, peer: &Peer, name: &str) -> Result<(Arc<dyn McpFeatures>, String), RpcError> {
    let unknown = || RpcError::invalid_params(format!("Unknown prompt: {name}"));
    let known = named(shared, shared.remembered.known(&shared.hub, &peer.tenant, "prompts/list"));
    let mut found = known.into_iter().find(|prompt| prompt.name == name);
    if found.is_none() {
        let listed = named(shared, shared.list(peer, "prompts", "prompts/list", "prompts").await);
        found = listed.into_iter().find(|prompt| prompt.name == name);
    }
    let found = found.ok_or_else(unknown)?;
    Ok((shared.hub.member(&found.provider).ok_or_else(unknown)?, found.given))
}

/// The names: `provider__name` unless the provider's are bare. Of two equal names the first one counts.
fn named(shared: &Shared, listings: Vec<(Arc<str>, Listing)>) -> Vec<Named> {
    let mut prompts: Vec<Named> = Vec::new();
    let mut taken = std::collections::HashSet::new();
    for (provider, listing) in listings {
        let is_bare = shared.name_form(&provider) == NameForm::Bare;
        for prompt in listing.iter() {
            let Some(given) = prompt.member("name").and_then(|name| name.text()) else { continue };
            let name = if is_bare { given.clone() } else { format!("{provider}__{given}") };
            if taken.insert(name.clone()) {
                prompts.push(Named { name, provider: Arc::clone(&provider), given, prompt: prompt.clone() });
            }
        }
    }
    prompts
}

/// The same object under another name.
pub(super) fn renamed(object: &JsonText, name: &str) -> JsonText {
    let members = object.members().unwrap_or_default();
    let renamed = members.iter().map(|(key, value)| {
        let value = if key == "name" { JsonText::string(name) } else { value.clone() };
        (key.as_str(), value)
    });
    JsonText::object(renamed)
}

/// Parameters without what belongs to the client's own connection.
pub(super) fn own(params: &JsonText) -> JsonText {
    const CONNECTION: [&str; 3] = ["_meta", "inputResponses", "requestState"];
    let members = params.members().unwrap_or_default();
    let kept = members.iter().filter(|(key, _)| !CONNECTION.contains(&key.as_str()));
    JsonText::object(kept.map(|(key, value)| (key.as_str(), value.clone())))
}
