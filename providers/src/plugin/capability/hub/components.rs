//! Components as plugins declare them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// How many components of one plugin are kept.
const MAX_COMPONENTS: usize = 2048;
/// How many APIs that went offline are remembered with their reason.
const MAX_OFFLINE: usize = 256;

/// One component of a plugin: a tool, an API, a command and so on.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Component {
    pub(in super::super) name: String,
    /// In capitals, such as `TOOL` or `API`.
    pub(in super::super) kind: String,
    pub(in super::super) enabled: bool,
    pub(in super::super) is_dynamic: bool,
    pub(in super::super) metadata: Map<String, Value>,
}

/// The APIs that a plugin has added while it runs, and those that it has taken back.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct DynamicApis {
    pub(in super::super) apis: Vec<Component>,
    /// By name and version, with the reason.
    pub(in super::super) offline: BTreeMap<(String, String), String>,
}

/// Reads the components of a plugin's document. What cannot be read is left out: its dialect reports it.
pub(super) fn read(document: &Value) -> Vec<Component> {
    let declared = |key: &str| document.get(key).and_then(Value::as_array);
    let read = |kind: &'static str| move |value: &Value| Component::read(value, kind);
    match (declared("components"), declared("tools")) {
        (Some(components), _) => components.iter().filter_map(read("")).take(MAX_COMPONENTS).collect(),
        (None, Some(tools)) => tools.iter().filter_map(read("TOOL")).take(MAX_COMPONENTS).collect(),
        (None, None) => Vec::new(),
    }
}

/// The name of a component among all plugins.
pub(in super::super) fn full_name(plugin_id: &str, name: &str) -> String {
    format!("{plugin_id}.{name}")
}

// === impl Component ===

impl Component {
    /// Reads one declaration; nothing when it has no name or no kind.
    pub(in super::super) fn read(value: &Value, default_kind: &str) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        let metadata = value.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
        let kind = text("type").or_else(|| text("component_type")).unwrap_or(default_kind);
        if kind.is_empty() {
            return None;
        }
        let enabled = metadata.get("enabled").or_else(|| value.get("enabled"));
        Some(Self {
            name: text("name")?.to_owned(),
            kind: kind.to_uppercase(),
            enabled: enabled.and_then(Value::as_bool).unwrap_or(true),
            is_dynamic: metadata.get("dynamic").and_then(Value::as_bool).unwrap_or(false),
            metadata,
        })
    }

    pub(in super::super) fn is_api(&self) -> bool {
        self.kind == "API"
    }

    /// Whether a declared kind means this component: old actions are run as tools.
    pub(in super::super) fn is_of(&self, kind: &str) -> bool {
        self.kind == kind || (self.kind == "TOOL" && self.text("legacy_component_type") == kind)
    }

    pub(in super::super) fn description(&self) -> &str {
        self.text("description")
    }

    /// Version of an API; `1` where none is declared.
    pub(in super::super) fn version(&self) -> &str {
        match self.text("version") {
            "" => "1",
            version => version,
        }
    }

    /// Whether other plugins may call the API.
    pub(in super::super) fn is_public(&self) -> bool {
        self.metadata.get("public").and_then(Value::as_bool).unwrap_or(false)
    }

    fn text(&self, key: &str) -> &str {
        self.metadata.get(key).and_then(Value::as_str).map(str::trim).unwrap_or_default()
    }
}

// === impl DynamicApis ===

impl DynamicApis {
    pub(super) fn replaced_by(&self, apis: Vec<Component>, reason: &str) -> Self {
        let key = |api: &Component| (api.name.clone(), api.version().to_owned());
        let mut offline = self.offline.clone();
        offline.extend(self.apis.iter().map(|api| (key(api), reason.to_owned())));
        for api in &apis {
            offline.remove(&key(api));
        }
        while offline.len() > MAX_OFFLINE {
            offline.pop_first();
        }
        Self { apis, offline }
    }
}
