//! Gate: the message that is named as the source of a call is one that can really have asked for it (seed 002,
//! `needs_source`).
//!
//! The rules hold when the call is planned and once more just before its tool is entered: the message may have been taken
//! back while the call waited.

use std::sync::Arc;

use super::{Caller, Gate, Refusal};
use crate::call::{Arguments, Locale};
use crate::json::JsonText;
use crate::policy::SourceMessages;
use crate::registry::PreparedTool;
use crate::result::CallError;
use crate::session::{ReceivedMessage, Session};
use crate::text::{self, NoSource};
use crate::tool::SOURCE_MESSAGE_PARAMETER;

/// The source of a call.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) message: Arc<ReceivedMessage>,
    /// The arguments with the message's id among them, as they have to be given again.
    pub(crate) arguments: JsonText,
}

// === impl Source ===

impl Source {
    /// Other arguments with the message's id among them.
    pub(crate) fn beside(&self, arguments: &JsonText) -> JsonText {
        let id = JsonText::string(&self.message.id);
        let mut members = arguments.members().unwrap_or_default();
        members.retain(|(name, _)| name != SOURCE_MESSAGE_PARAMETER);
        members.push((SOURCE_MESSAGE_PARAMETER.to_owned(), id));
        JsonText::object(members.iter().map(|(name, value)| (name.as_str(), value.clone())))
    }
}

/// The source of a call whose tool needs one. Its id is taken out of the arguments, which are the tool's.
#[inline]
pub(super) fn check(
    tool: &PreparedTool,
    arguments: &mut Arguments,
    caller: &Caller<'_>,
) -> Result<Option<Box<Source>>, Refusal> {
    if !tool.spec.flags.needs_source {
        return Ok(None);
    }
    let given = arguments.json().clone();
    let named = arguments.remove(SOURCE_MESSAGE_PARAMETER);
    let id = named.as_ref().and_then(|named| named.as_str()).unwrap_or_default();
    match find(id, caller) {
        Ok(message) => Ok(Some(Box::new(Source { message, arguments: given }))),
        Err(why) => Err(Gate::SourceMessage.refuse(text::no_source_message(caller.context.locale, id, why))),
    }
}

/// Looks at a message again that was found when its call was planned.
///
/// # Errors
/// It can be the source no longer.
pub(crate) fn recheck(session: &Session, id: &str, locale: Locale) -> Result<Arc<ReceivedMessage>, CallError> {
    let known = session.message(id).ok_or(NoSource::Unknown);
    let standing = known.and_then(|(_, message)| check_standing(&message).map(|()| message));
    standing.map_err(|why| text::no_source_message(locale, id, why))
}

fn find(id: &str, caller: &Caller<'_>) -> Result<Arc<ReceivedMessage>, NoSource> {
    let (Some(session), Some(view)) = (caller.source, &caller.session) else { return Err(NoSource::NoSession) };
    let (turn, message) = session.message(id).ok_or(NoSource::Unknown)?;
    let present = caller.made_in.unwrap_or(&view.turn.id);
    if caller.policy.source_messages == SourceMessages::Turn && turn != *present {
        return Err(NoSource::OtherTurn);
    }
    check_standing(&message).map(|()| message)
}

/// Whether a person who may use the bot has sent it, and still stands by it.
fn check_standing(message: &ReceivedMessage) -> Result<(), NoSource> {
    let faults = [
        (message.tool_result_media, NoSource::Made),
        (message.own, NoSource::Own),
        (message.from_bot, NoSource::FromBot),
        (message.recalled, NoSource::Recalled),
        (message.blacklisted, NoSource::Blacklisted),
    ];
    match faults.into_iter().find(|(is_so, _)| *is_so) {
        Some((_, why)) => Err(why),
        None => Ok(()),
    }
}
