//! Mirrors: the arguments that a client of 2026-07-28 repeats in `Mcp-Param-*` headers, as the tools' schemas ask for it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value};
use toolyard::ToolRegistry;

/// Tools whose mirrors are remembered.
const MAX_KNOWN: usize = 10_000;

/// An argument and the header that repeats it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mirror {
    pub(super) path: Vec<String>,
    /// Without `Mcp-Param-`.
    pub(super) header: String,
}

/// The mirrors of the tools, as long as the tools do not change.
#[derive(Debug, Default)]
pub(super) struct Mirrors {
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    generation: u64,
    by_name: HashMap<String, Arc<[Mirror]>>,
}

// === impl Mirrors ===

impl Mirrors {
    /// The mirrors of the tool with this name; none where there is no such tool.
    pub(super) fn of(&self, name: &str, generation: u64, registry: &ToolRegistry) -> Arc<[Mirror]> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let (true, Some(mirrors)) = (known.generation == generation, known.by_name.get(name)) {
            return Arc::clone(mirrors);
        }
        drop(known);
        let Some(spec) = registry.get_tool_spec(name) else { return Arc::default() };
        let mut found = Vec::new();
        collect(&spec.parameters_schema, &mut Vec::new(), &mut found);
        let mirrors: Arc<[Mirror]> = found.into();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.generation != generation || known.by_name.len() >= MAX_KNOWN {
            *known = Known { generation, by_name: HashMap::new() };
        }
        known.by_name.insert(name.to_owned(), Arc::clone(&mirrors));
        mirrors
    }
}

/// Only what is reached by `properties` alone counts. Schemas are no deeper than the registry takes them.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirror>) {
    let properties: Option<&Map<String, Value>> = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str).filter(|header| !header.is_empty()) {
            found.push(Mirror { path: path.clone(), header: header.to_owned() });
        }
        collect(property, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mirrors_are_found_along_properties_only() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "in": {"properties": {"n": {"x-mcp-header": "N"}}},
            "list": {"items": {"properties": {"x": {"x-mcp-header": "X"}}}},
            "empty": {"x-mcp-header": ""}
        }});
        let mut found = Vec::new();
        collect(&schema, &mut Vec::new(), &mut found);
        let found: Vec<(String, &str)> = found.iter().map(|m| (m.path.join("."), m.header.as_str())).collect();
        assert_eq!(found, [("region".to_owned(), "Region"), ("in.n".to_owned(), "N")]);
    }
}
