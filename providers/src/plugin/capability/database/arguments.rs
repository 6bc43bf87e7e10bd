//! The arguments of `database.*`, read and bounded.

use serde::Deserialize;
use serde_json::Value;
use toolyard::JsonText;

use super::super::ask::{Ask, Refusal};

/// Most fields of one row, filters of one request, and fields to sort by.
const MAX_FIELDS: usize = 256;
const MAX_FILTERS: usize = 64;
const MAX_SORTED: usize = 8;
/// Longest name of a model or a field.
const MAX_NAME: usize = 128;
/// The largest row, in bytes of JSON.
const MAX_ROW_BYTES: usize = 1 << 20;

/// What is to be done.
#[derive(Debug)]
pub(super) enum Command {
    Get { rows: Rows, order: Vec<Sorted>, limit: Option<u32>, single: bool },
    Insert { model: String, data: Fields },
    Save { model: String, data: Fields, key: Field },
    Update { rows: Rows, data: Fields },
    Delete { rows: Rows },
    Count { rows: Rows },
}

/// Rows of one model.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) model: String,
    /// All must hold.
    pub(super) filters: Vec<Field>,
}

/// A field's name, and its value as JSON.
pub(super) type Field = (String, JsonText);
/// The fields of a row.
pub(super) type Fields = Vec<Field>;

/// A field by which rows are sorted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sorted {
    pub(super) field: String,
    pub(super) descending: bool,
}

#[derive(Debug, Deserialize)]
struct Arguments {
    model_name: String,
    #[serde(default)]
    query_type: Option<String>,
    #[serde(default)]
    data: Option<JsonText>,
    #[serde(default)]
    filters: Option<JsonText>,
    #[serde(default)]
    order_by: Option<OrderBy>,
    #[serde(default)]
    limit: Option<i64>,
    #[serde(default)]
    single_result: Option<bool>,
    #[serde(default)]
    key_field: Option<String>,
    #[serde(default)]
    key_value: Option<JsonText>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OrderBy {
    One(String),
    Many(Vec<String>),
}

// === impl Command ===

impl Command {
    pub(super) fn read(ask: &Ask) -> Result<Self, Refusal> {
        let arguments: Arguments = ask.read()?;
        check_name("model_name", &arguments.model_name)?;
        match ask.name.as_str() {
            "database.query" => match arguments.query_type.as_deref().unwrap_or("get") {
                "get" => arguments.get(),
                "create" | "insert" | "save" => arguments.insert(),
                "update" => arguments.update(),
                "delete" => arguments.delete(),
                "count" => arguments.count(),
                other => Err(Refusal::bad_payload(format!(
                    "`query_type` is get, create, update, delete or count, not `{other}`"
                ))),
            },
            "database.get" => arguments.get(),
            "database.save" => arguments.save(),
            "database.delete" => arguments.delete(),
            _ => arguments.count(),
        }
    }
}

// === impl Arguments ===

impl Arguments {
    fn get(self) -> Result<Command, Refusal> {
        let order = match &self.order_by {
            None => Vec::new(),
            Some(OrderBy::One(field)) => vec![field.as_str()],
            Some(OrderBy::Many(fields)) => fields.iter().map(String::as_str).collect(),
        };
        let order: Vec<Sorted> = order.into_iter().filter(|field| !field.is_empty()).map(sorted).collect();
        if order.len() > MAX_SORTED {
            return Err(Refusal::bad_payload(format!("rows are sorted by {MAX_SORTED} fields at most")));
        }
        order.iter().try_for_each(|sorted| check_name("order_by", &sorted.field))?;
        let limit = match self.limit {
            None | Some(0) => None,
            Some(limit) => Some(u32::try_from(limit).map_err(|_| Refusal::bad_payload("`limit` is not negative"))?),
        };
        let single = self.single_result.unwrap_or(false);
        Ok(Command::Get { rows: self.rows(false)?, order, limit, single })
    }

    fn insert(self) -> Result<Command, Refusal> {
        let data = self.data()?;
        Ok(Command::Insert { model: self.model_name, data })
    }

    fn save(self) -> Result<Command, Refusal> {
        let data = self.data()?;
        let field = self.key_field.unwrap_or_else(|| "id".to_owned());
        check_name("key_field", &field)?;
        match self.key_value.filter(|value| value.as_str() != "null") {
            Some(value) if is_scalar(&value) => Ok(Command::Save { model: self.model_name, data, key: (field, value) }),
            Some(_) => Err(Refusal::bad_payload("`key_value` is text, a number or a boolean")),
            None => Ok(Command::Insert { model: self.model_name, data }),
        }
    }

    fn update(self) -> Result<Command, Refusal> {
        let data = self.data()?;
        Ok(Command::Update { rows: self.rows(true)?, data })
    }

    fn delete(self) -> Result<Command, Refusal> {
        Ok(Command::Delete { rows: self.rows(true)? })
    }

    fn count(self) -> Result<Command, Refusal> {
        Ok(Command::Count { rows: self.rows(false)? })
    }

    fn data(&self) -> Result<Fields, Refusal> {
        let fields = self.data.as_ref().and_then(JsonText::members);
        let fields = fields.ok_or_else(|| Refusal::bad_payload("`data` is an object of fields"))?;
        let bytes: usize = fields.iter().map(|(name, value)| name.len() + value.as_str().len()).sum();
        if fields.len() > MAX_FIELDS || bytes > MAX_ROW_BYTES {
            let message = format!("a row has {MAX_FIELDS} fields and {MAX_ROW_BYTES} bytes at most");
            return Err(Refusal::bad_payload(message));
        }
        fields.iter().try_for_each(|(name, _)| check_name("data", name))?;
        Ok(fields)
    }

    /// `explicit`: rows are changed, so that all of them have to be asked for with `{}`.
    fn rows(self, explicit: bool) -> Result<Rows, Refusal> {
        let filters = match self.filters.filter(|filters| filters.as_str() != "null") {
            None if explicit => return Err(Refusal::bad_payload("`filters` is missing; `{}` means all rows")),
            None => Vec::new(),
            Some(filters) => {
                filters.members().ok_or_else(|| Refusal::bad_payload("`filters` is an object of fields and values"))?
            }
        };
        if filters.len() > MAX_FILTERS {
            return Err(Refusal::bad_payload(format!("there are {MAX_FILTERS} filters at most")));
        }
        for (field, value) in &filters {
            check_name("filters", field)?;
            if value.as_str().starts_with('{') {
                let message = format!("the filter of `{field}` is a value, or a list of which one must be met");
                return Err(Refusal::bad_payload(message));
            }
        }
        Ok(Rows { model: self.model_name, filters })
    }
}

/// `-field` and `field desc` sort downwards.
fn sorted(text: &str) -> Sorted {
    let text = text.trim();
    if let Some(field) = text.strip_prefix('-') {
        return Sorted { field: field.to_owned(), descending: true };
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    match text.rsplit_once(' ') {
        Some((field, word)) if word.eq_ignore_ascii_case("desc") => {
            Sorted { field: field.trim().to_owned(), descending: true }
        }
        Some((field, word)) if word.eq_ignore_ascii_case("asc") => {
            Sorted { field: field.trim().to_owned(), descending: false }
        }
        _ => Sorted { field: text.to_owned(), descending: false },
    }
}

fn is_scalar(value: &JsonText) -> bool {
    value.to::<Value>().is_ok_and(|value| !value.is_object() && !value.is_array())
}

/// Names become parts of JSON paths, in which these characters have a meaning.
fn check_name(what: &str, name: &str) -> Result<(), Refusal> {
    let is_bad = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
    if name.is_empty() || name.len() > MAX_NAME || name.contains(is_bad) {
        let message = format!("a name in `{what}` has 1 to {MAX_NAME} bytes, without quotes, backslashes and controls");
        return Err(Refusal::bad_payload(message));
    }
    Ok(())
}
