//! What is said of a tool: to the model, in the catalogue, and to people.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::Locale;

/// How a generated description of parameters begins (seed 000).
pub(super) const PARAMETER_HEADING: &str = "参数说明";
/// The longest summary for people, in characters (seed 003).
const MAX_SUMMARY: usize = 80;

/// What the author of a plugin tool wrote (seed 000). Absent texts are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeclaredText<'a> {
    /// Name of the tool.
    pub name: &'a str,
    /// What the tool does, in a line.
    pub brief_description: &'a str,
    /// What the tool does, used where the brief description is empty.
    pub description: &'a str,
    /// What its parameters mean and when it may be called.
    pub detailed_description: &'a str,
}

/// The two texts of a tool that go to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolText {
    /// For the catalogue and for search.
    pub brief: String,
    /// For the definition that the model gets with the schema.
    pub full: String,
}

/// A text for people in the languages that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LocalText {
    /// Chinese.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zh: Option<String>,
    /// English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub en: Option<String>,
}

/// Why a text cannot be the summary of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// It has no text.
    #[error("the summary is empty")]
    Empty,
    /// It has more than one line.
    #[error("the summary must be one line")]
    Lines,
    /// It has too many characters.
    #[error("the summary has {characters} characters; at most {MAX_SUMMARY} are shown")]
    Long {
        /// How many it has.
        characters: usize,
    },
}

// === impl ToolText ===

impl ToolText {
    /// The texts of a plugin tool by the rules of seed 000.
    ///
    /// The brief text is `brief_description`, else `description`, else `工具 {name}`. Where the author wrote a detailed
    /// description, the full text holds it and the generated text of the parameters too, once: a detailed
    /// description that has such a text already gets no second one, and one that is nothing else adds nothing, because the model
    /// has the schema.
    pub fn declared(text: &DeclaredText<'_>, schema: &Value) -> Self {
        let brief = [text.brief_description, text.description].into_iter().map(str::trim).find(|text| !text.is_empty());
        let brief = brief.map_or_else(|| format!("工具 {}", text.name.trim()), str::to_owned);
        let detailed = text.detailed_description.trim();
        if detailed.is_empty() || detailed == brief {
            return Self { full: brief.clone(), brief };
        }
        let generated = if detailed.contains(PARAMETER_HEADING) { String::new() } else { parameter_text(schema) };
        let opening = if detailed.starts_with(&brief) { "" } else { brief.as_str() };
        let parts = [opening, &generated, detailed].into_iter().filter(|part| !part.is_empty());
        Self { full: parts.collect::<Vec<_>>().join("\n\n"), brief }
    }

    /// The texts of a tool with a summary of its own (seed 002): the whole description stands in where there is none.
    pub fn layered(summary: Option<&str>, description: &str) -> Self {
        let full = description.trim();
        let brief = summary.map(str::trim).filter(|summary| !summary.is_empty()).unwrap_or(full);
        Self { brief: brief.to_owned(), full: full.to_owned() }
    }
}

// === impl LocalText ===

impl LocalText {
    /// A text in both languages.
    pub fn new(zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self { zh: Some(zh.into()), en: Some(en.into()) }
    }

    /// The text in this language; another language never stands in for it.
    pub fn get(&self, locale: Locale) -> Option<&str> {
        let text = match locale {
            Locale::En => &self.en,
            Locale::Zh => &self.zh,
        };
        text.as_deref().map(str::trim).filter(|text| !text.is_empty())
    }

    /// Whether there is no text in any language.
    pub fn is_empty(&self) -> bool {
        self.get(Locale::En).is_none() && self.get(Locale::Zh).is_none()
    }
}

/// Checks a summary for people: one line of at most 80 characters (seed 003).
///
/// # Errors
/// It is empty, has several lines, or is too long.
pub fn check_summary(summary: &str) -> Result<(), SummaryError> {
    let characters = summary.trim().chars().count();
    if characters == 0 {
        return Err(SummaryError::Empty);
    }
    if summary.trim().contains(['\n', '\r']) {
        return Err(SummaryError::Lines);
    }
    if characters > MAX_SUMMARY { Err(SummaryError::Long { characters }) } else { Ok(()) }
}

/// A line for each parameter of a schema, in the words of seed 000; empty where there are no parameters.
pub fn parameter_text(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty()) else {
        return String::new();
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|given| given == name));
    let lines = properties.iter().map(|(name, property)| parameter_line(name, property, is_required(name)));
    format!("{PARAMETER_HEADING}：\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// `- limit：integer，可选。返回结果数量上限。默认值：5`
fn parameter_line(name: &str, property: &Value, is_required: bool) -> String {
    let need = if is_required { "必填" } else { "可选" };
    let mut sentences = vec![format!("- {name}：{}，{need}", type_words(property))];
    sentences.extend(property.get("description").and_then(Value::as_str).map(one_line));
    if let Some(values) = property.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
        sentences.push(format!("可选值：{}", values.iter().map(plain).collect::<Vec<_>>().join("、")));
    }
    sentences.extend(property.get("default").map(|default| format!("默认值：{}", plain(default))));
    let mut line = String::new();
    for sentence in sentences.iter().filter(|sentence| !sentence.is_empty()) {
        if !line.is_empty() && !line.ends_with(['。', '.', '！', '!', '？', '?', '；', ';']) {
            line.push('。');
        }
        line.push_str(sentence);
    }
    line
}

fn type_words(property: &Value) -> String {
    match property.get("type") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ => "any".to_owned(),
    }
}

/// A value as a person writes it: text without quotes, unless nothing would be seen.
fn plain(value: &Value) -> String {
    match value.as_str().map(str::trim) {
        Some(text) if !text.is_empty() => one_line(text),
        _ => value.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
