//! What scenarios are read, and what is wrong with the others.

use std::time::Duration;

use super::way::Wait;
use super::*;

fn faults(text: &str) -> Vec<String> {
    Scenario::parse(text).unwrap_err().to_string().lines().map(str::to_owned).collect()
}

#[test]
fn the_least_scenario_runs_one_tool_that_does_nothing() {
    let scenario = Scenario::parse("[target]\nkind = \"embedded\"\n").unwrap();
    assert_eq!((scenario.tools.len(), scenario.batches.len(), scenario.phases.len()), (1, 1, 1));
    assert_eq!((scenario.tools[0].name.as_str(), scenario.batches[0].calls, scenario.seed), ("noop", 1, 1));
    assert!(!scenario.load.is_open());
}

#[test]
fn every_mistake_is_told_at_once_with_its_line_and_what_was_meant() {
    let text = "[target]\nkind = \"embeded\"\n[load]\nsesions = 4\nrampp_s = 1\nduration_s = 0.0\n\
                [[batches]]\ncalls = 0\n[[tools]]\nname = \"a\"\nclas = \"io\"\n[objektives]\n";
    let faults = faults(text);
    let has = |place: &str, said: &str| {
        let found =
            faults.iter().any(|fault| fault.starts_with(&format!("test.toml:{place}:")) && fault.contains(said));
        assert!(found, "{place} {said}: {faults:#?}");
    };
    has("2:8", "did you mean `embedded`?");
    has("4:1", "did you mean `sessions`?");
    has("5:1", "did you mean `ramp_s`?");
    has("8:1", "calls: must be 1 to 65536, not 0");
    has("11:1", "did you mean `class`?");
    has("12:2", "did you mean `objectives`?");
}

#[test]
fn numbers_out_of_range_and_keys_that_contradict_each_other_are_mistakes() {
    let text = "[target]\nkind = \"http\"\nurl = \"http://user:secret@host\"\nmode = \"start\"\n\
                [load]\nrate = 10.0\nthink_ms = 5\nduration_s = 0.0\nramp_s = 2\n\
                [[batches]]\ncalls = 1\ntools = [\"serch\"]\n\
                [[tools]]\nname = \"search\"\n[[tools.mix]]\nmin_ms = 5\n[[tools.mix]]\nend = \"panic\"\ncpu_us = 3\n";
    let faults = faults(text);
    let all = faults.join("\n");
    for said in [
        "url: must not hold a user",
        "mode: is only for",
        "think_ms: means nothing",
        "duration_s: must be 0.1",
        "ramp_s: must be 0 to 0",
        "did you mean `search`?",
        "a larger `max_ms`",
        "end: only the embedded",
        "cpu_us: a daemon's",
    ] {
        assert!(all.contains(said), "{said}\n{all}");
    }
    assert!(!all.contains("secret"), "{all}");
}

#[test]
fn each_way_of_a_mix_is_a_tool_and_a_daemon_is_told_of_all() {
    let text = "[target]\nkind = \"http\"\nurl = \"http://127.0.0.1:1\"\n[[batches]]\ncalls = 200\n\
                [[tools]]\nname = \"search\"\nprovider = \"p\"\nclass = \"io\"\nweight = 2\ntimeout_ms = 300\n\
                [[tools.mix]]\nweight = 3\nms = 10\n[[tools.mix]]\nend = \"hang\"\n\
                [[tools]]\nname = \"theirs\"\nexternal = true\n";
    let scenario = Scenario::parse(text).unwrap();
    let found: Vec<(&str, f64)> = scenario.tools.iter().map(|tool| (tool.name.as_str(), tool.weight)).collect();
    assert_eq!(found, [("search", 1.5), ("search_2", 0.5), ("theirs", 1.0)]);
    assert_eq!(scenario.tools[0].way.wait, Wait::Fixed(Duration::from_millis(10)));
    let configuration: toml::Table = scenario.daemon_configuration().parse().unwrap();
    assert_eq!(configuration["limits"]["max_batch_calls"].as_integer(), Some(200));
    let providers = configuration["providers"].as_array().unwrap();
    assert_eq!(providers.len(), 1);
    let tools = providers[0]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 2);
    assert_eq!((tools[0]["latency_ms"].as_integer(), tools[0]["timeout_ms"].as_integer()), (Some(10), Some(300)));
    assert_eq!(tools[1]["latency_ms"].as_integer(), Some(86_400_000));
}

#[test]
fn a_latency_that_varies_is_eight_tools_at_a_daemon_and_one_in_the_engine() {
    let tools = "[[tools]]\nname = \"t\"\n[[tools.mix]]\nmin_ms = 10\nmax_ms = 90\n";
    let embedded = Scenario::parse(&format!("[target]\nkind = \"embedded\"\n{tools}")).unwrap();
    let remote = Scenario::parse(&format!("[target]\nkind = \"http\"\nurl = \"http://h\"\n{tools}")).unwrap();
    assert_eq!((embedded.tools.len(), remote.tools.len()), (1, 8));
}

#[test]
fn what_the_command_line_says_goes_before_the_file() {
    let text = "[target]\nkind = \"http\"\nurl = \"http://a\"\n";
    let overrides = Overrides { url: Some("http://b".to_owned()), pid: Some(7), needs_no_url: false };
    let scenario = reader::read("test.toml", text, &overrides).unwrap();
    assert_eq!((scenario.target.url.as_deref(), scenario.target.pid), (Some("http://b"), Some(7)));
    let refused = reader::read("t", text, &Overrides { url: Some("ftp://b".to_owned()), ..Overrides::default() });
    assert!(refused.unwrap_err().to_string().contains("url: must begin with http://"));
}

#[test]
fn every_scenario_that_comes_along_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut read = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        Scenario::read(&path, &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}"));
        read += 1;
    }
    assert!(read >= 6, "{read}");
}

#[test]
fn a_closed_loop_that_thinks_expects_its_pause_and_what_batches_usually_take() {
    let expects = |load: &str| {
        let scenario = Scenario::parse(&format!("[target]\nkind = \"embedded\"\n[load]\n{load}\n")).unwrap();
        scenario.load.expected_interval(Duration::from_millis(3))
    };
    assert_eq!(expects("think_ms = 20"), Some(Duration::from_millis(23)));
    assert_eq!(expects("think_ms = 20\nexpected_interval_ms = 50"), Some(Duration::from_millis(50)));
    assert_eq!((expects("sessions = 2"), expects("rate = 5")), (None, None));
}
