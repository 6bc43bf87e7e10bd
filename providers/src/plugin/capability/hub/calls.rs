//! Statistics of calls: per tool and hour, bounded, in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tools that are counted apart; further ones are counted together.
const MAX_TOOLS: usize = 256;
/// Hours that are kept.
const KEPT_HOURS: u64 = 31 * 24;
/// Under what name further tools are counted.
const OTHERS: &str = "(other)";

/// Counts calls of tools by the hour.
#[derive(Debug, Default)]
pub(in super::super) struct CallLog {
    tools: Mutex<BTreeMap<(String, String), BTreeMap<u64, Count>>>,
}

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
    pub(super) fn record(&self, plugin: &str, tool: &str, ok: bool, duration: Duration) {
        self.record_at(hour_now(), plugin, tool, ok, duration);
    }

    pub(in super::super) fn record_at(&self, hour: u64, plugin: &str, tool: &str, ok: bool, duration: Duration) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (plugin.to_owned(), tool.to_owned());
        if tools.len() >= MAX_TOOLS && !tools.contains_key(&key) {
            key = (OTHERS.to_owned(), OTHERS.to_owned());
        }
        let hours = tools.entry(key).or_default();
        let count = hours.entry(hour).or_default();
        count.calls += 1;
        count.errors += u64::from(!ok);
        count.duration = count.duration.saturating_add(duration);
        while hours.first_key_value().is_some_and(|(first, _)| first + KEPT_HOURS <= hour) {
            hours.pop_first();
        }
    }

    /// The tools with the most calls within the span, most first, and all calls within it.
    pub(in super::super) fn trends(&self, span: Span, top: usize) -> (Vec<Trend>, Vec<Count>) {
        let steps = usize::try_from(span.steps).unwrap_or(0);
        let mut all = vec![Count::default(); steps];
        let mut trends = Vec::new();
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        for ((plugin, tool), hours) in tools.iter() {
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
        drop(tools);
        trends.retain(|trend| trend.calls() > 0);
        trends.sort_by_key(|trend| std::cmp::Reverse(trend.calls()));
        trends.truncate(top);
        (trends, all)
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
        log.record_at(today - 1, "p", "a", true, SECOND);
        log.record_at(today + 2, "p", "a", false, SECOND * 2);
        log.record_at(today + 2, "p", "b", true, SECOND);
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
    fn old_hours_and_further_tools_cost_no_more_room() {
        let log = CallLog::default();
        for hour in 0..KEPT_HOURS * 2 {
            log.record_at(hour, "p", "a", true, SECOND);
        }
        for tool in 0..MAX_TOOLS * 2 {
            log.record_at(1, "p", &format!("t{tool}"), true, SECOND);
        }
        let tools = log.tools.lock().unwrap();
        assert_eq!(tools.len(), MAX_TOOLS + 1);
        let kept = tools[&("p".to_owned(), "a".to_owned())].len();
        assert_eq!(u64::try_from(kept).unwrap(), KEPT_HOURS);
        assert_eq!(tools[&(OTHERS.to_owned(), OTHERS.to_owned())][&1].calls, 257);
    }
}
