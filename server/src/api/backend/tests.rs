use reqwest::{Client, RequestBuilder};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use toolyard::{ErrorCode, HostPort, HostRequest, JsonText, ToolFailure};

use super::super::{Heavy, router};
use super::*;
use crate::app::App;
use crate::backend::Backend;
use crate::config::{Config, ServerConfig};
use crate::telemetry::Metrics;

const EVENTS: &str = "[backend]\nkind = \"events\"\n";
/// No request ends by its deadline within a test.
const HOUR: Duration = Duration::from_secs(3600);

/// The API on a real socket.
struct Served {
    backend: Arc<Backend>,
    address: String,
    client: Client,
}

/// A connected stream of events.
struct Stream {
    response: reqwest::Response,
    text: String,
}

impl Served {
    async fn start(section: &str) -> Self {
        let app = App::start(Config::parse(section)).await.unwrap();
        let backend = Arc::clone(&app.backend);
        let config = ServerConfig::default();
        let metrics = Metrics::detached();
        let shared = Shared { app, metrics, max_body_bytes: config.max_body_bytes, heavy: Heavy::new() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = router(Arc::new(shared), &config);
        tokio::spawn(async move { axum::serve(listener, router).await });
        toolyard_providers::install_crypto_provider();
        Self { backend, address, client: Client::builder().no_proxy().build().unwrap() }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.address))
    }

    async fn connect(&self) -> Stream {
        let response = self.get("/v1/backend/events").send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream { response, text: String::new() }
    }

    async fn poll(&self, query: &str) -> Value {
        self.get(&format!("/v1/backend/requests?{query}")).send().await.unwrap().json().await.unwrap()
    }

    /// Status and document.
    async fn answer(&self, body: &str) -> (u16, Value) {
        let sending = self.client.post(format!("{}/v1/backend/answers", self.address));
        let response = sending.header("content-type", "application/json").body(body.to_owned()).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    fn ask(&self, payload: &str) -> JoinHandle<Result<JsonText, ToolFailure>> {
        let backend = Arc::clone(&self.backend);
        let (payload, provider) = (JsonText::parse(payload).unwrap(), "plugin".into());
        let deadline = Instant::now() + HOUR;
        let request = HostRequest { capability: "send.text".to_owned(), payload, provider, caller: None, deadline };
        tokio::spawn(async move { backend.request(request).await })
    }
}

impl Stream {
    /// Name and data of the next event.
    async fn next(&mut self) -> (String, Value) {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = event.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned);
                    (lines.next(), lines.next())
                };
                let (name, data) = (field("event: ").0, field("data: "));
                let is_numbered = field("id: ").0.is_some();
                self.text = rest.to_owned();
                if let (Some(name), (Some(data), None)) = (name, data) {
                    assert!(is_numbered);
                    return (name, serde_json::from_str(&data).unwrap());
                }
            }
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let chunk = self.response.chunk().await.unwrap().expect("the stream goes on");
        self.text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
}

fn code(document: &Value) -> &str {
    document["code"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_request_is_an_event_on_one_line_and_its_answer_comes_back_whole() {
    let served = Served::start(EVENTS).await;
    let mut stream = served.connect().await;
    let asked = served.ask("{\n  \"text\": \"a\\nb\",\r\n  \"id\": 12345678901234567890\n}");
    let (name, request) = stream.next().await;
    assert_eq!(name, "request");
    assert_eq!((&request["capability"], &request["provider"]), (&json!("send.text"), &json!("plugin")));
    assert_eq!((&request["payload"]["text"], &request["caller"]), (&json!("a\nb"), &Value::Null));
    assert!(request["deadline_ms"].as_u64().unwrap() > 3_000_000);
    let id = request["id"].as_str().unwrap();
    let answer = format!("{{\"id\": \"{id}\", \"value\": {{\"message_id\": 12345678901234567890123}}}}");
    assert_eq!(served.answer(&answer).await.0, 204);
    assert_eq!(asked.await.unwrap().unwrap().as_str(), "{\"message_id\": 12345678901234567890123}");
    let (status, problem) = served.answer(&answer).await;
    assert_eq!((status, code(&problem)), (410, "backend.late_answer"));
}

#[tokio::test]
async fn a_stream_that_closes_fails_what_it_held_at_once() {
    let served = Served::start(EVENTS).await;
    let mut stream = served.connect().await;
    let asked = served.ask("{}");
    stream.next().await;
    drop(stream);
    let asked = tokio::time::timeout(Duration::from_secs(180), asked).await.expect("it hangs");
    assert_eq!(asked.unwrap().unwrap_err().code, ErrorCode::ProviderCrashed);
    assert_eq!(served.ask("{}").await.unwrap().unwrap_err().code, ErrorCode::ToolUnavailable);
}

#[tokio::test]
async fn a_given_up_request_is_a_cancelled_event() {
    let served = Served::start(EVENTS).await;
    let mut stream = served.connect().await;
    let asked = served.ask("{}");
    let (_, request) = stream.next().await;
    asked.abort();
    assert_eq!(stream.next().await, ("cancelled".to_owned(), json!({"id": request["id"]})));
}

#[tokio::test]
async fn an_idle_stream_shows_that_it_lives_every_15_seconds() {
    let served = Served::start(EVENTS).await;
    let mut stream = served.connect().await;
    tokio::time::pause();
    let paused = Instant::now();
    while stream.text.matches(": alive").count() < 2 {
        stream.read().await;
    }
    // Where nothing is left to do, paused time goes on to the next timer: how far beyond is the machine's own affair.
    assert!(paused.elapsed() > 2 * HEARTBEAT - Duration::from_secs(1), "{:?}", paused.elapsed());
}

#[tokio::test]
async fn requests_can_be_polled_and_answered_together() {
    let served = Served::start(EVENTS).await;
    assert_eq!(served.poll("wait_ms=0").await, json!({"requests": [], "cancelled": []}));
    let asked = [served.ask("[1]"), served.ask("[2]"), served.ask("[3]")];
    let mut requests = Vec::new();
    while requests.len() < 3 {
        let polled = served.poll("wait_ms=5000&max=2").await;
        requests.extend(polled["requests"].as_array().unwrap().clone());
    }
    let id = |n: usize| requests[n]["id"].as_str().unwrap();
    let answers = json!([
        {"id": id(0), "value": null},
        {"id": id(1), "error": {"code": "rate_limited", "message": "slow down"}},
        {"id": id(2)},
        {"id": "018f0000-0000-7000-8000-000000000000", "value": 1},
        {"id": id(0), "value": 2},
        {"value": 3},
    ]);
    let (status, document) = served.answer(&format!(" {answers}")).await;
    assert_eq!(status, 200);
    let statuses: Vec<_> = document["answers"].as_array().unwrap().iter().map(|a| a["status"].clone()).collect();
    assert_eq!(statuses, ["accepted", "accepted", "invalid", "unknown", "late", "invalid"]);
    assert_eq!(served.answer(&json!({"id": id(2), "value": 3}).to_string()).await.0, 204);
    let mut outcomes = Vec::new();
    for answer in asked {
        outcomes.push(answer.await.unwrap().map(|value| value.as_str().to_owned()).map_err(|failure| failure.code));
    }
    for expected in [Ok("null".to_owned()), Err(ErrorCode::LimitRate), Ok("3".to_owned())] {
        assert!(outcomes.contains(&expected), "{outcomes:?}");
    }
}

#[tokio::test]
async fn an_item_of_a_list_that_is_no_answer_costs_no_other_and_its_request_goes_on_waiting() {
    let served = Served::start(EVENTS).await;
    // Somebody is there now.
    served.poll("wait_ms=0").await;
    let asked = [served.ask("[1]"), served.ask("[2]")];
    let mut ids = Vec::new();
    while ids.len() < 2 {
        let polled = served.poll("wait_ms=5000").await;
        ids.extend(polled["requests"].as_array().unwrap().iter().map(|request| request["id"].clone()));
    }
    let (first, second) = (&ids[0], &ids[1]);
    let wrong = format!(r#"1, null, "x", [], {{"id": 7, "value": 1}}, {{"id": {first}, "error": "muted"}}"#);
    let halves = format!(r#"{{"id": "\ud800", "value": 1}}, {{"id": {first}, "value": 1, "value": 2}}"#);
    let right = format!(r#"{{"id": {second}, "value": "a\ud83d"}}"#);
    let (status, document) = served.answer(&format!("[{wrong}, {halves}, {right}]")).await;
    assert_eq!(status, 200, "{document}");
    let answers = document["answers"].as_array().unwrap();
    let statuses: Vec<_> = answers.iter().map(|answer| answer["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, [["invalid"; 8].as_slice(), &["accepted"]].concat());
    assert!(answers[..8].iter().all(|answer| answer["detail"].is_string()), "{document}");
    assert_eq!((&answers[0]["id"], &answers[5]["id"], &answers[8]["detail"]), (&Value::Null, first, &Value::Null));
    assert_eq!(served.answer(&json!({"id": first, "value": 1}).to_string()).await.0, 204);
    for answer in asked {
        answer.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn wrong_answers_and_polls_are_problems_and_cost_nothing() {
    let served = Served::start(EVENTS).await;
    for (body, status, expected) in [
        ("{", 400, "request.invalid"),
        ("[1", 400, "request.invalid"),
        ("{\"value\": 1}", 400, "request.invalid"),
        ("{\"id\": \"x\"}", 400, "request.invalid"),
        ("{\"id\": \"x\", \"value\": 1}", 404, "backend.unknown_request"),
    ] {
        let (given, problem) = served.answer(body).await;
        assert_eq!((given, code(&problem)), (status, expected), "{body}");
    }
    for query in ["wait_ms=60001", "max=0", "max=257", "wait=1", "wait_ms=x"] {
        assert_eq!(code(&served.poll(query).await), "request.invalid", "{query}");
    }
    let plain = served.client.post(format!("{}/v1/backend/answers", served.address)).body("{}").send().await.unwrap();
    assert_eq!(plain.status(), 415);
}

#[tokio::test]
async fn pages_in_browsers_cannot_take_requests() {
    let served = Served::start(EVENTS).await;
    for (name, value) in
        [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site"), ("host", "evil.example")]
    {
        for path in ["/v1/backend/events", "/v1/backend/requests"] {
            let refused = served.get(path).header(name, value).send().await.unwrap();
            assert_eq!(refused.status(), 403, "{name} {path}");
        }
    }
}

#[tokio::test]
async fn backends_of_other_kinds_have_no_channel() {
    let served = Served::start("").await;
    for path in ["/v1/backend/events", "/v1/backend/requests"] {
        let refused = served.get(path).send().await.unwrap();
        assert_eq!(refused.status(), 404);
        assert_eq!(code(&refused.json().await.unwrap()), "backend.not_events");
    }
    assert_eq!(served.answer("{}").await.0, 404);
}
