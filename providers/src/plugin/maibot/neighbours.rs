//! Neighbours: which MaiBot plugins are configured side by side, and what stands against loading one of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The plugins of one daemon, by the names of their providers.
#[derive(Debug, Default)]
pub(crate) struct Neighbours(Mutex<BTreeMap<String, Known>>);

/// What the manifest of one says.
#[derive(Clone, Debug)]
struct Known {
    id: String,
    needs: Vec<String>,
}

// === impl Neighbours ===

impl Neighbours {
    /// Learns what a plugin's manifest says, now or again.
    pub(crate) fn learn(&self, provider: &str, id: &str, needs: &[String]) {
        let known = Known { id: id.to_owned(), needs: needs.to_vec() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(provider.to_owned(), known);
    }

    /// Why a plugin cannot be loaded beside the others: another has its id, or one that it needs is not configured or
    /// needs it in turn. Every copy of an id is kept out, since nobody can say which one is meant.
    pub(crate) fn objection(&self, provider: &str) -> Option<String> {
        let plugins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = plugins.get(provider)?;
        let copies: Vec<&str> =
            plugins.iter().filter(|(_, plugin)| plugin.id == own.id).map(|(name, _)| name.as_str()).collect();
        if copies.len() > 1 {
            return Some(format!("the plugin `{}` is there more than once: {}; keep one", own.id, copies.join(", ")));
        }
        if let Some(missing) = own.needs.iter().find(|need| !plugins.values().any(|plugin| plugin.id == **need)) {
            return Some(format!("it needs the plugin `{missing}`, which is not configured"));
        }
        let circle = circle(&plugins, own)?;
        Some(format!("it needs itself by way of other plugins: {}", circle.join(" → ")))
    }
}

/// The way from a plugin back to itself over what each one needs, if there is one.
fn circle(plugins: &BTreeMap<String, Known>, own: &Known) -> Option<Vec<String>> {
    let mut ways = vec![vec![own.id.clone()]];
    let mut seen = vec![own.id.clone()];
    while let Some(way) = ways.pop() {
        let last = plugins.values().find(|plugin| Some(&plugin.id) == way.last());
        for need in last.into_iter().flat_map(|plugin| &plugin.needs) {
            let mut longer = way.clone();
            longer.push(need.clone());
            if *need == own.id {
                return Some(longer);
            }
            if !seen.contains(need) {
                seen.push(need.clone());
                ways.push(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbours(plugins: &[(&str, &str, &[&str])]) -> Neighbours {
        let neighbours = Neighbours::default();
        for (provider, id, needs) in plugins {
            let needs: Vec<String> = needs.iter().map(|need| (*need).to_owned()).collect();
            neighbours.learn(provider, id, &needs);
        }
        neighbours
    }

    #[test]
    fn every_copy_of_an_id_is_kept_out_and_no_other_plugin() {
        let plugins = neighbours(&[("a", "x.one", &[]), ("b", "x.one", &[]), ("c", "x.two", &[])]);
        for copy in ["a", "b"] {
            assert!(plugins.objection(copy).unwrap().contains("a, b"));
        }
        assert_eq!(plugins.objection("c"), None);
        // One of them was given another id since.
        plugins.learn("b", "x.three", &[]);
        assert_eq!(plugins.objection("a"), None);
    }

    #[test]
    fn what_a_plugin_needs_must_be_there_and_must_not_need_it() {
        let plugins = neighbours(&[
            ("a", "a", &["b"]),
            ("b", "b", &["c"]),
            ("c", "c", &["a"]),
            ("d", "d", &["a"]),
            ("e", "e", &["gone"]),
            ("f", "f", &["g", "h"]),
            ("g", "g", &["h"]),
            ("h", "h", &[]),
        ]);
        assert!(plugins.objection("a").unwrap().contains("a → b → c → a"));
        assert!(plugins.objection("e").unwrap().contains("`gone`"));
        for fine in ["d", "f", "g", "h"] {
            assert_eq!(plugins.objection(fine), None, "{fine}");
        }
    }
}
