//! Why a caller may not use a tool at all.

use crate::call::Locale;
use crate::result::{CallError, ErrorCode};

use super::short;

/// Why a tool is outside of the caller's allowed set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NotAllowed<'a> {
    /// The role's list does not have it.
    Role(&'a str),
    /// A rule forbids it, for this reason.
    Rule(Option<&'a str>),
    /// The chat is paused.
    Paused,
    /// The chat has switched the tool off.
    SwitchedOff,
    /// The provider is not enabled in the chat.
    NotEnabled(&'a str),
    /// It is not for chats of this kind.
    Chats { is_group: bool },
    /// It is for these platforms only.
    Platforms(&'a [String]),
    /// It belongs to another stage of the planner.
    Stage,
}

/// A tool that is outside of the caller's allowed set.
pub(crate) fn not_allowed(locale: Locale, name: &str, why: NotAllowed<'_>) -> CallError {
    let (name, why) = (short(name), reason(locale, why));
    let message = match locale {
        Locale::En => format!("the tool `{name}` cannot be used: {why}; call one of the tools that are listed"),
        Locale::Zh => format!("当前不允许使用工具 {name}：{why}"),
    };
    CallError::new(ErrorCode::PolicyDenied, message)
}

fn reason(locale: Locale, why: NotAllowed<'_>) -> String {
    match (locale, why) {
        (Locale::En, NotAllowed::Role("")) => "a caller without a role may not use it".to_owned(),
        (Locale::Zh, NotAllowed::Role("")) => "没有角色的调用者不能使用".to_owned(),
        (Locale::En, NotAllowed::Role(role)) => format!("the role `{}` may not use it", short(role)),
        (Locale::Zh, NotAllowed::Role(role)) => format!("角色 {} 不能使用", short(role)),
        (_, NotAllowed::Rule(Some(reason))) => reason.to_owned(),
        (Locale::En, NotAllowed::Rule(None)) => "policy forbids it".to_owned(),
        (Locale::Zh, NotAllowed::Rule(None)) => "策略禁止".to_owned(),
        (Locale::En, NotAllowed::Paused) => "this chat is paused".to_owned(),
        (Locale::Zh, NotAllowed::Paused) => "当前会话已暂停".to_owned(),
        (Locale::En, NotAllowed::SwitchedOff) => "it is switched off in this chat".to_owned(),
        (Locale::Zh, NotAllowed::SwitchedOff) => "当前会话已关闭此工具".to_owned(),
        (Locale::En, NotAllowed::NotEnabled(provider)) => format!("`{provider}` is not enabled in this chat"),
        (Locale::Zh, NotAllowed::NotEnabled(provider)) => format!("{provider} 未在当前会话启用"),
        (Locale::En, NotAllowed::Chats { is_group }) => {
            format!("it is not for {} chats", if is_group { "group" } else { "private" })
        }
        (Locale::Zh, NotAllowed::Chats { is_group }) => {
            format!("不适用于{}", if is_group { "群聊" } else { "私聊" })
        }
        (Locale::En, NotAllowed::Platforms(names)) => format!("it is for {} only", names.join(", ")),
        (Locale::Zh, NotAllowed::Platforms(names)) => format!("仅适用于 {}", names.join("、")),
        (Locale::En, NotAllowed::Stage) => "it belongs to another stage of the planner".to_owned(),
        (Locale::Zh, NotAllowed::Stage) => "属于规划器的另一阶段".to_owned(),
    }
}

/// A tool that the caller may not start, whatever it is called.
pub(crate) fn user_only(locale: Locale, name: &str) -> CallError {
    let name = short(name);
    let message = match locale {
        Locale::En => format!("only the user can start the tool `{name}`"),
        Locale::Zh => format!("工具 {name} 只能由用户启动"),
    };
    CallError::new(ErrorCode::PolicyUserOnly, message)
}

/// A tool that no model sees.
pub(crate) fn hidden(locale: Locale, name: &str) -> CallError {
    let name = short(name);
    let message = match locale {
        Locale::En => format!("the tool `{name}` is hidden; call one of the tools that are listed"),
        Locale::Zh => format!("工具 {name} 不可用，请调用已列出的工具"),
    };
    CallError::new(ErrorCode::PolicyHidden, message)
}
