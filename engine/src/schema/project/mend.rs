//! References whose targets have moved or gone.

use serde_json::{Map, Value};

use super::loss::{DROPPED, Losses};
use crate::schema::refs::Refs;
use crate::schema::walk;

/// Definitions that one copy may gain.
const MAX_MOVED: usize = 256;

/// Puts what references still name, but the changed root no longer holds, among the definitions.
pub(super) fn moved(mut changed: Value, base: &Value) -> Value {
    let origin = Refs::of(base);
    for _ in 0..8 {
        let missing = missing(&changed);
        if missing.is_empty() {
            break;
        }
        let mut renamed: Vec<(String, String)> = Vec::new();
        let mut definitions = changed.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
        for reference in missing {
            if let Some(target) = origin.resolve(base, &reference)
                && definitions.len() < MAX_MOVED
            {
                let name = free_name(&definitions, &reference);
                definitions.insert(name.clone(), target.clone());
                renamed.push((reference, format!("#/$defs/{name}")));
            }
        }
        if renamed.is_empty() {
            break;
        }
        if let Value::Object(keywords) = &mut changed {
            keywords.insert("$defs".to_owned(), Value::Object(definitions));
        }
        walk::each_mut(&mut changed, &mut |schema, _| {
            if let Some(Value::String(reference)) = schema.get_mut("$ref")
                && let Some((_, there)) = renamed.iter().find(|(from, _)| from == reference)
            {
                reference.clone_from(there);
            }
        });
    }
    changed
}

/// Leaves out references that name nothing.
pub(super) fn dangling(mut changed: Value, losses: &mut Losses) -> Value {
    let missing = missing(&changed);
    if !missing.is_empty() {
        walk::each_mut(&mut changed, &mut |schema, pointer| {
            if let Value::Object(keywords) = schema
                && keywords.get("$ref").and_then(Value::as_str).is_some_and(|to| missing.iter().any(|gone| gone == to))
            {
                keywords.shift_remove("$ref");
                losses.add(pointer, "$ref", DROPPED);
            }
        });
    }
    changed
}

/// Definitions under their present name, for vendors that know no other.
pub(super) fn definitions_as_defs(mut document: Value) -> Value {
    let Value::Object(root) = &mut document else { return document };
    let Some(Value::Object(old)) = root.shift_remove("definitions") else { return document };
    let mut definitions = root.shift_remove("$defs").and_then(|defs| defs.as_object().cloned()).unwrap_or_default();
    let is_clear = old.iter().all(|(name, schema)| definitions.get(name).is_none_or(|other| other == schema));
    if is_clear {
        definitions.extend(old);
    }
    root.insert("$defs".to_owned(), Value::Object(definitions));
    if is_clear {
        walk::each_mut(&mut document, &mut |schema, _| {
            if let Some(Value::String(reference)) = schema.get_mut("$ref")
                && let Some((address, name)) = reference.split_once("#/definitions/")
            {
                *reference = format!("{address}#/$defs/{name}");
            }
        });
    }
    document
}

fn missing(document: &Value) -> Vec<String> {
    let refs = Refs::of(document);
    let mut missing = Vec::new();
    walk::each(document, &mut |schema, _| {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str)
            && refs.resolve(schema, reference).is_none()
            && !missing.iter().any(|known| known == reference)
        {
            missing.push(reference.to_owned());
        }
    });
    missing
}

fn free_name(definitions: &Map<String, Value>, reference: &str) -> String {
    let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
    let plain: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
    let mut name = format!("moved_{plain}");
    let mut count = 1;
    while definitions.contains_key(&name) {
        count += 1;
        name = format!("moved_{plain}_{count}");
    }
    name
}
