//! Bodies that are JSON objects.

use serde::Deserialize;

use super::problem::Problem;

/// Reads a body that must be an object. A list would be taken for one as well, member by member in their order.
pub(super) fn read_object<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, Problem> {
    let invalid = |detail: String| Problem::bad_request("request.invalid", detail);
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {
            serde_json::from_slice(body).map_err(|error| invalid(format!("the body cannot be read: {error}")))
        }
        Some(_) => Err(invalid("the body must be a JSON object".to_owned())),
        None => Err(invalid("the body is empty; it must be a JSON object".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Pair {
        #[serde(default)]
        a: String,
    }

    #[test]
    fn only_objects_are_read() {
        assert_eq!(read_object::<Pair>(b" {\"a\": \"b\"}").unwrap().a, "b");
        for body in ["[\"b\"]", "[]", "", "  ", "null", "\"b\"", "{"] {
            assert!(read_object::<Pair>(body.as_bytes()).is_err(), "{body}");
        }
    }
}
