//! How children end.

use super::*;

/// Ignores everything that can be ignored, with a child of its own.
const STUBBORN: &str = "trap '' TERM; sleep MARK & while :; do sleep MARK; done";

#[tokio::test]
async fn a_child_that_does_not_listen_is_gone_after_the_grace_times() {
    let spawner = spawner();
    let spec = shell(&STUBBORN.replace("MARK", "1001.25"));
    let (child, socket) = ChildProcess::start_with_socket(&spawner, &spec).await.unwrap();
    until("it runs", || processes_with("sleep 1001.25").len() >= 2).await;
    drop(socket);
    in_time(child.stop()).await;
    assert!(child.ended().await.contains("SIGKILL"), "{}", child.ended().await);
    until("nothing is left", || processes_with("sleep 1001.25").is_empty()).await;
}

#[tokio::test]
async fn a_child_can_be_killed_at_once_with_its_group() {
    let spawner = spawner();
    // Whoever is asked to end before it is made to says so.
    let spec = shell("trap 'exit 7' TERM; sleep 1002.25 & while :; do sleep 1002.25; done");
    let (child, _socket) = ChildProcess::start_with_socket(&spawner, &spec).await.unwrap();
    until("it runs", || processes_with("sleep 1002.25").len() >= 2).await;
    child.kill_now();
    let end = end_of(&child).await;
    assert!(end.contains("SIGKILL"), "{end}");
    until("nothing is left", || processes_with("sleep 1002.25").is_empty()).await;
}

#[tokio::test]
async fn a_dropped_child_ends() {
    let spawner = spawner();
    let (child, socket) = ChildProcess::start_with_socket(&spawner, &shell("sleep 1003.25")).await.unwrap();
    until("it runs", || !processes_with("sleep 1003.25").is_empty()).await;
    drop((child, socket));
    until("nothing is left", || processes_with("sleep 1003.25").is_empty()).await;
}

#[tokio::test]
async fn a_program_that_cannot_be_started_says_so_and_leaves_nothing() {
    let spawner = spawner();
    let spec = CommandSpec { command: "/no/such/program-1004".to_owned(), ..CommandSpec::default() };
    let (child, _socket) = ChildProcess::start_with_socket(&spawner, &spec).await.unwrap();
    let end = end_of(&child).await;
    assert!(end.contains("exit status: 127") && end.contains("No such file"), "{end}");
    assert_eq!(processes_with("program-1004"), Vec::<u32>::new());
}
