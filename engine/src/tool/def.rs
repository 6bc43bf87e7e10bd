//! ToolDef, ToolParam and their JSON Schema (seed 004: ToolDef, ToJSONSchema, BuildToolDef).

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::ToolSpec;

/// A tool definition in the shape of seed 004.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolDef {
    /// Name of the tool.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// Parameters, in the order in which they are declared; `null`, as Go writes an empty list, means none.
    #[serde(default, deserialize_with = "or_none")]
    pub parameters: Vec<ToolParam>,
    /// Semantic version of the tool, shown in [`ToolDef::to_json_schema`] when set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// JSON Schema of the arguments. Where present it is used as it is; else it is made from `parameters`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
}

/// One parameter of a [`ToolDef`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolParam {
    /// Name of the parameter.
    pub name: String,
    /// JSON Schema type: `string`, `integer`, `number`, `boolean`, `array` or `object`.
    #[serde(rename = "type")]
    pub param_type: String,
    /// Description for the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether the model must give it.
    #[serde(default)]
    pub required: bool,
    /// What the elements of an array are like, to any depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<ToolParam>>,
}

// === impl ToolDef ===

impl ToolDef {
    /// Makes a definition whose `input_schema` comes from the parameters (seed 004, `BuildToolDef`).
    pub fn build(name: impl Into<String>, description: impl Into<String>, parameters: Vec<ToolParam>) -> Self {
        let input_schema = Some(schema_of(&parameters));
        Self { name: name.into(), description: description.into(), parameters, version: None, input_schema }
    }

    /// The JSON Schema of the arguments.
    pub fn input_schema(&self) -> Value {
        self.input_schema.clone().unwrap_or_else(|| schema_of(&self.parameters))
    }

    /// The definition in OpenAI's function-calling form (seed 004, `ToJSONSchema`).
    pub fn to_json_schema(&self) -> Value {
        let mut function = json!({
            "name": self.name,
            "description": self.description,
            "parameters": self.input_schema(),
        });
        if let Some(version) = &self.version {
            function["version"] = json!(version);
        }
        json!({"type": "function", "function": function})
    }
}

impl From<ToolDef> for ToolSpec {
    fn from(def: ToolDef) -> Self {
        let schema = def.input_schema();
        let mut spec = ToolSpec::new(def.name, def.description).with_parameters(schema);
        if let Some(version) = def.version {
            spec.metadata.insert("version".to_owned(), Value::String(version));
        }
        spec
    }
}

// === impl ToolParam ===

impl ToolParam {
    /// A required parameter.
    pub fn required(name: impl Into<String>, param_type: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            param_type: param_type.into(),
            description: description.into(),
            required: true,
            items: None,
        }
    }

    /// An optional parameter.
    pub fn optional(name: impl Into<String>, param_type: impl Into<String>, description: impl Into<String>) -> Self {
        Self { required: false, ..Self::required(name, param_type, description) }
    }

    fn schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(self.param_type));
        if !self.description.is_empty() {
            schema.insert("description".to_owned(), json!(self.description));
        }
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.schema());
        }
        Value::Object(schema)
    }
}

fn schema_of(parameters: &[ToolParam]) -> Value {
    let properties: Map<String, Value> = parameters.iter().map(|p| (p.name.clone(), p.schema())).collect();
    let required: Vec<&str> = parameters.iter().filter(|p| p.required).map(|p| p.name.as_str()).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ToolParam>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_without_parameters_may_write_null() {
        let def: ToolDef = serde_json::from_value(json!({"name": "x", "description": "", "parameters": null})).unwrap();
        assert_eq!(def, ToolDef { name: "x".into(), ..ToolDef::default() });
    }

    #[test]
    fn nested_items_are_kept_to_any_depth() {
        let cell = ToolParam { param_type: "number".into(), ..ToolParam::default() };
        let row = ToolParam { param_type: "array".into(), items: Some(Box::new(cell)), ..ToolParam::default() };
        let rows = ToolParam { items: Some(Box::new(row)), ..ToolParam::required("rows", "array", "the table") };
        let def = ToolDef::build("sum", "Adds up a table.", vec![rows]);
        assert_eq!(
            def.to_json_schema(),
            json!({"type": "function", "function": {"name": "sum", "description": "Adds up a table.", "parameters": {
                "type": "object",
                "properties": {"rows": {"type": "array", "description": "the table",
                    "items": {"type": "array", "items": {"type": "number"}}}},
                "required": ["rows"],
            }}})
        );
    }

    #[test]
    fn no_parameters_means_empty_properties_and_no_required() {
        let def = ToolDef::build("ping", "Pings.", Vec::new());
        assert_eq!(def.input_schema(), json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn an_input_schema_of_its_own_is_used_as_it_is_and_the_version_is_shown() {
        let schema = json!({"type": "object", "additionalProperties": false});
        let def = ToolDef {
            name: "x".into(),
            version: Some("1.2.3".into()),
            input_schema: Some(schema.clone()),
            ..ToolDef::default()
        };
        assert_eq!(def.to_json_schema()["function"]["parameters"], schema);
        assert_eq!(def.to_json_schema()["function"]["version"], "1.2.3");
    }
}
