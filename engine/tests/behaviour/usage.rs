//! Limits on how often: rates and daily quotas, for whom they count, and what a refusal says.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use toolyard::CallStatus::{Overloaded, RateLimited, UnknownTool};
use toolyard::{
    Actor, BatchOutcome, CallResult, ErrorCode, Executed, FunctionTool, Locale, Policy, ToolBatch,
    ToolExecutionContext, ToolNames, ToolRegistry, UsageLimit, UsagePer,
};

use crate::fixture::{
    HOUR, OK, Probe, batch, call, codes, hanging, limits, ms, provider, registry, registry_with, run, saying, settings,
    statuses, until,
};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);
const ALL: UsagePer = UsagePer { tenant: false, user: false, tool: false, provider: false };

async fn limited(
    usage: impl IntoIterator<Item = UsageLimit>,
    tools: impl IntoIterator<Item = FunctionTool>,
) -> ToolRegistry {
    let registry = registry(tools).await;
    let noon = UNIX_EPOCH + 20_000 * DAY + DAY / 2;
    registry.set_wall_clock(move || noon);
    limit(&registry, usage);
    registry
}

fn limit(registry: &ToolRegistry, usage: impl IntoIterator<Item = UsageLimit>) {
    let mut policy = Policy::default();
    policy.usage = usage.into_iter().collect();
    registry.set_policy(policy);
}

fn of(name: &str, per: UsagePer, tools: &str) -> UsageLimit {
    UsageLimit::new(name, per, ToolNames::new([tools]))
}

fn context(change: impl FnOnce(&mut ToolExecutionContext)) -> Arc<ToolExecutionContext> {
    let mut context = ToolExecutionContext::default();
    change(&mut context);
    Arc::new(context)
}

async fn run_as(registry: &ToolRegistry, tools: &[&str], context: &Arc<ToolExecutionContext>) -> BatchOutcome {
    registry.dispatch(batch(tools.iter().copied()).with_context(Arc::clone(context))).await
}

fn error(result: &CallResult) -> (ErrorCode, Option<Duration>, String) {
    let error = result.error.as_ref().unwrap();
    (error.code, error.retry_after, error.message.to_string())
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_a_rate_are_refused_until_the_window_has_slid() {
    let registry = limited([of("r", ALL, "*").with_rate(3, MINUTE)], [saying("say", "hi")]).await;
    let outcome = run(&registry, ["say"; 2]).await;
    assert_eq!(statuses(&outcome), [OK; 2]);
    tokio::time::advance(MINUTE / 2).await;
    let outcome = run(&registry, ["say"; 3]).await;
    assert_eq!(statuses(&outcome), [OK, RateLimited, RateLimited]);
    let (code, retry_after, message) = error(&outcome.results[1]);
    assert_eq!((code, retry_after), (ErrorCode::LimitRate, Some(MINUTE / 2)));
    assert!(message.contains("`say`") && message.contains("3 calls in 60 s") && message.contains("30 s"), "{message}");
    assert_eq!(outcome.results[1].executed, Executed::No);
    assert_eq!(serde_json::to_value(&outcome.results[1]).unwrap()["error"]["retry_after_ms"], 30_000);
    tokio::time::advance(MINUTE / 2).await;
    assert_eq!(statuses(&run(&registry, ["say"; 3]).await), [OK, OK, RateLimited]);
}

#[tokio::test(start_paused = true)]
async fn a_daily_quota_is_renewed_at_midnight_by_utc() {
    let registry = limited([of("q", ALL, "*").with_quota(1)], [saying("say", "hi")]).await;
    let context = context(|context| context.locale = Locale::Zh);
    let outcome = run_as(&registry, &["say", "say"], &context).await;
    assert_eq!(statuses(&outcome), [OK, RateLimited]);
    let (code, retry_after, message) = error(&outcome.results[1]);
    assert_eq!((code, retry_after), (ErrorCode::LimitQuota, Some(12 * HOUR)));
    assert!(message.contains("配额已用完") && message.contains("43200 秒"), "{message}");
    registry.set_wall_clock(|| UNIX_EPOCH + 20_001 * DAY);
    assert_eq!(statuses(&run_as(&registry, &["say"], &context).await), [OK]);
}

#[tokio::test(start_paused = true)]
async fn each_tenant_user_tool_and_provider_has_what_the_limit_says() {
    let per = |tenant, user, tool, provider| UsagePer { tenant, user, tool, provider };
    let cases = [
        // Who calls what after (tenant a, user u, tool `p.one`) has used its call up.
        (per(true, false, false, false), [false, false, true, false, false]),
        (per(false, true, false, false), [false, true, true, false, false]),
        (per(false, false, true, false), [false, false, false, true, true]),
        (per(false, false, false, true), [false, false, false, false, true]),
        (per(true, false, true, false), [false, false, true, true, true]),
    ];
    for (per, expected) in cases {
        let registry = limited([of("l", per, "*").with_quota(1)], ["one", "two"].map(|name| saying(name, "hi"))).await;
        registry.register(provider("other", [saying("three", "hi")]), settings(|_| ())).await.unwrap();
        let who = |tenant: &str, user: &str| {
            context(|context| (context.tenant, context.user_id) = (tenant.to_owned(), user.to_owned()))
        };
        assert_eq!(statuses(&run_as(&registry, &["one"], &who("a", "u")).await), [OK]);
        let calls = [("a", "u", "one"), ("a", "v", "one"), ("b", "u", "one"), ("a", "u", "two"), ("a", "u", "three")];
        for ((tenant, user, tool), passes) in calls.into_iter().zip(expected) {
            let mut batch = batch([tool]).with_context(who(tenant, user));
            batch.calls.truncate(1);
            let would = registry.check(&batch);
            assert_eq!(would[0].runs, passes, "{per:?} {tenant} {user} {tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_tools_of_a_limit_count_whoever_calls_them() {
    let registry = limited([of("l", ALL, "p.one").with_quota(3)], ["one", "two"].map(|name| saying(name, "hi"))).await;
    for actor in [Actor::Model, Actor::User, Actor::Scheduler] {
        let outcome = run_as(&registry, &["two", "one", "two"], &context(|context| context.actor = actor)).await;
        assert_eq!(statuses(&outcome), [OK; 3]);
    }
    let person = context(|context| context.actor = Actor::User);
    assert_eq!(statuses(&run_as(&registry, &["one", "two"], &person).await), [RateLimited, OK]);
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_refused_for_something_else_use_nothing() {
    let registry = limited(
        [of("rate", ALL, "*").with_rate(2, MINUTE), of("quota", ALL, "p.scarce").with_quota(0)],
        ["say", "scarce"].map(|name| saying(name, "hi")),
    )
    .await;
    let calls = vec![
        call("a", "nothing"),
        call("b", "scarce"),
        toolyard::ToolCall::new("c", "say", toolyard::RawArguments::text("[]")),
        call("d", "scarce"),
        call("e", "say"),
        call("f", "say"),
        call("g", "say"),
    ];
    let outcome = registry.dispatch(ToolBatch::new(calls)).await;
    let invalid = toolyard::CallStatus::InvalidArguments;
    assert_eq!(statuses(&outcome), [UnknownTool, RateLimited, invalid, RateLimited, OK, OK, RateLimited]);
    let (quota, rate) = (Some(ErrorCode::LimitQuota), Some(ErrorCode::LimitRate));
    assert_eq!([codes(&outcome)[1], codes(&outcome)[3], codes(&outcome)[6]], [quota, quota, rate]);
}

#[tokio::test(start_paused = true)]
async fn calls_that_find_no_room_to_run_get_back_what_they_were_charged() {
    let probe = Probe::default();
    let one = std::num::NonZeroUsize::new(1);
    let settings = settings(|settings| (settings.max_in_flight, settings.max_queued) = (one, 0));
    let registry = registry_with(limits(|limits| limits.max_in_flight = 2), settings, [hanging("hang", &probe)]).await;
    limit(&registry, [of("l", ALL, "*").with_quota(2)]);
    let holder = registry.start(batch(["hang"])).await.unwrap();
    until("it hangs", || probe.inside() == 1).await;
    for _ in 0..5 {
        // The first finds the provider's queue full, the second no room in the engine.
        assert_eq!(statuses(&run(&registry, ["hang"; 2]).await), [Overloaded; 2]);
    }
    holder.cancel();
    holder.outcome().await.unwrap();
    let last = batch(["hang"; 1]).with_deadline(ms(5));
    assert_eq!(statuses(&registry.dispatch(last).await), [toolyard::CallStatus::Timeout]);
    assert_eq!(statuses(&run(&registry, ["hang"]).await), [RateLimited]);
}

#[tokio::test(start_paused = true)]
async fn calls_that_waited_for_their_turn_and_never_had_it_use_nothing() {
    let probe = Probe::default();
    let registry = limited([], [hanging("hang", &probe)]).await;
    let mut policy = Policy::default();
    policy.usage = vec![of("l", ALL, "*").with_quota(3)];
    policy.ordered = ToolNames::all();
    registry.set_policy(policy);
    let late = || registry.dispatch(batch(["hang"; 3]).with_deadline(ms(5)));
    assert_eq!(statuses(&late().await), [toolyard::CallStatus::Timeout; 3]);
    assert_eq!(probe.entered(), 1);
    let [timeout, limited] = [toolyard::CallStatus::Timeout, RateLimited];
    assert_eq!(statuses(&late().await), [timeout, timeout, limited], "one of three is used up");
}

#[tokio::test(start_paused = true)]
async fn a_look_at_a_batch_uses_nothing_and_what_was_used_outlives_a_change_of_policy() {
    let registry = limited([of("l", ALL, "*").with_quota(2)], [saying("say", "hi")]).await;
    for _ in 0..5 {
        assert!(registry.check(&batch(["say"]))[0].runs);
    }
    assert_eq!(statuses(&run(&registry, ["say"]).await), [OK]);
    limit(&registry, [of("new", ALL, "*").with_quota(5), of("l", ALL, "*").with_quota(2)]);
    assert_eq!(statuses(&run(&registry, ["say"; 2]).await), [OK, RateLimited]);
    assert!(!registry.check(&batch(["say"]))[0].runs);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_at_the_same_time_share_exactly_what_there_is() {
    let per = UsagePer { tenant: true, ..ALL };
    let limits = [of("rate", ALL, "*").with_rate(70, HOUR), of("quota", per, "*").with_quota(40)];
    let registry = limited(limits, [saying("say", "hi")]).await;
    let tasks: Vec<_> = (0..20)
        .map(|index| {
            let registry = registry.clone();
            let context = context(|context| context.tenant = format!("t{}", index % 2));
            tokio::spawn(async move { statuses(&run_as(&registry, &["say"; 10], &context).await) })
        })
        .collect();
    let mut passed = 0;
    for task in tasks {
        passed += task.await.unwrap().into_iter().filter(|status| *status == OK).count();
    }
    assert_eq!(passed, 70, "of 2 times 40 and 70 in all");
}
