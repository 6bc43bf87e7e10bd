//! The endpoint in front of tools in this process, which ask its client through the engine.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures::future::try_join;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use toolyard::{
    CallContext, FunctionProvider, FunctionTool, HostRequest, InvokeResult, Limits, NoHost, ProviderSettings,
    ToolExecutionResult, ToolInvocation, ToolSpec,
};
use tower_service::Service;

use super::meta::ClientCapabilities;
use super::session::Offered;
use super::*;
use crate::mcp::hub::{McpEvent, McpEventKind};

/// A tool that asks for a name and for roots at once, and says what it was told.
async fn ask_twice(context: CallContext) -> InvokeResult {
    let ask = |capability: &str, payload: Value| HostRequest {
        capability: capability.to_owned(),
        payload: JsonText::from(payload),
        provider: "test".into(),
        caller: None,
        deadline: context.deadline(),
    };
    let name = json!({"message": "Who?", "_meta": {"toolyard/inputKey": "user_name"}});
    let (name, roots) = (ask("elicitation.create", name), ask("roots.list", json!({})));
    Ok(match try_join(context.host().request(name), context.host().request(roots)).await {
        Ok((name, roots)) => ToolExecutionResult::success(format!("{name} {roots}")),
        Err(failure) => ToolExecutionResult::failure(failure.message),
    })
}

async fn endpoint() -> McpEndpoint {
    let registry = ToolRegistry::new(Limits::default());
    let provider = FunctionProvider::new("test")
        .with_tool(FunctionTool::new(ToolSpec::new("ask", "Asks."), |_: ToolInvocation, context| ask_twice(context)))
        .with_tool(FunctionTool::from_fn("hello", "Greets.", |_| async { Ok("hello".to_owned()) }));
    registry.register(Arc::new(provider), ProviderSettings::default()).await.unwrap();
    let config = McpEndpointConfig { page_size: 1, ..McpEndpointConfig::default() };
    McpEndpoint::new(registry, McpHub::new(), Arc::new(NoHost), config)
}

/// Sends a request of 2026-07-28.
async fn send(endpoint: &McpEndpoint, method: &str, mut params: Value, capabilities: Value) -> (u16, Value) {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let request = http::Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .header("mcp-name", params["name"].as_str().unwrap_or_default());
    let request: http::Request<Full<Bytes>> = request.body(Full::from(body)).unwrap();
    let answered: Result<_, Infallible> = endpoint.http().call(request).await;
    let (parts, body) = answered.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn questions_that_are_asked_at_once_are_put_together_and_answered_one_by_one() {
    let endpoint = endpoint().await;
    let both = json!({"elicitation": {}, "roots": {}});
    let (_, asked) = send(&endpoint, "tools/call", json!({"name": "ask"}), both.clone()).await;
    let asked = &asked["result"];
    let name = json!({"method": "elicitation/create", "params": {"message": "Who?"}});
    assert_eq!(asked["inputRequests"], json!({"user_name": name, "input_2": {"method": "roots/list"}}));
    let back = |state: &Value, answers: Value| json!({"name": "ask", "requestState": state, "inputResponses": answers});
    let one = back(&asked["requestState"], json!({"user_name": {"n": 1}, "unknown": {}}));
    let (_, again) = send(&endpoint, "tools/call", one, both.clone()).await;
    assert_eq!(again["result"]["inputRequests"], json!({"input_2": {"method": "roots/list"}}));
    let rest = back(&again["result"]["requestState"], json!({"input_2": {"roots": []}}));
    let (_, done) = send(&endpoint, "tools/call", rest, both).await;
    assert_eq!(done["result"]["content"][0]["text"], r#"{"n":1} {"roots":[]}"#);
}

#[tokio::test]
async fn answers_may_come_before_the_question_and_must_be_objects() {
    let endpoint = endpoint().await;
    let both = json!({"elicitation": {}, "roots": {}});
    let early = json!({"name": "ask", "inputResponses": {"user_name": {"n": 1}}});
    let (_, asked) = send(&endpoint, "tools/call", early, both.clone()).await;
    assert_eq!(asked["result"]["inputRequests"], json!({"input_1": {"method": "roots/list"}}));
    for wrong in [json!(null), json!({"user_name": 7}), json!([])] {
        let call = json!({"name": "ask", "inputResponses": wrong});
        let (_, refused) = send(&endpoint, "tools/call", call, both.clone()).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[tokio::test]
async fn a_capability_that_a_call_needs_and_its_client_lacks_is_named() {
    let endpoint = endpoint().await;
    let (status, refused) = send(&endpoint, "tools/call", json!({"name": "ask"}), json!({"elicitation": {}})).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!(-32021)));
    assert_eq!(refused["error"]["data"], json!({"requiredCapabilities": {"roots": {}}}));
}

#[tokio::test]
async fn pages_have_cursors_of_our_own_and_an_order() {
    let endpoint = endpoint().await;
    let (_, first) = send(&endpoint, "tools/list", json!({}), json!({})).await;
    assert_eq!(
        (first["result"]["tools"].as_array().unwrap().len(), &first["result"]["tools"][0]["name"]),
        (1, &json!("ask"))
    );
    let next = json!({"cursor": first["result"]["nextCursor"]});
    let (_, second) = send(&endpoint, "tools/list", next, json!({})).await;
    assert_eq!((&second["result"]["tools"][0]["name"], second["result"].get("nextCursor")), (&json!("hello"), None));
}

#[tokio::test]
async fn without_servers_there_are_tools_and_nothing_else() {
    let endpoint = endpoint().await;
    let (_, discovered) = send(&endpoint, "server/discover", json!({}), json!({})).await;
    assert_eq!(discovered["result"]["capabilities"], json!({"tools": {"listChanged": true}, "logging": {}}));
    let (status, refused) = send(&endpoint, "prompts/list", json!({}), json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!(-32601)));
}

#[tokio::test]
async fn sessions_belong_to_their_tenant_and_idle_ones_make_room() {
    let sessions = Sessions::new(1, Duration::ZERO);
    let one = sessions.open(&"one".into(), ClientCapabilities::default(), Offered::default()).unwrap();
    assert!(sessions.find(&one.key.session, "one").is_some());
    assert!(sessions.find(&one.key.session, "two").is_none());
    let running = one.enter(&JsonText::string("1"));
    let refused = sessions.open(&"two".into(), ClientCapabilities::default(), Offered::default());
    assert!(refused.is_err(), "a session with a request is not idle");
    drop(running);
    assert!(sessions.open(&"two".into(), ClientCapabilities::default(), Offered::default()).is_ok());
    assert!(one.ended.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_client_hears_of_changes_of_those_lists_only_that_it_was_told_of() {
    let endpoint = endpoint().await;
    let open = |offered| endpoint.shared.sessions.open(&"".into(), ClientCapabilities::default(), offered).unwrap();
    let mut heard = Vec::new();
    for offered in [Offered::default(), Offered { prompts: true, resources: true }] {
        let (outlet, messages) = Outlet::new();
        open(offered).listen(outlet);
        heard.push(messages);
    }
    // The endpoint's own task begins to listen.
    tokio::time::sleep(Duration::from_secs(1)).await;
    for kind in [McpEventKind::PromptsChanged, McpEventKind::ResourcesChanged] {
        endpoint.shared.hub.tell(McpEvent { provider: "p".into(), tenant: None, kind });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let [mut less, mut more] = <[_; 2]>::try_from(heard).unwrap();
    let mut methods = Vec::new();
    while let Ok(message) = more.try_recv() {
        methods.push(serde_json::from_str::<Value>(&message).unwrap()["method"].clone());
    }
    assert_eq!(methods, ["notifications/prompts/list_changed", "notifications/resources/list_changed"]);
    assert!(less.try_recv().is_err());
}

#[tokio::test]
async fn whoever_cannot_answer_any_more_is_asked_in_vain() {
    let endpoint = endpoint().await;
    let opened = endpoint.shared.sessions.open(&"".into(), ClientCapabilities::default(), Offered::default());
    let session = opened.unwrap();
    let before = session.ask();
    session.deafen();
    let after = session.ask();
    for mut question in [before, after] {
        assert!((&mut question.answer).await.is_err());
    }
}
