//! Body: how arguments become the body of a request.

use std::fmt::Write as _;

use toolyard::JsonText;

use super::template::{FillError, Filling, Template, Values, plain};

/// The name that stands for all arguments together.
pub(super) const ALL: &str = "*";

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    None,
    Json(JsonTemplate),
    Form(Vec<(String, Template)>),
    Text(Template),
}

/// JSON with places in its strings. A string that is one place takes the argument with its JSON type and digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonTemplate {
    Literal(JsonText),
    Argument(String),
    Text(Template),
    List(Vec<JsonTemplate>),
    Table(Vec<(String, JsonTemplate)>),
}

// === impl Body ===

impl Body {
    /// The bytes; nothing where there is no body.
    pub(super) fn fill(&self, values: &Values<'_>) -> Result<Option<Vec<u8>>, FillError> {
        Ok(match self {
            Self::None => None,
            Self::Json(template) => template.fill(values)?.map(String::into_bytes),
            Self::Text(template) => template.fill(values, Filling::TEXT)?.map(String::into_bytes),
            Self::Form(fields) => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                for (name, value) in pairs(fields, values)? {
                    form.append_pair(name, &value);
                }
                Some(form.finish().into_bytes())
            }
        })
    }

    /// The content type that goes with it unless a header says otherwise.
    pub(super) fn content_type(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Json(_) => Some("application/json"),
            Self::Form(_) => Some("application/x-www-form-urlencoded"),
            Self::Text(_) => Some("text/plain; charset=utf-8"),
        }
    }

    /// Every template in it.
    pub(super) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::None => Vec::new(),
            Self::Json(template) => template.templates(),
            Self::Form(fields) => fields.iter().map(|(_, template)| template).collect(),
            Self::Text(template) => vec![template],
        }
    }
}

// === impl JsonTemplate ===

impl JsonTemplate {
    /// The JSON text; nothing where its argument is absent.
    fn fill(&self, values: &Values<'_>) -> Result<Option<String>, FillError> {
        Ok(match self {
            Self::Literal(json) => Some(json.as_str().to_owned()),
            Self::Argument(name) if name == ALL => Some(values.whole.to_owned()),
            Self::Argument(name) => values.get(name).map(str::to_owned),
            Self::Text(template) => {
                template.fill(values, Filling::PLAIN)?.map(|text| JsonText::string(&text).as_str().to_owned())
            }
            Self::List(items) => {
                let items: Vec<Option<String>> =
                    items.iter().map(|item| item.fill(values)).collect::<Result<_, _>>()?;
                Some(format!("[{}]", items.into_iter().flatten().collect::<Vec<_>>().join(",")))
            }
            Self::Table(members) => {
                let mut text = String::from("{");
                for (key, member) in members {
                    let Some(value) = member.fill(values)? else { continue };
                    let comma = if text.len() > 1 { "," } else { "" };
                    // Writing to a String cannot fail.
                    write!(text, "{comma}{}:{value}", JsonText::string(key)).ok();
                }
                text.push('}');
                Some(text)
            }
        })
    }

    fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Literal(_) | Self::Argument(_) => Vec::new(),
            Self::Text(template) => vec![template],
            Self::List(items) => items.iter().flat_map(Self::templates).collect(),
            Self::Table(members) => members.iter().flat_map(|(_, member)| member.templates()).collect(),
        }
    }
}

/// Parameters or fields: those whose arguments are absent are left out, and a list gives one for each of its items.
pub(super) fn pairs<'p>(
    parameters: &'p [(String, Template)],
    values: &Values<'_>,
) -> Result<Vec<(&'p str, String)>, FillError> {
    let mut pairs = Vec::new();
    for (name, template) in parameters {
        let list = template.only_argument().and_then(|argument| Some((argument, list_items(values.get(argument)?)?)));
        match list {
            Some((argument, items)) => {
                for item in items {
                    let spelt =
                        plain(&item, false).map_err(|reason| FillError { name: argument.to_owned(), reason })?;
                    pairs.extend(spelt.map(|spelt| (name.as_str(), spelt)));
                }
            }
            None => pairs.extend(template.fill(values, Filling::PLAIN)?.map(|value| (name.as_str(), value))),
        }
    }
    Ok(pairs)
}

fn list_items(raw: &str) -> Option<Vec<String>> {
    if !raw.starts_with('[') {
        return None;
    }
    let items: Vec<&serde_json::value::RawValue> = serde_json::from_str(raw).ok()?;
    Some(items.into_iter().map(|item| item.get().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::secret::Secrets;
    use indexmap::IndexMap;

    const ARGUMENTS: &str = r#"{"id":123456789012345678901234567890,"on":true,"tags":["a b","ü"],"name":"\"x\""}"#;

    fn filled(body: &Body) -> String {
        let (defaults, secrets) = (IndexMap::new(), Secrets::default());
        let values = Values::new(ARGUMENTS, &defaults, &secrets).unwrap();
        String::from_utf8(body.fill(&values).unwrap().unwrap()).unwrap()
    }

    fn text(text: &str) -> Template {
        Template::parse(text).unwrap()
    }

    #[test]
    fn json_keeps_types_and_digits_and_leaves_out_what_is_absent() {
        let argument = |name: &str| JsonTemplate::Argument(name.to_owned());
        let body = Body::Json(JsonTemplate::Table(vec![
            ("id".to_owned(), argument("id")),
            ("gone".to_owned(), argument("none")),
            ("list".to_owned(), JsonTemplate::List(vec![argument("on"), argument("none"), argument("tags")])),
            ("said".to_owned(), JsonTemplate::Text(text("{name} says {id}"))),
            ("kind".to_owned(), JsonTemplate::Literal(JsonText::parse("1.50").unwrap())),
        ]));
        let expected = r#"{"id":123456789012345678901234567890,"list":[true,["a b","ü"]],"said":"\"x\" says 123456789012345678901234567890","kind":1.50}"#;
        assert_eq!(filled(&body), expected);
        assert_eq!(filled(&Body::Json(argument(ALL))), ARGUMENTS);
    }

    #[test]
    fn forms_and_text_are_filled() {
        let fields = vec![
            ("t".to_owned(), text("{tags}")),
            ("n".to_owned(), text("{none}")),
            ("i".to_owned(), text("no. {id}")),
        ];
        assert_eq!(filled(&Body::Form(fields)), "t=a+b&t=%C3%BC&i=no.+123456789012345678901234567890");
        assert_eq!(filled(&Body::Text(text("{name}{none}: {tags}"))), r#""x": ["a b","ü"]"#);
    }
}
