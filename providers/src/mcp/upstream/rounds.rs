//! Rounds: results that ask for more (2026-07-28), and the answers with which their requests are sent again.

use std::fmt;
use std::sync::Arc;

use futures::future::join_all;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolyard::{JsonText, ToolFailure};

use super::bridge::Behalf;
use super::connection::{Asker, Refusal, Request};
use super::failure::unanswered;
use super::session::Session;

/// Rounds of one request.
const MOST: usize = 10;
/// Inputs of one round.
const MAX_INPUTS: usize = 32;

/// A request that may be sent several times.
pub(super) struct Asked<P> {
    pub(super) method: Arc<str>,
    /// What `Mcp-Name` says.
    pub(super) name: Option<String>,
    /// What `Mcp-Param-*` says, and headers that are handed on.
    pub(super) mirrored: Vec<(String, String)>,
    /// The parameters with these inputs among them, for this id.
    pub(super) params: P,
}

/// A result, and what was seen of it when it was looked at, which is done once.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) result: JsonText,
    pub(super) shape: Shape,
}

/// What a result looks like as that of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// Why it is none.
    pub(super) fault: Option<&'static str>,
    /// The tool failed.
    pub(super) is_error: bool,
}

/// What a result means.
#[derive(Debug)]
enum Step {
    /// It is the result.
    Complete,
    /// The server needs more to go on.
    InputRequired(InputRequired),
}

/// What a server needs.
#[derive(Debug)]
struct InputRequired {
    inputs: Vec<(String, Input)>,
    /// Given back as it came.
    state: Option<JsonText>,
}

#[derive(Debug, Deserialize)]
struct Input {
    method: String,
    params: Option<JsonText>,
}

/// Asks the server, and again with what it needs, until there is a result. Dropping the future cancels the request.
///
/// # Errors
/// The server refused, did not answer, or asks for what is not to be had.
pub(super) async fn ask<P>(session: &Session, asker: &Arc<Asker>, asked: Asked<P>) -> Result<Answered, Refusal>
where
    P: Fn(&[(&'static str, JsonText)], u64) -> JsonText,
{
    let Asked { method, name, mirrored, params } = asked;
    let mut inputs = Vec::new();
    for _round in 0..=MOST {
        let request = Request {
            method: Arc::clone(&method),
            params: |id| params(&inputs, id),
            name: name.clone(),
            mirrored: mirrored.clone(),
            asker: Some(Arc::clone(asker)),
            cancels: true,
        };
        let result = session.request(request).await?;
        let (answered, kind) = look_at(result);
        match step(&answered, kind.as_deref())? {
            Step::Complete => return Ok(answered),
            Step::InputRequired(required) => inputs = answer(session, asker, required).await?,
        }
    }
    Err(wrong(format_args!("it asked for more than {MOST} times")).into())
}

/// Says what an answer is.
///
/// # Errors
/// It is of a kind that was not asked for, or cannot be read.
fn step(answered: &Answered, kind: Option<&str>) -> Result<Step, ToolFailure> {
    match kind {
        None | Some("\"complete\"" | "null") => Ok(Step::Complete),
        Some("\"input_required\"") => read(&answered.result).map(Step::InputRequired),
        Some(other) => {
            let other: String = other.chars().take(60).collect();
            Err(wrong(format_args!("a result of the type {other}, which was not asked for")))
        }
    }
}

fn wrong(message: impl fmt::Display) -> ToolFailure {
    unanswered(format!("the server answered wrongly: {message}"))
}

fn read(result: &JsonText) -> Result<InputRequired, ToolFailure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Required {
        #[serde(default)]
        input_requests: IndexMap<String, Input>,
        request_state: Option<JsonText>,
    }
    let required: Required =
        result.to().map_err(|error| wrong(format_args!("it asks for more, but for what cannot be read: {error}")))?;
    if required.input_requests.len() > MAX_INPUTS {
        return Err(wrong(format_args!("it asks for more than {MAX_INPUTS} inputs at once")));
    }
    if required.input_requests.is_empty() && required.request_state.is_none() {
        return Err(wrong("it asks for more and does not say for what"));
    }
    Ok(InputRequired { inputs: required.input_requests.into_iter().collect(), state: required.request_state })
}

/// Gets the inputs, all at once, and gives the members that the request has when it is sent again.
///
/// # Errors
/// One of them is not offered or not to be had.
async fn answer(
    session: &Session,
    asker: &Arc<Asker>,
    required: InputRequired,
) -> Result<Vec<(&'static str, JsonText)>, ToolFailure> {
    let behalf = Behalf { host: asker.host(), caller: asker.caller(), deadline: asker.deadline() };
    let bridge = session.connection.bridge();
    let answers = required.inputs.into_iter().map(|(key, input)| async move {
        let params = input.params.unwrap_or_else(|| JsonText::object([]));
        // Whoever is asked in vain, it is not the server that broke.
        let asked = bridge.input(&input.method, params, behalf).await;
        asked.map(|answer| (key, answer)).map_err(|failure| unanswered(failure.message))
    });
    let answers: Vec<(String, JsonText)> = join_all(answers).await.into_iter().collect::<Result<_, _>>()?;
    let mut members = Vec::new();
    if !answers.is_empty() {
        let answers = answers.iter().map(|(key, answer)| (key.as_str(), answer.clone()));
        members.push(("inputResponses", JsonText::object(answers)));
    }
    members.extend(required.state.map(|state| ("requestState", state)));
    Ok(members)
}

/// Looks at a result from its start to its end. Gives what it says of its type, too.
fn look_at(result: JsonText) -> (Answered, Option<String>) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Members<'a> {
        #[serde(borrow)]
        result_type: Option<&'a RawValue>,
        #[serde(borrow)]
        content: Option<&'a RawValue>,
        #[serde(borrow)]
        structured_content: Option<&'a RawValue>,
        #[serde(borrow)]
        is_error: Option<&'a RawValue>,
    }
    let members = serde_json::from_str::<Members<'_>>(result.as_str()).ok();
    let kind = members.as_ref().and_then(|members| members.result_type).map(|kind| kind.get().to_owned());
    let shape = match members.filter(|_| result.as_str().starts_with('{')) {
        None => Shape { fault: Some("its result is no object"), is_error: false },
        Some(Members { content, structured_content, is_error, .. }) => {
            let is_error = is_error.map_or("false", RawValue::get);
            let fault = match content {
                Some(content) if !content.get().starts_with('[') => Some("the content of its result is no list"),
                None if structured_content.is_none() => Some("its result has no content"),
                _ if !matches!(is_error, "true" | "false") => Some("isError in its result is no boolean"),
                _ => None,
            };
            Shape { fault, is_error: is_error == "true" }
        }
    };
    (Answered { result, shape }, kind)
}

// === impl Answered ===

#[cfg(test)]
impl Answered {
    /// This result, as if a server had sent it.
    pub(super) fn of(result: JsonText) -> Self {
        look_at(result).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_ask_for_more_are_told_from_those_that_do_not() {
        let step = |text: &str| {
            let (answered, kind) = look_at(JsonText::parse(text).unwrap());
            step(&answered, kind.as_deref())
        };
        for complete in ["{}", r#"{"resultType":"complete"}"#, "[]", "7"] {
            assert!(matches!(step(complete), Ok(Step::Complete)), "{complete}");
        }
        let asks = r#"{"resultType":"input_required","inputRequests":{"b":{"method":"elicitation/create","params":{"n":123456789012345678901234567890}},"a":{"method":"roots/list"}},"requestState":"s"}"#;
        let Ok(Step::InputRequired(required)) = step(asks) else { panic!("{asks}") };
        let keys: Vec<&str> = required.inputs.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!((keys, required.state.unwrap().as_str()), (vec!["b", "a"], r#""s""#));
        assert_eq!(required.inputs[0].1.params.as_ref().unwrap().as_str(), r#"{"n":123456789012345678901234567890}"#);
        for bad in [
            r#"{"resultType":"task"}"#,
            r#"{"resultType":"input_required"}"#,
            r#"{"resultType":"input_required","inputRequests":7}"#,
        ] {
            assert!(step(bad).is_err(), "{bad}");
        }
    }
}
