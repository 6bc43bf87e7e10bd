//! Node: a document as a tree with places, in whichever notation it is written.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::DocumentFormat;
use super::finding::DocumentError;

/// Levels of a JSON document; the TOML parser has a limit of its own.
const MAX_DEPTH: usize = 64;

/// Line and column, from 1.
pub(super) type Place = Option<(usize, usize)>;

/// One value of a document.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: NodeValue,
}

#[derive(Debug)]
pub(super) enum NodeValue {
    Null,
    Bool(bool),
    /// As JSON writes it.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// In the order of the document.
    Table(Vec<Member>),
}

/// One key of a table with its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key stands.
    pub(super) place: Place,
    pub(super) node: Node,
}

/// Reads a whole document.
pub(super) fn parse(text: &str, format: DocumentFormat) -> Result<Node, DocumentError> {
    match format {
        DocumentFormat::Toml => {
            let table = DeTable::parse(text).map_err(|error| DocumentError {
                place: error.span().map(|span| place(text, &span)),
                ..DocumentError::new(error.message())
            })?;
            let (span, table) = (table.span(), table.into_inner());
            Ok(Node { place: Some(place(text, &span)), value: toml_table(text, table)? })
        }
        DocumentFormat::Json => {
            let raw: &RawValue = serde_json::from_str(text).map_err(|error| DocumentError {
                place: Some((error.line(), error.column())),
                ..DocumentError::new(&format!("it is not JSON: {error}"))
            })?;
            json_node(raw, MAX_DEPTH).map_err(|reason| DocumentError::new(&reason))
        }
    }
}

fn toml_node(text: &str, value: Spanned<DeValue<'_>>) -> Result<Node, DocumentError> {
    let at = Some(place(text, &value.span()));
    let wrong = |message: String| DocumentError { place: at, ..DocumentError::new(&message) };
    let value = match value.into_inner() {
        DeValue::String(text) => NodeValue::Text(text.into_owned()),
        DeValue::Integer(number) => {
            let digits = number.as_str().trim_start_matches('+');
            let whole = i64::from_str_radix(digits, number.radix());
            NodeValue::Number(whole.map_err(|_| wrong(format!("{digits} is beyond 64 bits")))?.to_string())
        }
        DeValue::Float(number) => {
            let finite = number.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
            let number = finite.ok_or_else(|| wrong(format!("{} has no JSON form", number.as_str())))?;
            NodeValue::Number(number.to_string())
        }
        DeValue::Boolean(value) => NodeValue::Bool(value),
        DeValue::Datetime(time) => NodeValue::Text(time.to_string()),
        DeValue::Array(items) => {
            NodeValue::List(items.into_iter().map(|item| toml_node(text, item)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => toml_table(text, table)?,
    };
    Ok(Node { place: at, value })
}

/// The parser sorts the keys; the document's order is that of their places.
fn toml_table(text: &str, table: DeTable<'_>) -> Result<NodeValue, DocumentError> {
    let mut members = Vec::new();
    for (key, value) in table {
        let at = Some(place(text, &key.span()));
        members.push(Member { key: key.into_inner().into_owned(), place: at, node: toml_node(text, value)? });
    }
    members.sort_by_key(|member| member.place);
    Ok(NodeValue::Table(members))
}

fn place(text: &str, span: &Range<usize>) -> (usize, usize) {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

fn json_node(raw: &RawValue, depth_left: usize) -> Result<Node, String> {
    let deeper = || depth_left.checked_sub(1).ok_or_else(|| format!("it is nested more than {MAX_DEPTH} levels deep"));
    let text = raw.get();
    let unreadable = |error: serde_json::Error| format!("it cannot be read: {error}");
    let value = match text.as_bytes().first() {
        Some(b'{') => NodeValue::Table(json_table(text, deeper()?)?),
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(unreadable)?;
            let depth_left = deeper()?;
            NodeValue::List(items.into_iter().map(|item| json_node(item, depth_left)).collect::<Result<_, _>>()?)
        }
        Some(b'"') => NodeValue::Text(serde_json::from_str(text).map_err(unreadable)?),
        Some(b't' | b'f') => NodeValue::Bool(text == "true"),
        Some(b'n') => NodeValue::Null,
        _ => NodeValue::Number(text.to_owned()),
    };
    Ok(Node { place: None, value })
}

fn json_table(text: &str, depth_left: usize) -> Result<Vec<Member>, String> {
    let Members(raw) = serde_json::from_str(text).map_err(|error| format!("it cannot be read: {error}"))?;
    let mut members: Vec<Member> = Vec::new();
    for (key, value) in raw {
        if members.iter().any(|member| member.key == key) {
            return Err(format!("an object has the key `{key}` twice"));
        }
        members.push(Member { node: json_node(value, depth_left)?, key, place: None });
    }
    Ok(members)
}

/// The members of an object as they are written, double ones included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsWritten;
        impl<'de> Visitor<'de> for AsWritten {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(AsWritten)
    }
}

// === impl Node ===

impl Node {
    /// What kind of value it is, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Null => "null",
            NodeValue::Bool(_) => "a boolean",
            NodeValue::Number(_) => "a number",
            NodeValue::Text(_) => "text",
            NodeValue::List(_) => "a list",
            NodeValue::Table(_) => "a table",
        }
    }

    /// The same as a JSON value.
    pub(super) fn to_value(&self) -> Value {
        match &self.value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(value) => Value::Bool(*value),
            NodeValue::Number(number) => serde_json::from_str(number).unwrap_or(Value::Null),
            NodeValue::Text(text) => Value::String(text.clone()),
            NodeValue::List(items) => items.iter().map(Self::to_value).collect(),
            NodeValue::Table(members) => Value::Object(
                members.iter().map(|member| (member.key.clone(), member.node.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }
}
