//! Constraints in words, for models whose form of schemas cannot say them.

use serde_json::{Map, Value, json};

/// Characters of one value inside a sentence.
const MAX_VALUE: usize = 200;

/// Characters of a list of allowed values.
const MAX_LIST: usize = 800;

/// Characters that sentences may add to one description.
const MAX_ADDED: usize = 1200;

/// The constraint in words. None where words would not help the model.
pub(super) fn sentence(keyword: &str, value: &Value) -> Option<String> {
    let shown = || short(value);
    let limit = || value.as_number().map(ToString::to_string);
    Some(match keyword {
        "const" => format!("Always {}.", shown()),
        "enum" => format!("One of: {}.", list(value)?),
        "examples" => format!("Examples: {}.", list(value)?),
        "default" if !value.is_null() => format!("Default: {}.", shown()),
        "minimum" => format!("At least {}.", limit()?),
        "maximum" => format!("At most {}.", limit()?),
        "exclusiveMinimum" => format!("Greater than {}.", limit()?),
        "exclusiveMaximum" => format!("Less than {}.", limit()?),
        "multipleOf" => format!("A multiple of {}.", limit()?),
        "minLength" => format!("At least {} characters.", limit()?),
        "maxLength" => format!("At most {} characters.", limit()?),
        "minItems" => format!("At least {} items.", limit()?),
        "maxItems" => format!("At most {} items.", limit()?),
        "minProperties" => format!("At least {} properties.", limit()?),
        "maxProperties" => format!("At most {} properties.", limit()?),
        "pattern" => format!("Matches the pattern {}.", cut(value.as_str()?, MAX_VALUE)),
        "format" => format!("Format: {}.", cut(value.as_str()?, MAX_VALUE)),
        "uniqueItems" if value.as_bool()? => "No two items are equal.".to_owned(),
        "additionalProperties" if value.as_object().is_some_and(|schema| !schema.is_empty()) => {
            format!("Other properties: {}.", schema(value)?)
        }
        "patternProperties" => format!("Properties by pattern: {}.", schema(value)?),
        "propertyNames" => format!("Property names: {}.", schema(value)?),
        "dependentRequired" => format!("Properties that need others: {}.", shown()),
        "dependentSchemas" => format!("What holds when a property is given: {}.", schema(value)?),
        "contains" => format!("Contains an item like {}.", schema(value)?),
        "prefixItems" => format!("The items in order: {}.", schema(value)?),
        "not" => format!("Not {}.", schema(value)?),
        _ => return None,
    })
}

/// `if`, `then` and `else` in words.
pub(super) fn condition(keywords: &Map<String, Value>) -> Option<String> {
    let condition = schema(keywords.get("if")?)?;
    let then = keywords.get("then").and_then(schema).map(|then| format!(" then {then}")).unwrap_or_default();
    let or = keywords.get("else").and_then(schema).map(|or| format!(" else {or}")).unwrap_or_default();
    Some(format!("Condition: if {condition}{then}{or}."))
}

/// Adds sentences to the schema's description, each once, up to a bound.
pub(super) fn add(keywords: &mut Map<String, Value>, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    let mut text = keywords.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let most = text.len() + MAX_ADDED;
    for sentence in sentences {
        if !text.contains(sentence.as_str()) && text.len() + sentence.len() < most {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(sentence);
        }
    }
    if !text.is_empty() {
        keywords.insert("description".to_owned(), json!(text));
    }
}

/// What properties a form of an object takes: the required ones, then the others.
pub(super) fn form(view: &Map<String, Value>) -> String {
    let required: Vec<&str> = super::walk::required(view).collect();
    let properties = view.get("properties").and_then(Value::as_object);
    let fixed = |name: &str| properties.and_then(|all| all.get(name)?.get("const"));
    let said = |name: &str| match fixed(name) {
        Some(value) => format!("{name} = {}", short(value)),
        None => name.to_owned(),
    };
    let mut names: Vec<String> = required.iter().map(|name| said(name)).collect();
    let optional = properties.into_iter().flat_map(Map::keys).filter(|name| !required.contains(&name.as_str()));
    names.extend(optional.map(|name| format!("{} (optional)", said(name))));
    cut(&names.join(", "), MAX_VALUE)
}

/// A value as short JSON.
pub(super) fn short(value: &Value) -> String {
    cut(&value.to_string(), MAX_VALUE)
}

/// A schema as short JSON; none when it is too long to be of use, or points elsewhere.
fn schema(value: &Value) -> Option<String> {
    let text = value.to_string();
    (text.len() <= MAX_VALUE && !text.contains("\"$ref\"")).then_some(text)
}

fn list(values: &Value) -> Option<String> {
    let values = values.as_array().filter(|values| !values.is_empty())?;
    let mut text = String::new();
    for value in values {
        let shown = short(value);
        if text.len() + shown.len() > MAX_LIST {
            text.push_str(", …");
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(&shown);
    }
    Some(text)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
