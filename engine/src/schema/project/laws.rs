//! What holds for every schema: copies only widen, are the same each time, and are what their vendor takes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::gemini::tests::assert_takes_gemini;
use super::*;
use crate::schema::{ArgumentSchema, cost, normalise};

mod schemas;
mod values;

use schemas::{WORDS, document, junk};
use values::Sampler;

const EXPORTED: [SchemaTarget; 6] = [
    SchemaTarget::OpenAi,
    SchemaTarget::OpenAiStrict,
    SchemaTarget::Anthropic,
    SchemaTarget::GeminiParameters,
    SchemaTarget::GeminiJsonSchema,
    SchemaTarget::Ollama,
];

/// The reading that copies take: an alternative does not hold the properties that only others name.
fn closed(mut schema: Value) -> Value {
    walk::each_mut(&mut schema, &mut |schema, _| {
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(forms)) = schema.get_mut(keyword) else { continue };
            let names = |form: &Value| -> Vec<String> {
                form.get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| name.clone())
                    .collect()
            };
            let all: Vec<String> = forms.iter().flat_map(names).collect();
            for form in forms.iter_mut().filter(|form| form.get("type").is_none() && form.get("properties").is_some()) {
                for name in &all {
                    if form["properties"].get(name).is_none() {
                        form["properties"][name] = json!(false);
                    }
                }
            }
        }
    });
    schema
}

fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    ArgumentSchema::compile(schema).ok().map(|schema| schema.validator)
}

/// The copy as a plain JSON Schema: `nullable` is a word of OpenAPI only, and strict mode's nulls stand for "left out".
fn as_json_schema(mut copy: Value, is_strict: bool) -> Value {
    walk::each_mut(&mut copy, &mut |schema, _| {
        let Value::Object(keywords) = schema else { return };
        if keywords.shift_remove("nullable").is_some() {
            *schema = json!({"anyOf": [{"type": "null"}, schema.take()]});
        } else if is_strict {
            keywords.shift_remove("required");
            keywords.shift_remove("additionalProperties");
        }
    });
    copy
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn copies_only_widen(document in document(), bytes in vec(vec(any::<u8>(), 48), 12)) {
        let read = closed(document.clone());
        let (Some(own), Some(strictly)) = (validator(&document), validator(&read)) else { return Ok(()) };
        let values: Vec<Value> = bytes.iter().map(|bytes| Sampler { root: &read, bytes: bytes.iter() }.value(&read, 6)).collect();
        for target in EXPORTED {
            let copy = project(&document, target).schema;
            let is_strict = target == SchemaTarget::OpenAiStrict && project_strict(&document).is_ok();
            let plain = as_json_schema(copy.clone(), is_strict);
            prop_assert!(cost::check(&plain).is_ok(), "{target:?} {plain}");
            let Some(wide) = validator(&plain) else { return Err(TestCaseError::fail(format!("{target:?}: {plain}"))) };
            for value in values.iter().filter(|value| own.is_valid(value) && strictly.is_valid(value)) {
                prop_assert!(wide.is_valid(value), "{target:?} refuses {value}\n{copy}\nof {document}");
            }
        }
    }

    #[test]
    fn copies_are_what_their_vendor_takes_and_the_same_each_time(document in document()) {
        assert_takes_gemini(&project(&document, SchemaTarget::GeminiParameters).schema);
        for target in EXPORTED {
            let once = project(&document, target);
            prop_assert_eq!(once.schema.to_string(), project(&document, target).schema.to_string());
            for keyword in ["$ref", "anyOf", "oneOf", "allOf", "not", "enum", "const", "$schema"] {
                prop_assert!(once.schema.get(keyword).is_none(), "{:?}: {}", target, keyword);
            }
            prop_assert!(once.schema["properties"].is_object() || target == SchemaTarget::GeminiParameters);
        }
        if let Ok(strict) = project_strict(&document) {
            walk::each(&strict.schema, &mut |schema, pointer| {
                if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                    assert_eq!(schema["additionalProperties"], json!(false), "{pointer}");
                    assert_eq!(schema["required"].as_array().unwrap().len(), properties.len(), "{pointer}");
                }
            });
            prop_assert!(strict_compatible(&strict.schema), "{}", strict.schema);
        }
        prop_assert!(!project(&document, SchemaTarget::Ollama).schema.to_string().contains("\"$ref\""));
    }

    #[test]
    fn any_value_is_taken_without_a_panic(members in vec((select(WORDS.as_slice()), junk()), 0..6)) {
        let root = Value::Object(members.into_iter().map(|(word, value)| (word.to_owned(), value)).collect());
        for target in EXPORTED {
            let copy = project(&root, target).schema;
            prop_assert_eq!(&copy["type"], "object");
        }
        assert_takes_gemini(&project(&root, SchemaTarget::GeminiParameters).schema);
        if let Ok(normalised) = normalise(&root) {
            prop_assert_eq!(normalise(&normalised.schema).unwrap().schema, normalised.schema);
        }
        ArgumentSchema::compile(&root).ok();
    }
}
