//! Gate: the tool is in the caller's allowed set, by role, rule, scene, platform and stage.

use std::borrow::Cow;

use super::{Caller, Gate, Refusal};
use crate::call::ToolExecutionContext;
use crate::policy::ToolNames;
use crate::registry::PreparedTool;
use crate::text;
use crate::tool::ToolScope;

/// The kind of provider that a paused scene leaves.
const BUILTIN: &str = "builtin";

pub(super) fn check(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    match why_not(tool, caller) {
        None => Ok(()),
        Some(reason) => Err(Gate::Allowed.refuse(text::not_allowed(caller.context.locale, &tool.spec.name, &reason))),
    }
}

fn why_not<'a>(tool: &PreparedTool, caller: &Caller<'a>) -> Option<Cow<'a, str>> {
    if caller.role.is_some_and(|allowed| !has(allowed, tool)) {
        return Some(format!("the role `{}` may not use it", caller.context.role).into());
    }
    if let Some(rule) = caller.denied.iter().find(|rule| has(&rule.tools, tool)) {
        return Some(rule.reason.as_deref().unwrap_or("policy forbids it").into());
    }
    if let Some(rule) = caller.scene_rule {
        if rule.paused && tool.handle.kind.as_str() != BUILTIN {
            return Some("this chat is paused".into());
        }
        if has(&rule.denied, tool) {
            return Some("it is switched off in this chat".into());
        }
    }
    if !caller.policy.enabled_in.is_empty()
        && caller
            .policy
            .enabled_in
            .get(&tool.handle.name)
            .is_some_and(|scenes| !scenes.iter().any(|scene| **scene == *caller.scene()))
    {
        return Some(format!("`{}` is not enabled in this chat", tool.handle.name).into());
    }
    if tool.spec.scope.is_everywhere() {
        return None;
    }
    outside(&tool.spec.scope, caller)
}

fn has(names: &ToolNames, tool: &PreparedTool) -> bool {
    names.contains(&tool.handle.name, tool.origin.tool_id.as_str(), &tool.wanted_name)
}

fn outside(scope: &ToolScope, caller: &Caller<'_>) -> Option<Cow<'static, str>> {
    let ToolExecutionContext { is_group_chat, platform, stage, .. } = &*caller.context;
    if scope.chats.is_some_and(|chats| !chats.covers(*is_group_chat)) {
        let kind = if *is_group_chat { "group" } else { "private" };
        return Some(format!("it is not for {kind} chats").into());
    }
    if !scope.platforms.is_empty() && !scope.platforms.iter().any(|name| name.eq_ignore_ascii_case(platform)) {
        return Some(format!("it is for {} only", scope.platforms.join(", ")).into());
    }
    if caller.is_model() && scope.stage.is_some_and(|wanted| wanted != *stage) {
        return Some("it belongs to another stage of the planner".into());
    }
    None
}
