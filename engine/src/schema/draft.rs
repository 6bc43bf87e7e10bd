//! Old drafts said in the words of 2020-12.

use serde_json::{Map, Value, json};

use super::refs::Refs;
use super::walk;

/// Old drafts, by what `$schema` says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    Draft4,
    Draft6,
    Draft7,
    Modern,
}

/// What came with which draft. In a schema of an older draft the word means nothing.
const SINCE: [(Age, &[&str]); 3] = [
    (Age::Draft6, &["const", "contains", "propertyNames"]),
    (Age::Draft7, &["if", "then", "else"]),
    (
        Age::Modern,
        &[
            "prefixItems",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedItems",
            "unevaluatedProperties",
            "minContains",
            "maxContains",
            "$anchor",
            "$dynamicRef",
            "$recursiveRef",
        ],
    ),
];

/// What stays beside `$ref` in drafts that ignore everything beside it.
const BESIDE_REF: [&str; 7] = ["$ref", "title", "description", "default", "examples", "definitions", "$defs"];

/// The same schema in the words of 2020-12, without `$schema`. Words that its own draft does not know are left out,
/// flags such as draft 4's `"exclusiveMinimum": true` and lists under `items` are understood in any draft, and dynamic
/// references become plain ones.
pub(super) fn modernise(schema: &Value) -> Value {
    let age = age(schema);
    let mut modern = schema.clone();
    walk::each_mut(&mut modern, &mut |schema, _| {
        let Value::Object(keywords) = schema else { return };
        keywords.shift_remove("$schema");
        if age < Age::Modern {
            leave_out_unknown(keywords, age);
            dependencies(keywords);
            plain_id(keywords);
        }
        exclusive(keywords, "exclusiveMinimum", "minimum");
        exclusive(keywords, "exclusiveMaximum", "maximum");
        item_list(keywords);
        for dynamic in ["$dynamicRef", "$recursiveRef"] {
            if let Some(reference) = keywords.shift_remove(dynamic) {
                keywords.entry("$ref").or_insert(reference);
            }
        }
    });
    follow_item_lists(&mut modern);
    modern
}

fn age(schema: &Value) -> Age {
    let named = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    match named {
        _ if named.contains("draft-04") => Age::Draft4,
        _ if named.contains("draft-06") => Age::Draft6,
        _ if named.contains("draft-07") => Age::Draft7,
        _ => Age::Modern,
    }
}

fn leave_out_unknown(keywords: &mut Map<String, Value>, age: Age) {
    if keywords.get("$ref").is_some_and(Value::is_string) {
        keywords.retain(|keyword, _| BESIDE_REF.contains(&keyword.as_str()));
    }
    let unknown = SINCE.iter().filter(|(since, _)| age < *since).flat_map(|(_, words)| words.iter());
    for word in unknown {
        keywords.shift_remove(*word);
    }
}

fn dependencies(keywords: &mut Map<String, Value>) {
    let Some(Value::Object(dependencies)) = keywords.shift_remove("dependencies") else { return };
    let (names, schemas): (Map<String, Value>, Map<String, Value>) = dependencies
        .into_iter()
        .map(|(name, value)| (name, one_in_list(value)))
        .partition(|(_, value)| value.is_array());
    for (keyword, members) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
        if !members.is_empty() {
            keywords.insert(keyword.to_owned(), Value::Object(members));
        }
    }
}

/// A single name is an old way to write a list of one.
fn one_in_list(value: Value) -> Value {
    if value.is_string() { json!([value]) } else { value }
}

fn plain_id(keywords: &mut Map<String, Value>) {
    if keywords.get("id").is_some_and(Value::is_string)
        && let Some(id) = keywords.shift_remove("id")
    {
        keywords.entry("$id").or_insert(id);
    }
    let anchor = keywords.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#')).map(str::to_owned);
    if let Some(anchor) = anchor {
        keywords.shift_remove("$id");
        keywords.insert("$anchor".to_owned(), Value::String(anchor));
    }
}

fn exclusive(keywords: &mut Map<String, Value>, flag: &str, bound: &str) {
    if let Some(&Value::Bool(exclusive)) = keywords.get(flag) {
        keywords.shift_remove(flag);
        if exclusive && let Some(limit) = keywords.shift_remove(bound) {
            keywords.insert(flag.to_owned(), limit);
        }
    }
}

fn item_list(keywords: &mut Map<String, Value>) {
    if !keywords.get("items").is_some_and(Value::is_array) {
        return;
    }
    if let Some(list) = keywords.shift_remove("items") {
        keywords.entry("prefixItems").or_insert(list);
    }
    if let Some(rest) = keywords.shift_remove("additionalItems") {
        keywords.insert("items".to_owned(), rest);
    }
    if keywords.get("prefixItems").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        keywords.shift_remove("prefixItems");
    }
}

/// References into a list under `items` follow it to its new place.
fn follow_item_lists(modern: &mut Value) {
    let refs = Refs::of(modern);
    let mut moved = Vec::new();
    walk::each(modern, &mut |schema, _| {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return };
        if refs.resolve(schema, reference).is_none() {
            let there = reference.replace("/items/", "/prefixItems/").replace("/additionalItems", "/items");
            if refs.resolve(schema, &there).is_some() {
                moved.push((reference.to_owned(), there));
            }
        }
    });
    if moved.is_empty() {
        return;
    }
    walk::each_mut(modern, &mut |schema, _| {
        if let Some(Value::String(reference)) = schema.get_mut("$ref")
            && let Some((_, there)) = moved.iter().find(|(from, _)| from == reference)
        {
            reference.clone_from(there);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_words_are_said_in_new_ones() {
        let cases = [
            (json!({"minimum": 1, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 1})),
            (json!({"maximum": 1, "exclusiveMaximum": false}), json!({"maximum": 1})),
            (
                json!({"items": [{"const": 1}], "additionalItems": false}),
                json!({"prefixItems": [{"const": 1}], "items": false}),
            ),
            (json!({"items": [], "additionalItems": {"type": "null"}}), json!({"items": {"type": "null"}})),
            (json!({"$recursiveRef": "#"}), json!({"$ref": "#"})),
            (
                json!({"properties": {"a": {"items": [{"type": "null"}]}, "b": {"$ref": "#/properties/a/items/0"}}}),
                json!({"properties": {"a": {"prefixItems": [{"type": "null"}]}, "b": {"$ref": "#/properties/a/prefixItems/0"}}}),
            ),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [false],
                    "properties": {"a": {"$ref": "#/definitions/A", "type": "string", "description": "d"}},
                    "definitions": {"A": {"$id": "#a", "const": 1}}, "dependencies": {"x": ["y"], "z": {"minProperties": 2}}}),
                json!({"properties": {"a": {"$ref": "#/definitions/A", "description": "d"}},
                    "definitions": {"A": {"const": 1, "$anchor": "a"}},
                    "dependentRequired": {"x": ["y"]}, "dependentSchemas": {"z": {"minProperties": 2}}}),
            ),
            (
                json!({"$schema": "http://json-schema.org/draft-04/schema#", "id": "x", "const": 1, "if": false, "enum": [1]}),
                json!({"enum": [1], "$id": "x"}),
            ),
        ];
        for (old, new) in cases {
            assert_eq!(modernise(&old), new);
        }
    }

    #[test]
    fn a_modern_schema_stays_as_it_is() {
        let schema = json!({"type": "object", "properties": {"$schema": {"$ref": "#/$defs/A", "type": "string"}},
            "$defs": {"A": {"exclusiveMinimum": 3}}, "default": {"items": []}});
        assert_eq!(modernise(&schema).to_string(), schema.to_string());
    }
}
