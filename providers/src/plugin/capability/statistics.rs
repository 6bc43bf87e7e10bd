//! `statistics.local.tool_trend`: calls of tools, as this daemon has run them.
//!
//! Models, tokens, messages and the bot's time online are the bot's to count: those capabilities are passed on to it.

use serde::Deserialize;
use serde_json::{Value, json};
use toolyard::JsonText;

use super::ask::{Ask, Refusal};
use super::hub::{Count, PluginHub, Span, Trend};
use super::reply::success;

const MAX_DAYS: i64 = 31;
const MAX_TOOLS: usize = 100;

#[derive(Debug, Deserialize)]
struct Wanted {
    #[serde(default)]
    days: Option<i64>,
    #[serde(default)]
    bucket: Option<String>,
    #[serde(default)]
    top_tools: Option<i64>,
}

pub(super) fn tool_trend(hub: &PluginHub, ask: &Ask) -> Result<JsonText, Refusal> {
    let Wanted { days, bucket, top_tools } = ask.read()?;
    let days = days.unwrap_or(7).clamp(1, MAX_DAYS);
    let bucket = bucket.filter(|bucket| !bucket.is_empty()).unwrap_or_else(|| "day".to_owned());
    if !["day", "hour"].contains(&bucket.as_str()) {
        return Err(Refusal::bad_payload(format!("`bucket` is `day` or `hour`, not `{bucket}`")));
    }
    let top = usize::try_from(top_tools.unwrap_or(10).max(1)).unwrap_or(MAX_TOOLS).min(MAX_TOOLS);
    let span = Span::last_days(days.unsigned_abs(), bucket == "hour");
    let (trends, all) = hub.calls.trends(span, top);
    let total: Vec<u64> = all.iter().map(|count| count.calls).collect();
    let series = json!({
        "bucket": bucket,
        "days": days,
        "labels": span.labels(),
        "total": total.iter().sum::<u64>(),
        "values": total,
        "items": trends.iter().map(item).collect::<Vec<Value>>(),
    });
    Ok(success("series", JsonText::from(series)))
}

fn item(trend: &Trend) -> Value {
    let of = |value: fn(&Count) -> u64| trend.counts.iter().map(value).collect::<Vec<u64>>();
    let millis: u128 = trend.counts.iter().map(|count| count.duration.as_millis()).sum();
    let average = millis / u128::from(trend.calls().max(1));
    json!({
        "name": trend.tool,
        "plugin": trend.plugin,
        "total": trend.calls(),
        "values": of(|count| count.calls),
        "errors": of(|count| count.errors),
        "average_ms": u64::try_from(average).unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plugin::capability::desk::tests::ask;

    #[test]
    fn calls_of_today_are_in_the_last_step() {
        let hub = PluginHub::default();
        hub.calls.of("p").record("draw", true, Duration::from_millis(40));
        hub.calls.of("p").record("draw", false, Duration::from_millis(60));
        hub.calls.of("p").record("look", true, Duration::from_millis(1));
        let answer = tool_trend(&hub, &ask("statistics.local.tool_trend", r#"{"days":3,"top_tools":1}"#)).unwrap();
        let series = answer.to::<Value>().unwrap()["series"].clone();
        assert_eq!(series["labels"].as_array().unwrap().len(), 3);
        assert_eq!(series["values"], json!([0, 0, 3]));
        let draw = json!({"name": "draw", "plugin": "p", "total": 2, "values": [0, 0, 2], "errors": [0, 0, 1], "average_ms": 50});
        assert_eq!(series["items"], json!([draw]));
    }

    #[test]
    fn wishes_are_bounded_and_unknown_steps_refused() {
        let hub = PluginHub::default();
        let wish = r#"{"days":100000,"bucket":"hour","top_tools":-5}"#;
        let answer = tool_trend(&hub, &ask("statistics.local.tool_trend", wish)).unwrap();
        let labels = answer.to::<Value>().unwrap()["series"]["labels"].as_array().unwrap().len();
        assert!((30 * 24..=31 * 24).contains(&labels), "{labels}");
        let refused = tool_trend(&hub, &ask("statistics.local.tool_trend", r#"{"bucket":"year"}"#)).unwrap_err();
        assert_eq!(refused.code, "E_BAD_PAYLOAD");
    }
}
