//! Finding what a `$ref` means, inside the one document that there is.

use std::collections::HashMap;

use serde_json::Value;

use super::walk;

/// The places of a document that references can name.
#[derive(Debug)]
pub(super) struct Refs<'a> {
    root: &'a Value,
    id: Option<&'a str>,
    anchors: HashMap<&'a str, &'a Value>,
    /// Schemas inside the document that have an address of their own.
    resources: Vec<(&'a str, &'a Value)>,
    /// The resource in which each schema stands, by the schema's own place in memory. Empty without resources.
    owners: HashMap<usize, &'a Value>,
}

// === impl Refs ===

impl<'a> Refs<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let id = root.get("$id").and_then(Value::as_str).map(|id| id.split('#').next().unwrap_or(id));
        let mut refs = Self { root, id, anchors: HashMap::new(), resources: Vec::new(), owners: HashMap::new() };
        walk::each(root, &mut |schema, pointer| {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(name) = schema.get(keyword).and_then(Value::as_str) {
                    refs.anchors.entry(name).or_insert(schema);
                }
            }
            if let Some(id) = schema.get("$id").and_then(Value::as_str).filter(|_| !pointer.is_empty()) {
                refs.resources.push((id, schema));
            }
        });
        for (_, resource) in &refs.resources {
            // Inner resources come later, and so win.
            walk::each(resource, &mut |schema, _| {
                refs.owners.insert(place(schema), resource);
            });
        }
        refs
    }

    /// The schema that a reference names: by JSON pointer (percent and `~` escapes), by anchor, or by an address that the
    /// document itself gives. `holder` is the schema, of this very document, that holds the reference. None for what is
    /// not in the document.
    pub(super) fn resolve(&self, holder: &Value, reference: &str) -> Option<&'a Value> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if address.is_empty() {
            self.owners.get(&place(holder)).copied().unwrap_or(self.root)
        } else if self.id.is_some_and(|id| names(address, id)) {
            self.root
        } else {
            self.resources.iter().find(|(id, _)| names(address, id)).map(|(_, schema)| *schema)?
        };
        let fragment = percent_decoded(fragment)?;
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            resource.pointer(&fragment)
        } else {
            self.anchors.get(fragment.as_str()).copied()
        };
        target.filter(|target| walk::is_schema(target))
    }
}

/// Where a value is kept: tells the schemas of one document apart, however equal they look.
pub(super) fn place(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}

/// The reference of a schema, of any kind.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|keyword| schema.get(keyword)?.as_str())
}

/// A relative address names the same document when it is the last part of its address.
fn names(address: &str, id: &str) -> bool {
    let id = id.trim_end_matches('#');
    address == id || id.strip_suffix(address).is_some_and(|rest| rest.ends_with('/'))
}

fn percent_decoded(fragment: &str) -> Option<String> {
    if !fragment.contains('%') {
        return Some(fragment.to_owned());
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(digit(rest.next()?)? * 16 + digit(rest.next()?)?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_found_by_pointer_anchor_and_address() {
        let schema = json!({"$id": "https://bot.example/tools/a.json",
            "properties": {"a/b": {"const": 1}, "ü": {"const": 2}}, "$defs": {"A": {"$anchor": "here", "const": 3},
            "R": {"$id": "https://bot.example/r.json", "$defs": {"x": {"const": 4}}}}});
        let refs = Refs::of(&schema);
        let cases = [
            ("#/properties/a~1b", Some(1)),
            ("#/properties/a%7E1b", Some(1)),
            ("#/properties/%C3%BC", Some(2)),
            ("#here", Some(3)),
            ("https://bot.example/tools/a.json#/$defs/A", Some(3)),
            ("a.json#here", Some(3)),
            ("https://bot.example/r.json#/$defs/x", Some(4)),
            ("#/$defs/missing", None),
            ("#/properties/%C3", None),
            ("#/properties/%", None),
            ("https://elsewhere.example/a.json", None),
            ("#/$id", None),
        ];
        for (reference, expected) in cases {
            let found = refs.resolve(&schema, reference).map(|schema| schema["const"].as_i64());
            assert_eq!(found, expected.map(|number: i64| Some(number)), "{reference}");
        }
        assert_eq!(refs.resolve(&schema, "#"), Some(&schema));
        let resource = &schema["$defs"]["R"]["$defs"]["x"];
        assert_eq!(refs.resolve(resource, "#/$defs/x"), Some(resource), "a resource is its own document");
    }
}
