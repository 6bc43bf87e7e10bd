//! ToolSpec and the nouns inside it (seed 001, sections 3.2 to 3.4).

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::description::{LocalText, ToolText};
use super::exposure::{Effect, ToolFlags, ToolScope, Visibility};
use crate::call::Locale;
use crate::json::JsonText;

/// A tool as its provider declares it.
///
/// `provider_name` and `provider_type` are filled in by the registry from the provider that listed the tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Name within its provider, in whatever characters the provider uses.
    pub name: Arc<str>,
    /// Description for the model.
    pub description: String,
    /// Shorter description for the catalogue and for search; the description stands in where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief_description: Option<String>,
    /// Title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Title for people, by language; goes before `title`.
    #[serde(skip_serializing_if = "LocalText::is_empty")]
    pub titles: LocalText,
    /// What the tool does in one line, for people, by language.
    #[serde(skip_serializing_if = "LocalText::is_empty")]
    pub summaries: LocalText,
    /// JSON Schema of the arguments, kept as the provider wrote it.
    pub parameters_schema: Value,
    /// JSON Schema of the structured result, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Name of the provider that listed the tool.
    pub provider_name: Arc<str>,
    /// Kind of that provider, such as `mcp` or `builtin`.
    pub provider_type: Arc<str>,
    /// A tool that is not enabled is neither listed nor callable.
    pub enabled: bool,
    /// Why the tool is withheld until somebody approves it: it is not listed, and calls of it are denied. For
    /// declarations that changed after they were first seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
    /// The declaration as the tool's own protocol gave it, for whoever hands it on whole.
    #[serde(skip)]
    pub native: Option<JsonText>,
    /// When a model sees the tool; its provider's default where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// What the tool does to the world (seed 003, "Effects"); undeclared where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// What else decides how the tool may be used.
    #[serde(flatten)]
    pub flags: ToolFlags,
    /// Where the tool can be used.
    #[serde(skip_serializing_if = "ToolScope::is_everywhere")]
    pub scope: ToolScope,
    /// Icons for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<ToolIcon>,
    /// Facts about the tool that the model does not need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<ToolAnnotation>,
    /// Whatever else the provider says of the tool.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// How calls are run; the provider's default where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionClass>,
    /// The tool's own deadline for one call; the provider's default where absent.
    #[serde(rename = "timeout_ms", skip_serializing_if = "Option::is_none", serialize_with = "as_millis")]
    pub timeout: Option<Duration>,
    /// How many calls of this tool may run at once, first come first served; no limit of its own where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<NonZeroUsize>,
    /// Characters of one result that the model may see; the engine's limit where absent, none of its own where 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_result_chars: Option<usize>,
}

/// How the calls of a tool are run, and so whom a slow one can harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionClass {
    /// The call only waits for an answer from elsewhere: polled in the batch's own task. A call that burns CPU delays
    /// its siblings of the same batch, and nobody else.
    Io,
    /// The call gets a task of its own: it delays no sibling.
    Task,
    /// The call runs on the pool for blocking work: it may block its thread.
    Blocking,
    /// The call is declared cheap and runs in place. Like [`ExecutionClass::Io`], but also for handlers that compute.
    Inline,
}

/// An icon of a tool (seed 001, section 3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolIcon {
    /// Address of the picture.
    pub src: String,
    /// Its MIME type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Sizes such as `48x48`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
}

/// Facts about a tool for filtering and display (seed 001, section 3.3), with the hints of MCP.
///
/// The hints are the provider's word: they decide nothing unless the provider is trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolAnnotation {
    /// Whom the tool is for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
    /// Higher comes first where something has to be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// Title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice is the same as once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool reaches the world outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
    /// Whatever else is said.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

// === impl ToolSpec ===

impl ToolSpec {
    /// A tool that takes any object and runs as its provider's default says.
    pub fn new(name: impl Into<Arc<str>>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            brief_description: None,
            title: None,
            titles: LocalText::default(),
            summaries: LocalText::default(),
            parameters_schema: json!({"type": "object", "properties": {}}),
            output_schema: None,
            provider_name: "".into(),
            provider_type: "".into(),
            enabled: true,
            withheld: None,
            native: None,
            visibility: None,
            effect: None,
            flags: ToolFlags::default(),
            scope: ToolScope::default(),
            icons: Vec::new(),
            annotation: None,
            metadata: Map::new(),
            execution: None,
            timeout: None,
            max_in_flight: None,
            max_result_chars: None,
        }
    }

    /// The same tool with this schema for its arguments.
    #[must_use]
    pub fn with_parameters(mut self, schema: Value) -> Self {
        self.parameters_schema = schema;
        self
    }

    /// The same tool with these texts for the model.
    #[must_use]
    pub fn with_text(mut self, text: ToolText) -> Self {
        self.brief_description = (text.brief != text.full).then_some(text.brief);
        self.description = text.full;
        self
    }

    /// The same tool with titles for people.
    #[must_use]
    pub fn with_titles(mut self, titles: LocalText) -> Self {
        self.titles = titles;
        self
    }

    /// The same tool, run in this way.
    #[must_use]
    pub fn with_execution(mut self, class: ExecutionClass) -> Self {
        self.execution = Some(class);
        self
    }

    /// The same tool with this deadline of its own.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The same tool, whose results the model sees up to this many characters; 0 is no limit of its own.
    #[must_use]
    pub fn with_max_result_chars(mut self, limit: usize) -> Self {
        self.max_result_chars = Some(limit);
        self
    }

    /// The same tool with this schema for its structured results.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// The same tool, running at most `limit` calls at once.
    #[must_use]
    pub fn with_max_in_flight(mut self, limit: NonZeroUsize) -> Self {
        self.max_in_flight = Some(limit);
        self
    }

    /// The description for the catalogue and for search.
    pub fn brief(&self) -> &str {
        self.brief_description.as_deref().unwrap_or(&self.description)
    }

    /// The description for the model that calls the tool by `model_name`.
    ///
    /// Where the tool's own name is lost in the model name, as Chinese names are, it stands in front.
    pub fn description_as(&self, model_name: &str) -> Cow<'_, str> {
        let name = self.name.trim();
        if model_name.contains(name) || self.description.contains(name) {
            return Cow::Borrowed(&self.description);
        }
        let parts = [name, self.description.as_str()].into_iter().filter(|part| !part.is_empty());
        Cow::Owned(parts.collect::<Vec<_>>().join(": "))
    }

    /// The title for people who read this language: theirs, else the title without a language, else one in another
    /// language, else the name. Never the description, which is written for the model.
    pub fn title_for(&self, locale: Locale) -> &str {
        let other = match locale {
            Locale::En => Locale::Zh,
            Locale::Zh => Locale::En,
        };
        let annotated = self.annotation.as_ref().and_then(|annotation| annotation.title.as_deref());
        let titles = [self.titles.get(locale), self.title.as_deref(), annotated, self.titles.get(other)];
        let given = titles.into_iter().flatten().map(str::trim).find(|title| !title.is_empty());
        given.unwrap_or(&self.name)
    }
}

// serde's `serialize_with` fixes this signature.
#[expect(clippy::ref_option, reason = "serde fixes the signature")]
fn as_millis<S: serde::Serializer>(timeout: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match timeout {
        Some(timeout) => serializer.serialize_u128(timeout.as_millis()),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_the_readers_own_and_never_the_description() {
        let plain = ToolSpec::new("wallet.cardBalance", "Use when the user asks for the balance.");
        let mut single = plain.clone();
        single.title = Some("校园卡余额".to_owned());
        let both = single.clone().with_titles(LocalText::new("校园卡余额", "Card balance"));
        let chinese = plain.clone().with_titles(LocalText { zh: Some("校园卡余额".to_owned()), en: None });
        let mut annotated = plain.clone();
        annotated.annotation = Some(ToolAnnotation { title: Some("Balance".to_owned()), ..ToolAnnotation::default() });
        let cases = [
            (&plain, "wallet.cardBalance", "wallet.cardBalance"),
            (&single, "校园卡余额", "校园卡余额"),
            (&both, "Card balance", "校园卡余额"),
            (&chinese, "校园卡余额", "校园卡余额"),
            (&annotated, "Balance", "Balance"),
        ];
        for (spec, en, zh) in cases {
            assert_eq!((spec.title_for(Locale::En), spec.title_for(Locale::Zh)), (en, zh));
        }
    }

    #[test]
    fn a_name_that_a_model_name_cannot_show_stands_in_the_description() {
        let cases = [
            ("代码计算器", "执行代码", "tool_1a2b3c4", "代码计算器: 执行代码"),
            ("代码计算器", "", "tool_1a2b3c4", "代码计算器"),
            ("代码计算器", "代码计算器，执行代码", "tool_1a2b3c4", "代码计算器，执行代码"),
            ("search", "Searches.", "wiki__search", "Searches."),
        ];
        for (name, description, model_name, expected) in cases {
            assert_eq!(ToolSpec::new(name, description).description_as(model_name), expected, "{name}");
        }
    }

    #[test]
    fn texts_that_are_absent_are_not_written() {
        let written = serde_json::to_value(ToolSpec::new("a", "b")).unwrap();
        for key in ["brief_description", "title", "titles", "summaries"] {
            assert!(written.get(key).is_none(), "{key}");
        }
        let text = ToolText::layered(Some("查询内容"), "搜索或读取内容。");
        let spec = ToolSpec::new("a", "").with_text(text).with_titles(LocalText { zh: None, en: Some("A".to_owned()) });
        let written = serde_json::to_value(&spec).unwrap();
        assert_eq!(
            (&written["brief_description"], &written["description"]),
            (&json!("查询内容"), &json!("搜索或读取内容。"))
        );
        assert_eq!(written["titles"], json!({"en": "A"}));
        assert_eq!(spec.brief(), "查询内容");
    }
}
