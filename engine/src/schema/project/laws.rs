//! What holds for every schema: copies only widen, are the same each time, and are what their vendor takes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::tests::assert_takes_gemini;
use super::*;
use crate::schema::{ArgumentSchema, cost, normalise};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const TEXTS: [&str; 4] = ["a", "b", "ab", "2026-01-01"];

const EXPORTED: [SchemaTarget; 6] = [
    SchemaTarget::OpenAi,
    SchemaTarget::OpenAiStrict,
    SchemaTarget::Anthropic,
    SchemaTarget::GeminiParameters,
    SchemaTarget::GeminiJsonSchema,
    SchemaTarget::Ollama,
];

/// Makes values out of bytes, mostly such as fit a schema.
struct Sampler<'a> {
    root: &'a Value,
    bytes: std::slice::Iter<'a, u8>,
}

fn name() -> impl Strategy<Value = String> {
    select(NAMES.as_slice()).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    let text = (any::<u8>(), 0..3_u64).prop_map(|(bits, length)| {
        let mut schema = json!({"type": "string"});
        for (bit, keyword, value) in [
            (1, "minLength", json!(length)),
            (2, "maxLength", json!(length + 1)),
            (4, "pattern", json!("^(a|b)")),
            (8, "format", json!("date")),
            (16, "enum", json!(["a", "b", "ab"])),
            (32, "description", json!("text")),
        ] {
            if bits & bit != 0 && bits & 64 == 0 {
                schema[keyword] = value;
            }
        }
        schema
    });
    let number = (any::<u8>(), select(["integer", "number"].as_slice())).prop_map(|(bits, kind)| {
        let mut schema = json!({"type": kind});
        for (bit, keyword, value) in [
            (1, "minimum", json!(0)),
            (2, "exclusiveMinimum", json!(-1)),
            (4, "maximum", json!(5)),
            (8, "exclusiveMaximum", json!(7)),
            (16, "multipleOf", json!(1)),
            (32, "enum", json!([1, 2, 3])),
        ] {
            if bits & bit != 0 && bits & 64 == 0 {
                schema[keyword] = value;
            }
        }
        schema
    });
    let fixed = [
        json!({"type": "boolean"}),
        json!({"type": "null"}),
        json!({"const": 7}),
        json!({"const": "a"}),
        json!({"const": null}),
        json!({"enum": [1, "a", null, true]}),
        json!({"enum": [[1], {"a": 1}]}),
        json!({"type": ["string", "integer"], "enum": ["a", 1]}),
        json!({"type": ["string", "null"]}),
        json!({"type": ["integer", "number", "boolean"], "minimum": 1}),
        json!({"type": "object"}),
        json!({"type": "array"}),
        json!({"type": ["array", "object"]}),
        json!({}),
        json!(true),
        json!(false),
        json!({"not": {"type": "string"}}),
        json!({"$ref": "#/$defs/A"}),
        json!({"$ref": "#/$defs/B", "description": "other"}),
        json!({"$ref": "#/definitions/C", "type": "string"}),
        json!({"$ref": "#"}),
        json!({"$ref": "#/properties/a"}),
    ];
    prop_oneof![text, number, select(fixed.to_vec())]
}

fn schema() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, |inner| {
        let list = (inner.clone(), any::<u8>(), vec(inner.clone(), 0..3)).prop_map(|(items, bits, prefix)| {
            let mut schema = json!({"type": "array"});
            for (bit, keyword, value) in [
                (1, "items", items.clone()),
                (2, "minItems", json!(1)),
                (4, "maxItems", json!(2)),
                (8, "uniqueItems", json!(true)),
                (16, "prefixItems", json!(prefix)),
                (32, "contains", items),
            ] {
                if bits & bit != 0 && (keyword != "prefixItems" || !prefix.is_empty()) && (bit < 8 || bits & 64 != 0) {
                    schema[keyword] = value;
                }
            }
            schema
        });
        let composed = (select(["anyOf", "oneOf", "allOf"].as_slice()), vec(inner.clone(), 1..4), any::<bool>())
            .prop_map(
                |(keyword, forms, told)| {
                    if told { json!({keyword: forms, "description": "told"}) } else { json!({keyword: forms}) }
                },
            );
        prop_oneof![3 => object(inner), 1 => list, 1 => composed]
    })
}

/// An object, with alternatives beside its properties at times.
fn object(inner: impl Strategy<Value = Value> + Clone + 'static) -> BoxedStrategy<Value> {
    let members = vec((name(), inner.clone()), 0..4);
    let form = (vec((name(), inner.clone()), 0..3), vec(name(), 0..2));
    (members, vec(name(), 0..3), any::<u8>(), inner, vec(form, 1..4), select(["anyOf", "oneOf", "allOf"].as_slice()))
        .prop_map(|(members, required, bits, other, forms, how)| {
            let members: Map<String, Value> = members.into_iter().collect();
            let mut schema = json!({"type": "object", "properties": members});
            let mut required = required;
            required.sort();
            required.dedup();
            required.reverse();
            for (bit, keyword, value) in [
                (1, "required", json!(required)),
                (2, "additionalProperties", json!(false)),
                (4, "additionalProperties", other.clone()),
                (8, "minProperties", json!(1)),
                (16, "patternProperties", json!({"^d": other})),
                (32, "unevaluatedProperties", json!(false)),
            ] {
                if bits & bit != 0 && (bit < 8 || bits & 128 != 0) {
                    schema[keyword] = value;
                }
            }
            if bits & 64 != 0 {
                let forms = forms.into_iter().map(|(members, required)| {
                    let members: Map<String, Value> = members.into_iter().collect();
                    json!({"properties": members, "required": required})
                });
                schema[how] = Value::Array(forms.collect());
            }
            schema
        })
        .boxed()
}

fn document() -> impl Strategy<Value = Value> {
    (object(schema().boxed()), schema(), schema(), schema()).prop_map(|(mut root, a, b, c)| {
        root["$defs"] = json!({"A": a, "B": b});
        root["definitions"] = json!({"C": c});
        root
    })
}

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

// === impl Sampler ===

impl Sampler<'_> {
    fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or_default()
    }

    fn pick<'v, T>(&mut self, list: &'v [T]) -> &'v T {
        &list[usize::from(self.byte()) % list.len()]
    }

    fn any(&mut self, levels: usize) -> Value {
        match self.byte() % if levels > 0 { 8 } else { 6 } {
            0 => Value::Null,
            1 => json!(self.byte().is_multiple_of(2)),
            2 | 3 => json!(self.byte() % 8),
            4 => json!(1.5),
            5 => json!(self.pick(&TEXTS)),
            6 => json!([self.any(0)]),
            _ => json!({*self.pick(&NAMES): self.any(0)}),
        }
    }

    fn value(&mut self, schema: &Value, levels: usize) -> Value {
        let Some(keywords) = schema.as_object().filter(|_| levels > 0) else { return self.any(1) };
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(reference.trim_start_matches('#')).cloned().unwrap_or_default();
            return self.value(&target, levels - 1);
        }
        if let Some(value) = keywords.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            return self.pick(values).clone();
        }
        let forms = ["anyOf", "oneOf", "allOf"].iter().find_map(|word| keywords.get(*word)?.as_array());
        if let Some(forms) = forms.filter(|_| !keywords.contains_key("type")) {
            let form = self.pick(forms).clone();
            return self.value(&form, levels);
        }
        let kind = match keywords.get("type") {
            Some(Value::Array(words)) => self.pick(words).clone(),
            Some(word) => word.clone(),
            None => return self.any(1),
        };
        match kind.as_str().unwrap_or_default() {
            "object" => {
                let mut value = Map::new();
                self.members(schema, &mut value, levels);
                if let Some(forms) = forms {
                    let form = self.pick(forms).clone();
                    self.members(&form, &mut value, levels);
                }
                if self.byte().is_multiple_of(4) {
                    value.entry(*self.pick(&NAMES)).or_insert_with(|| json!("a"));
                }
                Value::Object(value)
            }
            "array" => {
                let prefix = keywords.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
                let rest = keywords.get("items").cloned().unwrap_or(json!({"type": "string"}));
                let count = usize::from(self.byte() % 3);
                let items = (0..count).map(|index| self.value(prefix.get(index).unwrap_or(&rest), levels - 1));
                Value::Array(items.collect())
            }
            "string" => json!(self.pick(&TEXTS)),
            "integer" => json!(self.byte() % 8),
            "number" => json!(f64::from(self.byte() % 16) / 2.0),
            "boolean" => json!(self.byte().is_multiple_of(2)),
            _ => Value::Null,
        }
    }

    fn members(&mut self, schema: &Value, value: &mut Map<String, Value>, levels: usize) {
        let required: Vec<&str> =
            schema.as_object().map(|keywords| walk::required(keywords).collect()).unwrap_or_default();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if required.contains(&name.as_str()) || self.byte().is_multiple_of(2) {
                let member = self.value(property, levels - 1);
                value.insert(name.clone(), member);
            }
        }
        for name in required {
            value.entry(name).or_insert_with(|| json!("a"));
        }
    }
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

const WORDS: [&str; 24] = [
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "$ref",
    "$defs",
    "if",
    "then",
    "additionalProperties",
    "prefixItems",
    "format",
    "pattern",
    "minItems",
    "minimum",
    "exclusiveMinimum",
    "description",
    "nullable",
    "propertyOrdering",
];

/// Whatever JSON, with the words of schemas in it.
fn junk() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..3_i64).prop_map(Value::from),
        select(["object", "array", "string", "dict", "null", "", "#", "#/$defs/a", "#/properties/a", "("].as_slice())
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![3 => select(WORDS.as_slice()), 1 => select(NAMES.as_slice())];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((key, inner), 0..4).prop_map(|members| Value::Object(
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}
