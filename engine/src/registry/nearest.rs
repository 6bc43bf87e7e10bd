//! Names that a model may have meant: decorated, misspelt, or with other separators.

use super::PreparedTool;
use super::table::{Route, RoutingTable};

/// Names that are proposed at most.
const MAX_PROPOSED: usize = 5;
/// How alike two names have to be for one to be proposed.
const ALIKE: f64 = 0.85;
/// What models put before a tool's name because other hosts do.
const PREFIXES: [&str; 4] = ["functions.", "functions:", "default_api.", "default_api:"];

// === impl RoutingTable ===

impl RoutingTable {
    /// The one tool whose name differs from `name` only in a known prefix, in letter case or in separators.
    pub(crate) fn meant(&self, name: &str) -> Option<usize> {
        let folded = folded(undecorated(name));
        // Both names count: where two tools want the same one, neither is the only one that can be meant.
        let fits = |route: &Route| *route.folded == *folded || *route.wanted_folded == *folded;
        let mut meant = self.routes.iter().enumerate().filter(|(_, route)| fits(route));
        match (meant.next(), meant.next()) {
            (Some((index, _)), None) => Some(index),
            _ => None,
        }
    }

    /// The names nearest to `name` among the tools that may be shown, best first.
    pub(crate) fn nearest(&self, name: &str, may_show: impl Fn(&PreparedTool) -> bool) -> Vec<&str> {
        let whole = folded(undecorated(name));
        let last = folded(name.rsplit([':', '.', '/']).next().unwrap_or(name));
        let likeness = |folded: &str| strsim::jaro_winkler(folded, &whole).max(strsim::jaro_winkler(folded, &last));
        let mut near: Vec<(f64, &str)> = self
            .routes
            .iter()
            .map(|route| (likeness(&route.folded), route))
            .filter(|(likeness, route)| *likeness >= ALIKE && may_show(&route.tool))
            .map(|(likeness, route)| (likeness, &*route.model_name))
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        near.into_iter().take(MAX_PROPOSED).map(|(_, name)| name).collect()
    }
}

fn undecorated(name: &str) -> &str {
    PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// A name in small letters with one kind of separator, one at a time, and not longer than model names are.
pub(super) fn folded(name: &str) -> Box<str> {
    let mut folded = String::new();
    for c in name.chars().take(64) {
        if c.is_alphanumeric() {
            folded.push(c.to_ascii_lowercase());
        } else if !folded.ends_with('_') {
            folded.push('_');
        }
    }
    folded.into()
}
