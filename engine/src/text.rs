//! The sentences that the engine itself says to a model or a person, in the language of the context.

mod allowed;
mod approvals;
pub(crate) mod discovery;
mod limits;
mod source_message;

use std::borrow::Cow;
use std::time::Duration;

use crate::call::Locale;
use crate::registry::PreparedTool;
use crate::result::{CallError, ErrorCode};
use crate::tool::Effect;

pub(crate) use allowed::{NotAllowed, hidden, not_allowed, user_only};
pub(crate) use approvals::{
    approval_denied, approval_expired, approval_late, approval_required, approval_unknown, approval_withdrawn,
    approvals_full, approved_arguments,
};

pub(crate) use source_message::{NoSource, no_source_message};

pub(crate) use limits::*;

/// Characters of a model's own words that a sentence repeats.
const MAX_QUOTED: usize = 128;

/// A name that a model made up, short enough for a sentence.
pub(crate) fn short(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

pub(crate) fn unknown_tool(locale: Locale, name: &str, nearest: &[&str]) -> CallError {
    let name = short(name);
    let names = |separator: &str| nearest.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(separator);
    let message = match (locale, nearest.is_empty()) {
        (Locale::En, true) => format!("there is no tool `{name}`; call one of the tools that are listed"),
        (Locale::En, false) => format!("there is no tool `{name}`; did you mean {}?", names(" or ")),
        (Locale::Zh, true) => format!("未找到工具：{name}"),
        (Locale::Zh, false) => format!("未找到工具：{name}。是否要调用 {}？", names("、")),
    };
    CallError::new(ErrorCode::ToolUnknown, message)
}

pub(crate) fn removed_tool(locale: Locale, name: &str) -> CallError {
    let name = short(name);
    let message = match locale {
        Locale::En => format!("the tool `{name}` was removed; do not call it again"),
        Locale::Zh => format!("工具已移除：{name}"),
    };
    CallError::new(ErrorCode::ToolRemoved, message)
}

/// A tool that somebody has to approve first.
pub(crate) fn withheld_tool(locale: Locale, name: &str, reason: &str) -> CallError {
    let name = short(name);
    let message = match locale {
        Locale::En => format!("the tool `{name}` is withheld until it is approved: {reason}"),
        Locale::Zh => format!("工具 {name} 需先批准才能使用：{reason}"),
    };
    CallError::new(ErrorCode::PolicyDenied, message)
}

/// A deferred tool that the session has not loaded.
pub(crate) fn not_loaded(locale: Locale, tool: &PreparedTool) -> CallError {
    let (name, plugin) = (short(&tool.wanted_name), &tool.handle.name);
    let message = match (locale, tool.spec.flags.on_demand) {
        (Locale::En, false) => {
            format!("the tool `{name}` is not loaded; find it with `tool_search`, then call it in your next reply")
        }
        (Locale::En, true) => format!(
            "the tool `{name}` is not loaded; load `{plugin}` with `plugins_use`, then call it in your next reply"
        ),
        (Locale::Zh, false) => format!("当前请求未开放工具：{name}。请先用 tool_search 查找，下一次回复再调用"),
        (Locale::Zh, true) => format!("当前请求未开放工具：{name}。请先用 plugins_use 加载 {plugin}，下一次回复再调用"),
    };
    CallError::new(ErrorCode::PolicyNotLoaded, message)
}

pub(crate) fn turn_over(locale: Locale) -> CallError {
    let message = match locale {
        Locale::En => "the turn is over; nothing runs until new messages begin another",
        Locale::Zh => "本轮已结束，请等待新消息",
    };
    CallError::new(ErrorCode::PolicyDenied, message)
}

/// An effect that nobody may be asked about.
pub(crate) fn effect_denied(locale: Locale, name: &str, effect: Option<Effect>) -> CallError {
    let (name, effect) = (short(name), effect_name(locale, effect));
    let message = match locale {
        Locale::En => format!("the tool `{name}` is not allowed here: {effect}"),
        Locale::Zh => format!("不允许使用工具 {name}：{effect}"),
    };
    CallError::new(ErrorCode::PolicyDenied, message)
}

fn effect_name(locale: Locale, effect: Option<Effect>) -> &'static str {
    match (locale, effect) {
        (Locale::En, Some(Effect::Read)) => "it reads",
        (Locale::En, Some(Effect::Write)) => "it changes something of the user's",
        (Locale::En, Some(Effect::Money)) => "it moves money",
        (Locale::En, Some(Effect::Public)) => "it says something in public",
        (Locale::En, None) => "it does not declare what it does",
        (Locale::Zh, Some(Effect::Read)) => "读取信息",
        (Locale::Zh, Some(Effect::Write)) => "会改动用户的内容",
        (Locale::Zh, Some(Effect::Money)) => "涉及资金",
        (Locale::Zh, Some(Effect::Public)) => "会公开发布内容",
        (Locale::Zh, None) => "未声明其作用",
    }
}

pub(crate) fn provider_starting(locale: Locale, provider: &str) -> CallError {
    let message = match locale {
        Locale::En => format!("provider {provider} is starting; try again in a moment"),
        Locale::Zh => format!("工具来源 {provider} 正在启动，请稍后再试"),
    };
    CallError::new(ErrorCode::ProviderStarting, message)
}

pub(crate) fn provider_down(locale: Locale, provider: &str, reason: &str) -> CallError {
    let message = match locale {
        Locale::En => format!("provider {provider} is down: {reason}; do not try again at once"),
        Locale::Zh => format!("工具来源 {provider} 不可用：{reason}，请不要立即重试"),
    };
    CallError::new(ErrorCode::ProviderDown, message)
}

pub(crate) fn provider_crashed(locale: Locale, provider: &str, reason: &str) -> CallError {
    let message = match locale {
        Locale::En => format!("provider {provider} went away during the call ({reason}); its outcome is unknown"),
        Locale::Zh => format!("工具来源 {provider} 在调用过程中断开（{reason}），结果未知"),
    };
    CallError::new(ErrorCode::ProviderCrashed, message)
}

pub(crate) fn breaker_open(locale: Locale, provider: &str, failures: u32, why: &str, wait: Duration) -> CallError {
    let seconds = wait.as_secs_f64().ceil() as u64;
    let message = match (locale, seconds) {
        (Locale::En, 0) => format!(
            "provider {provider} failed {failures} times in a row ({why}) and is just being tried again; do not retry now"
        ),
        (Locale::En, _) => format!(
            "provider {provider} failed {failures} times in a row ({why}); do not retry, it is tried again in {seconds} s"
        ),
        (Locale::Zh, 0) => format!("工具来源 {provider} 连续失败 {failures} 次（{why}），正在尝试恢复，请不要立即重试"),
        (Locale::Zh, _) => {
            format!("工具来源 {provider} 连续失败 {failures} 次（{why}），请不要重试，{seconds} 秒后会再次尝试")
        }
    };
    CallError::new(ErrorCode::ProviderBreakerOpen, message)
}

pub(crate) fn deadline(locale: Locale, after: Duration, started: bool) -> CallError {
    let ms = after.as_millis();
    let message = match (locale, started) {
        (Locale::En, true) => format!(
            "no answer within {ms} ms; the outcome is unknown: the tool may have done its work, so check before calling \
             it again"
        ),
        (Locale::En, false) => format!("the tool could not start within {ms} ms"),
        (Locale::Zh, true) => format!("{ms} 毫秒内没有结果，结果未知：工具可能已经执行，请先确认再重试"),
        (Locale::Zh, false) => format!("工具未能在 {ms} 毫秒内开始执行"),
    };
    CallError::new(ErrorCode::DeadlineExceeded, message)
}

pub(crate) fn cancelled(locale: Locale, code: ErrorCode) -> CallError {
    let message = match locale {
        Locale::En => match code {
            ErrorCode::CancelledCall => "the call was cancelled",
            ErrorCode::CancelledSession => "the session was cancelled",
            ErrorCode::CancelledShutdown => "cancelled because Toolyard is shutting down",
            _ => "the batch was cancelled",
        },
        Locale::Zh => match code {
            ErrorCode::CancelledCall => "调用已取消",
            ErrorCode::CancelledSession => "会话已取消",
            ErrorCode::CancelledShutdown => "Toolyard 正在关闭，调用已取消",
            _ => "批次已取消",
        },
    };
    CallError::new(code, message)
}

/// Stands in the middle of a result that was cut. `whole` is the text before.
pub(crate) fn left_out(locale: Locale, whole: &str, reference: Option<&str>) -> String {
    let (chars, bytes) = (whole.chars().count(), whole.len());
    match (locale, reference) {
        (Locale::En, Some(reference)) => {
            format!("\n[… middle left out; {chars} characters ({bytes} bytes) in all, kept whole as {reference} …]\n")
        }
        (Locale::En, None) => format!("\n[… middle left out; {chars} characters ({bytes} bytes) in all …]\n"),
        (Locale::Zh, Some(reference)) => {
            format!("\n[… 中间部分已省略，全文共 {chars} 个字符（{bytes} 字节），完整内容见 {reference} …]\n")
        }
        (Locale::Zh, None) => format!("\n[… 中间部分已省略，全文共 {chars} 个字符（{bytes} 字节） …]\n"),
    }
}

pub(crate) fn panicked(locale: Locale) -> CallError {
    let message = match locale {
        Locale::En => "the tool failed with an internal error",
        Locale::Zh => "工具内部错误",
    };
    CallError::new(ErrorCode::ToolPanicked, message)
}

pub(crate) fn in_flight_limit(locale: Locale) -> CallError {
    let message = match locale {
        Locale::En => "too many calls are in flight; try again later",
        Locale::Zh => "正在执行的调用过多，请稍后再试",
    };
    CallError::new(ErrorCode::LimitInFlight, message)
}

pub(crate) fn batch_limit(locale: Locale, limit: usize) -> CallError {
    let message = match locale {
        Locale::En => format!("at most {limit} calls can be made at once; make this call again in the next turn"),
        Locale::Zh => format!("每次最多 {limit} 个调用，请在下一轮重新调用"),
    };
    CallError::new(ErrorCode::LimitBatch, message)
}

/// The result of a call of which the history has none.
pub(crate) fn not_executed(locale: Locale) -> &'static str {
    match locale {
        Locale::En => "not executed: no result was recorded for this call",
        Locale::Zh => "未执行：没有记录到该调用的结果",
    }
}

/// The longest JSON text of a result that is looked into for the text above: what is made here is short.
const MAX_NOT_EXECUTED: usize = 4096;

/// Whether a result, as JSON text, is what stands for want of one.
pub(crate) fn is_not_executed(raw: &str) -> bool {
    raw.len() <= MAX_NOT_EXECUTED
        && [Locale::En, Locale::Zh].into_iter().any(|locale| raw.contains(not_executed(locale)))
}
