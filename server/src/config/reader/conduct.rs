//! Reading what of `[policy]` is not about who: discovery, context, approvals, usage, retries.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use toolyard::{Policy, Retry, ToolNames, UsageLimit, UsagePer};

use super::{Reader, Section};
use crate::config::policy::{ApprovalKeys, ContextKeys, DiscoveryKeys, RetryKeys, UsageKey, UsageKeys};
use crate::config::provider::set_millis;

// === impl Reader ===

impl Reader<'_> {
    pub(super) fn discovery(&mut self, section: &str, value: Section<'_>, policy: &mut Policy) {
        let keys: DiscoveryKeys = self.section(section, value).unwrap_or_default();
        policy.discovery.undiscovered = keys.undiscovered;
        policy.discovery.ranking = keys.ranking;
        set(&mut policy.discovery.search_limit, keys.search_limit);
    }

    pub(super) fn context(&mut self, section: &str, value: Section<'_>, policy: &mut Policy) {
        let keys: ContextKeys = self.section(section, value).unwrap_or_default();
        set_millis(&mut policy.context.timeout, keys.timeout_ms);
        set(&mut policy.context.max_bytes, keys.max_bytes);
    }

    pub(super) fn approvals(&mut self, section: &str, value: Section<'_>, policy: &mut Policy) {
        let keys: ApprovalKeys = self.section(section, value).unwrap_or_default();
        policy.approvals.mode = keys.mode.unwrap_or_default();
        set_millis(&mut policy.approvals.timeout, keys.timeout_ms);
        set(&mut policy.approvals.max_pending, keys.max_pending);
        set(&mut policy.approvals.max_per_session, keys.max_per_session);
    }

    /// Counts go by name, so two limits of one name would share theirs.
    pub(super) fn usages(&mut self, section: &str, value: Section<'_>) -> Vec<UsageLimit> {
        let span = value.span();
        let limits = self.list(section, value, Self::usage);
        let mut seen = HashSet::new();
        for limit in limits.iter().filter(|limit| !seen.insert(Arc::clone(&limit.name))) {
            self.error(span.clone(), section, format!("there are two limits of the name `{}`", limit.name));
        }
        limits
    }

    fn usage(&mut self, section: &str, value: Section<'_>) -> Option<UsageLimit> {
        let span = value.span();
        let keys: UsageKeys = self.section(section, value)?;
        if keys.rate.is_none() && keys.calls_per_day.is_none() {
            self.error(span, section, "limits nothing: give `rate`, `calls_per_day`, or both".to_owned());
        }
        let has = |key| keys.per.contains(&key);
        let [tenant, user, tool, provider] =
            [UsageKey::Tenant, UsageKey::User, UsageKey::Tool, UsageKey::Provider].map(has);
        let tools = match &keys.tools {
            Some(names) => self.names(section, names),
            None => ToolNames::all(),
        };
        let per = UsagePer { tenant, user, tool, provider };
        let mut limit = UsageLimit::new(keys.name.get_ref().as_str(), per, tools);
        if let Some(rate) = keys.rate {
            if *rate.window_ms.get_ref() == 0 {
                self.error(rate.window_ms.span(), section, "`window_ms` must be at least 1".to_owned());
            }
            limit = limit.with_rate(rate.calls, Duration::from_millis(*rate.window_ms.get_ref()));
        }
        Some(match keys.calls_per_day {
            Some(calls) => limit.with_quota(calls),
            None => limit,
        })
    }

    /// Retries are off unless the table stands there.
    pub(super) fn retry(&mut self, section: &str, value: Section<'_>) -> Option<Retry> {
        let keys: RetryKeys = self.section(section, value)?;
        let mut retry = Retry::default();
        set(&mut retry.max_attempts, keys.max_attempts);
        set_millis(&mut retry.first_wait, keys.first_wait_ms);
        Some(retry)
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use toolyard::{Ranking, ToolNames};

    use super::super::read;
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let refused = read("test.toml", text).unwrap_err();
        refused.errors().iter().map(|error| format!("{}: {}", error.section, error.message)).collect()
    }

    #[test]
    fn the_configuration_that_the_document_shows_is_read() {
        let document = include_str!("../../../../docs/policy.md");
        let shown = document.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let config = read("policy.md", shown).unwrap();
        let [limit] = &config.rules.usage[..] else { panic!("{:?}", config.rules.usage) };
        assert_eq!((&*limit.name, limit.quota), ("searches of a user", Some(200)));
        assert_eq!(limit.rate.map(|rate| (rate.calls, rate.window)), Some((10, Duration::from_secs(60))));
        assert_eq!(limit.per, UsagePer { tenant: true, user: true, ..UsagePer::default() });
        assert_eq!(config.retry, Some(Retry::default()));
        assert_eq!(config.rules.context, Policy::default().context);
        assert_eq!(config.rules.approvals, Policy::default().approvals);
        assert_eq!(config.rules.discovery, Policy::default().discovery);
    }

    #[test]
    fn what_is_not_said_is_as_it_is_by_itself() {
        let config = read("test.toml", "").unwrap();
        assert_eq!((config.rules, config.retry), (Policy::default(), None));
        let maibot =
            "[policy]\nordered = [\"*\"]\n[policy.discovery]\nundiscovered = \"allow\"\nranking = \"lenbot\"\n";
        let rules = read("test.toml", maibot).unwrap().rules;
        assert_eq!((rules.ordered, rules.discovery.ranking), (ToolNames::all(), Ranking::LenBot));
    }

    #[test]
    fn limits_that_limit_nothing_and_times_that_are_none_are_mistakes() {
        let text = "[[policy.usage]]\nname = \"a\"\n[[policy.usage]]\nname = \"b\"\nrate = { calls = 1, window_ms = 0 }\n\
                    [policy.retry]\nmax_attempts = 0\n[policy.discovery]\nsearch_limit = 0\n";
        let found = errors(text);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.iter().any(|error| error.contains("limits nothing")), "{found:?}");
        assert!(found.iter().any(|error| error.contains("`window_ms`")), "{found:?}");
        let twice = "[[policy.usage]]\nname = \"a\"\ncalls_per_day = 1\n".repeat(2);
        assert!(errors(&twice)[0].contains("two limits of the name `a`"));
    }
}
