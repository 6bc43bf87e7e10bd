//! Schemas that are small on paper and never end when they are used.
//!
//! A chain of definitions that each name the next one twice doubles with each link, and a schema that means itself
//! without going into a part of the value never ends. Both are refused before anything is compiled.

use std::collections::HashMap;

use serde_json::Value;

use super::refs::{Refs, place, reference};
use super::walk;

/// Schemas that may apply to one and the same value.
const MAX_COST: u64 = 100_000;

/// Links that a chain of references and compositions may have.
const MAX_CHAIN: usize = 256;

/// Keywords whose schemas apply to the value itself, not to a part of it.
const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

struct Costs<'a> {
    refs: Refs<'a>,
    /// None while a schema is being measured: who meets that has gone round in a circle.
    known: HashMap<usize, Option<u64>>,
}

/// Checks that no value is met by too many schemas at once.
///
/// # Errors
/// Says what is wrong, and where.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    if walk::is_too_deep(schema) {
        return Err("it is nested too deep".to_owned());
    }
    let mut costs = Costs { refs: Refs::of(schema), known: HashMap::new() };
    let mut places = Vec::new();
    walk::each(schema, &mut |schema, pointer| places.push((schema, pointer.to_owned())));
    for (schema, pointer) in places {
        let place = || if pointer.is_empty() { "its root".to_owned() } else { pointer.clone() };
        let cost = costs.of(schema, 0).map_err(|reason| format!("{reason} (at {})", place()))?;
        if cost > MAX_COST {
            return Err(format!("its references and alternatives multiply to more than {MAX_COST} (at {})", place()));
        }
    }
    Ok(())
}

// === impl Costs ===

impl<'a> Costs<'a> {
    fn of(&mut self, schema: &'a Value, chain: usize) -> Result<u64, &'static str> {
        match self.known.get(&place(schema)) {
            Some(Some(cost)) => return Ok(*cost),
            Some(None) => return Err("it refers to itself without going into a part of the value"),
            None if chain > MAX_CHAIN => return Err("its chain of references is too long"),
            None => {}
        }
        self.known.insert(place(schema), None);
        let mut cost: u64 = 1;
        for child in self.in_place(schema) {
            cost = cost.saturating_add(self.of(child, chain + 1)?);
        }
        self.known.insert(place(schema), Some(cost));
        Ok(cost)
    }

    fn in_place(&self, schema: &'a Value) -> Vec<&'a Value> {
        let mut found: Vec<&'a Value> =
            reference(schema).and_then(|to| self.refs.resolve(schema, to)).into_iter().collect();
        for keyword in IN_PLACE {
            match schema.get(keyword) {
                Some(Value::Array(list)) => found.extend(list),
                Some(Value::Object(map)) if keyword == "dependentSchemas" => found.extend(map.values()),
                Some(one) => found.push(one),
                None => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    /// Definitions `d0` to `dN`, each naming the next one twice.
    fn doubling(links: usize, keyword: &str) -> Value {
        let next = |link: usize| json!({"$ref": format!("#/$defs/d{}", link + 1)});
        let mut defs: Map<String, Value> =
            (0..links).map(|link| (format!("d{link}"), json!({keyword: [next(link), next(link)]}))).collect();
        defs.insert(format!("d{links}"), json!({"type": "string"}));
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs})
    }

    #[test]
    fn chains_that_double_are_refused_and_short_ones_are_not() {
        for keyword in ["anyOf", "oneOf", "allOf"] {
            check(&doubling(10, keyword)).unwrap();
            let reason = check(&doubling(40, keyword)).unwrap_err();
            assert!(reason.contains("multiply") && reason.contains("/properties/x"), "{reason}");
        }
    }

    #[test]
    fn a_schema_inside_that_has_its_own_address_is_no_hiding_place() {
        let mut hidden = doubling(40, "anyOf");
        hidden["$id"] = json!("https://bot.example/inner");
        assert!(check(&json!({"type": "object", "properties": {"y": hidden}})).is_err());
    }

    #[test]
    fn recursion_through_a_part_of_the_value_is_fine_and_in_place_it_is_not() {
        check(&json!({"properties": {"child": {"$ref": "#"}, "all": {"items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}}))
            .unwrap();
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"not": {"$ref": "#"}}]}),
            json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        ] {
            assert!(check(&schema).unwrap_err().contains("itself"), "{schema}");
        }
    }

    #[test]
    fn long_chains_and_deep_nesting_are_refused_without_following_them() {
        let defs: Map<String, Value> =
            (0..5000).map(|link| (format!("d{link}"), json!({"$ref": format!("#/$defs/d{}", link + 1)}))).collect();
        assert!(check(&json!({"$ref": "#/$defs/d0", "$defs": defs})).unwrap_err().contains("chain"));
        assert!(check(&(0..300).fold(json!({}), |inner, _| json!({"not": inner}))).unwrap_err().contains("deep"));
    }
}
