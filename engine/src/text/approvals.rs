//! What is said of calls that a person has to agree to. Shows titles, never descriptions, which are written for the model.

use std::time::Duration;

use super::{effect_name, short};
use crate::call::Locale;
use crate::gate::AskReason;
use crate::result::{CallError, ErrorCode};
use crate::tool::ToolSpec;

/// A call that a person has to agree to.
pub(crate) fn approval_required(locale: Locale, tool: &ToolSpec, reason: AskReason) -> CallError {
    let (title, effect) = (short(tool.title_for(locale)), effect_name(locale, tool.effect));
    let tainted = match (locale, reason) {
        (_, AskReason::Effect) => "",
        (Locale::En, AskReason::Tainted) => ", and text of third parties was read in this turn",
        (Locale::Zh, AskReason::Tainted) => "，且本轮已读取第三方内容",
    };
    let message = match locale {
        Locale::En => format!(
            "`{title}` needs the user's approval first: {effect}{tainted}; the user is asked, so do not call it again"
        ),
        Locale::Zh => format!("“{title}”需要用户先批准：{effect}{tainted}；已向用户请求批准，请不要重复调用"),
    };
    CallError::new(ErrorCode::PolicyApprovalRequired, message)
}

/// A call that a person declined, with their reason.
pub(crate) fn approval_denied(locale: Locale, title: &str, reason: Option<&str>) -> CallError {
    let title = short(title);
    let message = match (locale, reason) {
        (Locale::En, Some(reason)) => format!("the user declined `{title}`: {reason}"),
        (Locale::En, None) => format!("the user declined `{title}`; do not call it again unless they ask for it"),
        (Locale::Zh, Some(reason)) => format!("用户拒绝了“{title}”：{reason}"),
        (Locale::Zh, None) => format!("用户拒绝了“{title}”，除非用户要求，请不要再次调用"),
    };
    CallError::new(ErrorCode::PolicyDenied, message)
}

pub(crate) fn approval_expired(locale: Locale, title: &str) -> CallError {
    let title = short(title);
    let message = match locale {
        Locale::En => format!("nobody approved `{title}` in time; it did not run"),
        Locale::Zh => format!("“{title}”未在规定时间内获得批准，没有执行"),
    };
    CallError::new(ErrorCode::PolicyApprovalExpired, message)
}

/// The time of the batch was over before anybody decided.
pub(crate) fn approval_late(locale: Locale, after: Duration) -> CallError {
    let ms = after.as_millis();
    let message = match locale {
        Locale::En => format!("nobody approved the call within the {ms} ms that its batch had; it did not run"),
        Locale::Zh => format!("批次的 {ms} 毫秒内无人批准，没有执行"),
    };
    CallError::new(ErrorCode::DeadlineExceeded, message)
}

/// The batch or the session that asked is gone.
pub(crate) fn approval_withdrawn(locale: Locale) -> CallError {
    let message = match locale {
        Locale::En => "the call was cancelled before anybody decided; it did not run",
        Locale::Zh => "调用在批准之前已取消，没有执行",
    };
    CallError::new(ErrorCode::CancelledCall, message)
}

/// An approved call that ran when the process ended.
pub(crate) fn approval_unknown(locale: Locale) -> CallError {
    let message = match locale {
        Locale::En => {
            "Toolyard stopped while the approved call ran; the outcome is unknown: the tool may have done its work, so \
             check before calling it again"
        }
        Locale::Zh => "Toolyard 在执行已批准的调用时停止，结果未知：工具可能已经执行，请先确认再重试",
    };
    CallError::new(ErrorCode::CancelledShutdown, message)
}

/// Too many calls wait for a person already.
pub(crate) fn approvals_full(locale: Locale, title: &str) -> CallError {
    let title = short(title);
    let message = match locale {
        Locale::En => {
            format!("`{title}` needs the user's approval, and too many calls wait for one already; try again later")
        }
        Locale::Zh => format!("“{title}”需要用户批准，但待批准的调用过多，请稍后再试"),
    };
    CallError::new(ErrorCode::PolicyDenied, message)
}

/// The tool has changed since somebody agreed: what would run is not what they were shown.
pub(crate) fn approved_arguments(locale: Locale) -> CallError {
    let message = match locale {
        Locale::En => {
            "the tool has changed since the call was approved: it would not get the arguments that were shown"
        }
        Locale::Zh => "工具在批准之后已更改，参数与批准时显示的不一致",
    };
    CallError::new(ErrorCode::ArgumentsSchema, message)
}
