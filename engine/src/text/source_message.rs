//! What is said of messages that cannot be the source of a call.

use super::short;
use crate::call::Locale;
use crate::result::{CallError, ErrorCode};

/// Why a message cannot be the source of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSource {
    /// The call belongs to no session, so nothing is known of any message.
    NoSession,
    /// The session knows no such message.
    Unknown,
    /// It came in another turn.
    OtherTurn,
    /// The bot sent it itself.
    Own,
    /// Another bot sent it.
    FromBot,
    /// It was taken back.
    Recalled,
    /// It was made of a tool's media.
    Made,
    /// Its sender may not use the bot here.
    Blacklisted,
}

pub(crate) fn no_source_message(locale: Locale, id: &str, why: NoSource) -> CallError {
    let (id, reason) = (short(id), reason(locale, why));
    let message = match (locale, why) {
        (Locale::En, NoSource::NoSession) => {
            format!("message `{id}` cannot be checked: {reason}; this tool needs the message that asked for it")
        }
        (Locale::En, NoSource::Blacklisted) => format!("message `{id}` may not ask for this: {reason}"),
        (Locale::En, _) => {
            format!(
                "message `{id}` cannot be the source of this call: {reason}; name the message that really asked for it"
            )
        }
        (Locale::Zh, NoSource::NoSession) => format!("无法核对消息 {id}：{reason}，此工具需要真实的请求消息"),
        (Locale::Zh, NoSource::Blacklisted) => format!("消息 {id} 无权提出这项请求：{reason}"),
        (Locale::Zh, _) => format!("消息 {id} 不是可用的请求来源：{reason}，请填写真正提出请求的消息"),
    };
    CallError::new(ErrorCode::PolicySourceMessage, message)
}

fn reason(locale: Locale, why: NoSource) -> &'static str {
    match (locale, why) {
        (Locale::En, NoSource::NoSession) => "the call belongs to no session",
        (Locale::En, NoSource::Unknown) => "no such message was received here",
        (Locale::En, NoSource::OtherTurn) => "it is not of this turn",
        (Locale::En, NoSource::Own) => "the bot sent it itself",
        (Locale::En, NoSource::FromBot) => "another bot sent it",
        (Locale::En, NoSource::Recalled) => "it was taken back",
        (Locale::En, NoSource::Made) => "it was made of a tool's result",
        (Locale::En, NoSource::Blacklisted) => "its sender may not use the bot here",
        (Locale::Zh, NoSource::NoSession) => "本次调用不属于任何会话",
        (Locale::Zh, NoSource::Unknown) => "当前会话没有收到过这条消息",
        (Locale::Zh, NoSource::OtherTurn) => "它不是本轮收到的消息",
        (Locale::Zh, NoSource::Own) => "它是机器人自己发的",
        (Locale::Zh, NoSource::FromBot) => "它来自其他机器人",
        (Locale::Zh, NoSource::Recalled) => "它已被撤回",
        (Locale::Zh, NoSource::Made) => "它由工具结果生成",
        (Locale::Zh, NoSource::Blacklisted) => "发送者在本场景的黑名单中",
    }
}
