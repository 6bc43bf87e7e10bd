//! The daemon's end: in order, and by force.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use toolyard_providers::McpTransport;
use toolyard_tests::{Daemon, Environment, children_of, everything_server, time_server, wait_until};

fn config() -> String {
    let environment = Environment::get();
    let mut config =
        "[server]\nshutdown_grace_ms = 300\n\n[[providers]]\nname = \"builtin\"\nkind = \"builtin\"\n".to_owned();
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
    for _ in 0..1000 {
        let (_, providers) = daemon.get("/v1/providers").await;
        if providers.matches("\"up\"").count() == 3 {
            return daemon;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the servers did not come up: {}", daemon.get("/v1/providers").await.1);
}

#[tokio::test]
async fn killing_the_daemon_leaves_no_child() {
    let mut daemon = ready().await;
    let children = children_of(daemon.pid());
    assert!(children.len() >= 4, "{children:?}");
    daemon.signal(Signal::KILL);
    daemon.ended().await;
    wait_until("every child of the killed daemon is gone", Duration::from_secs(2), || {
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
        tokio::time::sleep(Duration::from_millis(500)).await;
        daemon.signal(Signal::TERM);
    };
    let ((status, document), ()) = tokio::join!(daemon.batch(&request), stop);
    assert_eq!(status, 200, "{document:#}");
    assert_eq!(document["results"][0]["error"]["code"], "cancelled.shutdown");
    assert_eq!(document["results"][1]["status"], "ok");
    let ended = tokio::time::timeout(Duration::from_secs(20), daemon.ended()).await.unwrap();
    assert!(ended.success(), "{ended}");
    wait_until("no child is left", Duration::from_secs(2), || children.iter().all(|child| !child.is_alive())).await;
}

#[tokio::test]
async fn servers_are_asked_to_end_before_they_are_made_to() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("ended-by-itself");
    let python = Environment::get().python;
    // The shell goes on to its second command only when the server ends at the end of its input.
    let script = format!("{} -m mcp_server_time --local-timezone UTC; echo > {}", python.display(), mark.display());
    let config = format!(
        "[[providers]]\nname = \"time\"\nkind = \"mcp\"\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\nrequired = true\n"
    );
    let mut daemon = Daemon::start(&config).await;
    for _ in 0..1000 {
        if daemon.get("/readyz").await.0 == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    daemon.signal(Signal::TERM);
    assert!(daemon.ended().await.success());
    assert!(mark.exists(), "the server was killed without being asked");
}
