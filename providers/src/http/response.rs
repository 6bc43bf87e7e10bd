//! ResponsePlan: how an answer becomes a result. An answer is data: nothing in it can ask the engine for anything.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use serde_json::value::RawValue;
use toolyard::{ContentItem, ContentType, JsonText, Locale, ToolExecutionResult};

use super::pick::{Pick, Pointer};

/// Characters of a service's own error message.
const MAX_MESSAGE: usize = 500;

/// How a tool's answers become results.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponsePlan {
    /// 2xx where empty.
    pub(super) success: Vec<StatusRange>,
    pub(super) body: BodyKind,
    pub(super) pick: Option<Pick>,
    /// Members that every structured result gets, such as `source`.
    pub(super) add: Vec<(String, JsonText)>,
    /// Where the text for the model stands.
    pub(super) text: Option<Pointer>,
    /// Where the message of a failure stands.
    pub(super) error: Option<Pointer>,
    /// Messages for people, by status; the first that fits goes before the service's own.
    pub(super) errors: Vec<(StatusRange, String)>,
    /// Content types that become items; pictures and sound where empty.
    pub(super) media: Vec<String>,
    pub(super) max_bytes: Option<usize>,
}

/// Statuses from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusRange(pub(super) u16, pub(super) u16);

/// What the body of an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// What its content type says.
    #[default]
    Auto,
    Json,
    Text,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content_type: Option<String>,
    pub(super) body: Vec<u8>,
}

enum Content {
    Nothing,
    Json(JsonText),
    Text(String),
    Item(Box<ContentItem>),
}

// === impl ResponsePlan ===

impl ResponsePlan {
    pub(super) fn is_success(&self, status: StatusCode) -> bool {
        match self.success.as_slice() {
            [] => status.is_success(),
            ranges => ranges.iter().any(|range| range.holds(status)),
        }
    }

    /// Whether the status is named, rather than a redirect to be followed.
    pub(super) fn takes(&self, status: StatusCode) -> bool {
        self.success.iter().any(|range| range.holds(status))
    }

    pub(super) fn result(&self, answer: Answer, locale: Locale) -> ToolExecutionResult {
        let status = answer.status;
        let mut result = if self.is_success(status) {
            self.success_of(answer).unwrap_or_else(ToolExecutionResult::failure)
        } else {
            ToolExecutionResult::failure(self.failure_message(&answer, locale))
        };
        result.metadata.insert("http_status".to_owned(), status.as_u16().into());
        result
    }

    fn success_of(&self, answer: Answer) -> Result<ToolExecutionResult, String> {
        let mut result = ToolExecutionResult::success("");
        match self.content(answer)? {
            Content::Nothing => {}
            Content::Item(item) => result.content_items.push(*item),
            Content::Text(_) if self.pick.is_some() || self.text.is_some() => {
                return Err("the service's answer is not JSON".to_owned());
            }
            Content::Text(text) => result.content = text,
            Content::Json(json) => self.take_json(&mut result, json)?,
        }
        if !self.add.is_empty() {
            result.structured_content = Some(self.added_to(result.structured_content.take()));
        }
        Ok(result)
    }

    fn take_json(&self, result: &mut ToolExecutionResult, json: JsonText) -> Result<(), String> {
        if let Some(pointer) = &self.text {
            result.content = pointer.find(json.as_str()).map(shown).unwrap_or_default();
        }
        result.structured_content = match &self.pick {
            Some(pick) => {
                Some(pick.take(json.as_str()).ok_or("the service's answer has nothing of what it should have")?)
            }
            None if self.text.is_some() && !result.content.is_empty() => None,
            None if self.text.is_some() => {
                return Err("the service's answer has no text where it should have".to_owned());
            }
            None => Some(json),
        };
        Ok(())
    }

    /// What is no object stands under `result`.
    fn added_to(&self, structured: Option<JsonText>) -> JsonText {
        let mut members = match structured {
            None => Vec::new(),
            Some(json) => json.members().unwrap_or_else(|| vec![("result".to_owned(), json)]),
        };
        members.retain(|(key, _)| !self.add.iter().any(|(added, _)| added == key));
        members.extend(self.add.iter().cloned());
        JsonText::object(members.iter().map(|(key, value)| (key.as_str(), value.clone())))
    }

    fn content(&self, answer: Answer) -> Result<Content, String> {
        let Answer { content_type, body, .. } = answer;
        if body.is_empty() {
            return Ok(Content::Nothing);
        }
        let declared = content_type.as_deref().unwrap_or_default();
        let mime = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_json = self.body == BodyKind::Json || is_json(&mime);
        match self.body {
            BodyKind::Json => {}
            BodyKind::Text => return text_of(body, declared).map(Content::Text),
            BodyKind::Auto if is_json => {}
            BodyKind::Auto if self.takes_media(&mime) => return Ok(Content::Item(Box::new(item(&mime, &body)))),
            BodyKind::Auto => {
                if let Some(json) =
                    parsed(&body).filter(|_| mime.is_empty() || self.pick.is_some() || self.text.is_some())
                {
                    return Ok(Content::Json(json));
                }
                if !(mime.is_empty() || is_text(&mime)) {
                    return Err(format!("the service answers with {}, which the tool does not take", clean(&mime)));
                }
                return text_of(body, declared).map(Content::Text);
            }
        }
        parsed(&body).map(Content::Json).ok_or_else(|| "the service's answer is not JSON".to_owned())
    }

    fn takes_media(&self, mime: &str) -> bool {
        let fits = |wanted: &str| match wanted.strip_suffix('*') {
            Some(prefix) => mime.starts_with(prefix),
            None => mime == wanted,
        };
        match self.media.as_slice() {
            [] => fits("image/*") || fits("audio/*"),
            media => media.iter().any(|wanted| fits(wanted)),
        }
    }

    fn failure_message(&self, answer: &Answer, locale: Locale) -> String {
        if let Some((_, message)) = self.errors.iter().find(|(range, _)| range.holds(answer.status)) {
            return message.clone();
        }
        let own = || {
            let json = parsed(&answer.body)?;
            let message = clean(&shown(self.error.as_ref()?.find(json.as_str())?));
            (!message.is_empty()).then_some(message)
        };
        own().unwrap_or_else(|| match locale {
            Locale::En => format!("the service answered {}", answer.status),
            Locale::Zh => format!("服务返回错误状态：{}", answer.status),
        })
    }
}

// === impl StatusRange ===

impl StatusRange {
    pub(super) fn holds(self, status: StatusCode) -> bool {
        (self.0..=self.1).contains(&status.as_u16())
    }

    /// Reads `404` or `4xx`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(hundreds) = text.strip_suffix("xx") {
            let first = hundreds.parse::<u16>().ok().filter(|hundreds| (1..=5).contains(hundreds))? * 100;
            return Some(Self(first, first + 99));
        }
        let status = text.parse().ok().filter(|status| (100..600).contains(status))?;
        Some(Self(status, status))
    }
}

fn is_json(mime: &str) -> bool {
    matches!(mime, "application/json" | "text/json") || mime.ends_with("+json")
}

fn is_text(mime: &str) -> bool {
    let known = ["application/xml", "application/javascript", "application/x-www-form-urlencoded", "application/yaml"];
    mime.starts_with("text/") || mime.ends_with("+xml") || known.contains(&mime)
}

fn parsed(body: &[u8]) -> Option<JsonText> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    JsonText::parse(std::str::from_utf8(body).ok()?).ok()
}

fn text_of(body: Vec<u8>, content_type: &str) -> Result<String, String> {
    let text = String::from_utf8(body).map_err(|_| {
        let charset = content_type.to_ascii_lowercase();
        let charset = charset.split_once("charset=").map_or("an unknown coding", |(_, charset)| charset);
        format!("the service's answer is not UTF-8 but {}", clean(charset))
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn item(mime: &str, body: &[u8]) -> ContentItem {
    let content_type = match mime.split_once('/') {
        Some(("image", _)) => ContentType::Image,
        Some(("audio", _)) => ContentType::Audio,
        _ => ContentType::Binary,
    };
    ContentItem {
        content_type,
        data: Some(STANDARD.encode(body)),
        mime_type: Some(mime.to_owned()),
        ..ContentItem::default()
    }
}

/// A JSON value as text: a string without its quotes, nothing for `null`.
fn shown(json: &str) -> String {
    match json.as_bytes().first() {
        Some(b'n') => String::new(),
        Some(b'"') => serde_json::from_str(json).unwrap_or_else(|_| json.to_owned()),
        _ => serde_json::from_str::<&RawValue>(json).map_or_else(|_| String::new(), |raw| raw.get().to_owned()),
    }
}

/// One line of a length that a person reads.
fn clean(text: &str) -> String {
    let calm: String = text.chars().take(MAX_MESSAGE).map(|c| if c.is_control() { ' ' } else { c }).collect();
    calm.trim().to_owned()
}

#[cfg(test)]
mod tests;
