//! Resources: lists, templates, reading, subscriptions and completion, over all servers.

use std::sync::Arc;

use toolyard::JsonText;

use super::error::RpcError;
use super::features::{self, Listing};
use super::held::Outcome;
use super::host::CallHost;
use super::message::Request;
use super::peer::Peer;
use super::{Shared, page, prompts, render};
use crate::mcp::hub::McpFeatures;

/// A server that may have a resource.
type Candidate = (Arc<str>, Arc<dyn McpFeatures>);

/// One page of the resources or of their templates, in the order of the servers. Of two with one address the first counts.
pub(super) async fn list(
    shared: &Shared,
    request: &Request,
    peer: &Peer,
    method: &'static str,
    key: &'static str,
    address: &str,
) -> Outcome {
    let after = page::after(request)?;
    let mut taken = std::collections::HashSet::new();
    let mut entries: Vec<(String, JsonText)> = Vec::new();
    for (_, listing) in shared.list(peer, "resources", method, key).await {
        for entry in listing.iter() {
            let Some(uri) = entry.member(address).and_then(|uri| uri.text()) else { continue };
            if taken.insert(uri.clone()) {
                entries.push((uri, entry.clone()));
            }
        }
    }
    let start = after.and_then(|after| entries.iter().position(|(uri, _)| *uri == after)).map_or(0, |place| place + 1);
    let rest = entries.get(start..).unwrap_or_default();
    let shown = rest.get(..shared.config.page_size).unwrap_or(rest);
    let last = shown.last().filter(|_| shown.len() < rest.len()).map(|(uri, _)| uri.as_str());
    let shown = shown.iter().map(|(_, entry)| entry.clone()).collect();
    Ok(page::page(key, shown, last, peer))
}

/// A resource, from the first server that has it.
pub(super) async fn read(shared: &Shared, request: &Request, peer: &Peer, host: Arc<CallHost>) -> Outcome {
    let uri = uri_of(request)?;
    let params = prompts::own(&request.params);
    let candidates = candidates(shared, peer, &uri).await;
    let is_only = candidates.len() == 1;
    let mut refused = None;
    for (_, features) in candidates {
        let asked = features::ask("resources/read", params.clone(), peer, Some(Arc::clone(&host) as _));
        match features::request(&*features, asked).await {
            Ok(answer) => return page::with_cache_hints(render::for_era(answer, peer), peer),
            Err(error) if features::is_not_found(&error) && !(is_only && error.code == RpcError::INVALID_PARAMS) => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| not_found(&uri, peer)))
}

/// Subscribes to a resource or gives the subscription up, for a session.
pub(super) async fn subscribe(shared: &Shared, request: &Request, peer: &Peer) -> Outcome {
    let uri = uri_of(request)?;
    let Some(session) = &peer.session else { return Err(RpcError::method_not_found(&request.method)) };
    let subscribes = &*request.method == "resources/subscribe";
    if subscribes {
        session.subscribe(&uri)?;
    } else {
        session.unsubscribe(&uri);
        if shared.is_watched(&uri) {
            return Ok(JsonText::object([]));
        }
    }
    match pass_on(shared, peer, &uri, &request.method).await {
        Ok(()) => Ok(JsonText::object([])),
        Err(error) => {
            session.unsubscribe(&uri);
            Err(error)
        }
    }
}

/// Passes a subscription or its end on to the server that has the resource.
pub(super) async fn pass_on(shared: &Shared, peer: &Peer, uri: &str, method: &str) -> Result<(), RpcError> {
    let mut refused = None;
    for (_, features) in candidates(shared, peer, uri).await {
        if !features::has(&*features, &["resources", "subscribe"]) {
            continue;
        }
        let params = JsonText::object([("uri", JsonText::string(uri))]);
        match features::request(&*features, features::ask(method, params, peer, None)).await {
            Ok(_) => return Ok(()),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| not_found(uri, peer)))
}

/// What can stand for an argument of a prompt or of a resource template.
pub(super) async fn complete(shared: &Shared, request: &Request, peer: &Peer) -> Outcome {
    let reference = request.params.member("ref").ok_or_else(|| RpcError::invalid_params("`ref` is missing"))?;
    let text = |key: &str| reference.member(key).and_then(|value| value.text());
    let params = prompts::own(&request.params);
    if text("type").as_deref() == Some("ref/prompt") {
        let (features, given) = prompts::find(shared, peer, &text("name").unwrap_or_default()).await?;
        let reference = prompts::renamed(&reference, &given);
        let members = params.members().unwrap_or_default();
        let with_reference = members.iter().map(|(key, value)| {
            let value = if key == "ref" { reference.clone() } else { value.clone() };
            (key.as_str(), value)
        });
        let params = JsonText::object(with_reference);
        let answer = features::request(&*features, features::ask("completion/complete", params, peer, None)).await?;
        return Ok(render::for_era(answer, peer));
    }
    let uri = text("uri").ok_or_else(|| RpcError::invalid_params("`ref` names neither a prompt nor a resource"))?;
    let mut refused = None;
    for (_, features) in candidates(shared, peer, &uri).await {
        let asked = features::ask("completion/complete", params.clone(), peer, None);
        match features::request(&*features, asked).await {
            Ok(answer) => return Ok(render::for_era(answer, peer)),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| not_found(&uri, peer)))
}

/// The servers that may have a resource: the one that lists it, then the one that has a template for it, then all others.
async fn candidates(shared: &Shared, peer: &Peer, uri: &str) -> Vec<Candidate> {
    let mut members = shared.hub.members();
    members.retain(|(_, features)| features::has(&**features, &["resources"]));
    if members.len() < 2 {
        return members;
    }
    let mut listed = shared.remembered.known(&shared.hub, &peer.tenant, "resources/list");
    if !lists(&listed, uri) {
        listed = shared.list(peer, "resources", "resources/list", "resources").await;
    }
    let mut templates = shared.remembered.known(&shared.hub, &peer.tenant, "resources/templates/list");
    if !lists(&listed, uri) && templates.iter().all(|(_, listing)| listing.is_empty()) {
        templates = shared.list(peer, "resources", "resources/templates/list", "resourceTemplates").await;
    }
    let has = |listings: &[(Arc<str>, Listing)], name: &str, is_it: &dyn Fn(&JsonText) -> bool| {
        listings.iter().any(|(owner, listing)| &**owner == name && listing.iter().any(is_it))
    };
    members.sort_by_key(|(name, _)| {
        if has(&listed, name, &|entry| is_at(entry, "uri", uri)) {
            0
        } else if has(&templates, name, &|entry| fits(entry, uri)) {
            1
        } else {
            2
        }
    });
    members
}

fn lists(listed: &[(Arc<str>, Listing)], uri: &str) -> bool {
    listed.iter().any(|(_, listing)| listing.iter().any(|entry| is_at(entry, "uri", uri)))
}

fn is_at(entry: &JsonText, key: &str, uri: &str) -> bool {
    entry.member(key).and_then(|value| value.text()).is_some_and(|value| value == uri)
}

fn fits(entry: &JsonText, uri: &str) -> bool {
    let template = entry.member("uriTemplate").and_then(|template| template.text());
    template.is_some_and(|template| template == uri || template_fits(&template, uri))
}

/// Whether an address can come of a template: its fixed parts stand in it in their order, the first at its start and the
/// last at its end.
fn template_fits(template: &str, uri: &str) -> bool {
    let mut parts = template.split('{').enumerate().map(|(place, part)| match part.split_once('}') {
        Some((_, fixed)) if place > 0 => fixed,
        _ => part,
    });
    let Some(mut rest) = parts.next().and_then(|first| uri.strip_prefix(first)) else { return false };
    let mut ends_in_variable = false;
    for part in parts {
        let Some(place) = rest.find(part) else { return false };
        rest = rest.get(place + part.len()..).unwrap_or_default();
        ends_in_variable = part.is_empty();
    }
    rest.is_empty() || ends_in_variable
}

fn uri_of(request: &Request) -> Result<String, RpcError> {
    let uri = request.params.member("uri").and_then(|uri| uri.text());
    uri.ok_or_else(|| RpcError::invalid_params("`uri` is missing"))
}

fn not_found(uri: &str, peer: &Peer) -> RpcError {
    let code = if peer.is_modern() { RpcError::INVALID_PARAMS } else { RpcError::RESOURCE_NOT_FOUND };
    RpcError::new(code, "Resource not found").with_data(JsonText::object([("uri", JsonText::string(uri))]))
}

#[cfg(test)]
mod tests {
    use super::template_fits;

    #[test]
    fn templates_fit_the_addresses_that_can_come_of_them() {
        for (template, uri, fits) in [
            ("test://template/{id}/data", "test://template/123/data", true),
            ("test://template/{id}/data", "test://template/123/other", false),
            ("file:///{+path}", "file:///a/b.txt", true),
            ("demo://{a}/{b}", "demo://x", false),
            ("demo://{a}/{b}", "demo://x/y", true),
            ("test://fixed", "test://fixed", true),
            ("test://fixed", "test://fixed/more", false),
        ] {
            assert_eq!(template_fits(template, uri), fits, "{template} {uri}");
        }
    }
}
