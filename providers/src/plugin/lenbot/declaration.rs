//! What a plugin says of one value of its configuration.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

/// One value, as declared. What is only shown to people is checked for its form and kept as it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Declaration {
    #[serde(rename = "type")]
    pub(super) kind: ConfigType,
    #[serde(default, rename = "label")]
    _label: Option<String>,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default, rename = "group")]
    _group: Option<String>,
    #[serde(default, rename = "placeholder")]
    _placeholder: Option<String>,
    #[serde(default)]
    multiline: Option<bool>,
    #[serde(default)]
    options: Option<Vec<Value>>,
    #[serde(default)]
    minimum: Option<f64>,
    #[serde(default)]
    maximum: Option<f64>,
    #[serde(default)]
    default: Option<Value>,
    /// The values of each entry of an `object_list`.
    #[serde(default)]
    pub(super) fields: IndexMap<String, Declaration>,
}

/// The types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ConfigType {
    String,
    Secret,
    Integer,
    Number,
    Boolean,
    StringList,
    Scene,
    SceneList,
    Path,
    Url,
    ObjectList,
}

// === impl Declaration ===

impl Declaration {
    /// What is wrong with it, as lines that begin with its place.
    pub(super) fn problems(&self, place: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let kind = self.kind;
        let is_number = matches!(kind, ConfigType::Integer | ConfigType::Number);
        let can_choose = is_number || matches!(kind, ConfigType::String | ConfigType::StringList);
        let mut refuse = |is_wrong: bool, what: &str| {
            if is_wrong {
                problems.push(format!("{place}: {what}"));
            }
        };
        refuse((self.minimum.is_some() || self.maximum.is_some()) && !is_number, "only numbers have a range");
        let is_reversed = self.minimum.zip(self.maximum).is_some_and(|(minimum, maximum)| minimum > maximum);
        refuse(is_reversed, "the minimum is above the maximum");
        refuse(self.multiline.is_some() && kind != ConfigType::String, "only a string is multiline");
        refuse(self.options.is_some() && !can_choose, "this type has no options");
        refuse(self.options.as_ref().is_some_and(Vec::is_empty), "the options are empty");
        let is_unclear = self.options.iter().flatten().any(|option| !is_option(option));
        refuse(is_unclear, "an option is a text, a number, or { value, label }");
        refuse(!self.fields.is_empty() && kind != ConfigType::ObjectList, "only an object_list has fields");
        refuse(self.fields.is_empty() && kind == ConfigType::ObjectList, "an object_list needs fields");
        let is_other = self.default.as_ref().is_some_and(|default| !kind.admits(default));
        refuse(is_other, "the default is of another type");
        for (key, field) in &self.fields {
            let place = format!("{place}.fields.{key}");
            if field.kind == ConfigType::ObjectList {
                problems.push(format!("{place}: an object_list has no lists of objects within"));
            }
            problems.extend(field.problems(&place));
        }
        problems
    }
}

// === impl ConfigType ===

impl ConfigType {
    /// Whether the value is of the type, as far as its form says. The runner checks the rest.
    fn admits(self, value: &Value) -> bool {
        match self {
            Self::String | Self::Secret | Self::Scene | Self::Path | Self::Url => value.is_string(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::StringList | Self::SceneList => {
                value.as_array().is_some_and(|entries| entries.iter().all(Value::is_string))
            }
            Self::ObjectList => value.as_array().is_some_and(|entries| entries.iter().all(Value::is_object)),
        }
    }
}

/// A value that may be chosen, by itself or with what people are to see for it.
fn is_option(option: &Value) -> bool {
    let is_scalar = |value: &Value| value.is_string() || value.is_number();
    match option.as_object() {
        None => is_scalar(option),
        Some(labelled) => {
            labelled.get("value").is_some_and(is_scalar)
                && labelled.get("label").is_none_or(Value::is_string)
                && labelled.keys().all(|key| matches!(key.as_str(), "value" | "label"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(declaration: Value) -> Vec<String> {
        serde_json::from_value::<Declaration>(declaration).unwrap().problems("config.x")
    }

    #[test]
    fn every_type_with_its_own_attributes_is_accepted() {
        let common = json!({"label": "标题", "group": "显示", "placeholder": "例", "description": "说明"});
        for (kind, own) in [
            ("string", json!({"multiline": true, "default": "", "options": ["a", {"value": "b", "label": "乙"}]})),
            ("secret", json!({"default": ""})),
            ("integer", json!({"minimum": 1, "maximum": 2, "default": 1, "options": [1, 2]})),
            ("number", json!({"minimum": 0.5, "default": 2})),
            ("boolean", json!({"default": false})),
            ("string_list", json!({"default": ["a"]})),
            ("scene", json!({"default": ""})),
            ("scene_list", json!({"default": []})),
            ("path", json!({})),
            ("url", json!({})),
            ("object_list", json!({"default": [], "fields": {"id": {"type": "integer", "minimum": 1}}})),
        ] {
            let mut declaration = common.clone();
            let map = declaration.as_object_mut().unwrap();
            map.insert("type".to_owned(), json!(kind));
            map.extend(own.as_object().cloned().unwrap());
            assert_eq!(problems(declaration), Vec::<String>::new(), "{kind}");
        }
    }

    #[test]
    fn attributes_that_do_not_belong_to_the_type_are_refused() {
        for (declaration, what) in [
            (json!({"type": "string", "minimum": 1}), "config.x: only numbers have a range"),
            (json!({"type": "integer", "minimum": 3, "maximum": 2}), "config.x: the minimum is above the maximum"),
            (json!({"type": "integer", "multiline": true}), "config.x: only a string is multiline"),
            (json!({"type": "boolean", "options": [1]}), "config.x: this type has no options"),
            (json!({"type": "string", "options": []}), "config.x: the options are empty"),
            (
                json!({"type": "string", "options": [{"label": "x"}]}),
                "config.x: an option is a text, a number, or { value, label }",
            ),
            (
                json!({"type": "string", "fields": {"a": {"type": "string"}}}),
                "config.x: only an object_list has fields",
            ),
            (json!({"type": "object_list"}), "config.x: an object_list needs fields"),
            (json!({"type": "integer", "default": "1"}), "config.x: the default is of another type"),
            (
                json!({"type": "object_list", "fields": {"a": {"type": "object_list", "fields": {"b": {"type": "url"}}}}}),
                "config.x.fields.a: an object_list has no lists of objects within",
            ),
        ] {
            assert_eq!(problems(declaration.clone()), [what], "{declaration}");
        }
    }

    #[test]
    fn unknown_types_and_attributes_are_refused() {
        for declaration in [json!({"type": "text"}), json!({"type": "string", "maxLength": 3}), json!({"label": "x"})] {
            assert!(serde_json::from_value::<Declaration>(declaration.clone()).is_err(), "{declaration}");
        }
    }
}
