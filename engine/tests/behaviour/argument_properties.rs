//! Arguments of any kind: what runs unmended is what was written, and what was mended is said.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use toolyard::{
    CallPolicy, CheckedCall, Profile, RawArguments, RepairKind, ToolBatch, ToolCall, ToolRegistry, ToolSpec,
};

use crate::fixture::registry;

const TOOL: &str = "take";

/// A value as models write it, right or nearly right.
fn value() -> impl Strategy<Value = String> {
    let leaf = select(vec![
        "1",
        "-0",
        "5.0",
        "1.50",
        "1e2",
        "123456789012345678901234567890",
        "\"7\"",
        "\" true \"",
        "\"null\"",
        "true",
        "null",
        "\"\"",
        "\"a\\u00e9\\ud83c\\udf78\"",
        "\"a\\ud83d\"",
        "\"line\nbreak\"",
        "\"[1,\\\"2\\\"]\"",
        "\"{\\\"n\\\": \\\"3\\\"}\"",
        "NaN",
        "'x'",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = select(vec!["n", "s", "l", "o", "b", "x"]);
        let member = (key, inner.clone()).prop_map(|(key, value)| format!("\"{key}\": {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// The text of arguments, with what models and servers put around it.
fn written() -> impl Strategy<Value = String> {
    let key = select(vec!["n", "s", "l", "o", "b", "x"]);
    let object = prop::collection::vec((key, value()), 0..5)
        .prop_map(|members| members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect::<Vec<_>>())
        .prop_map(|members| format!("{{{}}}", members.join(", ")));
    let around =
        select(vec![("", ""), ("", ""), (" \n", " "), ("```json\n", "\n```"), ("", " done."), ("", ","), ("", "{}")]);
    let whole = (object, around, any::<bool>()).prop_map(|(object, (front, back), is_encoded)| {
        let text = if is_encoded { Value::from(object).to_string() } else { object };
        format!("{front}{text}{back}")
    });
    (whole, prop::option::weighted(0.1, any::<prop::sample::Index>())).prop_map(|(text, cut)| match cut {
        Some(cut) => text.chars().take(cut.index(text.len() + 1)).collect(),
        None => text,
    })
}

async fn tool() -> ToolRegistry {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"},
        "l": {"type": "array", "items": {"type": ["integer", "boolean"]}}, "b": {"type": "boolean"},
        "o": {"type": "object", "properties": {"n": {"type": "number"}}, "additionalProperties": false}}});
    registry([crate::fixture::saying(TOOL, "").map_spec(|_| ToolSpec::new(TOOL, "").with_parameters(schema))]).await
}

fn check(registry: &ToolRegistry, text: &str, policy: CallPolicy) -> CheckedCall {
    let call = ToolCall::new("c1", TOOL, RawArguments::text(text));
    registry.check(&ToolBatch::new(vec![call]).with_policy(policy)).remove(0)
}

fn hold(registry: &ToolRegistry, text: &str, policy: CallPolicy) {
    let checked = check(registry, text, policy);
    let Some(arguments) = &checked.arguments else {
        assert!(!checked.runs && checked.error.is_some(), "{text}");
        return;
    };
    let got = arguments.as_str();
    let value: Value = serde_json::from_str(got).unwrap();
    assert!(value.is_object(), "{text}");
    // Equal bytes, or else a repair that says why not.
    assert_eq!(checked.repairs.is_empty(), got == text.trim_ascii(), "{text} became {got}: {:?}", checked.repairs);
    let allowed = |kind: RepairKind| {
        policy.profile == Profile::Lenient
            || matches!(kind, RepairKind::EmptyArguments | RepairKind::NullOptional | RepairKind::Dropped)
    };
    assert!(checked.repairs.iter().all(|repair| allowed(repair.kind)), "{text}: {:?}", checked.repairs);
    // What was mended needs no mending; only where members are dropped may what held them be empty then.
    if policy.drop_empty_optionals {
        return;
    }
    let again = check(registry, got, policy);
    assert_eq!((again.arguments.as_ref(), again.repairs.len()), (Some(arguments), 0), "{text} became {got}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arguments_are_the_bytes_that_were_written_or_a_repair_says_why_not(
        texts in prop::collection::vec(written(), 1..8),
        strip_unknown in any::<bool>(),
        drop_empty_optionals in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let registry = runtime.block_on(tool());
        let _entered = runtime.enter();
        for text in texts {
            for profile in [Profile::Strict, Profile::Lenient] {
                hold(&registry, &text, CallPolicy { profile, strip_unknown, drop_empty_optionals, ..CallPolicy::default() });
            }
        }
    }
}
