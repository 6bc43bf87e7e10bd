//! Services that misbehave, and what must never leave the machine.

use serde_json::json;
use toolyard::{CallStatus, ErrorCode, Executed, RawArguments, ToolBatch, ToolCall};

use super::plugin::{HANG, Setup, one_tool, structured};
use super::service::{Answer, Service, answer, json as json_answer};

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    let service = Service::start(|_| Answer::Never).await;
    let limit = 20 * HANG;
    let timeout = format!("timeout_ms = {}\neffect", limit.as_millis());
    let document = one_tool(service.port(), "", "url = \"@/slow\"").replacen("effect", &timeout, 1);
    let plugin = Setup::document(document).allow("127.0.0.1").file("key.txt", "s3cret-key").start().await;
    let (mut asked, mut deserted) = (service.asked.clone(), service.deserted.clone());
    let start = async || {
        let call = ToolCall::new("c", "p__t", RawArguments::text("{}"));
        plugin.registry.start(ToolBatch::new(vec![call])).await.unwrap()
    };

    let mut handle = start().await;
    tokio::time::timeout(HANG, asked.wait_for(|asked| *asked == 1)).await.unwrap().unwrap();
    // Its time is over as soon as the service has the request.
    tokio::time::pause();
    tokio::time::advance(limit).await;
    tokio::time::resume();
    let timed_out = handle.wait().await.unwrap().results.remove(0);
    assert_eq!((timed_out.status, timed_out.executed), (CallStatus::Timeout, Executed::Unknown), "{timed_out:#?}");
    tokio::time::timeout(HANG, deserted.wait_for(|gone| *gone == 1)).await.unwrap().unwrap();

    let mut handle = start().await;
    tokio::time::timeout(HANG, asked.wait_for(|asked| *asked == 2)).await.unwrap().unwrap();
    handle.cancel_call(&"c".into());
    assert_eq!(handle.wait().await.unwrap().results[0].status, CallStatus::Cancelled);
    tokio::time::timeout(HANG, deserted.wait_for(|gone| *gone == 2)).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_answer_over_the_limit_is_refused_whether_or_not_it_says_its_length() {
    let chunk = format!("400\r\n{}\r\n", "x".repeat(0x400));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
    let endless = format!("{head}transfer-encoding: chunked\r\n\r\n{}", chunk.repeat(64));
    let lying = format!("{head}content-length: 99999999999\r\n\r\nx");
    let service = Service::start(move |seen| match seen.line.as_str() {
        "GET /chunks" => Answer::Raw(endless.clone().into_bytes()),
        "GET /length" => Answer::Raw(lying.clone().into_bytes()),
        _ => answer("200 OK", "text/plain", &"x".repeat(0x800)),
    })
    .await;
    let input = "input = { type = \"object\", properties = { p = { type = \"string\" } }, required = [\"p\"] }";
    let document = one_tool(service.port(), input, "url = \"@/{p}\"\n[tools.response]\nmax_bytes = 1000000");
    let plugin = Setup::document(document)
        .allow("127.0.0.1")
        .file("key.txt", "s3cret-key")
        .max_response_bytes(0x800)
        .start()
        .await;
    for p in ["chunks", "length"] {
        let result = plugin.call("t", &json!({ "p": p }).to_string()).await;
        assert!(result.error.as_ref().unwrap().message.contains("larger than 2048 bytes"), "{p}: {result:#?}");
    }
    assert_eq!(plugin.call("t", r#"{"p":"fits"}"#).await.status, CallStatus::Ok);
}

#[tokio::test]
async fn what_went_wrong_says_whether_the_service_may_have_acted() {
    let broken = Service::start(|seen| match seen.line.as_str() {
        "GET /cut" => Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec()),
        "GET /noise" => Answer::Raw(b"SSH-2.0-OpenSSH\r\n".to_vec()),
        _ => Answer::Raw(Vec::new()),
    })
    .await;
    let input = "input = { type = \"object\", properties = { p = { type = \"string\" } }, required = [\"p\"] }";
    let document = one_tool(broken.port(), input, "url = \"@/{p}\"");
    let plugin = Setup::document(document).allow("127.0.0.1").file("key.txt", "s3cret-key").start().await;
    let cut = plugin.call("t", r#"{"p":"cut"}"#).await;
    let error = cut.error.as_ref().unwrap();
    assert_eq!((error.code, cut.executed), (ErrorCode::ProviderProtocol, Executed::Unknown), "{cut:#?}");
    for p in ["noise", "closed"] {
        let result = plugin.call("t", &json!({ "p": p }).to_string()).await;
        let error = result.error.as_ref().unwrap();
        assert_eq!((error.code, result.executed), (ErrorCode::ProviderCrashed, Executed::Unknown), "{result:#?}");
    }

    // Nobody listens on it, and nobody else can take it.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let document = one_tool(port, "", "url = \"@/\"");
    let plugin = Setup::document(document).allow("127.0.0.1").file("key.txt", "s3cret-key").start().await;
    let unreachable = plugin.call("t", "{}").await;
    let error = unreachable.error.as_ref().unwrap();
    assert_eq!((error.code, unreachable.executed), (ErrorCode::ProviderDown, Executed::No), "{unreachable:#?}");
    assert!(error.message.contains(&port.to_string()), "{}", error.message);
}

#[tokio::test]
async fn secrets_never_come_back() {
    let service = Service::start(|seen| {
        let auth = seen.header("authorization").unwrap_or_default().to_owned();
        match seen.line.split('?').next().unwrap() {
            "GET /json" => json_answer(&json!({ "you sent": auth, "line": seen.line }).to_string().replace('/', "\\/")),
            "GET /text" => answer("200 OK", "text/plain", &format!("{auth} {}", seen.line)),
            _ => answer("400 Bad Request", "application/json", &json!({ "message": auth }).to_string()),
        }
    })
    .await;
    let input = "input = { type = \"object\", properties = { p = { type = \"string\" } }, required = [\"p\"] }";
    let request = "url = \"@/{p}\"\nquery = { key = \"{secrets.key}\" }\n\
                   headers = { Authorization = \"Bearer {secrets.key}\" }\n[tools.response]\nerror = \"/message\"";
    let document = one_tool(service.port(), input, request);
    let plugin = Setup::document(document).allow("127.0.0.1").file("key.txt", "top/s3cret==").start().await;
    for p in ["json", "text", "error"] {
        let result = plugin.call("t", &json!({ "p": p }).to_string()).await;
        let said = format!("{result:?} {}", result.history_content());
        assert!(!said.contains("s3cret"), "{p}: {said}");
        assert!(said.contains("[secret]"), "{p}: {said}");
    }
    assert!(service.seen().iter().all(|seen| seen.header("authorization") == Some("Bearer top/s3cret==")));
    assert!(structured(&plugin.call("t", r#"{"p":"json"}"#).await).contains("Bearer [secret]"));
}
