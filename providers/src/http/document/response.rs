//! The response of a tool.

use toolyard::JsonText;

use super::finding::Findings;
use super::node::NodeValue;
use super::table::Spot;
use crate::http::pick::{Pick, Pointer};
use crate::http::response::{BodyKind, ResponsePlan, StatusRange};

/// Tables within tables of a pick.
const MAX_PICK_DEPTH: usize = 8;
const MAX_BYTES: u64 = 1 << 30;
const BODIES: [(&str, BodyKind); 3] = [("auto", BodyKind::Auto), ("json", BodyKind::Json), ("text", BodyKind::Text)];

pub(super) fn read_response(spot: &Spot<'_>, findings: &mut Findings) -> ResponsePlan {
    let Some(mut table) = spot.table(findings) else { return ResponsePlan::default() };
    let success = table.get("success").map(|spot| spot.one_or_more()).unwrap_or_default();
    let plan = ResponsePlan {
        success: success.iter().filter_map(|spot| status(spot, findings)).collect(),
        body: table.get("body").and_then(|spot| spot.word(&BODIES, findings)).unwrap_or_default(),
        pick: table.get("pick").and_then(|spot| read_pick(&spot, MAX_PICK_DEPTH, findings)),
        add: table.get("add").map(|spot| read_constants(&spot, findings)).unwrap_or_default(),
        text: table.get("text").and_then(|spot| pointer(&spot, findings)),
        error: table.get("error").and_then(|spot| pointer(&spot, findings)),
        errors: table.get("errors").map(|spot| read_messages(&spot, findings)).unwrap_or_default(),
        media: table.get("media").map(|spot| read_media(&spot, findings)).unwrap_or_default(),
        max_bytes: table
            .get("max_bytes")
            .and_then(|spot| spot.integer(1..=MAX_BYTES, findings))
            .and_then(|bytes| usize::try_from(bytes).ok()),
    };
    table.finish(findings);
    plan
}

fn status(spot: &Spot<'_>, findings: &mut Findings) -> Option<StatusRange> {
    let range = match &spot.node.value {
        NodeValue::Number(text) | NodeValue::Text(text) => StatusRange::parse(text),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::List(_) | NodeValue::Table(_) => None,
    };
    if range.is_none() {
        spot.error(findings, "must be a status such as 404, or \"4xx\" for all of its kind");
    }
    range
}

/// Messages for people, by status; exact ones go before those of a kind.
fn read_messages(spot: &Spot<'_>, findings: &mut Findings) -> Vec<(StatusRange, String)> {
    let mut messages = Vec::new();
    for (key, spot) in spot.entries(findings).unwrap_or_default() {
        match (StatusRange::parse(key), spot.text(findings)) {
            (Some(range), Some(message)) => messages.push((range, message.to_owned())),
            (None, _) => spot.error(findings, format!("`{key}` is no status: write 404, or 4xx for all of its kind")),
            (Some(_), None) => {}
        }
    }
    messages.sort_by_key(|(StatusRange(first, last), _)| last - first);
    messages
}

fn read_constants(spot: &Spot<'_>, findings: &mut Findings) -> Vec<(String, JsonText)> {
    let entries = spot.entries(findings).unwrap_or_default();
    entries.into_iter().map(|(key, spot)| (key.to_owned(), JsonText::from(spot.value()))).collect()
}

fn read_media(spot: &Spot<'_>, findings: &mut Findings) -> Vec<String> {
    let mut media = Vec::new();
    for spot in spot.one_or_more() {
        let Some(text) = spot.text(findings) else { continue };
        let is_type = text.split_once('/').is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
        if !is_type || text.trim_end_matches("/*").contains('*') {
            spot.error(findings, format!("`{text}` is no content type, such as image/png or image/*"));
        }
        media.push(text.to_ascii_lowercase());
    }
    media
}

fn pointer(spot: &Spot<'_>, findings: &mut Findings) -> Option<Pointer> {
    let NodeValue::Text(text) = &spot.node.value else {
        spot.error(findings, format!("must be a JSON pointer such as /data/name, not {}", spot.node.kind()));
        return None;
    };
    Pointer::parse(text).map_err(|message| spot.error(findings, message)).ok()
}

/// A pointer, a table of picks, or `{each, pick}` for the items of a list.
fn read_pick(spot: &Spot<'_>, depth_left: usize, findings: &mut Findings) -> Option<Pick> {
    if !matches!(spot.node.value, NodeValue::Table(_)) {
        return pointer(spot, findings).map(Pick::At);
    }
    let Some(depth_left) = depth_left.checked_sub(1) else {
        spot.error(findings, format!("is nested more than {MAX_PICK_DEPTH} levels deep"));
        return None;
    };
    let entries = spot.entries(findings)?;
    let named = |wanted: &str| entries.iter().find(|(key, _)| *key == wanted).map(|(_, spot)| spot);
    if let ([_, _], Some(each), Some(item)) = (entries.as_slice(), named("each"), named("pick")) {
        let (list, item) = (pointer(each, findings), read_pick(item, depth_left, findings));
        return Some(Pick::Each { list: list?, item: Box::new(item?) });
    }
    if entries.is_empty() {
        spot.error(findings, "picks nothing");
    }
    let mut fields = Vec::new();
    for (key, spot) in &entries {
        fields.extend(read_pick(spot, depth_left, findings).map(|pick| ((*key).to_owned(), pick)));
    }
    Some(Pick::Fields(fields))
}
