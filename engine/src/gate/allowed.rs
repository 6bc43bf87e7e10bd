//! Gate: the tool is in the caller's allowed set, by role, rule, scene, platform and stage.

use super::{Caller, Gate, Refusal};
use crate::call::ToolExecutionContext;
use crate::registry::PreparedTool;
use crate::text::{self, NotAllowed};
use crate::tool::ToolScope;

/// The kind of provider that a paused scene leaves.
const BUILTIN: &str = "builtin";

#[inline]
pub(super) fn check(tool: &PreparedTool, caller: &Caller<'_>) -> Result<(), Refusal> {
    match why_not(tool, caller) {
        None => Ok(()),
        Some(why) => Err(Gate::Allowed.refuse(text::not_allowed(caller.context.locale, &tool.spec.name, why))),
    }
}

fn why_not<'a>(tool: &'a PreparedTool, caller: &'a Caller<'_>) -> Option<NotAllowed<'a>> {
    if caller.role.is_some_and(|allowed| !tool.is_in(allowed)) {
        return Some(NotAllowed::Role(&caller.context.role));
    }
    if let Some(rule) = caller.denied.iter().find(|rule| tool.is_in(&rule.tools)) {
        return Some(NotAllowed::Rule(rule.reason.as_deref()));
    }
    for rule in caller.scene_rules.into_iter().flatten() {
        if rule.paused && tool.handle.kind.as_str() != BUILTIN {
            return Some(NotAllowed::Paused);
        }
        if tool.is_in(&rule.denied) {
            return Some(NotAllowed::SwitchedOff);
        }
    }
    if !caller.is_where(&tool.handle.name) {
        return Some(NotAllowed::NotEnabled(&tool.handle.name));
    }
    if tool.spec.scope.is_everywhere() {
        return None;
    }
    outside(&tool.spec.scope, caller)
}

fn outside<'a>(scope: &'a ToolScope, caller: &Caller<'_>) -> Option<NotAllowed<'a>> {
    let ToolExecutionContext { is_group_chat, platform, stage, .. } = &*caller.context;
    if scope.chats.is_some_and(|chats| !chats.covers(*is_group_chat)) {
        return Some(NotAllowed::Chats { is_group: *is_group_chat });
    }
    if !scope.platforms.is_empty() && !scope.platforms.iter().any(|name| name.eq_ignore_ascii_case(platform)) {
        return Some(NotAllowed::Platforms(&scope.platforms));
    }
    if caller.is_model() && scope.stage.is_some_and(|wanted| wanted != *stage) {
        return Some(NotAllowed::Stage);
    }
    None
}
