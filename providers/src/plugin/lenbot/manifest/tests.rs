use super::*;

const MANIFEST: &str = r#"
name = "counter"
version = "1.0.0"
interface = 1
requires_lenbot = ">=0.2,<1"
requires_python = ">=3.13"
platforms = ["linux", "darwin", "win32"]
reload = "plugin"
authors = ["Somebody"]
license = "MIT"
description = "Counts."
"#;

fn config() -> LenBotConfig {
    serde_json::from_str(r#"{"path": "counter"}"#).unwrap()
}

fn parse(text: &str) -> Result<LenBotManifest, String> {
    LenBotManifest::parse(text, "counter", &config())
}

#[test]
fn the_required_keys_are_enough_and_the_optional_ones_are_known() {
    let manifest = parse(MANIFEST).unwrap();
    assert_eq!(manifest.name, "counter");
    let more = "repository = \"x\"\nhomepage = \"y\"\ndependencies = [\"httpx>=0.27\"]\ndata_version = 3\n\
                [model]\ninstructions = \"prompts/tools.md\"\n[config.step]\ntype = \"integer\"\n";
    let manifest = parse(&format!("{MANIFEST}{more}")).unwrap();
    assert_eq!(manifest.document["model"]["instructions"], "prompts/tools.md");
    assert!(manifest.config.contains_key("step"));
}

#[test]
fn every_missing_key_is_named() {
    for key in REQUIRED {
        let text: String =
            MANIFEST.lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect();
        assert_eq!(parse(&text).unwrap_err(), format!("plugin.toml lacks {key}"));
    }
    let two = parse("interface = 1\nname = \"counter\"").unwrap_err();
    assert!(two.contains("version, requires_lenbot"), "{two}");
}

#[test]
fn what_breaks_a_rule_is_refused_with_the_rule() {
    for (from, to, expected) in [
        ("\"counter\"", "\"Counter\"", "the name `Counter` has other characters than a-z, 0-9 and _"),
        ("\"counter\"", "\"mcp\"", "the name `mcp` is reserved"),
        ("\"counter\"", "\"other\"", "the name `other` is not the folder's, `counter`"),
        ("\"1.0.0\"", "\"one\"", "the version `one` is no version by PEP 440"),
        ("interface = 1", "interface = 2", "interface 2 is not supported; only 1 is"),
        ("interface = 1", "interface = \"1\"", "interface \"1\" is not supported; only 1 is"),
        ("\">=0.2,<1\"", "\">=1\"", "requires_lenbot `>=1` does not admit 0.9.0; lenbot_version is configurable"),
        ("\">=0.2,<1\"", "\"new\"", "requires_lenbot `new` is no version specifier by PEP 440"),
        ("\">=3.13\"", "\">=3.14\"", "requires_python `>=3.14` does not admit 3.13.0; python_version is configurable"),
        ("[\"linux\", \"darwin\", \"win32\"]", "[\"linux\", \"beos\"]", "there is no platform `beos`"),
        ("[\"linux\", \"darwin\", \"win32\"]", "[]", "it does not run on"),
        ("[\"Somebody\"]", "[]", "authors names nobody"),
        ("\"MIT\"", "\" \"", "license is empty"),
        ("reload = \"plugin\"", "reload = \"never\"", "never"),
        ("license = \"MIT\"", "license = \"MIT\"\nlicence = \"MIT\"", "licence"),
        ("license = \"MIT\"", "license = \"MIT\"\ndata_version = 0", "data_version begins at 1"),
    ] {
        let error = parse(&MANIFEST.replace(from, to)).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_bad_declaration_is_named_by_its_place() {
    let error = parse(&format!("{MANIFEST}[config.step]\ntype = \"string\"\nminimum = 1\n")).unwrap_err();
    assert_eq!(error, "plugin.toml: config.step: only numbers have a range");
}

#[test]
fn pre_releases_and_compatible_versions_are_read_by_pep_440() {
    let mut config = config();
    for (claimed, wanted, is_admitted) in [
        ("0.2.0", "~=0.2", true),
        ("0.3.0", "~=0.2.0", false),
        ("0.2.5", "!=0.2.5", false),
        ("0.2", "==0.2.*", true),
        ("0.2.0", "", true),
    ] {
        config.lenbot_version = claimed.to_owned();
        let text = MANIFEST.replace(">=0.2,<1", wanted);
        assert_eq!(LenBotManifest::parse(&text, "counter", &config).is_ok(), is_admitted, "{claimed} {wanted}");
    }
}
