//! Keywords that refuse more when another schema admits more.
//!
//! Where some part of a document has been widened, these would narrow the whole, and so they go.

use serde_json::{Map, Value};

use super::loss::{DROPPED, EITHER, Losses};
use super::merge::is_never;
use crate::schema::walk;

/// Places from which a wider schema could make another one narrower.
const REFUSING: [&str; 6] = ["/oneOf/", "/not", "/if", "/contains", "/$defs/", "/definitions/"];

/// Whether it matters elsewhere in the document that the schema at `pointer` was widened.
pub(super) fn matters(document: &Value, pointer: &str) -> bool {
    let mut is_named = REFUSING.iter().any(|place| pointer.contains(place));
    walk::each(document, &mut |schema, _| {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            is_named |= !reference.starts_with("#/$defs/") && !reference.starts_with("#/definitions/");
        }
    });
    is_named
}

/// What counts as evaluated changes wherever a schema has been changed: the keyword would refuse what is fine.
pub(super) fn unevaluated(document: &mut Value, losses: &mut Losses) {
    walk::each_mut(document, &mut |schema, pointer| {
        if let Value::Object(keywords) = schema {
            leave_out(keywords, &["unevaluatedProperties", "unevaluatedItems"], pointer, losses);
        }
    });
}

/// Leaves out what refuses, and makes alternatives out of exclusive ones.
pub(super) fn exclusions(document: &mut Value, losses: &mut Losses) {
    walk::each_mut(document, &mut |schema, pointer| {
        let is_nothing = is_never(schema);
        let Value::Object(keywords) = schema else { return };
        leave_out(keywords, &["if", "then", "else", "maxContains"], pointer, losses);
        if !is_nothing {
            leave_out(keywords, &["not"], pointer, losses);
        }
        if let Some(forms) = keywords.shift_remove("oneOf") {
            losses.add(pointer, "oneOf", EITHER);
            keywords.entry("anyOf").or_insert(forms);
        }
    });
}

fn leave_out(keywords: &mut Map<String, Value>, words: &[&str], pointer: &str, losses: &mut Losses) {
    for word in words {
        if keywords.shift_remove(*word).is_some() {
            losses.add(pointer, word, DROPPED);
        }
    }
}
