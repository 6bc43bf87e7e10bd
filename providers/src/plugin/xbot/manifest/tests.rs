use serde_json::json;

use super::*;

fn parse(document: &Value) -> Result<Manifest, String> {
    Manifest::parse(&document.to_string())
}

fn with(key: &str, value: Value) -> Value {
    let mut document =
        json!({"id": "com.example.a", "version": "1.0.0", "runtime": "stdio", "entry": "python3 main.py"});
    document[key] = value;
    document
}

fn messages(manifest: &Manifest) -> Vec<&str> {
    manifest.warnings.iter().map(|warning| warning.message.as_str()).collect()
}

#[test]
fn a_whole_manifest_is_read_without_remarks() {
    let manifest = parse(&json!({
        "id": "com.example.python-hello", "name": "Python Hello", "version": "1.0.0", "description": "d", "author": "a",
        "runtime": "grpc", "entry": "python3  main.py -v", "activationEvents": ["onStart", "onTool:x"],
        "permissions": ["tools.register", "ui.themes"], "timeout": "1m30s",
        "contributes": {"tools": [{"name": "a", "description": "b", "inputSchema": {}}], "hooks": []},
    }))
    .unwrap();
    assert_eq!(messages(&manifest), [""; 0]);
    let args = vec!["main.py".to_owned(), "-v".to_owned()];
    assert_eq!(manifest.program, Program { command: "python3".to_owned(), args });
    assert_eq!(manifest.timeout, Duration::from_secs(90));
    assert_eq!((manifest.tools, manifest.request_ids), (vec!["a".to_owned()], false));
}

#[test]
fn both_spellings_mean_the_same_and_unknown_keys_are_reported() {
    let camel = parse(&with("requestIds", json!(true))).unwrap();
    let snake = parse(&with("request_ids", json!(true))).unwrap();
    assert!(camel.request_ids && snake.request_ids);
    assert_eq!(messages(&parse(&with("activation_events", json!(["onStart"]))).unwrap()), [""; 0]);
    let manifest = parse(&with("activationEvent", json!(["onStart"]))).unwrap();
    assert_eq!(messages(&manifest), ["unknown key `activationEvent` is ignored"]);
    let manifest = parse(&with("contributes", json!({"tols": [], "hooks": [{"event": "PreToolUse"}]}))).unwrap();
    assert_eq!(
        messages(&manifest),
        ["`contributes/hooks` is not used here: only tools are", "`contributes`: unknown key `tols` is ignored"]
    );
}

#[test]
fn what_cannot_be_run_is_refused_with_a_sentence() {
    for (key, value, part) in [
        ("id", json!("-x"), "`id` must be 1 to 128"),
        ("id", json!("a".repeat(129)), "`id` must be 1 to 128"),
        ("id", json!("a/b"), "`id` must be 1 to 128"),
        ("version", json!("1.0"), "three numbers"),
        ("version", json!("v1.0.0"), "three numbers"),
        ("version", json!("1.0.0-beta"), "three numbers"),
        ("runtime", json!("native"), "inside xbot itself"),
        ("runtime", Value::Null, "inside xbot itself"),
        ("runtime", json!("script"), "has no tools"),
        ("runtime", json!("wasm"), "not run by xbot either"),
        ("runtime", json!("jvm"), "unknown"),
        ("timeout", json!("6m"), "at most 5m"),
        ("timeout", json!("soon"), "at most 5m"),
        ("timeout", json!(30), "must be text"),
        ("sha256", json!("abc"), "64 hexadecimal"),
        ("permissions", json!("tools.register"), "must be a list"),
        ("contributes", json!({"tools": [{"name": "a"}]}), "contributes/tools/0 needs"),
        ("dependencies", json!([{"id": "a b"}]), "dependencies/0"),
        ("dependencies", json!([{"id": "a", "version": "newest"}]), "dependencies/0"),
    ] {
        let refused = parse(&with(key, value.clone())).unwrap_err();
        assert!(refused.contains(part), "{key} = {value}: {refused}");
    }
}

#[test]
fn unknown_permissions_events_and_dependencies_are_reported_and_harm_nothing() {
    let manifest = parse(&with("permissions", json!(["tools.register", "root"]))).unwrap();
    assert_eq!(messages(&manifest), ["`permissions`: there is no permission `root`"]);
    assert_eq!(manifest.why_no_tools(), None);
    let manifest = parse(&with("activationEvents", json!(["onTool:", "onHook:x"]))).unwrap();
    assert_eq!(messages(&manifest), ["`activation_events`: there is no event `onTool:`"]);
    let manifest = parse(&with("dependencies", json!([{"id": "b", "version": "^1.0.0"}, {"id": "c"}]))).unwrap();
    assert_eq!(
        messages(&manifest),
        ["it needs the plugin `b` ^1.0.0, which is not looked for", "it needs the plugin `c`, which is not looked for"]
    );
}

#[test]
fn tools_need_a_permission() {
    assert!(parse(&with("x", Value::Null)).unwrap().why_no_tools().unwrap().contains("'tools.register'"));
    assert_eq!(parse(&with("permissions", json!(["*"]))).unwrap().why_no_tools(), None);
}

#[test]
fn an_executable_goes_before_the_entry_and_is_not_cut() {
    let mut document = with("executable", json!("/opt/my python"));
    document["args"] = json!(["main.py", "a b"]);
    let program = parse(&document).unwrap().program;
    assert_eq!(program, Program { command: "/opt/my python".into(), args: vec!["main.py".into(), "a b".into()] });
}

#[test]
fn durations_are_read_as_go_writes_them() {
    for (text, millis) in [("30s", 30_000), ("1m30s", 90_000), ("1.5s", 1_500), ("250ms", 250), ("0", 30_000)] {
        assert_eq!(rules::timeout(text), Ok(Duration::from_millis(millis)), "{text}");
    }
    for text in ["", "30", "s", "1x", "-1s", "1e3s"] {
        assert!(rules::timeout(text).is_err(), "{text}");
    }
}
