//! Lossy copies of a parameters schema in the form that a model family takes.
//!
//! Arguments are always checked against the tool's own schema, never against a copy. A copy therefore only ever widens:
//! what the tool's schema admits, the copy admits. Three readings are narrower on purpose, because the wide one would
//! tell the model nothing: an alternative at the root is taken to hold the properties that it names; a schema that shows
//! its type only by its keywords (`properties` without `type`) is taken to be of that type; and, for Gemini's older form,
//! which has no word for "any value", free values are shown two levels deep and an empty string cannot stand in `enum`.

mod describe;
mod fold;
mod gemini;
mod gemini_json;
mod inline;
mod loss;
mod mend;
mod merge;
mod soften;
mod strict;
mod tidy;
mod types;

use serde_json::{Value, json};

use super::{draft, walk};
pub use loss::Loss;
use loss::{CUT, Losses};
pub use strict::{project_strict, strict_compatible};

/// Who a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaTarget {
    /// OpenAI and servers that speak its API, `strict` off. References stay; the root is an object with `properties` and
    /// no compositions; arrays have `items`; properties that admit no value are left out.
    OpenAi,
    /// OpenAI with `strict` on: see [`project_strict`]. Where that is impossible this is [`SchemaTarget::OpenAi`], with a
    /// loss that says why, and must be sent with `strict` off.
    OpenAiStrict,
    /// Anthropic. As [`SchemaTarget::OpenAi`]; properties whose names the API refuses (they must match
    /// `^[a-zA-Z0-9_.-]{1,64}$`) are described instead.
    Anthropic,
    /// Gemini's `parameters`: a subset of OpenAPI 3.0 without references, every node typed, less than 64 KiB. The root of a
    /// tool without parameters has no `properties`: leave the field out then.
    GeminiParameters,
    /// Gemini's `parametersJsonSchema`: a subset of JSON Schema with references.
    GeminiJsonSchema,
    /// Ollama. Its API drops `$ref` on the way to the prompt's template, so that references are inlined, with a bound;
    /// type lists, `anyOf` and `enum` of any type stay, since it passes them on.
    Ollama,
    /// MCP and Toolyard's own form: the schema as it is.
    Whole,
}

// === impl SchemaTarget ===

impl SchemaTarget {
    /// Every target.
    pub const ALL: [Self; 7] = [
        Self::OpenAi,
        Self::OpenAiStrict,
        Self::Anthropic,
        Self::GeminiParameters,
        Self::GeminiJsonSchema,
        Self::Ollama,
        Self::Whole,
    ];
}

/// A schema in a model family's form, and what that form could not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The schema.
    pub schema: Value,
    /// What was lost, in the order of the schema.
    pub losses: Vec<Loss>,
}

/// Makes the copy for a model family. Takes any value, never fails, and gives the same bytes for the same schema: the
/// order of properties is kept, `required` is sorted, and words of old drafts become those of 2020-12. Constraints that
/// are lost are told in the description where that helps the model.
///
/// Run [`normalise`](super::normalise) first where a schema may be sloppy.
pub fn project(schema: &Value, target: SchemaTarget) -> Projection {
    if target == SchemaTarget::Whole {
        return Projection { schema: schema.clone(), losses: Vec::new() };
    }
    let mut losses = Losses::default();
    if walk::is_too_deep(schema) {
        losses.add("", "", CUT);
        return losses.with(empty(target));
    }
    if target == SchemaTarget::OpenAiStrict {
        return project_strict(schema).unwrap_or_else(|reason| {
            let mut plain = project(schema, SchemaTarget::OpenAi);
            plain.losses.insert(0, reason);
            plain
        });
    }
    let base = draft::modernise(schema);
    let rooted = fold::root(&base, &mut losses);
    let schema = match target {
        SchemaTarget::Anthropic => tidy::tidy(mend::moved(rooted, &base), tidy::Names::Legal, &mut losses),
        SchemaTarget::GeminiParameters => gemini::parameters(&mend::moved(rooted, &base), &mut losses),
        SchemaTarget::GeminiJsonSchema => {
            mend::dangling(gemini_json::json_schema(mend::moved(rooted, &base), &mut losses), &mut losses)
        }
        SchemaTarget::Ollama => {
            let told = losses.told();
            let mut inlined = inline::within(&mend::moved(rooted, &base), inline::MAX_BYTES, &mut losses);
            soften::unevaluated(&mut inlined, &mut losses);
            if losses.told() > told {
                soften::exclusions(&mut inlined, &mut losses);
            }
            tidy::tidy(inlined, tidy::Names::Any, &mut losses)
        }
        SchemaTarget::OpenAi | SchemaTarget::OpenAiStrict | SchemaTarget::Whole => {
            tidy::tidy(mend::moved(rooted, &base), tidy::Names::Any, &mut losses)
        }
    };
    losses.with(schema)
}

fn empty(target: SchemaTarget) -> Value {
    match target {
        SchemaTarget::GeminiParameters => json!({"type": "object"}),
        _ => json!({"type": "object", "properties": {}}),
    }
}

/// `required` in one order, whatever order its author used.
fn sort_required(schema: &mut Value) {
    walk::each_mut(schema, &mut |schema, _| {
        if let Some(Value::Array(names)) = schema.get_mut("required") {
            names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            names.dedup();
        }
    });
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
