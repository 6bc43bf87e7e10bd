//! MCP servers over HTTP, in the daemon.

mod pins;
mod real;
mod service;

use std::time::Duration;

use serde_json::{Value, json};
use toolyard_tests::Daemon;

use service::Service;

/// A batch of calls of these tools, without arguments.
fn calls(tools: &[&str]) -> Value {
    let calls: Vec<Value> = tools.iter().map(|tool| json!({"call_id": tool, "tool": tool, "arguments": {}})).collect();
    json!({"calls": calls})
}

/// Waits until these tools can be called.
async fn ready(daemon: &Daemon, tools: &[&str]) {
    let mut listed = String::new();
    for _ in 0..1_000 {
        listed = daemon.get("/v1/tools").await.1;
        if tools.iter().all(|tool| listed.contains(&format!("\"{tool}\""))) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{tools:?} did not come: {listed}\n{}", daemon.get("/v1/providers").await.1);
}

/// Status, code and text of each result.
fn outcomes(document: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = document["results"].as_array().unwrap_or_else(|| panic!("{document:#}"));
    let outcome = |result: &Value| {
        let said = if result["success"] == true { &result["content"] } else { &result["error"]["message"] };
        (text(&result["status"]), text(&result["error"]["code"]), text(said))
    };
    results.iter().map(outcome).collect()
}

#[tokio::test]
async fn a_hostile_server_costs_its_own_calls_and_nothing_else() {
    let effects = [
        "nan",
        "utf8",
        "huge",
        "huge_event",
        "cut",
        "cut_events",
        "never",
        "flood",
        "twice",
        "redirect",
        "refused",
        "good",
    ];
    let (hostile, friend) = (Service::start(&effects).await, Service::start(&["good"]).await);
    let config =
        hostile.config("bad", "max_message_bytes = 100000\ntool_timeout_ms = 1500") + &friend.config("friend", "");
    let daemon = Daemon::start(&config).await;
    ready(&daemon, &["bad__good", "friend__good"]).await;
    let mut names: Vec<String> = effects.iter().map(|effect| format!("bad__{effect}")).collect();
    names.push("friend__good".to_owned());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let begun = std::time::SystemTime::now();
    let (status, document) = daemon.batch(&calls(&names)).await;
    assert_eq!(status, 200);
    assert!(begun.elapsed().unwrap() < Duration::from_secs(10));
    let expected = [
        ("tool_error", "tool.result_invalid", "NaN"),
        ("tool_error", "tool.failed", "no answer to the request"),
        ("tool_error", "tool.result_invalid", "larger than 100000 bytes"),
        ("tool_error", "tool.result_invalid", "larger than 100000 bytes"),
        ("unavailable", "provider.crashed", "broke off"),
        ("tool_error", "tool.failed", "ended before the answer"),
        ("timeout", "deadline.exceeded", ""),
        ("timeout", "deadline.exceeded", ""),
        ("ok", "", "once"),
        ("tool_error", "tool.failed", "169.254.169.254"),
        ("unavailable", "tool.unavailable", "give `oauth`"),
        ("ok", "", "s1"),
        ("ok", "", "s1"),
    ];
    for ((name, outcome), (status, code, said)) in names.iter().zip(outcomes(&document)).zip(expected) {
        let is_right = outcome.0 == status && outcome.1 == code && (said == "NaN" || outcome.2.contains(said));
        assert!(is_right, "{name}: {outcome:?}");
    }
    let again = daemon.batch(&calls(&["bad__good", "friend__good"])).await.1;
    assert!(outcomes(&again).iter().all(|outcome| outcome.0 == "ok"), "{again:#}");
    let told = || hostile.count("notifications/cancelled", None);
    for _ in 0..100 {
        if told() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(told(), 2, "the calls that ran into their deadlines were cancelled");
    let providers = daemon.get("/v1/providers").await.1;
    assert!(providers.contains("\"starts\":1") && !providers.contains("\"starts\":2"), "{providers}");
}

#[tokio::test]
async fn a_session_that_the_server_forgot_is_opened_again_once() {
    let service = Service::start(&["who"]).await;
    let daemon = Daemon::start(&service.config("x", "breaker = { failures = 0 }")).await;
    ready(&daemon, &["x__who"]).await;
    service.forget(false);
    let outcome = outcomes(&daemon.batch(&calls(&["x__who"])).await.1).remove(0);
    assert_eq!((outcome.0.as_str(), outcome.2.as_str()), ("ok", "s2"));
    assert_eq!(service.count("tools/call", Some("who")), 2, "sent exactly once more");
    service.forget(true);
    let before = service.count("initialize", None);
    let outcome = outcomes(&daemon.batch(&calls(&["x__who"])).await.1).remove(0);
    assert_eq!(outcome.0, "unavailable", "{outcome:?}");
    assert!(service.count("initialize", None) <= before + 2, "no loop");
}

#[tokio::test]
async fn tenants_have_sessions_of_their_own_which_end_when_they_are_idle() {
    let service = Service::start(&["who"]).await;
    let config = service.config("x", "max_sessions = 2\nsession_idle_ms = 500")
        + &service.config("all", "isolation = \"shared\"");
    let daemon = Daemon::start(&config).await;
    ready(&daemon, &["x__who", "all__who"]).await;
    let who = async |tenant: &str, tool: &str| {
        let mut batch = calls(&[tool]);
        if !tenant.is_empty() {
            batch["tenant"] = tenant.into();
        }
        outcomes(&daemon.batch(&batch).await.1).remove(0)
    };
    let (a, b, nobody) = tokio::join!(who("a", "x__who"), who("b", "x__who"), who("", "x__who"));
    assert!(a.2 != b.2 && a.2 != nobody.2 && b.2 != nobody.2, "{a:?} {b:?} {nobody:?}");
    assert_eq!(who("a", "x__who").await, a, "and keep them");
    assert_eq!(who("a", "all__who").await, who("b", "all__who").await);
    let third = who("c", "x__who").await;
    assert_eq!(third.1, "limit.in_flight", "{third:?}");
    let farewells = || service.seen().iter().filter(|seen| seen.verb == "DELETE").count();
    for _ in 0..200 {
        if farewells() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(farewells(), 2);
    assert_eq!(who("c", "x__who").await.0, "ok");
    let metrics = daemon.get("/metrics").await.1;
    assert!(!metrics.contains("tenant"), "{metrics}");
}

#[tokio::test]
async fn addresses_that_are_not_public_are_refused_and_the_status_says_why() {
    let urls = [
        "http://169.254.169.254/mcp",
        "http://[fd00:ec2::254]/",
        "http://metadata.google.internal./",
        "http://2852039166/",
        "http://127.0.0.1:9/",
    ];
    let provider =
        |(index, url): (usize, &&str)| format!("[[providers]]\nname = \"p{index}\"\nkind = \"mcp\"\nurl = \"{url}\"\n");
    let daemon = Daemon::start(&urls.iter().enumerate().map(provider).collect::<String>()).await;
    let expected = [
        "169.254.169.254 is at",
        "fd00:ec2::254",
        "credentials of machines",
        "169.254.169.254 is at",
        "this machine counts as private",
    ];
    for (index, said) in expected.iter().enumerate() {
        let mut status = String::new();
        for _ in 0..500 {
            status = daemon.get(&format!("/v1/providers/p{index}")).await.1;
            if status.contains(said) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(status.contains(said), "{}: {status}", urls[index]);
    }
}

#[tokio::test]
async fn secrets_reach_the_server_and_neither_the_log_nor_anybody_who_asks() {
    let service = Service::start(&["who", "refused"]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "s3cret-token\n").unwrap();
    let headers = format!(
        "headers = {{ Authorization = {{ file = \"{}\", prefix = \"Bearer \" }}, X-Plain = \"s3cret-plain\" }}\nforward_headers = [\"X-Request-Id\"]",
        file.display()
    );
    let mut daemon =
        Daemon::start_with(&service.config("x", &headers), &[("RUST_LOG", "trace"), ("TOOLYARD_LOG", "trace")]).await;
    ready(&daemon, &["x__who"]).await;
    let mut batch = calls(&["x__who", "x__refused"]);
    batch["context"] = json!({"metadata": {"headers": {
        "Authorization": "Bearer engine-token", "x-mcp-auth": "t", "X-Request-Id": "7",
    }}});
    let document = daemon.batch(&batch).await.1;
    assert_eq!(document["results"][0]["status"], "ok", "{document:#}");
    let call = service.seen().into_iter().find(|seen| seen.body["params"]["name"] == "who").unwrap();
    assert_eq!(call.header("authorization"), Some("Bearer s3cret-token"));
    assert_eq!(call.header("x-plain"), Some("s3cret-plain"));
    assert_eq!((call.header("x-request-id"), call.header("x-mcp-auth")), (Some("7"), None));
    let said = format!("{document}{}{}", daemon.get("/v1/providers").await.1, daemon.get("/metrics").await.1);
    daemon.signal(rustix::process::Signal::TERM);
    daemon.ended().await;
    let log = daemon.log();
    assert!(log.lines().count() > 3, "there is a log: {log}");
    for text in [said, log] {
        assert!(!text.contains("s3cret") && !text.contains("engine-token"), "{text}");
    }
}

#[tokio::test]
async fn servers_of_a_file_are_used_beside_those_of_the_configuration() {
    let service = Service::start(&["who"]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("servers.json");
    let servers = json!({"mcpServers": {
        "other": {"command": toolyard_tests::Environment::get().python, "args": ["-m", "mcp_server_time"], "timeout": 20000},
        "off": {"url": format!("http://{}/mcp", service.address), "disabled": true},
    }});
    std::fs::write(&file, servers.to_string()).unwrap();
    let config = format!("[mcp]\nservers_file = \"{}\"\n{}", file.display(), service.config("x", ""));
    let daemon = Daemon::start(&config).await;
    ready(&daemon, &["x__who", "other__get_current_time"]).await;
    let providers: Value = serde_json::from_str(&daemon.get("/v1/providers").await.1).unwrap();
    let names: Vec<&str> =
        providers["providers"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["x", "other", "builtin"]);
}
