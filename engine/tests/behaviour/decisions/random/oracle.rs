//! The rules, read off a case one after another. Each refusal is known by some of its words.

use toolyard::{Actor, ChatScope, Decision, Effect, SourceMessages, Undiscovered, Visibility};

use super::case::{Case, PROVIDERS, Tool};

type Refusal = Option<&'static str>;

/// What a call of the tool is refused with.
pub(super) fn calling(case: &Case, tool: &Tool) -> Refusal {
    let is_over = is_model(case) && case.session.as_ref().is_some_and(|before| before.stopped);
    let over = is_over.then_some("the turn is over");
    let loaded = if case.undiscovered == Undiscovered::Allow { None } else { unfound(case, tool, case.all_loaded) };
    over.or_else(|| allowed(case, tool))
        .or(loaded)
        .or_else(|| actor(case, tool))
        .or_else(|| source(case, tool))
        .or_else(|| effect(case, tool))
        .or_else(|| asks(case, tool))
}

/// Why the tool is not listed. Calls may be refused for their arguments, their message and their turn besides.
pub(super) fn listing(case: &Case, tool: &Tool) -> Refusal {
    let loaded = unfound(case, tool, false);
    let before_it = if case.undiscovered == Undiscovered::Allow { None } else { loaded };
    allowed(case, tool).or(before_it).or_else(|| actor(case, tool)).or(loaded).or_else(|| effect(case, tool))
}

pub(super) fn decision(case: &Case, tool: &Tool) -> Decision {
    match case.context.actor {
        Actor::User => Decision::Allow,
        Actor::Model => case.model.of(tool.spec.effect),
        Actor::Scheduler => case.scheduler.of(tool.spec.effect),
    }
}

fn is_model(case: &Case) -> bool {
    case.context.actor == Actor::Model
}

fn has(names: &[&str], tool: &Tool) -> bool {
    let provider = PROVIDERS[tool.provider].0;
    let is_meant =
        |name: &&str| *name == "*" || *name == tool.name || *name == tool.id() || *name == format!("{provider}.*");
    names.iter().any(is_meant)
}

fn allowed(case: &Case, tool: &Tool) -> Refusal {
    let (provider, kind) = PROVIDERS[tool.provider];
    let (context, scope) = (&case.context, &tool.spec.scope);
    let of_role = |wanted: &str| case.roles.iter().find(|(role, _)| *role == wanted).map(|(_, names)| names);
    let role = of_role(&context.role).or_else(|| of_role("*"));
    let is_denied = case.denied.iter().any(|rule| {
        has(&rule.names, tool)
            && rule.user.is_none_or(|user| user == context.user_id)
            && rule.role.is_none_or(|role| role == context.role)
            && rule.actor.is_none_or(|actor| actor == context.actor)
    });
    let scene = context.group_id.as_str();
    // A call that names no scene is in none, whatever an operator calls one.
    let is_here = |name: &str| !scene.is_empty() && name == scene;
    let is_off = case.denied_in.iter().any(|(name, names)| is_here(name) && has(names, tool));
    let is_elsewhere =
        case.enabled_in.iter().any(|(name, scenes)| *name == provider && !scenes.iter().any(|name| is_here(name)));
    let is_other_chat = scope.chats.is_some_and(|chats| (chats == ChatScope::Group) != context.is_group_chat);
    let platform = context.platform.to_lowercase();
    [
        (tool.spec.withheld.is_some(), "withheld until"),
        (role.is_some_and(|names| !has(names, tool)), "role"),
        (is_denied, "policy forbids it"),
        (kind != "builtin" && case.paused.iter().any(|name| is_here(name)), "paused"),
        (is_off, "switched off in this chat"),
        (is_elsewhere, "not enabled in this chat"),
        (is_other_chat, "it is not for"),
        (!scope.platforms.is_empty() && !scope.platforms.contains(&platform), "it is for"),
        (is_model(case) && scope.stage.is_some_and(|stage| stage != context.stage), "another stage"),
    ]
    .into_iter()
    .find_map(|(is_so, said)| is_so.then_some(said))
}

fn unfound(case: &Case, tool: &Tool, all_loaded: bool) -> Refusal {
    let on_demand = tool.spec.flags.on_demand;
    let has_to_be_found = on_demand || tool.spec.visibility == Some(Visibility::Deferred);
    let before = case.session.as_ref().filter(|_| has_to_be_found && is_model(case) && !all_loaded)?;
    let is_found =
        before.tools.contains(&tool.name) || (on_demand && before.providers.contains(&PROVIDERS[tool.provider].0));
    (!is_found).then_some("is not loaded")
}

fn actor(case: &Case, tool: &Tool) -> Refusal {
    if case.context.actor == Actor::User {
        return None;
    }
    if tool.spec.flags.user_only {
        return Some("only the user");
    }
    (tool.spec.visibility == Some(Visibility::Hidden)).then_some("is hidden")
}

/// The parameter is required, so that its absence is a matter of the arguments.
fn source(case: &Case, tool: &Tool) -> Refusal {
    if !tool.spec.flags.needs_source {
        return None;
    }
    if !case.names_message {
        return Some("source_message_id");
    }
    match &case.session {
        None => Some("belongs to no session"),
        Some(before) => match before.message_in {
            None => Some("no such message"),
            Some(turn) if turn != "1" && case.source_messages == SourceMessages::Turn => Some("not of this turn"),
            Some(_) => None,
        },
    }
}

fn effect(case: &Case, tool: &Tool) -> Refusal {
    let decided = (case.context.actor, decision(case, tool));
    let is_denied = matches!(decided, (_, Decision::Deny) | (Actor::Scheduler, Decision::Ask));
    is_denied.then_some("is not allowed here")
}

fn asks(case: &Case, tool: &Tool) -> Refusal {
    let is_tainted = is_model(case) && case.session.as_ref().is_some_and(|before| before.tainted);
    let lasts = matches!(tool.spec.effect, Some(Effect::Write | Effect::Money | Effect::Public));
    let waits = decision(case, tool) == Decision::Ask || (is_tainted && lasts);
    waits.then_some("needs the user's approval")
}
