//! The load generator as a program, against the engine, a real daemon and its MCP endpoint.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::process::Command;
use toolyard_tests::{Daemon, Environment, eventually, in_time};

/// Calls that go every way a daemon's tools can: at once, after a while, failing, breaking, and not at all.
const TOOLS: &str = r#"
[[batches]]
weight = 3
calls = 4
[[batches]]
calls = 9

[[tools]]
name = "swift"
weight = 5
class = "inline"
arguments = { text = "the kettle is on" }
[[tools]]
name = "slow"
provider = "others"
class = "io"
weight = 3
mix = [{ weight = 3, min_ms = 1, max_ms = 9 }, { weight = 1, end = "error" }]
[[tools]]
name = "broken"
provider = "others"
timeout_ms = 30
mix = [{ end = "break" }, { end = "hang" }]
"#;

const STEADY: &str = "[[tools]]\nname = \"swift\"\n";

/// A folder with a scenario, and where the results go.
struct Scene {
    folder: tempfile::TempDir,
}

// === impl Scene ===

impl Scene {
    fn new(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
        Self { folder }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Runs loadgen on the scenario, with further arguments.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(Environment::get().loadgen);
        command.arg(self.path("scenario.toml")).args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn run(&self, arguments: &[&str]) -> Output {
        in_time("the end of loadgen", self.command(arguments).output()).await.unwrap()
    }

    /// Runs it and gives its status and its results.
    async fn results(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let file = self.path("results.json");
        let mut all = vec!["--quiet", "--json", file.to_str().unwrap()];
        all.extend(arguments);
        let output = self.run(&all).await;
        let errors = String::from_utf8_lossy(&output.stderr);
        let text = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("no results: {errors}"));
        let results = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no results: {errors}"));
        (output.status.code(), results)
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

fn sum(counts: &Value) -> u64 {
    counts.as_object().unwrap().values().map(number).sum()
}

/// Every call has one end, and every batch that has all its results one latency.
fn assert_adds_up(results: &Value) {
    let calls = number(&results["calls"]);
    assert!(calls > 0, "{results}");
    assert_eq!(sum(&results["statuses"]) + number(&results["lost"]["calls"]), calls, "{results}");
    assert_eq!(sum(&results["lost"]["reasons"]), number(&results["lost"]["calls"]));
    let whole = number(&results["batches"]) - number(&results["lost"]["batches"]);
    assert_eq!(number(&results["latency"]["batch"]["raw"]["count"]), whole);
    assert_eq!(number(&results["latency"]["call"]["raw"]["count"]), sum(&results["statuses"]));
    let of_phases: u64 = results["phases"].as_array().unwrap().iter().map(|phase| number(&phase["calls"])).sum();
    assert_eq!((of_phases, number(&results["violations"])), (calls, 0));
}

/// Calls that the daemon has counted, all or under one status.
async fn counted(daemon: &Daemon, status: Option<&str>) -> u64 {
    let (_, metrics) = daemon.get("/metrics").await;
    let label = status.map(|status| format!("status=\"{status}\"")).unwrap_or_default();
    let is_wanted = |line: &&str| line.starts_with("toolyard_calls_total{") && line.contains(&label);
    let values = metrics.lines().filter(is_wanted).filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
    values.sum()
}

/// A daemon with the tools of the scene's scenario, as loadgen itself says they are configured.
async fn daemon_for(scene: &Scene) -> Daemon {
    let printed = scene.run(&["--print-config"]).await;
    assert_eq!(printed.status.code(), Some(0), "{}", String::from_utf8_lossy(&printed.stderr));
    Daemon::start(&String::from_utf8(printed.stdout).unwrap()).await
}

#[tokio::test]
async fn the_embedded_engine_gives_every_call_one_result_whatever_its_tool_does() {
    let tools = TOOLS.replace("mix = [{ end = \"break\" }", "mix = [{ end = \"panic\" }, { end = \"break\" }");
    let load = "[load]\nsessions = 8\nwarm_up_s = 0.2\nduration_s = 1\nname_sessions = true\n";
    let scene = Scene::new(&format!("[target]\nkind = \"embedded\"\n{load}{tools}"));
    let (status, results) = scene.results(&[]).await;
    assert_eq!(status, Some(0), "{results}");
    assert_adds_up(&results);
    for status in ["ok", "tool_error", "timeout"] {
        assert!(number(&results["statuses"][status]) > 0, "{status}: {results}");
    }
    assert!(number(&results["warm_up"]["calls"]) > 0);
    assert!(results["usage"]["loadgen"]["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
}

#[tokio::test]
async fn the_daemon_has_counted_what_loadgen_has_sent() {
    let load = "[load]\nsessions = 6\nwarm_up_s = 0.2\nduration_s = 1\n";
    let target = "[target]\nkind = \"http\"\nurl = \"http://127.0.0.1:1\"\n";
    let scene = Scene::new(&format!("{target}{load}{TOOLS}"));
    let daemon = daemon_for(&scene).await;
    let pid = daemon.pid().to_string();
    let (status, results) = scene.results(&["--url", &daemon.address, "--pid", &pid]).await;
    assert_eq!(status, Some(0), "{results}");
    assert_adds_up(&results);
    let all = number(&results["calls"]) + number(&results["warm_up"]["calls"]);
    assert_eq!(counted(&daemon, None).await, all);
    for status in ["ok", "tool_error", "timeout"] {
        let measured = number(&results["statuses"][status]);
        assert!(measured > 0 && measured <= counted(&daemon, Some(status)).await, "{status}: {results}");
    }
    assert!(results["usage"]["target"]["cpu_us_per_call"].as_f64().unwrap() > 0.0, "{results}");
}

#[tokio::test]
async fn the_mcp_endpoint_has_counted_what_loadgen_has_sent() {
    let load = "[load]\nrate = 60\narrivals = \"poisson\"\nsessions = 5\nduration_s = 1\n";
    let target = "[target]\nkind = \"mcp\"\nurl = \"http://127.0.0.1:1/mcp\"\n";
    let scene = Scene::new(&format!("{target}{load}{TOOLS}"));
    let daemon = daemon_for(&scene).await;
    let (status, results) = scene.results(&["--url", &format!("{}/mcp", daemon.address)]).await;
    assert_eq!(status, Some(0), "{results}");
    assert_adds_up(&results);
    assert_eq!(counted(&daemon, None).await, number(&results["calls"]));
    // MCP has one way to say that a call went wrong.
    let wrong = number(&results["calls"]) - counted(&daemon, Some("ok")).await;
    assert_eq!(number(&results["statuses"]["tool_error"]), wrong, "{results}");
    assert_eq!(results["latency"]["correction"], "from_due");
}

#[tokio::test]
async fn a_daemon_that_is_killed_in_the_middle_costs_errors_and_no_time() {
    let load = "[load]\nrate = 200\nduration_s = 6\n[objectives]\nerror_ratio = 0.01\nviolations = 0\n";
    let target = "[target]\nkind = \"http\"\nurl = \"http://127.0.0.1:1\"\n";
    let scene = Scene::new(&format!("{target}{load}{STEADY}"));
    let mut daemon = daemon_for(&scene).await;
    let file = scene.path("results.json");
    let arguments = ["--url", &daemon.address, "--json", file.to_str().unwrap()];
    let mut running = scene.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("some batches", async || {
        let calls = counted(&daemon, None).await;
        if calls >= 50 { Ok(()) } else { Err(calls) }
    })
    .await;
    daemon.signal(rustix::process::Signal::KILL);
    daemon.ended().await;
    let ended = in_time("the end of loadgen", running.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(1));
    let results: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_adds_up(&results);
    assert!(number(&results["lost"]["reasons"]["connect"]) > 0, "{results}");
    assert_eq!(results["objectives"][0]["met"], false);
    assert_eq!(results["objectives"][1]["met"], true);
}

#[tokio::test]
async fn a_run_that_is_interrupted_still_tells_what_it_found() {
    let scene = Scene::new(&format!("[target]\nkind = \"embedded\"\n[load]\nduration_s = 3600\n{STEADY}"));
    let file = scene.path("results.json");
    let mut command = scene.command(&["--json", file.to_str().unwrap()]);
    let mut running = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The first line of progress.
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(running.stderr.take().unwrap()));
    let line = in_time("progress", lines.next_line()).await.unwrap().unwrap();
    assert!(line.contains("calls/s, p50 "), "{line}");
    let pid = rustix::process::Pid::from_raw(i32::try_from(running.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = in_time("the end of loadgen", running.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
    let results: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_adds_up(&results);
    assert_eq!(results["interrupted"], true);
}

#[tokio::test]
async fn the_exit_status_tells_what_is_wrong() {
    let misspelt = Scene::new("[target]\nkind = \"embedded\"\n[load]\nsesions = 3\n");
    let output = misspelt.run(&[]).await;
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("scenario.toml:4:1: load: unknown key `sesions`; did you mean `sessions`?"), "{errors}");

    let nobody = Scene::new("[target]\nkind = \"http\"\nurl = \"http://127.0.0.1:1\"\n");
    assert_eq!(nobody.run(&[]).await.status.code(), Some(4));
    let secret = Scene::new("[target]\nkind = \"http\"\nurl = \"http://127.0.0.1:1\"\nheader_env = \"LOADGEN_NONE\"\n");
    assert_eq!(secret.run(&[]).await.status.code(), Some(2));

    let lacking = Daemon::start("[[providers]]\nname = \"s\"\nkind = \"scripted\"\n").await;
    let output = nobody.run(&["--url", &lacking.address]).await;
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8(output.stderr).unwrap().contains("has no tool `noop`"));

    let missed =
        format!("[target]\nkind = \"embedded\"\n[load]\nduration_s = 0.3\n{STEADY}[objectives]\nmax_ms = 0.0\n");
    let output = Scene::new(&missed).run(&["--quiet"]).await;
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(1), &b""[..]));
    assert!(String::from_utf8(output.stdout).unwrap().contains("MISSED"));
}

#[tokio::test]
async fn an_answer_that_breaks_a_promise_is_told_from_all_other_faults() {
    // A daemon that turns the results of a batch round.
    let tools = axum::routing::get(|| async { axum::Json(serde_json::json!({"tools": [{"name": "swift"}]})) });
    let batches = axum::routing::post(|| async {
        let end = |id: &str| serde_json::json!({"call_id": id, "status": "ok", "duration_ms": 1.0});
        axum::Json(serde_json::json!({"results": [end("c1"), end("c0")]}))
    });
    let router = axum::Router::new().route("/v1/tools", tools).route("/v1/batches", batches);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let load = "[load]\nduration_s = 0.3\nsessions = 2\n[[batches]]\ncalls = 2\n";
    let scene = Scene::new(&format!("[target]\nkind = \"http\"\nurl = \"{url}\"\n{load}{STEADY}"));
    let (status, results) = scene.results(&[]).await;
    serving.abort();
    assert_eq!(status, Some(3), "{results}");
    assert_eq!(number(&results["violations"]), number(&results["batches"]));
    assert_eq!(results["lost"]["reasons"]["violation"], results["calls"]);
}

#[tokio::test]
async fn results_that_were_kept_can_be_compared_and_shown() {
    let scene = Scene::new(&format!("[target]\nkind = \"embedded\"\n[load]\nduration_s = 0.3\n{STEADY}"));
    let (_, results) = scene.results(&["--html", scene.path("page.html").to_str().unwrap()]).await;
    let page = std::fs::read_to_string(scene.path("page.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("延迟") && page.trim_end().ends_with("</html>"));

    let mut slower = results.clone();
    slower["calls_per_s"] = (results["calls_per_s"].as_f64().unwrap() / 2.0).into();
    let (old, new) = (scene.path("results.json"), scene.path("slower.json"));
    std::fs::write(&new, slower.to_string()).unwrap();
    let same = loadgen(&["compare", text(&old), text(&old)]).await;
    assert_eq!(same.status.code(), Some(0));
    let worse = loadgen(&["compare", text(&old), text(&new)]).await;
    assert_eq!(worse.status.code(), Some(1));
    assert!(String::from_utf8(worse.stderr).unwrap().contains("calls/s"));
    let within = loadgen(&["compare", text(&old), text(&new), "--tolerance", "150"]).await;
    assert_eq!(within.status.code(), Some(0));

    let again = scene.path("again.html");
    assert_eq!(loadgen(&["page", text(&old), text(&again)]).await.status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(again).unwrap(), page);
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

async fn loadgen(arguments: &[&str]) -> Output {
    let mut command = Command::new(Environment::get().loadgen);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    in_time("the end of loadgen", command.output()).await.unwrap()
}
