use serde_json::{Value, json};

use super::*;

fn valid() -> Value {
    json!({
        "manifest_version": 2,
        "id": "someone.date-plugin",
        "version": "1.4.0",
        "name": "日期",
        "description": "查询日期",
        "author": {"name": "someone", "url": "https://example.org/someone"},
        "license": "MIT",
        "urls": {"repository": "https://example.org/someone/date"},
        "host_application": {"min_version": "1.0.0", "max_version": "1.99.99"},
        "sdk": {"min_version": "2.0.0", "max_version": "2.99.99"},
        "capabilities": ["send.text"],
        "i18n": {"default_locale": "zh-CN", "locales_path": "_locales", "supported_locales": ["zh-CN"]}
    })
}

fn with(pointer: &str, value: Value) -> Value {
    let mut manifest = valid();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    manifest.pointer_mut(parent).unwrap()[key] = value;
    manifest
}

fn without(key: &str) -> Value {
    let mut manifest = valid();
    manifest.as_object_mut().unwrap().shift_remove(key);
    manifest
}

fn config() -> MaiBotConfig {
    serde_json::from_value(json!({"path": "x"})).unwrap()
}

fn check(manifest: &Value) -> Result<Manifest, Vec<ManifestFault>> {
    rules::check(manifest, &config())
}

fn keys_of(manifest: &Value) -> Vec<String> {
    check(manifest).unwrap_err().into_iter().map(|fault| fault.key).collect()
}

#[test]
fn a_whole_manifest_is_read() {
    let manifest = check(&valid()).unwrap();
    assert_eq!((manifest.id.as_str(), manifest.version.to_string().as_str()), ("someone.date-plugin", "1.4.0"));
    assert_eq!((manifest.name.as_str(), manifest.plugin_type.as_str()), ("日期", "extension"));
    assert_eq!(manifest.capabilities.into_iter().collect::<Vec<_>>(), ["send.text"]);
    assert_eq!((manifest.packages, manifest.plugins, manifest.warnings), (vec![], vec![], vec![]));
}

#[test]
fn each_required_key_is_named_when_it_is_missing() {
    let required = [
        "id",
        "version",
        "name",
        "description",
        "author",
        "license",
        "urls",
        "host_application",
        "sdk",
        "capabilities",
        "i18n",
    ];
    for key in required {
        assert_eq!(keys_of(&without(key)), [key]);
    }
    assert_eq!(keys_of(&with("/author", json!({}))), ["author.name", "author.url"]);
    assert_eq!(keys_of(&with("/urls", json!({}))), ["urls.repository"]);
    assert_eq!(keys_of(&with("/sdk", json!({}))), ["sdk.min_version", "sdk.max_version"]);
    assert_eq!(keys_of(&with("/i18n", json!({}))), ["i18n.default_locale"]);
}

#[test]
fn every_fault_is_told_at_once() {
    let mut manifest = without("license");
    manifest["version"] = json!("1.4");
    manifest["colour"] = json!("red");
    manifest["author"]["url"] = json!("example.org");
    manifest["capabilities"] = json!(["send.text", 7]);
    assert_eq!(keys_of(&manifest), ["colour", "version", "license", "author.url", "capabilities[1]"]);
}

#[test]
fn unknown_keys_are_refused_at_the_top_and_told_further_down() {
    assert_eq!(keys_of(&with("/permissions", json!([]))), ["permissions"]);
    let manifest = check(&with("/author/mail", json!("a@example.org"))).unwrap();
    assert_eq!(manifest.warnings, ["`author.mail` is not read"]);
    for key in ["display", "changelog", "llm_providers", "plugin_type"] {
        let value = if key == "plugin_type" { json!("adapter") } else { json!([]) };
        check(&with(&format!("/{key}"), value)).unwrap();
    }
}

#[test]
fn ids_follow_the_pattern() {
    for id in ["a.b", "github.someone.date-plugin", "a_b-c", "A1.B2"] {
        assert_eq!(check(&with("/id", json!(id))).unwrap().id, id);
    }
    for id in ["date", "", ".a", "a.", "a..b", "a b.c", "a/b.c", "../a.b", "日期.插件", &"a.".repeat(100)] {
        assert_eq!(keys_of(&with("/id", json!(id))), ["id"], "{id}");
    }
}

#[test]
fn a_manifest_of_version_1_is_told_what_to_change_and_nothing_else() {
    let faults = check(&json!({"manifest_version": 1, "name": "x", "keywords": []})).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].message.contains("`host_application.min_version`"), "{}", faults[0].message);
    assert_eq!(keys_of(&json!({"manifest_version": 3})), ["manifest_version"]);
    assert_eq!(keys_of(&json!({"manifest_version": "2"})), ["manifest_version"]);
    assert_eq!(keys_of(&json!({})), ["manifest_version"]);
    assert_eq!(keys_of(&json!([])), [""]);
}

#[test]
fn the_hosts_range_is_lenient_in_patches_and_the_sdks_is_strict() {
    let host = |min: &str, max: &str| with("/host_application", json!({"min_version": min, "max_version": max}));
    let sdk = |min: &str, max: &str| with("/sdk", json!({"min_version": min, "max_version": max}));
    assert!(check(&host("1.0.0", "1.0.12")).unwrap().warnings.is_empty());
    let warned = check(&host("1.0.0", "1.0.0")).unwrap().warnings;
    assert!(warned[0].contains("1.0.12"), "{warned:?}");
    assert!(check(&host("1.1.0", "1.2.5")).unwrap().warnings.is_empty(), "1.2.1 is claimed as well");
    assert_eq!(keys_of(&host("2.0.0", "2.9.9")), ["host_application"]);
    assert_eq!(keys_of(&host("1.5.0", "1.0.0")), ["host_application"]);
    check(&sdk("2.16.0", "2.16.0")).unwrap();
    assert_eq!(keys_of(&sdk("2.0.0", "2.7.0")), ["sdk"]);
    assert_eq!(keys_of(&sdk("2.0", "2.99.99")), ["sdk.min_version"]);
}

#[test]
fn a_configured_claim_decides() {
    let config: MaiBotConfig = serde_json::from_value(json!({"path": "x", "host_version": "1.2.1"})).unwrap();
    let manifest = with("/host_application", json!({"min_version": "1.0.0", "max_version": "1.0.20"}));
    let faults = rules::check(&manifest, &config).unwrap_err();
    assert!(faults[0].message.contains("1.2.1 is claimed"), "{}", faults[0].message);
}

#[test]
fn dependencies_are_packages_or_plugins() {
    let manifest = check(&with(
        "/dependencies",
        json!([{"type": "python_package", "name": "httpx", "version_spec": ">=0.24.0"},
            {"type": "python_package", "name": "yaml"}, {"type": "plugin", "id": "a.b", "version_spec": ">=1.0.0"}]),
    ))
    .unwrap();
    let package = |name: &str, spec: &str| Package { name: name.into(), version_spec: spec.into() };
    assert_eq!(manifest.packages, [package("httpx", ">=0.24.0"), package("yaml", "")]);
    assert_eq!(manifest.plugins, ["a.b"]);
    for (dependencies, key) in [
        (json!({}), "dependencies"),
        (json!(["httpx"]), "dependencies[0]"),
        (json!([{"type": "npm", "name": "x"}]), "dependencies[0].type"),
        (json!([{"name": "x"}]), "dependencies[0].type"),
        (json!([{"type": "python_package"}]), "dependencies[0].name"),
        (json!([{"type": "plugin", "name": "x"}]), "dependencies[0].id"),
        (json!([{"type": "plugin", "id": "someone.date-plugin"}]), "dependencies[0].id"),
    ] {
        assert_eq!(keys_of(&with("/dependencies", dependencies)), [key]);
    }
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let read = || Manifest::read(folder.path(), &config());
    assert!(read().unwrap_err().to_string().contains("there is no plugin.py"));
    std::fs::write(folder.path().join("plugin.py"), "").unwrap();
    assert!(read().unwrap_err().to_string().contains("_manifest.json: the file cannot be read"));
    std::fs::write(folder.path().join(FILE), "{").unwrap();
    assert!(read().unwrap_err().to_string().contains("is not JSON"));
    std::fs::write(folder.path().join(FILE), format!("\u{feff}{}", valid())).unwrap();
    assert_eq!(read().unwrap().id, "someone.date-plugin");
    std::fs::write(folder.path().join(FILE), without("license").to_string()).unwrap();
    assert!(read().unwrap_err().to_string().ends_with("_manifest.json: `license` is missing"));
    std::fs::write(folder.path().join(FILE), " ".repeat(2 << 20)).unwrap();
    assert!(read().unwrap_err().to_string().contains("larger than"));
}
