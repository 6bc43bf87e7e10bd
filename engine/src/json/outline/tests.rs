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
    let keys: Vec<&str> = members.iter().flat_map(IndexMap::keys).map(String::as_str).collect();
    assert_eq!(outlined.keys().map(|key| &**key).collect::<Vec<_>>(), keys);
    for (key, value) in members.into_iter().flatten() {
        hold(value, outlined[key.as_str()]);
        hold(value, node.get(&key).unwrap());
        assert_eq!(node.members_but(&[&key]).len(), keys_but(node, &key));
    }
    assert!(node.get("never").is_none());
}

fn keys_but(node: Node<'_>, key: &str) -> usize {
    node.members_but(&[]).keys().filter(|own| **own != key).count()
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

proptest! {
    #[test]
    fn an_outline_says_what_serde_reads_level_by_level(json in any_json()) {
        let raw: &RawValue = serde_json::from_str(&json).unwrap();
        hold(raw, Outline::of(&json).root());
    }
}

#[test]
fn depth_costs_no_stack_and_a_key_that_is_no_text_costs_no_other() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(Outline::of(&deep).root().items().unwrap().len(), 1);
    let outline = Outline::of(r#"{"\ud800": 1, "a": 2}"#);
    assert_eq!(outline.root().get("a").unwrap().raw(), "2");
    assert_eq!(outline.root().members_but(&[]).get_index_of("\u{fffd}"), Some(0));
}
