//! The daemon's end: in order, and by force.

use rustix::process::Signal;
use serde_json::json;
use toolyard_providers::McpTransport;
use toolyard_tests::{Daemon, Environment, children_of, eventually, everything_server, time_server, until};

fn config() -> String {
    let environment = Environment::get();
    let mut config =
        "[server]\nshutdown_grace_ms = 3000\n\n[[providers]]\nname = \"builtin\"\nkind = \"builtin\"\n".to_owned();
    for (name, server) in [("time", time_server(&environment)), ("everything", everything_server(&environment))] {
        let McpTransport::Stdio(process) = &server.transport else { panic!("{server:?} is no process") };
        let (command, args) = (&process.command, &process.args);
        config.push_str(&format!(
            "[[providers]]\nname = \"{name}\"\nkind = \"mcp\"\ncommand = {command:?}\nargs = {args:?}\n"
        ));
    }
    // A server that starts another process and ignores the end of its input.
    config.push_str("[[providers]]\nname = \"stubborn\"\nkind = \"mcp\"\ncommand = \"sh\"\n");
    config.push_str("args = [\"-c\", \"trap '' TERM; sleep 1000 & sleep 1000\"]\nstart_timeout_ms = 100000\n");
    config
}

async fn ready() -> Daemon {
    let daemon = Daemon::start(&config()).await;
    eventually("the servers are up", async || {
        let (_, providers) = daemon.get("/v1/providers").await;
        if providers.matches("\"up\"").count() == 3 { Ok(()) } else { Err(providers) }
    })
    .await;
    daemon
}

#[tokio::test]
async fn killing_the_daemon_leaves_no_child() {
    let mut daemon = ready().await;
    let children = children_of(daemon.pid());
    assert!(children.len() >= 4, "{children:?}");
    daemon.signal(Signal::KILL);
    daemon.ended().await;
    until("every child of the killed daemon is gone", async || {
        // What a child started in its turn is only known to end when its own parent's input does.
        children.iter().filter(|child| !child.command_line.starts_with("sleep")).all(|child| !child.is_alive())
    })
    .await;
    children.iter().filter(|child| child.is_alive()).for_each(|child| child.kill());
}

#[tokio::test]
async fn a_daemon_that_is_told_to_stop_answers_its_clients_and_ends_its_children() {
    let mut daemon = ready().await;
    let children = children_of(daemon.pid());
    let calls = json!([
        {"call_id": "a", "tool": "wait", "arguments": {"seconds": 600}},
        {"call_id": "b", "tool": "time__get_current_time", "arguments": {"timezone": "UTC"}},
    ]);
    let request = json!({"calls": calls});
    let stop = async {
        let line = "calls_in_flight{provider=\"builtin\"} 1";
        until("the call that waits", async || daemon.get("/metrics").await.1.contains(line)).await;
        // The other one is done: another call to the same server, made later, is.
        let time = json!({"call_id": "c", "tool": "time__get_current_time", "arguments": {"timezone": "UTC"}});
        assert_eq!(daemon.batch(&json!({"calls": [time]})).await.1["results"][0]["status"], "ok");
        daemon.signal(Signal::TERM);
    };
    let ((status, document), ()) = tokio::join!(daemon.batch(&request), stop);
    assert_eq!(status, 200, "{document:#}");
    assert_eq!(document["results"][0]["error"]["code"], "cancelled.shutdown");
    assert_eq!(document["results"][1]["status"], "ok");
    let ended = daemon.ended().await;
    assert!(ended.success(), "{ended}");
    until("no child is left", async || children.iter().all(|child| !child.is_alive())).await;
}

#[tokio::test]
async fn servers_are_asked_to_end_before_they_are_made_to() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("ended-by-itself");
    let python = Environment::get().python;
    // The mark is made at the end of the input, by a shell that a signal would end.
    let server = format!("{} -m mcp_server_time --local-timezone UTC", python.display());
    let script = format!("(cat; echo > {}) | {server}", mark.display());
    let config = format!(
        "[[providers]]\nname = \"time\"\nkind = \"mcp\"\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\nrequired = true\n"
    );
    let mut daemon = Daemon::start(&config).await;
    until("the server is up", async || daemon.get("/readyz").await.0 == 200).await;
    daemon.signal(Signal::TERM);
    assert!(daemon.ended().await.success());
    assert!(mark.exists(), "the server was killed without being asked");
}
