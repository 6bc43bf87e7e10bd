//! The shape of the workspace: which crate may know which, and how long a file may be.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const MAX_LINES: usize = 400;

/// Each crate with what it may depend on.
const ARROWS: [(&str, &[&str]); 6] = [
    ("toolyard", &[]),
    ("toolyard-providers", &["toolyard"]),
    ("toolyard-server", &["toolyard", "toolyard-providers"]),
    ("toolyard-bench", &["toolyard", "toolyard-providers", "toolyard-server"]),
    ("toolyard-tests", &["toolyard", "toolyard-providers", "toolyard-server"]),
    ("xtask", &[]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn crates_only_know_what_the_design_lets_them_know() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    assert_eq!(packages.len(), ARROWS.len(), "a new crate needs its line here");
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let allowed = ARROWS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name} is new")).1;
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            let is_ours = ARROWS.iter().any(|(known, _)| *known == other);
            assert!(!is_ours || allowed.contains(&other), "{name} must not know {other}");
        }
    }
}

#[test]
fn only_the_actor_folder_names_kameo() {
    for (path, text) in sources() {
        let is_allowed = path.contains("engine/src/actor") || path.starts_with("tests/");
        let names_it = text.lines().any(|line| line.trim_start().starts_with("use kameo") || line.contains("kameo::"));
        assert!(is_allowed || !names_it, "{path} names kameo");
    }
}

#[test]
fn no_source_file_is_longer_than_a_reader_can_bear() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "{path} has {lines} lines");
        assert!(!path.ends_with("/mod.rs"), "{path}: modules are files of their own name");
    }
}

/// Every Rust file of the workspace.
fn sources() -> Vec<(String, String)> {
    let output = Command::new("git").args(["ls-files", "*.rs"]).current_dir(root()).output().unwrap();
    let files = String::from_utf8(output.stdout).unwrap();
    let found: Vec<_> = files
        .lines()
        // A file that was deleted and not yet committed is still listed.
        .filter_map(|path| Some((path.to_owned(), std::fs::read_to_string(root().join(path)).ok()?)))
        .collect();
    assert!(found.len() > 50, "the sources were not found");
    found
}
