//! A caller and a policy with a rule of each kind, all of which let the caller's calls pass.

use std::time::Duration;

use toolyard::{DenyRule, Policy, SceneRule, ToolExecutionContext, ToolNames, UsageLimit, UsagePer};

use crate::Setup;

/// A member of a group, under a tenant.
pub fn caller() -> ToolExecutionContext {
    ToolExecutionContext {
        tenant: "tenant".to_owned(),
        stream_id: "stream".to_owned(),
        group_id: "group".to_owned(),
        is_group_chat: true,
        user_id: "user".to_owned(),
        platform: "qq".to_owned(),
        role: "member".to_owned(),
        ..ToolExecutionContext::default()
    }
}

/// A list of the setup's tools for the caller's role, a rule against others, a rule for the caller's scene.
pub fn rules(setup: &Setup) -> Policy {
    let mut policy = Policy::default();
    let tools: Vec<String> = (0..setup.tools).map(|number| setup.tool(number)).collect();
    policy.roles.insert("member".into(), ToolNames::new(tools.iter().map(String::as_str)));
    let mut denied = DenyRule::new(ToolNames::new(["p9.*"]));
    denied.role = Some("member".into());
    policy.denied.push(denied);
    let mut scene = SceneRule::default();
    scene.denied = ToolNames::new(["p9.tool"]);
    policy.scenes.insert("stream".into(), scene);
    policy
}

/// A rate and a daily quota on every call, neither ever reached.
pub fn usage() -> Policy {
    let per_user = UsagePer { user: true, tool: true, ..UsagePer::default() };
    let limit = UsageLimit::new("all", per_user, ToolNames::all());
    let mut policy = Policy::default();
    policy.usage = vec![limit.with_rate(u32::MAX, Duration::from_secs(60)).with_quota(u32::MAX)];
    policy
}
