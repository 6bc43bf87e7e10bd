//! From the components that a plugin lists to tools, one at a time: a bad one costs only itself.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use toolyard::{RejectedTool, Remarks, ToolSpec, ToolWarning, Visibility, import_definitions};

use super::python::is_true;
use super::{handler, scope};

/// Components that one plugin may list.
const MAX_COMPONENTS: usize = 10_000;
/// Characters of the runner's own words that are repeated.
const MAX_REASON: usize = 600;

/// The tools of a plugin, and what there is to say of its components.
#[derive(Debug, Default)]
pub(super) struct Components {
    /// By name: of two tools with one name the later counts.
    tools: IndexMap<String, ToolSpec>,
    remarks: Remarks,
    /// Names by type of what is no tool.
    others: BTreeMap<String, Vec<String>>,
}

// === impl Components ===

impl Components {
    /// Reads the list.
    pub(super) fn read(list: &[Value], default_visibility: Visibility) -> Self {
        let mut components = Self::default();
        for component in list.iter().take(MAX_COMPONENTS) {
            components.add(component, default_visibility);
        }
        if list.len() > MAX_COMPONENTS {
            components.reject("", format!("{} components are listed; {MAX_COMPONENTS} are read", list.len()));
        }
        components
    }

    /// The tools, and what there is to say; `plugin` stands for it where nothing smaller is meant.
    pub(super) fn finish(mut self, plugin: &str) -> (Vec<ToolSpec>, Remarks) {
        for (kind, names) in self.others {
            let message = format!("components of type {kind} are not run here: {}", names.join(", "));
            self.remarks.warnings.push(ToolWarning { name: plugin.to_owned(), message });
        }
        (self.tools.into_values().collect(), self.remarks)
    }

    fn add(&mut self, component: &Value, default_visibility: Visibility) {
        let name = component.get("name").and_then(Value::as_str).unwrap_or_default();
        let kind = component.get("type").and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase();
        match kind.as_str() {
            "TOOL" | "ACTION" => {}
            // Other plugins call these through the host.
            "API" => return,
            _ => return self.others.entry(kind).or_default().push(name.to_owned()),
        }
        if let Some(fault) = component.get("fault").and_then(Value::as_str) {
            return self.reject(name, fault.chars().take(MAX_REASON).collect());
        }
        match tool(component, default_visibility) {
            Ok((tool, warnings)) => {
                self.warn(name, warnings);
                if self.tools.insert(name.to_owned(), tool).is_some() {
                    self.warn(name, ["it is declared twice; the later declaration counts".to_owned()]);
                }
            }
            Err(reason) => self.reject(name, reason),
        }
    }

    fn reject(&mut self, name: &str, reason: String) {
        self.remarks.rejected.push(RejectedTool { name: name.to_owned(), reason });
    }

    fn warn(&mut self, name: &str, messages: impl IntoIterator<Item = String>) {
        let warnings = messages.into_iter().map(|message| ToolWarning { name: name.to_owned(), message });
        self.remarks.warnings.extend(warnings);
    }
}

/// One tool, and what is odd about it.
fn tool(component: &Value, default_visibility: Visibility) -> Result<(ToolSpec, Vec<String>), String> {
    let definition = definition(component);
    let imported = import_definitions(&Value::Array(vec![definition])).map_err(|error| error.to_string())?;
    if let Some(rejected) = imported.rejected.into_iter().next() {
        return Err(rejected.reason);
    }
    let mut tool = imported.tools.into_iter().next().ok_or("it is no tool")?.spec;
    let mut warnings = scope::warnings(&tool.metadata);
    tool.visibility = Some(visibility(&tool.metadata, default_visibility, &mut warnings));
    warnings.extend(handler::faults(component.get("handler"), &tool).iter().map(ToString::to_string));
    Ok((tool, warnings))
}

/// The component as the importer reads it: without what the runner added, and with a description where old plugins put it.
fn definition(component: &Value) -> Value {
    let mut fields = component.as_object().cloned().unwrap_or_default();
    fields.shift_remove("handler");
    let mut metadata = match fields.shift_remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    if let Some(description) = fields.shift_remove("description").filter(Value::is_string) {
        let own = metadata.entry("description").or_insert_with(|| json!(""));
        if !is_true(Some(own)) {
            *own = description;
        }
    }
    fields.insert("metadata".to_owned(), Value::Object(metadata));
    Value::Object(fields)
}

/// The word `visibility`, else `core_tool`, else the default.
fn visibility(metadata: &Map<String, Value>, default: Visibility, warnings: &mut Vec<String>) -> Visibility {
    let declared = metadata.get("visibility").filter(|declared| is_true(Some(declared)));
    let word = declared.and_then(Value::as_str).map(|word| word.trim().to_ascii_lowercase());
    match (word.as_deref(), declared) {
        (Some("visible"), _) => return Visibility::Visible,
        (Some("deferred"), _) => return Visibility::Deferred,
        (Some("hidden"), _) => return Visibility::Hidden,
        (_, Some(other)) => warnings.push(format!("`visibility` is {other}; it may be visible, deferred or hidden")),
        (_, None) => {}
    }
    if is_true(metadata.get("core_tool")) { Visibility::Visible } else { default }
}

#[cfg(test)]
mod tests;
