//! Sentences about limits, middleware and cached reads.

use std::time::Duration;

use super::short;
use crate::call::Locale;
use crate::policy::UsageLimit;
use crate::result::{CallError, ErrorCode};
use crate::usage::{LimitKind, OverLimit};

/// A call that one of the limits on how often refuses.
pub(crate) fn over_limit(locale: Locale, name: &str, limit: Option<&UsageLimit>, over: OverLimit) -> CallError {
    let name = short(name);
    let wait = seconds(over.retry_after);
    let (code, message) = match over.kind {
        LimitKind::Rate => {
            let rate = limit.and_then(|limit| limit.rate);
            let calls = rate.map_or(0, |rate| rate.calls);
            let window = rate.map_or(0, |rate| seconds(rate.window));
            let message = match locale {
                Locale::En => format!(
                    "the tool `{name}` was called too often: at most {calls} calls in {window} s are allowed; do not \
                     call it again before {wait} s have passed"
                ),
                Locale::Zh => {
                    format!("工具 {name} 调用过于频繁：{window} 秒内最多 {calls} 次，请在 {wait} 秒后再试")
                }
            };
            (ErrorCode::LimitRate, message)
        }
        LimitKind::Quota => {
            let calls = limit.and_then(|limit| limit.quota).unwrap_or(0);
            let message = match locale {
                Locale::En => format!(
                    "the daily quota of the tool `{name}` is used up: at most {calls} calls a day are allowed; it is \
                     renewed at 00:00 UTC, in {wait} s"
                ),
                Locale::Zh => format!("工具 {name} 今日的配额已用完：每天最多 {calls} 次，{wait} 秒后（UTC 零点）恢复"),
            };
            (ErrorCode::LimitQuota, message)
        }
    };
    CallError::new(code, message).retry_after(over.retry_after)
}

/// A middleware of the host failed, by a panic or at the end of its time.
pub(crate) fn middleware_failed(locale: Locale, name: &str, limit: Option<Duration>) -> String {
    let ms = limit.map(|limit| limit.as_millis());
    match (locale, ms) {
        (Locale::En, None) => format!("the call failed with an internal error in the middleware `{name}`"),
        (Locale::En, Some(ms)) => format!("the middleware `{name}` took longer than {ms} ms"),
        (Locale::Zh, None) => format!("中间件 {name} 内部错误，调用失败"),
        (Locale::Zh, Some(ms)) => format!("中间件 {name} 超过 {ms} 毫秒仍未完成"),
    }
}

/// A read that was asked for of a tool that may do more than read.
pub(crate) fn not_a_read(locale: Locale, name: &str) -> CallError {
    let name = short(name);
    let message = match locale {
        Locale::En => format!(
            "the tool `{name}` does not declare the effect `read`: its results are not shared; invoke it instead"
        ),
        Locale::Zh => format!("工具 {name} 未声明为只读（read），结果不能共享，请直接调用"),
    };
    CallError::new(ErrorCode::PolicyDenied, message)
}

/// Whole seconds, never fewer than it takes.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}
