use toolyard::Visibility;

use super::*;

fn dialect(mut config: Value) -> MaiBotDialect {
    let folder = tempfile::tempdir().unwrap();
    config["path"] = json!(folder.path());
    std::fs::write(folder.path().join("plugin.py"), "").unwrap();
    let manifest = json!({
        "manifest_version": 2, "id": "someone.search", "version": "1.4.0", "name": "搜索", "description": "d",
        "author": {"name": "someone", "url": "https://example.org"}, "license": "MIT",
        "urls": {"repository": "https://example.org/search"},
        "host_application": {"min_version": "1.0.0", "max_version": "1.0.0"},
        "sdk": {"min_version": "2.0.0", "max_version": "2.99.99"},
        "dependencies": [{"type": "python_package", "name": "httpx", "version_spec": ">=0.24"}],
        "capabilities": ["send.text"], "i18n": {"default_locale": "zh-CN"}
    });
    std::fs::write(folder.path().join("_manifest.json"), manifest.to_string()).unwrap();
    MaiBotDialect::read(serde_json::from_value(config).unwrap()).unwrap()
}

#[test]
fn the_runner_is_told_what_it_needs_of_the_manifest() {
    assert_eq!(
        dialect(json!({})).options(),
        json!({"id": "someone.search", "version": "1.4.0", "packages": [{"name": "httpx", "version_spec": ">=0.24"}],
            "host_version": "1.2.1", "sdk_version": "2.16.0"})
    );
}

#[test]
fn a_loaded_plugin_has_its_tools_its_remarks_and_its_permissions() {
    let dialect = dialect(json!({"default_visibility": "visible"}));
    let loaded = dialect
        .read(&json!({"warnings": ["httpx is not installed"], "components": [
            {"name": "search", "type": "TOOL", "metadata": {"description": "搜索"}},
            {"name": "hello", "type": "COMMAND", "metadata": {}}]}))
        .unwrap();
    assert_eq!((dialect.id(), loaded.version.as_str(), loaded.tools.len()), ("someone.search", "1.4.0", 1));
    assert_eq!(loaded.tools[0].visibility, Some(Visibility::Visible));
    let warnings: Vec<&str> = loaded.remarks.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert_eq!(warnings[1], "httpx is not installed");
    let capabilities: Vec<String> = dialect.capabilities().unwrap().iter().cloned().collect();
    assert_eq!(capabilities, ["api.replace_dynamic", "send.text"]);
    assert_eq!(loaded.document["name"], "搜索");
    assert!(dialect.read(&json!({})).is_err());
}

#[test]
fn an_inactive_plugin_has_no_tools_and_says_why() {
    let document = json!({"components": [], "inactive": "`plugin.enabled` is false in config.toml"});
    let loaded = dialect(json!({})).read(&document).unwrap();
    assert!(loaded.tools.is_empty());
    assert!(loaded.remarks.warnings.iter().any(|warning| warning.message.contains("plugin.enabled")));
}

#[test]
fn permissions_can_be_left_to_the_plugin() {
    assert_eq!(dialect(json!({"enforce_capabilities": false})).capabilities(), None);
}

#[test]
fn a_call_carries_the_arguments_untouched() {
    let tool = ToolSpec::new("a", "b");
    let arguments = JsonText::parse(r#"{"id":653247040368672768123456789,"stream_id":""}"#).unwrap();
    let context: ToolExecutionContext = serde_json::from_value(json!({"stream_id": "s"})).unwrap();
    let body = dialect(json!({})).call(&tool, &arguments, &context, None);
    assert_eq!(body.arguments, arguments);
    assert_eq!(body.context.as_str(), r#"{"added":{"stream_id":"s","chat_id":"s"}}"#);
}

#[test]
fn results_and_failures_name_their_plugin() {
    let dialect = dialect(json!({}));
    let tool = ToolSpec::new("a", "b");
    let result = dialect.result(&tool, JsonText::parse(r#"{"value":"hi"}"#).unwrap());
    assert_eq!((result.content.as_str(), &result.metadata["plugin_id"]), ("hi", &json!("someone.search")));
    let raised = dialect.raised(&tool, "exception", "division by zero").unwrap();
    assert_eq!((raised.success, raised.error_message.as_deref()), (false, Some("division by zero")));
    assert_eq!(dialect.raised(&tool, "exception", "").unwrap().error_message.as_deref(), Some("插件工具执行失败"));
    assert_eq!(raised.metadata["plugin_id"], "someone.search");
}
