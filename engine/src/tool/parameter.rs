//! ToolParameterInfo: one parameter of a tool as a plugin declares it, and its JSON Schema (seed 000).

mod form;
mod record;

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

pub use form::parameters_schema;
pub(super) use form::{argument_schema, is_schema_keyword};
pub(super) use record::parameter_of;

/// How deep nested declarations are looked into.
const MAX_DEPTH: usize = 64;

/// One parameter of a tool (seed 000, `ToolParameterInfo`).
///
/// Reads the record that MaiBot's SDK writes. Fields that are `null` count as absent, so a `default` of `null` is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolParameterInfo {
    /// Name of the parameter.
    pub name: String,
    /// Its type; `string` where a record does not say.
    #[serde(default, deserialize_with = "or_default")]
    pub param_type: ToolParamType,
    /// Description for the model.
    #[serde(default, deserialize_with = "or_default")]
    pub description: String,
    /// Whether the model must give it; a default alone does not make it optional.
    #[serde(default = "yes", deserialize_with = "or_yes")]
    pub required: bool,
    /// The only values it may have; an empty list means no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enum_values: Option<Vec<Value>>,
    /// The value that the tool takes when it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// JSON Schema of the elements of an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items_schema: Option<Value>,
    /// JSON Schemas of the properties of an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Map<String, Value>>,
    /// Which of these properties an object must have.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub required_properties: Vec<String>,
    /// Whether an object may have further properties, or the JSON Schema that they must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_properties: Option<Value>,
    /// Further keywords of JSON Schema, such as `minimum` or `pattern`, kept as they are. Other keys are dropped.
    #[serde(flatten)]
    pub constraints: Map<String, Value>,
}

/// The type of a parameter (seed 000, `ToolParamType`). Read in any letter case, written in lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolParamType {
    /// Text.
    #[default]
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Any number, as [`ToolParamType::Number`].
    Float,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// An object.
    Object,
}

/// Why a declaration of parameters cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// It is neither a list of records nor an object.
    #[error("the parameters must be a list of records, a map of schemas or a JSON Schema, not {found}")]
    Form {
        /// What it is.
        found: &'static str,
    },
    /// One record of a list cannot be read.
    #[error("parameter {place} cannot be read: {reason}")]
    Record {
        /// Its place in the list, from 1.
        place: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Two records of a list have one name.
    #[error("parameter `{name}` is declared twice")]
    Repeated {
        /// That name.
        name: String,
    },
    /// A property of a map is not a schema.
    #[error("the declaration of parameter `{name}` is not a JSON Schema")]
    NotSchema {
        /// The property.
        name: String,
    },
    /// A schema has a parameter where no validator looks for it.
    #[error("`{name}` stands beside the keywords of the schema; parameters belong under `properties`")]
    Misplaced {
        /// The parameter.
        name: String,
    },
    /// A map requires a parameter that it does not declare.
    #[error("`{name}` is required but not declared")]
    Undeclared {
        /// That parameter.
        name: String,
    },
    /// The arguments of a call are an object, and the schema wants something else.
    #[error("the arguments of a call are an object, but the schema wants `{found}`")]
    RootType {
        /// The type that it wants.
        found: String,
    },
}

/// A word that is no type of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no parameter type; use string, integer, number, float, boolean, array or object")]
pub struct UnknownParamType {
    word: String,
}

// === impl ToolParameterInfo ===

impl ToolParameterInfo {
    /// A required parameter.
    pub fn required(name: impl Into<String>, param_type: ToolParamType, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            param_type,
            description: description.into(),
            required: true,
            enum_values: None,
            default: None,
            items_schema: None,
            properties: None,
            required_properties: Vec::new(),
            additional_properties: None,
            constraints: Map::new(),
        }
    }

    /// An optional parameter.
    pub fn optional(name: impl Into<String>, param_type: ToolParamType, description: impl Into<String>) -> Self {
        Self { required: false, ..Self::required(name, param_type, description) }
    }

    /// The JSON Schema of its value.
    ///
    /// A boolean `required` inside a declared property, as old plugins write it, becomes an entry of the object's
    /// `required`, together with `required_properties`.
    pub fn to_schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(self.param_type.schema_type()));
        if !self.description.is_empty() {
            schema.insert("description".to_owned(), json!(self.description));
        }
        if let Some(values) = self.enum_values.as_ref().filter(|values| !values.is_empty()) {
            schema.insert("enum".to_owned(), json!(values));
        }
        if let Some(default) = &self.default {
            schema.insert("default".to_owned(), default.clone());
        }
        if let Some(items) = &self.items_schema {
            schema.insert("items".to_owned(), items.clone());
        }
        if let Some(properties) = &self.properties {
            schema.insert("properties".to_owned(), Value::Object(properties.clone()));
        }
        if !self.required_properties.is_empty() {
            schema.insert("required".to_owned(), json!(sorted(self.required_properties.clone())));
        }
        if let Some(additional) = &self.additional_properties {
            schema.insert("additionalProperties".to_owned(), additional.clone());
        }
        for (keyword, value) in self.constraints.iter().filter(|(key, _)| is_schema_keyword(key)) {
            schema.entry(keyword.clone()).or_insert_with(|| value.clone());
        }
        let mut schema = Value::Object(schema);
        form::lift_required(&mut schema, 0);
        schema
    }

    /// The JSON Schema of the arguments of a tool with these parameters: properties in the order of declaration,
    /// `required` sorted and left out where it is empty.
    ///
    /// # Errors
    /// A parameter has no name, or the name of another.
    pub fn arguments_schema(parameters: &[Self]) -> Result<Value, ParameterError> {
        let mut properties = Map::new();
        for (index, parameter) in parameters.iter().enumerate() {
            if parameter.name.trim().is_empty() {
                return Err(ParameterError::Record { place: index + 1, reason: "it has no name".to_owned() });
            }
            if properties.insert(parameter.name.clone(), parameter.to_schema()).is_some() {
                return Err(ParameterError::Repeated { name: parameter.name.clone() });
            }
        }
        let required = parameters.iter().filter(|parameter| parameter.required).map(|p| p.name.clone()).collect();
        Ok(object_schema(properties, required))
    }
}

// === impl ToolParamType ===

impl ToolParamType {
    /// Its word in JSON Schema.
    pub const fn schema_type(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number | Self::Float => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

impl FromStr for ToolParamType {
    type Err = UnknownParamType;

    /// Also understands the words of Python and other languages for the same types, such as `str`, `int` and `dict`.
    fn from_str(word: &str) -> Result<Self, UnknownParamType> {
        match word.trim().to_ascii_lowercase().as_str() {
            "string" | "str" | "text" => Ok(Self::String),
            "integer" | "int" | "long" => Ok(Self::Integer),
            "number" => Ok(Self::Number),
            "float" | "double" | "decimal" => Ok(Self::Float),
            "boolean" | "bool" => Ok(Self::Boolean),
            "array" | "list" | "tuple" | "set" => Ok(Self::Array),
            "object" | "dict" | "map" | "record" => Ok(Self::Object),
            _ => Err(UnknownParamType { word: word.chars().take(64).collect() }),
        }
    }
}

impl<'de> Deserialize<'de> for ToolParamType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// `{type: object, properties, required}`.
fn object_schema(properties: Map<String, Value>, required: Vec<String>) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(sorted(required));
    }
    schema
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names.dedup();
    names
}

const fn yes() -> bool {
    true
}

fn or_yes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(true))
}

fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
