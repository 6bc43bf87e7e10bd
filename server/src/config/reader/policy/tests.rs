use std::sync::Arc;
use std::time::Duration;

use toolyard::{ApprovalMode, Decision, EffectRules, Profile, SourceMessages, Undiscovered};

use super::super::read;
use super::*;

type Found = ((usize, usize), String, String);

fn errors(text: &str) -> Vec<Found> {
    let refused = read("test.toml", text).unwrap_err();
    refused.errors().iter().map(|e| (e.place.unwrap(), e.section.clone(), e.message.clone())).collect()
}

const WHOLE: &str = r#"
[policy]
profile = "strict"
lenient_names = true
source_messages = "scene"

[policy.effects]
model = { write = "allow", undeclared = "ask" }
scheduler = { read = "deny" }
[[policy.effects.choices]]
tenant = "t"
model = { money = "deny" }
[[policy.effects.choices]]
tenant = "t"
user = "u"
scheduler = { public = "allow" }

[policy.roles]
"*" = ["*"]
guest = ["notes.*", "weather", "tool_search"]

[[policy.denied]]
tools = ["rm"]
user = "bot1"
actor = "model"
reason = "not for bots"

[policy.scenes."onebot:group:1"]
paused = true
[policy.scenes.lounge]
denied = ["wallet.*"]

[policy.enabled_in]
notes = ["lounge"]

[policy.discovery]
undiscovered = "allow"
[policy.approvals]
mode = "wait"
timeout_ms = 60000

[[providers]]
name = "notes"
kind = "lenbot"
path = "x"
"#;

#[test]
fn every_part_of_a_policy_is_read() {
    let config = read("test.toml", WHOLE).unwrap();
    assert_eq!((config.policy.profile, config.policy.lenient_names), (Profile::Strict, true));
    let policy = config.rules;
    assert_eq!(policy.source_messages, SourceMessages::Scene);
    let usual = EffectRules::default();
    assert_eq!(policy.effects.model, EffectRules { write: Decision::Allow, undeclared: Decision::Ask, ..usual });
    assert_eq!(policy.effects.scheduler, EffectRules { read: Decision::Deny, ..usual });
    let mut effects = policy.effects.clone();
    effects.choose("t", None, Actor::Model, EffectChoices { money: Some(Decision::Deny), ..EffectChoices::default() });
    let allow = EffectChoices { public: Some(Decision::Allow), ..EffectChoices::default() };
    effects.choose("t", Some("u"), Actor::Scheduler, allow);
    assert_eq!(policy.effects, effects, "the choices of the tenant and its user are among them");
    assert_eq!(policy.roles["guest"], ToolNames::new(["notes.*", "weather", "tool_search"]));
    assert_eq!(policy.roles["*"], ToolNames::all());
    let rule = &policy.denied[0];
    assert_eq!(
        (rule.user.as_deref(), rule.actor, rule.reason.as_deref()),
        (Some("bot1"), Some(Actor::Model), Some("not for bots"))
    );
    assert_eq!((rule.tools.clone(), rule.tenant.as_deref()), (ToolNames::new(["rm"]), None));
    assert!(policy.scenes["onebot:group:1"].paused && !policy.scenes["lounge"].paused);
    assert_eq!(policy.scenes["lounge"].denied, ToolNames::new(["wallet.*"]));
    assert_eq!(policy.enabled_in["notes"], [Arc::from("lounge")]);
    assert_eq!(policy.discovery.undiscovered, Undiscovered::Allow);
    assert_eq!((policy.approvals.mode, policy.approvals.timeout), (ApprovalMode::Wait, Duration::from_secs(60)));
    assert_eq!(read("test.toml", "").unwrap().rules, Policy::default());
}

#[test]
fn every_mistake_is_found_at_once_with_its_place_and_a_suggestion() {
    let text = r#"
[policy]
profil = "strict"
source_messages = "chat"
efects = {}
[policy.effects]
modle = {}
model = { write = "alow", rad = "ask" }
[[policy.effects.choices]]
user = "u"
[policy.roles]
guest = ["no*", 7]
[[policy.denied]]
tools = []
[[policy.denied]]
tool = ["rm"]
[policy.scenes.lounge]
pause = true
[policy.approvals]
timeout_ms = 1
mode = "ask"
[policy.discovery]
undiscoverd = "allow"
"#;
    let found = errors(text);
    for ((line, column), section, said) in [
        ((3, 1), "policy", "did you mean `profile`"),
        ((4, 19), "policy", "unknown value `chat`"),
        ((5, 1), "policy", "did you mean `effects`"),
        ((7, 1), "policy/effects", "did you mean `model`"),
        ((8, 19), "policy/effects/model", "did you mean `allow`"),
        ((9, 1), "policy/effects/choices/0", "missing key `tenant`"),
        ((12, 17), "policy/roles/guest", "expected a string"),
        ((13, 1), "policy/denied/0", "nothing is denied"),
        ((16, 1), "policy/denied/1", "did you mean `tools`"),
        ((18, 1), "policy/scenes/lounge", "did you mean `paused`"),
        ((20, 14), "policy", "approvals.timeout_ms: must be 1000 to"),
        ((21, 8), "policy/approvals", "unknown value `ask`"),
        ((23, 1), "policy/discovery", "did you mean `undiscovered`"),
    ] {
        let is_there = |found: &Found| found.0 == (line, column) && found.1 == section && found.2.contains(said);
        assert!(found.iter().any(is_there), "{line}:{column} {section}: {said}\n{found:#?}");
    }
}

#[test]
fn names_that_can_match_nothing_are_refused() {
    for name in ["", "no*", "*.*", "a b", ".*", "**"] {
        let found = errors(&format!("[policy.roles]\nguest = [\"{name}\"]\n"));
        assert_eq!(found[0].0, (2, 10), "{name}");
        assert!(found[0].2.contains("names no tools"), "{found:?}");
    }
    for name in ["*", "a.*", "a.b", "查询", "a__b-c"] {
        assert!(read("test.toml", &format!("[policy.roles]\nguest = [\"{name}\"]\n")).is_ok(), "{name}");
    }
}

#[test]
fn a_role_with_tools_to_be_found_needs_the_tool_that_finds_them() {
    let providers = r#"
[[providers]]
name = "notes"
kind = "lenbot"
path = "x"
[[providers]]
name = "web"
kind = "mcp"
command = "x"
[[providers]]
name = "dice"
kind = "maibot"
path = "x"
default_visibility = "visible"
[[providers]]
name = "core"
kind = "builtin"
"#;
    let of = |names: &str| read("test.toml", &format!("[policy.roles]\nguest = [{names}]\n{providers}"));
    for names in [r#""notes.*""#, r#""notes.act""#, r#""web.*""#, r#""web__search""#, r#""core.finish", "web.fetch""#] {
        let refused = of(names).unwrap_err().to_string();
        assert!(refused.contains("policy/roles/guest") && refused.contains("allow `tool_search` too"), "{refused}");
    }
    for names in [
        r#""notes.*", "tool_search""#,
        r#""notes.*", "core.*""#,
        r#""notes.*", "core.tool_search""#,
        r#""*", "web.*""#,
        r#""dice.*""#,
        r#""notesbook.x""#,
        "",
    ] {
        assert!(of(names).is_ok(), "{names}");
    }
}

#[test]
fn the_documented_policy_can_be_read() {
    let text = include_str!("../../../../../docs/policy.md");
    let blocks: Vec<&str> = text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 1);
    let config = read("docs/policy.md", blocks[0]).unwrap();
    assert_eq!(config.rules.effects.model, EffectRules::default(), "what is shown as the default is it");
    let usual = Policy::default();
    assert_eq!((config.rules.source_messages, config.rules.discovery), (usual.source_messages, usual.discovery));
    assert_eq!(config.rules.approvals, usual.approvals);
}
