//! The rules of single fields.

use std::time::Duration;

use serde_json::Value;

/// Time to activate where a manifest does not say.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_TIMEOUT: Duration = Duration::from_secs(300);
const MAX_ID: usize = 128;
const EVENTS: [&str; 3] = ["onTool:", "onHook:", "onCommand:"];

pub(super) fn check_id(id: &str) -> Result<(), String> {
    let begins_well = id.starts_with(|first: char| first.is_ascii_alphanumeric());
    let is_plain = id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    if begins_well && is_plain && id.len() <= MAX_ID {
        return Ok(());
    }
    Err(format!(
        "`id` must be 1 to {MAX_ID} letters, digits, `.`, `_` and `-`, beginning with a letter or digit; it is {id:?}"
    ))
}

pub(super) fn check_version(version: &str) -> Result<(), String> {
    let parts: Vec<&str> = version.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.len() <= 19 && part.bytes().all(|b| b.is_ascii_digit());
    if parts.len() == 3 && parts.iter().all(is_number) {
        return Ok(());
    }
    Err(format!("`version` must be three numbers such as 1.0.0; it is {version:?}"))
}

pub(super) fn check_runtime(runtime: &str) -> Result<(), String> {
    let why = match runtime {
        "stdio" | "grpc" => return Ok(()),
        "native" => "is Go code inside xbot itself and cannot be run here; plugins with runtime `stdio` or `grpc` can",
        "script" => "only writes the text of a widget and has no tools",
        "wasm" => "is not run by xbot either",
        _ => "is unknown; use `stdio`",
    };
    Err(format!("its runtime `{runtime}` {why}"))
}

/// A duration as Go writes it, such as `1m30s`.
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`timeout` must be a duration such as 30s, at most 5m; it is {text:?}");
    let duration = go_duration(text.trim()).ok_or_else(wrong)?;
    if duration.is_zero() {
        Ok(DEFAULT_TIMEOUT)
    } else {
        (duration <= MAX_TIMEOUT).then_some(duration).ok_or_else(wrong)
    }
}

fn go_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?)?;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

pub(super) fn sha256(text: &str) -> Result<String, String> {
    let hex = text.trim().to_ascii_lowercase();
    let hex = hex.strip_prefix("sha256:").unwrap_or(&hex);
    if hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(hex.to_owned());
    }
    Err("`sha256` must be 64 hexadecimal digits".to_owned())
}

/// Every plugin is activated when it is started, whatever event it names.
pub(super) fn unknown_event(event: &str) -> Option<String> {
    let is_known = event == "onStart"
        || EVENTS.iter().any(|prefix| event.strip_prefix(prefix).is_some_and(|name| !name.is_empty()));
    (!is_known).then(|| format!("`activation_events`: there is no event `{event}`"))
}

/// Checks how dependencies are written; whether they are there is for the operator to see to.
pub(super) fn dependencies(dependencies: &[Value]) -> Result<Vec<String>, String> {
    let mut warnings = Vec::new();
    for (index, dependency) in dependencies.iter().enumerate() {
        let broken = |reason: String| format!("dependencies/{index}: {reason}");
        let text = |key: &str| dependency.get(key).and_then(Value::as_str);
        let id = text("id").ok_or_else(|| broken("`id` is missing".to_owned()))?;
        check_id(id).map_err(broken)?;
        let version = text("version").unwrap_or_default();
        check_constraint(version).map_err(broken)?;
        let wanted = if version.is_empty() { format!("`{id}`") } else { format!("`{id}` {version}") };
        warnings.push(format!("it needs the plugin {wanted}, which is not looked for"));
    }
    Ok(warnings)
}

/// `1.0.0`, `^1.0.0`, `~1.2`, `>=2.0.0`, `1.x`, `*`; empty is any.
fn check_constraint(version: &str) -> Result<(), String> {
    let number = version.trim().trim_start_matches(['^', '~', '>', '<', '=']).trim_start();
    let is_part =
        |part: &str| matches!(part, "x" | "*") || (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    let parts: Vec<&str> = number.split('.').collect();
    if version.trim().is_empty() || (parts.len() <= 3 && parts.into_iter().all(is_part)) {
        return Ok(());
    }
    Err(format!("`version` must be such as 1.0.0, ^1.0.0, >=2.0.0, 1.x or *; it is {version:?}"))
}
