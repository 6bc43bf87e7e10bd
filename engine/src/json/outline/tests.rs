use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;

/// What an outline says of a document, read by serde level by level.
fn hold(raw: &RawValue, node: Node<'_>) {
    assert_eq!(node.raw(), raw.get());
    let items: Option<Vec<&RawValue>> = serde_json::from_str(raw.get()).ok();
    let members: Option<IndexMap<String, &RawValue>> = serde_json::from_str(raw.get()).ok();
    assert_eq!((node.is_list(), node.is_object()), (items.is_some(), members.is_some()), "{raw}");
    assert_eq!(node.text().as_deref(), serde_json::from_str::<String>(raw.get()).ok().as_deref());
    let outlined = node.items().unwrap_or_default();
    assert_eq!(outlined.len(), items.as_ref().map_or(0, Vec::len));
    for (item, outlined) in items.into_iter().flatten().zip(outlined) {
        hold(item, outlined);
    }
    let outlined = node.members_but(&[]);
    assert_eq!(outlined.len(), members.as_ref().map_or(0, IndexMap::len));
    for ((key, value), (own_key, own)) in members.into_iter().flatten().zip(outlined) {
        assert_eq!(key, own_key);
        hold(value, own);
        assert_eq!(node.get(&key).map(Node::raw), Some(own.raw()));
        assert!(node.members_but(&[&key]).iter().all(|(other, _)| *other != key));
    }
    assert!(node.get("never").is_none());
}

/// Valid JSON with keys that repeat, white space, escapes and brackets in its strings.
pub(crate) fn any_json() -> impl Strategy<Value = String> {
    let space = || prop::sample::select(vec!["", "", " ", "\n\t", " \r\n"]);
    let string = prop::sample::select(vec![
        r#""""#,
        r#""a""#,
        r#""\u0061""#,
        r#""{[,:\\""#,
        r#""\"]}\\\"""#,
        r#""图\ud83d\ude00\/""#,
        r#""a plain text that is longer than one chunk, and one more""#,
    ]);
    let word = prop::sample::select(vec!["null", "true", "-0.50", "1e400", "123456789012345678901"]);
    let leaf = prop_oneof![word.prop_map(str::to_owned), string.clone().prop_map(str::to_owned)];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let item =
            (space(), inner.clone(), space()).prop_map(|(before, value, after)| format!("{before}{value}{after}"));
        let member = (space(), string.clone(), space(), item.clone())
            .prop_map(|(before, key, after, value)| format!("{before}{key}{after}:{value}"));
        prop_oneof![
            (space(), prop::collection::vec(item, 0..4)).prop_map(|(none, items)| match items.is_empty() {
                true => format!("[{none}]"),
                false => format!("[{}]", items.join(",")),
            }),
            (space(), prop::collection::vec(member, 0..4)).prop_map(|(none, members)| match members.is_empty() {
                true => format!("{{{none}}}"),
                false => format!("{{{}}}", members.join(",")),
            }),
        ]
    })
}

/// Tokens of JSON, good and bad, in any order.
fn soup() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", " ", "\n", "\u{b}", "\u{a0}", "\"", "\"a\"", "\\", "\\u", "00e9", "\\n", "\\x",
        "a", "\u{1}", "0", "-", "1", "12", ".", "5", "e", "E", "+", "null", "nul", "true", "false", "图",
    ]);
    prop::collection::vec(token, 0..10).prop_map(|tokens| tokens.concat())
}

/// JSON that was changed in one place.
fn nearly_json() -> impl Strategy<Value = String> {
    let (at, change) = (any::<prop::sample::Index>(), soup());
    (any_json(), at, 0..3_usize, change).prop_map(|(json, at, taken, change)| {
        let at = at.index(json.chars().count() + 1);
        let head: String = json.chars().take(at).collect();
        let tail: String = json.chars().skip(at + taken).collect();
        format!("{head}{change}{tail}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_json_is_what_serde_says(json in prop_oneof![soup(), nearly_json()]) {
        let read: Result<&RawValue, _> = serde_json::from_str(&json);
        match (Outline::parse(&json), read) {
            (Ok(outline), Ok(raw)) => prop_assert_eq!(outline.root().raw(), raw.get()),
            (Err(own), Err(theirs)) => prop_assert_eq!(own.to_string(), theirs.to_string()),
            (own, theirs) => prop_assert!(false, "{} {} {}", json, own.is_ok(), theirs.is_ok()),
        }
    }
}

proptest! {
    #[test]
    fn an_outline_says_what_serde_reads_level_by_level(json in any_json()) {
        let raw: &RawValue = serde_json::from_str(&json).unwrap();
        hold(raw, Outline::parse(&json).unwrap().root());
    }
}

#[test]
fn depth_costs_no_stack_and_a_key_that_is_no_text_costs_no_other() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(Outline::parse(&deep).unwrap().root().items().unwrap().len(), 1);
    let outline = Outline::of(r#"{"\ud800": 1, "a": 2}"#);
    assert_eq!(outline.root().get("a").unwrap().raw(), "2");
    assert_eq!(outline.root().members_but(&[])[0].0, "\u{fffd}");
    let many: Vec<String> = (0..100).map(|n| format!(r#""{}":{n}"#, n % 40)).collect();
    let many = format!("{{{}}}", many.join(","));
    hold(serde_json::from_str(&many).unwrap(), Outline::of(&many).root());
}
