//! Titles that a generator wrote: they repeat the property's name and cost tokens.

use serde_json::Value;

use super::walk;

/// Removes the annotation `title` from the schema and every schema inside it. A property that is called `title` stays,
/// and so does everything inside `default`, `const`, `enum` and `examples`.
pub fn strip_titles(schema: &mut Value) {
    walk::each_mut(schema, &mut |schema, _| {
        if let Value::Object(keywords) = schema {
            keywords.shift_remove("title");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn titles_go_and_a_property_called_title_stays() {
        let mut schema = json!({"title": "Args", "type": "object", "default": {"title": "kept"},
            "properties": {"title": {"title": "Title", "type": "string"}},
            "$defs": {"title": {"title": "T", "anyOf": [{"title": "A"}]}},
            "additionalProperties": {"title": "Extra"}, "required": ["title"]});
        strip_titles(&mut schema);
        let expected = json!({"type": "object", "default": {"title": "kept"},
            "properties": {"title": {"type": "string"}}, "$defs": {"title": {"anyOf": [{}]}},
            "additionalProperties": {}, "required": ["title"]});
        assert_eq!(schema.to_string(), expected.to_string());
    }
}
