//! Names, arguments and contents that a vendor refuses, each made one that it takes.

use super::HistoryForm;
use super::conversation::{Answer, ArgumentForm, Conversation};
use super::edits::Edits;
use super::form::Unanswered;
use super::pairs::{Fate, Pairs};
use super::problem::{ProblemKind, Problems};
use super::raw::{self, Members};
use crate::call::Locale;
use crate::json::JsonText;
use crate::result::EMPTY_RESULT;
use crate::text;

/// Under which key arguments that are no object stand in the object that replaces them.
const INVALID_ARGUMENTS: &str = "invalid_arguments";

/// The tool name of each call; written to calls and results where it differs.
pub(super) fn names<'a>(
    conversation: &Conversation<'a>,
    pairs: &Pairs,
    edits: &mut Edits<'a>,
    problems: &mut Problems,
) -> Vec<String> {
    let mut names = Vec::with_capacity(conversation.calls.len());
    for (number, call) in conversation.calls.iter().enumerate() {
        let tool = &call.parts.tool;
        let name = conversation.form.legal_name(&tool.value);
        if !tool.is_string || name != tool.value {
            let detail = format!("the vendor does not take the tool's name; it became `{name}`");
            problems.add(ProblemKind::IllegalName, call.message, call.parts.id_text(), detail);
            edits.set_string(call.parts.name, &name);
        }
        if let Some(answer) = pairs.answer(number).and_then(|answer| conversation.answers.get(answer)) {
            let said = answer.parts.tool.as_ref();
            let needs_name =
                conversation.form.needs_names() || (!conversation.form.needs_ids() && answer.parts.given.is_none());
            let is_missing = said.is_none() && needs_name;
            let is_other = said.is_some_and(|said| !said.is_string || said.value != tool.value);
            if is_missing || is_other {
                let detail = format!("the result does not name the tool of its call; it names `{name}` now");
                problems.add(ProblemKind::NameDiffers, answer.message, answer.parts.id_text(), detail);
            }
            if is_missing || said.is_some_and(|said| !said.is_string || said.value != name) {
                edits.set_string(answer.parts.name, &name);
            }
        }
        names.push(name);
    }
    names
}

/// Makes the arguments of each call a JSON object. Nothing that the model wrote is lost.
pub(super) fn arguments<'a>(conversation: &Conversation<'a>, edits: &mut Edits<'a>, problems: &mut Problems) {
    for call in &conversation.calls {
        let Some(object) = mended_arguments(call.parts.arguments.get(), call.parts.argument_form) else {
            continue;
        };
        let detail = if object == "{}" {
            "there are no arguments; they became an empty object"
        } else {
            "the arguments are not written as a JSON object; they became one"
        };
        problems.add(ProblemKind::InvalidArguments, call.message, call.parts.id_text(), detail);
        match call.parts.argument_form {
            ArgumentForm::Text => edits.set_string(call.parts.arguments, &object),
            _ => edits.set(call.parts.arguments, object),
        }
    }
}

/// The text of the object that has to replace the arguments, or nothing when they are fine.
fn mended_arguments(raw: Option<&str>, form: ArgumentForm) -> Option<String> {
    let Some(raw) = raw else {
        return matches!(form, ArgumentForm::Text | ArgumentForm::Object).then(|| "{}".to_owned());
    };
    if form == ArgumentForm::Free || (raw::is_object(raw) && form != ArgumentForm::Text) {
        return None;
    }
    if !raw.starts_with('"') {
        return Some(if raw::is_object(raw) { raw.to_owned() } else { wrapped(raw) });
    }
    let text = raw::text(raw);
    let is_json = json_object(&text.value).is_some();
    if is_json && text.is_string && matches!(form, ArgumentForm::Text | ArgumentForm::Either) {
        return None;
    }
    Some(object_in(&text.value))
}

/// The object that a text means: itself, or what was encoded twice, or an object that holds the text.
fn object_in(text: &str) -> String {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return "{}".to_owned();
    }
    if let Some(object) = json_object(trimmed) {
        return object.to_owned();
    }
    let twice: Option<String> = serde_json::from_str(trimmed).ok();
    match twice.as_deref().and_then(json_object) {
        Some(object) => object.to_owned(),
        None => JsonText::object([(INVALID_ARGUMENTS, JsonText::string(text))]).to_string(),
    }
}

fn json_object(text: &str) -> Option<&str> {
    let raw: &serde_json::value::RawValue = serde_json::from_str(text).ok()?;
    Some(raw.get()).filter(|raw| raw::is_object(raw))
}

fn wrapped(raw: &str) -> String {
    format!("{{\"{INVALID_ARGUMENTS}\":{raw}}}")
}

/// Gives empty results a text, and Gemini objects.
pub(super) fn results<'a>(
    conversation: &Conversation<'a>,
    pairs: &Pairs,
    edits: &mut Edits<'a>,
    problems: &mut Problems,
) {
    for (number, answer) in conversation.answers.iter().enumerate() {
        if matches!(pairs.fate(number), Fate::Orphan | Fate::Repeated(_)) {
            continue;
        }
        let id = answer.parts.id_text();
        if conversation.form == HistoryForm::Gemini {
            response(answer, edits, problems);
        } else if is_empty(answer.parts.content.get()) {
            let detail = format!("the result is empty; it became `{EMPTY_RESULT}`");
            problems.add(ProblemKind::EmptyResult, answer.message, id, detail);
            edits.set_string(answer.parts.content, EMPTY_RESULT);
        }
    }
}

fn response<'a>(answer: &Answer<'a>, edits: &mut Edits<'a>, problems: &mut Problems) {
    let content = answer.parts.content;
    let has_media = Members::of(content.object).get("parts").is_some();
    let in_object = |output: &str| format!("{{\"output\":{output}}}");
    match content.get() {
        Some(raw) if raw::is_object(raw) && (has_media || !raw::is_empty_object(raw)) => {}
        Some(raw) if !raw::is_object(raw) && !is_empty(Some(raw)) => {
            let detail = "the response is no object; it became the `output` of one";
            problems.add(ProblemKind::InvalidResult, answer.message, answer.parts.id_text(), detail);
            edits.set(content, in_object(raw));
        }
        _ => {
            let detail = format!("the response is empty; its `output` became `{EMPTY_RESULT}`");
            problems.add(ProblemKind::EmptyResult, answer.message, answer.parts.id_text(), detail);
            edits.set(content, in_object(JsonText::string(EMPTY_RESULT).as_str()));
        }
    }
}

/// Blank text, no blocks, or blocks of blank text only.
fn is_empty(content: Option<&str>) -> bool {
    let is_blank = |raw: &str| raw.starts_with('"') && raw::text(raw).value.trim().is_empty();
    let Some(content) = content else {
        return true;
    };
    let is_blank_block = |raw: &str| {
        let block = Members::of(raw);
        let is_text = ["text", "input_text", "output_text"].into_iter().any(|kind| block.says("type", kind));
        is_text && block.get("text").is_none_or(is_blank)
    };
    is_blank(content) || raw::items(content).is_some_and(|items| items.into_iter().all(is_blank_block))
}

/// A result for each call that has none.
pub(super) fn missing_results(
    conversation: &Conversation<'_>,
    pairs: &Pairs,
    ids: &[Option<String>],
    names: &[String],
    locale: Locale,
) -> Vec<Option<String>> {
    let calls = conversation.calls.iter().zip(ids).zip(names).enumerate();
    calls
        .map(|(number, ((call, id), tool))| {
            let text = text::not_executed(locale);
            let unanswered = Unanswered { call: &call.parts, id: id.as_deref(), tool, text };
            pairs.answer(number).is_none().then(|| conversation.form.not_executed(&unanswered).to_string())
        })
        .collect()
}
