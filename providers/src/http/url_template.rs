//! UrlTemplate: an address whose path has places for arguments. Its origin is fixed, so no argument can choose a host.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::template::{FillError, Filling, Template, Values};

/// Everything that could end a segment or be read as something else.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// For one segment of a path.
const PATH: Filling = Filling { nested: false, absent_is_empty: false, encode: encode_segment };

/// An address with places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UrlTemplate {
    /// Origin and query, as written.
    pub(super) base: Url,
    pub(super) segments: Vec<Template>,
}

// === impl UrlTemplate ===

impl UrlTemplate {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err("an address has no white space and no backslashes".to_owned());
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("an address begins with http:// or https://".to_owned());
        };
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        if [authority, query.unwrap_or_default(), scheme].iter().any(|part| part.contains(['{', '}'])) {
            return Err("only the path of an address can have places; write parameters under `query`".to_owned());
        }
        if rest.contains('#') {
            return Err("an address has no fragment here".to_owned());
        }
        let mut base =
            Url::parse(&format!("{scheme}://{authority}/")).map_err(|error| format!("it is no address: {error}"))?;
        base.set_query(query);
        let segments = path.split('/').skip(1).map(Template::parse).collect::<Result<Vec<_>, _>>()?;
        let dotted = path.split('/').any(is_dotted);
        if dotted { Err("a path has no `.` and no `..` here".to_owned()) } else { Ok(Self { base, segments }) }
    }

    /// The address for these arguments.
    pub(super) fn fill(&self, values: &Values<'_>) -> Result<Url, FillError> {
        let mut path = String::new();
        for segment in &self.segments {
            let name = segment.arguments().chain(segment.secrets()).next().unwrap_or_default();
            let refuse = |reason| FillError { name: name.to_owned(), reason };
            let filled = segment.fill(values, PATH)?.ok_or_else(|| refuse("is needed for the address"))?;
            if filled.is_empty() && !segment.is_literal() {
                return Err(refuse("must not be empty: it is a part of the address"));
            }
            if is_dotted(&filled) {
                return Err(refuse("must not be `.` or `..`: it is a part of the address"));
            }
            path.push('/');
            path.push_str(&filled);
        }
        let mut url = self.base.clone();
        url.set_path(&path);
        Ok(url)
    }
}

/// What the standard for URLs takes for a step in the path.
fn is_dotted(segment: &str) -> bool {
    matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}

fn encode_segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::secret::Secrets;
    use indexmap::IndexMap;

    fn filled(template: &str, arguments: &str) -> Result<String, FillError> {
        let (defaults, secrets) = (IndexMap::new(), Secrets::of([("key", "a/b c")]));
        let values = Values::new(arguments, &defaults, &secrets).unwrap();
        UrlTemplate::parse(template).unwrap().fill(&values).map(String::from)
    }

    #[test]
    fn arguments_stay_within_their_segment() {
        let address = |a: &str| filled("http://h:8080/x/{a}/y?k=1", &serde_json::json!({"a": a}).to_string());
        assert_eq!(address("学一").unwrap(), "http://h:8080/x/%E5%AD%A6%E4%B8%80/y?k=1");
        assert_eq!(address("../../etc?q#f%2e").unwrap(), "http://h:8080/x/..%2F..%2Fetc%3Fq%23f%252e/y?k=1");
        assert_eq!(address(r"a\b;c@d:e").unwrap(), "http://h:8080/x/a%5Cb%3Bc%40d%3Ae/y?k=1");
        for a in ["", ".", ".."] {
            assert_eq!(address(a).unwrap_err().name, "a", "{a:?}");
        }
        assert!(filled("http://h/%2e{a}", r#"{"a":"."}"#).is_err());
        assert!(filled("http://h/{a}", "{}").is_err() && filled("http://h/{a}", r#"{"a":null}"#).is_err());
        assert_eq!(
            filled("http://h/bot{secrets.key}/{n}.json", r#"{"n":1.50}"#).unwrap(),
            "http://h/bota%2Fb%20c/1.50.json"
        );
        assert_eq!(filled("http://h", "{}").unwrap(), "http://h/");
        assert_eq!(filled("http://h/a/", "{}").unwrap(), "http://h/a/");
    }

    #[test]
    fn no_argument_can_choose_the_host() {
        for template in [
            "http://{host}/x",
            "{scheme}://h/",
            "http://h:{port}/",
            "http://h/x?q={q}",
            "http://h/x#f",
            "/x",
            "h/x",
            "http://h/a/../b",
            "http://h/%2E%2e/b",
            "http://h/ x",
            "http://h/{a",
            "http://",
        ] {
            assert!(UrlTemplate::parse(template).is_err(), "{template}");
        }
    }
}
