//! Stand-in.
use serde::Serialize;
use serde_json::Value;
/// x
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaTarget {
    /// x
    OpenAi,
    /// x
    Anthropic,
    /// x
    GeminiParameters,
    /// x
    GeminiJsonSchema,
    /// x
    Ollama,
}
/// x
#[derive(Clone, Debug, Serialize)]
pub struct Loss {
    /// x
    pub pointer: String,
    /// x
    pub keyword: String,
    /// x
    pub note: String,
}
/// x
#[derive(Debug)]
pub struct Projection {
    /// x
    pub schema: Value,
    /// x
    pub losses: Vec<Loss>,
}
/// x
pub fn project(schema: &Value, _target: SchemaTarget) -> Projection {
    Projection { schema: schema.clone(), losses: Vec::new() }
}
/// x
pub fn project_strict(schema: &Value) -> Result<Projection, Loss> {
    Ok(Projection { schema: schema.clone(), losses: Vec::new() })
}
/// x
pub fn strict_compatible(_schema: &Value) -> bool {
    false
}
