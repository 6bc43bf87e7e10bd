//! The request of a tool.

use reqwest::Method;
use reqwest::header::HeaderName;
use toolyard::JsonText;

use super::finding::Findings;
use super::inputs::{Inputs, TemplatePlace};
use super::node::NodeValue;
use super::table::{Spot, Table};
use crate::http::body::{Body, JsonTemplate};
use crate::http::request::RequestPlan;
use crate::http::template::Template;
use crate::http::url_template::UrlTemplate;

/// What the connection itself says; `accept-encoding` because nothing is unpacked.
const RESERVED_HEADERS: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Headers whose value nobody should read in a document.
const PRIVATE_HEADERS: [&str; 4] = ["authorization", "cookie", "x-api-key", "api-key"];

pub(super) fn read_request(
    spot: &Spot<'_>,
    inputs: &Inputs<'_>,
    warnings: &mut Vec<String>,
    findings: &mut Findings,
) -> Option<RequestPlan> {
    let mut table = spot.table(findings)?;
    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map(|word| (word, word));
    let method = table.get("method").map_or(Some("GET"), |spot| spot.word(&methods, findings));
    let url = table.need("url", findings).and_then(|spot| read_url(&spot, inputs, findings));
    let query = table.get("query").map(|spot| read_parameters(&spot, inputs, findings)).unwrap_or_default();
    let headers = table.get("headers").map(|spot| read_headers(&spot, inputs, warnings, findings)).unwrap_or_default();
    let body = read_body(&mut table, inputs, findings);
    if body != Body::None && matches!(method, Some("GET" | "HEAD")) {
        table.error(findings, "a GET or HEAD request has no body; say `method = \"POST\"`");
    }
    table.finish(findings);
    let method = Method::from_bytes(method?.as_bytes()).ok()?;
    Some(RequestPlan { method, url: url?, query, headers, body, defaults: inputs.defaults() })
}

fn read_url(spot: &Spot<'_>, inputs: &Inputs<'_>, findings: &mut Findings) -> Option<UrlTemplate> {
    let parsed = UrlTemplate::parse(spot.text(findings)?).and_then(|url| {
        let is_web = matches!(url.base.scheme(), "http" | "https");
        let has_credentials = !url.base.username().is_empty() || url.base.password().is_some();
        match (is_web, has_credentials) {
            (false, _) => Err(format!("{} is not http or https", url.base.scheme())),
            (_, true) => Err("an address holds no user name and no password; write a header with a secret".to_owned()),
            _ => Ok(url),
        }
    });
    match parsed {
        Ok(url) => {
            for segment in &url.segments {
                inputs.check(segment, TemplatePlace::Path, spot, findings);
            }
            Some(url)
        }
        Err(message) => {
            spot.error(findings, message);
            None
        }
    }
}

/// Parameters of a query or fields of a form. A list of templates gives the same name several times.
fn read_parameters(spot: &Spot<'_>, inputs: &Inputs<'_>, findings: &mut Findings) -> Vec<(String, Template)> {
    let mut parameters = Vec::new();
    for (name, spot) in spot.entries(findings).unwrap_or_default() {
        for spot in spot.one_or_more() {
            let template = inputs.template(&spot, TemplatePlace::Parameter, findings);
            parameters.extend(template.map(|template| (name.to_owned(), template)));
        }
    }
    parameters
}

fn read_headers(
    spot: &Spot<'_>,
    inputs: &Inputs<'_>,
    warnings: &mut Vec<String>,
    findings: &mut Findings,
) -> Vec<(HeaderName, Template)> {
    let mut headers: Vec<(HeaderName, Template)> = Vec::new();
    for (key, spot) in spot.entries(findings).unwrap_or_default() {
        let template = inputs.template(&spot, TemplatePlace::Header, findings);
        let Ok(name) = HeaderName::from_bytes(key.as_bytes()) else {
            spot.error(findings, format!("`{key}` is no name of a header"));
            continue;
        };
        if RESERVED_HEADERS.contains(&name.as_str()) {
            spot.error(findings, format!("`{key}` is set by the connection itself"));
        }
        if headers.iter().any(|(other, _)| *other == name) {
            spot.error(findings, format!("the header `{name}` is there already"));
        }
        if PRIVATE_HEADERS.contains(&name.as_str()) && template.as_ref().is_some_and(Template::is_literal) {
            warnings.push(format!("its header `{key}` stands in the document; write it with a secret"));
        }
        headers.extend(template.map(|template| (name, template)));
    }
    headers
}

fn read_body(table: &mut Table<'_>, inputs: &Inputs<'_>, findings: &mut Findings) -> Body {
    let (json, form, text) = (table.get("json"), table.get("form"), table.get("text"));
    match (json, form, text) {
        (None, None, None) => Body::None,
        (Some(spot), None, None) => json_template(&spot, inputs, findings).map_or(Body::None, Body::Json),
        (None, Some(spot), None) => Body::Form(read_parameters(&spot, inputs, findings)),
        (None, None, Some(spot)) => {
            inputs.template(&spot, TemplatePlace::Text, findings).map_or(Body::None, Body::Text)
        }
        _ => {
            table.error(findings, "a request has one body: `json`, `form` or `text`");
            Body::None
        }
    }
}

fn json_template(spot: &Spot<'_>, inputs: &Inputs<'_>, findings: &mut Findings) -> Option<JsonTemplate> {
    Some(match &spot.node.value {
        NodeValue::Null => JsonTemplate::Literal(JsonText::null()),
        NodeValue::Bool(value) => JsonTemplate::Literal(JsonText::boolean(*value)),
        NodeValue::Number(number) => JsonTemplate::Literal(JsonText::parse(number).ok()?),
        NodeValue::List(_) => {
            let items = spot.list(findings)?;
            JsonTemplate::List(items.iter().filter_map(|item| json_template(item, inputs, findings)).collect())
        }
        NodeValue::Table(_) => {
            let mut members = Vec::new();
            for (key, member) in spot.entries(findings)? {
                members.extend(json_template(&member, inputs, findings).map(|template| (key.to_owned(), template)));
            }
            JsonTemplate::Table(members)
        }
        NodeValue::Text(text) => match Template::parse(text) {
            Err(message) => {
                spot.error(findings, message);
                return None;
            }
            Ok(template) => match template.only_argument() {
                Some(name) => {
                    inputs.check_typed(name, spot, findings);
                    JsonTemplate::Argument(name.to_owned())
                }
                None => {
                    inputs.check(&template, TemplatePlace::Header, spot, findings);
                    JsonTemplate::Text(template)
                }
            },
        },
    })
}
