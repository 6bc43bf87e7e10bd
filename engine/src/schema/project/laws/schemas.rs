//! Schemas of every shape, and JSON that is none.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::values::NAMES;

pub(super) const WORDS: [&str; 24] = [
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
pub(super) fn junk() -> impl Strategy<Value = Value> {
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

pub(super) fn document() -> impl Strategy<Value = Value> {
    (object(schema().boxed()), schema(), schema(), schema()).prop_map(|(mut root, a, b, c)| {
        root["$defs"] = json!({"A": a, "B": b});
        root["definitions"] = json!({"C": c});
        root
    })
}
