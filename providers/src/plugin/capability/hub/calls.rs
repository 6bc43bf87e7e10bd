//! Statistics of calls: per tool and hour, bounded, in memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Plugins that are counted apart; further ones are counted together.
const MAX_PLUGINS: usize = 1024;
/// Tools of all plugins that are counted apart; further ones of a plugin are counted together.
const MAX_TOOLS: usize = 256;
/// Hours that are kept.
const KEPT_HOURS: u64 = 31 * 24;
/// Under what name further plugins and tools are counted.
const OTHERS: &str = "(other)";

/// Counts calls of tools by the hour.
#[derive(Debug, Default)]
pub(in super::super) struct CallLog {
    plugins: Mutex<BTreeMap<String, Arc<PluginCalls>>>,
    /// Tools that are counted apart, of all plugins.
    tools: Arc<AtomicUsize>,
}

/// The calls of one plugin, for all its incarnations: calls of different plugins never meet.
#[derive(Debug, Default)]
pub(in super::super) struct PluginCalls {
    tools: Mutex<BTreeMap<String, Hours>>,
    all_tools: Arc<AtomicUsize>,
}

/// Calls of one tool by the hour since 1970.
type Hours = BTreeMap<u64, Count>;

/// Calls within some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Count {
    pub(in super::super) calls: u64,
    pub(in super::super) errors: u64,
    pub(in super::super) duration: Duration,
}

/// Calls of one tool, in equal steps of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Trend {
    pub(in super::super) plugin: String,
    pub(in super::super) tool: String,
    pub(in super::super) counts: Vec<Count>,
}

/// Steps of time that end with the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Span {
    /// Hours since 1970 at which the first step begins.
    first: u64,
    hours_per_step: u64,
    steps: u64,
}

// === impl CallLog ===

impl CallLog {
    /// Where the calls of a plugin are counted. Further plugins than there is room for are counted together.
    pub(in super::super) fn of(&self, plugin: &str) -> Arc<PluginCalls> {
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = plugins.contains_key(plugin) || plugins.len() < MAX_PLUGINS;
        let name = if is_known { plugin } else { OTHERS };
        let new = || Arc::new(PluginCalls { all_tools: Arc::clone(&self.tools), ..PluginCalls::default() });
        Arc::clone(plugins.entry(name.to_owned()).or_insert_with(new))
    }

    /// The tools with the most calls within the span, most first, and all calls within it.
    pub(in super::super) fn trends(&self, span: Span, top: usize) -> (Vec<Trend>, Vec<Count>) {
        let steps = usize::try_from(span.steps).unwrap_or(0);
        let mut all = vec![Count::default(); steps];
        let mut trends = Vec::new();
        let plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (plugin, calls) in &plugins {
            for (tool, hours) in calls.tools().iter() {
                let mut counts = vec![Count::default(); steps];
                for (hour, count) in hours.range(span.first..) {
                    let step = usize::try_from((hour - span.first) / span.hours_per_step).unwrap_or(usize::MAX);
                    for counts in [&mut counts, &mut all] {
                        if let Some(sum) = counts.get_mut(step) {
                            sum.add(*count);
                        }
                    }
                }
                trends.push(Trend { plugin: plugin.clone(), tool: tool.clone(), counts });
            }
        }
        trends.retain(|trend| trend.calls() > 0);
        trends.sort_by_key(|trend| std::cmp::Reverse(trend.calls()));
        trends.truncate(top);
        (trends, all)
    }
}

// === impl PluginCalls ===

impl PluginCalls {
    /// Takes note of a finished call. Waits for no call of another plugin.
    pub(in super::super) fn record(&self, tool: &str, ok: bool, duration: Duration) {
        self.record_at(hour_now(), tool, ok, duration);
    }

    fn record_at(&self, hour: u64, tool: &str, ok: bool, duration: Duration) {
        let mut tools = self.tools();
        if let Some(hours) = tools.get_mut(tool) {
            return count(hours, hour, ok, duration);
        }
        let name = if self.all_tools.fetch_add(1, Ordering::Relaxed) < MAX_TOOLS {
            tool
        } else {
            self.all_tools.fetch_sub(1, Ordering::Relaxed);
            OTHERS
        };
        count(tools.entry(name.to_owned()).or_default(), hour, ok, duration);
    }

    fn tools(&self) -> MutexGuard<'_, BTreeMap<String, Hours>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(hours: &mut Hours, hour: u64, ok: bool, duration: Duration) {
    let count = hours.entry(hour).or_default();
    count.calls += 1;
    count.errors += u64::from(!ok);
    count.duration = count.duration.saturating_add(duration);
    while hours.first_key_value().is_some_and(|(first, _)| first + KEPT_HOURS <= hour) {
        hours.pop_first();
    }
}

// === impl Count ===

impl Count {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.duration = self.duration.saturating_add(other.duration);
    }
}

// === impl Trend ===

impl Trend {
    pub(in super::super) fn calls(&self) -> u64 {
        self.counts.iter().map(|count| count.calls).sum()
    }
}

// === impl Span ===

impl Span {
    /// The last `days` days, today among them, by the day or by the hour (UTC).
    pub(in super::super) fn last_days(days: u64, by_hour: bool) -> Self {
        Self::until(hour_now(), days, by_hour)
    }

    pub(in super::super) const fn until(hour: u64, days: u64, by_hour: bool) -> Self {
        let days = if days == 0 { 1 } else { days };
        let first = ((hour / 24) + 1).saturating_sub(days) * 24;
        if by_hour {
            Self { first, hours_per_step: 1, steps: hour + 1 - first }
        } else {
            Self { first, hours_per_step: 24, steps: (hour / 24) + 1 - first / 24 }
        }
    }

    /// When each step begins, as `2026-11-30` or `2026-11-30T07:00`.
    pub(in super::super) fn labels(self) -> Vec<String> {
        (0..self.steps).map(|step| label(self.first + step * self.hours_per_step, self.hours_per_step == 1)).collect()
    }
}

fn hour_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 3600)
}

/// The civil date of an hour since 1970, by the usual reckoning with years that begin in March.
fn label(hour: u64, by_hour: bool) -> String {
    let shifted = hour / 24 + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    if by_hour {
        return format!("{year:04}-{month:02}-{day:02}T{:02}:00", hour % 24);
    }
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(label(0, false), "1970-01-01");
        assert_eq!(label(19_782 * 24 + 23, true), "2024-02-29T23:00");
        assert_eq!(label(20_787 * 24, false), "2026-11-30");
    }

    #[test]
    fn calls_are_counted_by_the_day_and_by_the_hour() {
        let log = CallLog::default();
        let today = 20_787 * 24;
        log.of("p").record_at(today - 1, "a", true, SECOND);
        log.of("p").record_at(today + 2, "a", false, SECOND * 2);
        log.of("p").record_at(today + 2, "b", true, SECOND);
        let span = Span::until(today + 2, 2, false);
        let (trends, all) = log.trends(span, 1);
        assert_eq!(span.labels(), ["2026-11-29", "2026-11-30"]);
        let yesterday = Count { calls: 1, errors: 0, duration: SECOND };
        assert_eq!(trends.len(), 1, "only the first is asked for");
        assert_eq!(trends[0].tool, "a");
        assert_eq!(trends[0].counts, [yesterday, Count { calls: 1, errors: 1, duration: SECOND * 2 }]);
        assert_eq!(all.iter().map(|count| count.calls).collect::<Vec<_>>(), [1, 2]);
        let by_hour = Span::until(today + 2, 1, true);
        assert_eq!(by_hour.labels(), ["2026-11-30T00:00", "2026-11-30T01:00", "2026-11-30T02:00"]);
        assert_eq!(log.trends(by_hour, 9).1.last().unwrap().calls, 2);
    }

    #[test]
    fn old_hours_and_further_tools_and_plugins_cost_no_more_room() {
        let log = CallLog::default();
        let calls = log.of("p");
        for hour in 0..KEPT_HOURS * 2 {
            calls.record_at(hour, "a", true, SECOND);
        }
        for tool in 0..MAX_TOOLS * 2 {
            calls.record_at(1, &format!("t{tool}"), true, SECOND);
        }
        log.of("q").record_at(1, "a", true, SECOND);
        let tools = calls.tools();
        assert_eq!(tools.len(), MAX_TOOLS + 1);
        assert_eq!(u64::try_from(tools["a"].len()).unwrap(), KEPT_HOURS);
        assert_eq!(tools[OTHERS][&1].calls, 257);
        assert_eq!(log.of("q").tools().keys().collect::<Vec<_>>(), [OTHERS], "the limit is that of all plugins");
        drop(tools);
        for plugin in 0..MAX_PLUGINS * 2 {
            log.of(&plugin.to_string()).record_at(1, "a", true, SECOND);
        }
        assert_eq!(log.plugins.lock().unwrap().len(), MAX_PLUGINS + 1);
        let all = log.trends(Span::until(1, 1, false), usize::MAX).1;
        assert_eq!(all[0].calls, 2 * MAX_TOOLS as u64 + 1 + 2 * MAX_PLUGINS as u64);
    }

    #[test]
    fn a_call_waits_for_no_other_plugin_and_incarnations_count_together() {
        let log = CallLog::default();
        let (one, other) = (log.of("one"), log.of("other"));
        let held = one.tools();
        other.record_at(1, "a", true, SECOND);
        drop(held);
        log.of("one").record_at(1, "a", true, SECOND);
        one.record_at(1, "a", false, SECOND);
        let (trends, _) = log.trends(Span::until(1, 1, false), 9);
        let counts: Vec<_> = trends.iter().map(|trend| (&*trend.plugin, trend.calls())).collect();
        assert_eq!(counts, [("one", 2), ("other", 1)]);
    }
}
