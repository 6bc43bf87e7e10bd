use std::time::Duration;

use super::*;

type Found = (Option<(usize, usize)>, String, String);

fn errors(text: &str) -> Vec<Found> {
    let refused = reader::read("test.toml", text).unwrap_err();
    refused.errors().iter().map(|e| (e.place, e.section.clone(), e.message.clone())).collect()
}

#[test]
fn the_built_in_configuration_can_be_read() {
    let config = Config::demo().unwrap();
    let names: Vec<&str> = config.providers.iter().map(|provider| provider.name.as_str()).collect();
    assert_eq!(names, ["builtin", "demo", "scripted"]);
}

#[test]
fn every_mistake_is_found_at_once_with_its_place_and_a_suggestion() {
    let text = r#"
[server]
lisen = "127.0.0.1:1"
max_bodybytes = 3

[limts]

[[providers]]
name = "a"
kind = "scriptd"

[[providers]]
name = "b"
kind = "mcp"
comand = "x"
drain_ms = "soon"
"#;
    let found = errors(text);
    let places: Vec<_> = found.iter().map(|(place, _, _)| place.unwrap()).collect();
    assert!(places.starts_with(&[(3, 1), (4, 1), (6, 2), (10, 8), (15, 1), (16, 12)]), "{found:#?}");
    assert!(found[0].2.contains("did you mean `listen`"), "{}", found[0].2);
    assert!(found[2].2.contains("did you mean `limits`"), "{}", found[2].2);
    assert!(found[3].2.contains("did you mean `scripted`"), "{}", found[3].2);
    assert_eq!(found[4].1, "providers/1 (b)");
}

#[test]
fn keys_of_a_tool_are_checked_too() {
    let text = "[[providers]]\nname = \"s\"\nkind = \"scripted\"\n[[providers.tools]]\nname = \"t\"\nlatncy_ms = 1\n";
    let found = errors(text);
    assert_eq!(found[0].0, Some((6, 1)));
    assert!(found[0].2.contains("latency_ms"), "{}", found[0].2);
}

#[test]
fn keys_of_a_plugin_are_checked_and_it_gets_the_time_that_its_manifest_may_ask_for() {
    let found = errors("[[providers]]\nname = \"p\"\nkind = \"xbot\"\npath = \"p\"\ncomand = \"x\"\n");
    assert!(found[0].2.contains("did you mean `command`"), "{}", found[0].2);
    assert!(errors("[[providers]]\nname = \"p\"\nkind = \"xbot\"\n")[0].2.contains("missing key `path`"));
    let read = |extra: &str| {
        let text = format!("[[providers]]\nname = \"p\"\nkind = \"xbot\"\npath = \"p\"\n{extra}");
        reader::read("test.toml", &text).unwrap().providers[0].settings()
    };
    assert!(read("").start_timeout > Duration::from_secs(300));
    assert_eq!(read("start_timeout_ms = 10").start_timeout, Duration::from_millis(10));
    assert_eq!(read("deactivate_grace_ms = 1000").close_timeout, Duration::from_secs(6));
}

#[test]
fn syntax_errors_and_double_names_say_where() {
    assert_eq!(errors("[server\n")[0].0.unwrap().0, 1);
    let twice = "[[providers]]\nname = \"a\"\nkind = \"demo\"\n[[providers]]\nname = \"a\"\nkind = \"demo\"\n";
    assert_eq!(errors(twice)[0].0, Some((4, 1)));
}

#[test]
fn addresses_that_can_be_reached_from_outside_are_refused() {
    let found = errors("[server]\nlisten = \"0.0.0.0:7700\"\n");
    assert!(found[0].2.contains("loopback"), "{}", found[0].2);
}
