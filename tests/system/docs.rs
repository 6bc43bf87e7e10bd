//! Every command that the documents show works.

use toolyard_tests::{Environment, in_time, run_cli};

/// Shown commands that start something that does not end, or that fetch something from the network: other tests run them.
const ELSEWHERE: [&str; 2] = ["", "dispatch examples/openai-batch.json"];

const DOCUMENTS: [&str; 4] = ["README.md", "docs/declarative.md", "docs/dialects.md", "docs/plugins-authors.md"];

#[tokio::test]
async fn every_shown_command_ends_well_and_prints_json() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut shown = 0;
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let commands = text.lines().filter_map(|line| line.strip_prefix("cargo run --release"));
        for command in commands.map(|rest| rest.trim_start_matches(" --").trim()) {
            if ELSEWHERE.contains(&command) {
                continue;
            }
            let at = |word: &str| match word.strip_prefix("examples/") {
                Some(file) => root.join("examples").join(file).to_str().unwrap().to_owned(),
                None => word.to_owned(),
            };
            let words: Vec<String> = command.split_whitespace().map(at).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let output = run_cli(&words).await;
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{document}: {command}: {errors}");
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
            shown += 1;
        }
    }
    assert!(shown >= 6, "the documents show commands: {shown}");
}

#[tokio::test]
async fn every_shown_command_of_the_load_generator_ends_well() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = std::fs::read_to_string(root.join("docs/loadgen.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut shown = 0;
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    for line in blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("loadgen ")) {
        // Those need a daemon at its usual address: other tests drive one.
        if line.contains("--url") {
            continue;
        }
        let command = line.split(" > ").next().unwrap().replace("bench/", &format!("{}/bench/", root.display()));
        let mut loadgen = tokio::process::Command::new(Environment::get().loadgen);
        loadgen.args(command.split_whitespace()).current_dir(folder.path()).kill_on_drop(true);
        let output = in_time("the end of loadgen", loadgen.output()).await.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {errors}");
        shown += 1;
    }
    assert!(shown >= 5, "the document shows commands: {shown}");
}
