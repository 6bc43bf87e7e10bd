//! What servers have beside tools, and what they say by themselves.

use serde_json::{Value, json};

use super::client::Client;
use super::daemon;

#[tokio::test]
async fn prompts_resources_and_completion_are_passed_on() {
    let daemon = daemon("").await;
    for client in [Client::open(&daemon, json!({})).await, Client::modern(&daemon, json!({}))] {
        let prompts = client.ask("prompts/list", json!({})).await;
        assert_eq!(
            prompts.result()["prompts"][0],
            json!({"name": "asking__greet", "arguments": [{"name": "who"}], "z": 1})
        );
        let greeting = client.ask("prompts/get", json!({"name": "asking__greet", "arguments": {"who": "Ada"}})).await;
        assert_eq!(greeting.result()["messages"][0]["content"]["text"], "Greet Ada.");
        assert_eq!(client.ask("prompts/get", json!({"name": "nothing"})).await.error()["code"], -32602);

        let resources = client.ask("resources/list", json!({})).await;
        assert_eq!(resources.result()["resources"][0]["uri"], "asking://notes");
        let templates = client.ask("resources/templates/list", json!({})).await;
        assert_eq!(templates.result()["resourceTemplates"][0]["uriTemplate"], "asking://note/{n}");
        for uri in ["asking://notes", "asking://note/1"] {
            let read = client.ask("resources/read", json!({"uri": uri})).await;
            assert_eq!(read.result()["contents"][0], json!({"uri": uri, "text": "a note"}));
        }
        let missing = client.ask("resources/read", json!({"uri": "else://where"})).await;
        assert_eq!(missing.error()["data"], json!({"uri": "else://where"}));

        let reference = json!({"type": "ref/prompt", "name": "asking__greet"});
        let complete = json!({"ref": reference, "argument": {"name": "who", "value": "Ad"}});
        assert_eq!(client.ask("completion/complete", complete).await.result()["completion"]["values"], json!(["Ad!"]));
    }
}

#[tokio::test]
async fn changes_are_told_together_to_whoever_listens() {
    let daemon = daemon("").await;
    // What its start has changed is told first.
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let older = Client::open(&daemon, json!({})).await;
    let newer = Client::modern(&daemon, json!({}));
    let mut session = older.listen().await;
    let filter = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["asking://notes"]}});
    let mut stream = newer.begin("subscriptions/listen", filter).await;
    let id = |message: &Value| message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
    let first = stream.next().await.unwrap();
    assert_eq!((&first["method"], id(&first)), (&json!("notifications/subscriptions/acknowledged"), json!(7)));
    let updated = stream.next().await.unwrap();
    assert_eq!((&updated["method"], id(&updated)), (&json!("notifications/resources/updated"), json!(7)));

    older.call("more", json!({})).await;
    let changed = stream.next().await.unwrap();
    assert_eq!((&changed["method"], id(&changed)), (&json!("notifications/tools/list_changed"), json!(7)));
    assert_eq!(session.next().await.unwrap()["method"], "notifications/tools/list_changed");
    let listed = newer.ask("tools/list", json!({})).await;
    assert!(listed.text.contains("asking__extra"));

    older.ask("resources/subscribe", json!({"uri": "asking://notes"})).await.result();
    let updated = session.next().await.unwrap();
    assert_eq!(updated["params"]["uri"], "asking://notes", "one notification for the change before: {updated}");
}

#[tokio::test]
async fn pages_go_on_where_the_last_one_ended() {
    let daemon = daemon("").await;
    let client = Client::modern(&daemon, json!({}));
    let wrong = client.ask("tools/list", json!({"cursor": "no cursor!"})).await;
    assert_eq!(wrong.error()["code"], -32602);
    let all = client.ask("tools/list", json!({})).await;
    assert_eq!(all.result().get("nextCursor"), None, "a thousand fit on one page");
}
