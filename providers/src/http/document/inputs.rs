//! Inputs: what the places of a tool's templates may name.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::finding::{Findings, hint};
use super::node::NodeValue;
use super::table::Spot;
use crate::http::body::ALL;
use crate::http::secret::SecretSource;
use crate::http::template::Template;

/// The arguments that a tool takes and the secrets of its plugin.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    /// False where the schema is broken, so that nothing can be said of what it has.
    is_known: bool,
    properties: Map<String, Value>,
    required: Vec<String>,
    secrets: &'a BTreeMap<String, SecretSource>,
}

/// Where a template stands, which decides what it can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplatePlace {
    /// Part of an address: what it names must always be there.
    Path,
    /// A header, or a part of some text.
    Header,
    /// A parameter or a field, where a list gives several.
    Parameter,
    /// A text body.
    Text,
}

// === impl Inputs ===

impl<'a> Inputs<'a> {
    pub(super) fn new(schema: &Value, secrets: &'a BTreeMap<String, SecretSource>) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        Self {
            is_known: !schema.is_null(),
            properties: schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default(),
            required: required
                .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                .unwrap_or_default(),
            secrets,
        }
    }

    /// The JSON texts of the defaults.
    pub(super) fn defaults(&self) -> IndexMap<String, String> {
        let defaults = self.properties.iter().filter_map(|(name, property)| Some((name, property.get("default")?)));
        defaults
            .filter(|(_, default)| !default.is_null())
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    }

    /// Reads a template and checks what it names. Numbers and booleans stand for their text.
    pub(super) fn template(&self, spot: &Spot<'_>, place: TemplatePlace, findings: &mut Findings) -> Option<Template> {
        let text = match &spot.node.value {
            NodeValue::Text(text) | NodeValue::Number(text) => text.clone(),
            NodeValue::Bool(value) => value.to_string(),
            NodeValue::Null | NodeValue::List(_) | NodeValue::Table(_) => {
                spot.error(findings, format!("must be text, not {}", spot.node.kind()));
                return None;
            }
        };
        match Template::parse(&text) {
            Ok(template) => {
                self.check(&template, place, spot, findings);
                Some(template)
            }
            Err(message) => {
                spot.error(findings, message);
                None
            }
        }
    }

    /// Checks what a template names.
    pub(super) fn check(&self, template: &Template, place: TemplatePlace, spot: &Spot<'_>, findings: &mut Findings) {
        for name in template.secrets().filter(|name| !self.secrets.contains_key(*name)) {
            let known: Vec<&str> = self.secrets.keys().map(String::as_str).collect();
            spot.error(findings, format!("there is no secret `{name}`{}", hint(name, &known)));
        }
        for name in template.arguments() {
            let Some(property) = self.argument(name, spot, findings) else { continue };
            let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
            let is_list = kind == "array";
            let list_fits =
                place == TemplatePlace::Text || place == TemplatePlace::Parameter && template.only_argument().is_some();
            if kind == "object" && place != TemplatePlace::Text || is_list && !list_fits {
                spot.error(findings, format!("`{name}` is an {kind}, which has no text form here"));
            }
            let is_sure = self.required.iter().any(|required| required == name) || property.get("default").is_some();
            if place == TemplatePlace::Path && !is_sure {
                spot.error(
                    findings,
                    format!("`{name}` is a part of the path, so it must be required or have a default"),
                );
            }
        }
    }

    /// Checks an argument that stands alone in a JSON body.
    pub(super) fn check_typed(&self, name: &str, spot: &Spot<'_>, findings: &mut Findings) {
        if name != ALL {
            self.argument(name, spot, findings);
        }
    }

    fn argument(&self, name: &str, spot: &Spot<'_>, findings: &mut Findings) -> Option<&Value> {
        let property = self.properties.get(name);
        if property.is_none() && self.is_known {
            let known: Vec<&str> = self.properties.keys().map(String::as_str).collect();
            spot.error(findings, format!("`input` has no property `{name}`{}", hint(name, &known)));
        }
        property
    }
}
