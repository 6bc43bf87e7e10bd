//! RequestPlan: how a call becomes a request.

use indexmap::IndexMap;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use toolyard::{ErrorCode, ToolFailure};
use url::Url;

use super::body::{Body, pairs};
use super::secret::Secrets;
use super::template::{FillError, Filling, Template, Values};
use super::url_template::UrlTemplate;

/// Bytes of an address; few services take more.
const MAX_URL_BYTES: usize = 16 << 10;

/// How a tool's calls become requests.
#[derive(Clone, Debug)]
pub(super) struct RequestPlan {
    pub(super) method: Method,
    pub(super) url: UrlTemplate,
    pub(super) query: Vec<(String, Template)>,
    pub(super) headers: Vec<(HeaderName, Template)>,
    pub(super) body: Body,
    /// JSON texts of the defaults in the tool's input schema.
    pub(super) defaults: IndexMap<String, String>,
}

/// A request that is ready to be sent.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// Headers that go to the service that they are meant for and to no other.
    pub(super) private_headers: Vec<HeaderName>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) body_is_secret: bool,
}

// === impl RequestPlan ===

impl RequestPlan {
    /// The request of a call with these arguments, as JSON text.
    ///
    /// # Errors
    /// An argument has no place in an address or a header.
    pub(super) fn prepare(&self, arguments: &str, secrets: &Secrets) -> Result<Prepared, ToolFailure> {
        let values = Values::new(arguments, &self.defaults, secrets).map_err(|error| {
            ToolFailure::not_sent(ErrorCode::ArgumentsSyntax, format!("the arguments cannot be read: {error}"))
        })?;
        let prepared = self.fill(&values);
        let prepared =
            prepared.map_err(|error| ToolFailure::not_sent(ErrorCode::ArgumentsSchema, error.to_string()))?;
        let length = prepared.url.as_str().len();
        if length > MAX_URL_BYTES {
            let message =
                format!("the arguments make an address of {length} bytes; at most {MAX_URL_BYTES} can be sent");
            return Err(ToolFailure::not_sent(ErrorCode::ArgumentsTooLarge, message));
        }
        Ok(prepared)
    }

    fn fill(&self, values: &Values<'_>) -> Result<Prepared, FillError> {
        let mut url = self.url.fill(values)?;
        let query = pairs(&self.query, values)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut headers = HeaderMap::new();
        let body = self.body.fill(values)?;
        if let (Some(content_type), Some(_)) = (self.body.content_type(), &body) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        for (name, template) in &self.headers {
            if let Some(value) = self.header(template, values)? {
                headers.insert(name.clone(), value);
            }
        }
        let holds_secret = |template: &Template| template.secrets().next().is_some();
        Ok(Prepared {
            method: self.method.clone(),
            url,
            headers,
            private_headers: self
                .headers
                .iter()
                .filter(|(_, t)| holds_secret(t))
                .map(|(name, _)| name.clone())
                .collect(),
            body,
            body_is_secret: self.body.templates().into_iter().any(holds_secret),
        })
    }

    fn header(&self, template: &Template, values: &Values<'_>) -> Result<Option<HeaderValue>, FillError> {
        let Some(text) = template.fill(values, Filling::PLAIN)? else { return Ok(None) };
        let name = || template.arguments().chain(template.secrets()).next().unwrap_or_default().to_owned();
        let mut value = HeaderValue::from_bytes(text.as_bytes())
            .map_err(|_| FillError { name: name(), reason: "has a character that cannot be in a header" })?;
        value.set_sensitive(template.secrets().next().is_some());
        Ok(Some(value))
    }

    /// Every template of the plan.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        let named = self.query.iter().map(|(_, template)| template);
        let headers = self.headers.iter().map(|(_, template)| template);
        self.url.segments.iter().chain(named).chain(headers).chain(self.body.templates())
    }
}
