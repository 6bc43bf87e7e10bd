//! Children that come to their ends in various ways.

use super::*;

#[derive(Debug)]
struct Deaf;

impl Inbox for Deaf {
    fn receive(&self, _message: &[u8], _answering: Option<u64>) {}

    fn fail(&self, _id: u64, _failure: Failed) {}

    fn noise(&self, _bytes: usize) {}
}

async fn start(script: &str, cwd: Option<&str>) -> Result<StdioTransport, ToolFailure> {
    let args = vec!["-c".to_owned(), script.to_owned()];
    let cwd = cwd.map(Into::into);
    let command = CommandSpec { command: "sh".to_owned(), args, cwd, ..CommandSpec::default() };
    StdioTransport::start(&Spawner::new(None).unwrap(), &command, 1_000, Arc::new(Deaf)).await
}

async fn end_of(script: &str) -> String {
    let transport = start(script, None).await.unwrap();
    let (one, two) = tokio::join!(transport.ended(), transport.ended());
    assert_eq!(one, two);
    one
}

#[tokio::test]
async fn a_child_that_has_died_is_waited_for_until_its_end_is_told() {
    // What it leaves behind holds its standard error open, so that its last words are waited for.
    let end = end_of("echo out of luck >&2; setsid sleep 3 </dev/null >/dev/null & sleep 0.2; exit 3").await;
    assert!(end.contains("exit status: 3") && end.contains("out of luck"), "{end}");
}

#[tokio::test]
async fn a_child_that_lives_on_has_closed_its_output() {
    assert_eq!(end_of("exec >/dev/null; exec sleep 20").await, "it closed its standard output");
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_named() {
    let failure = start("true", Some("/nonexistent/folder")).await.unwrap_err();
    assert!(failure.message.contains("in `/nonexistent/folder`: there is no such folder"), "{failure}");
}
