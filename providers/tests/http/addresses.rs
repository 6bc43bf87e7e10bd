//! What a plugin may connect to: the public internet, and what the operator allows.

use toolyard::{CallStatus, ErrorCode, Executed};

use super::plugin::{Setup, one_tool};
use super::service::{Service, json, redirect};

fn fetching(url: &str) -> Setup {
    let document = one_tool(1, "", &format!("url = \"{url}\""));
    Setup::document(document).file("key.txt", "s3cret-key")
}

#[tokio::test]
async fn addresses_that_are_written_out_are_refused_when_the_document_is_read() {
    for url in [
        "http://169.254.169.254/mcp",
        "http://[fd00:ec2::254]/",
        "http://2852039166/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.169.254./",
        "http://[::ffff:169.254.169.254]/",
        "http://127.1:8080/",
        "http://0/",
        "http://10.0.0.1/",
        "https://192.168.1.1/",
        "http://[::1]/",
        "http://１２７.0.0.1/",
    ] {
        let plugin = fetching(url).start().await;
        let status = plugin.status();
        assert_eq!(status.tools, 0, "{url}");
        assert!(status.rejected[0].reason.contains("not on the public internet"), "{url}: {status:?}");
        assert_eq!(plugin.call("t", "{}").await.status, CallStatus::UnknownTool, "{url}");
    }
}

#[tokio::test]
async fn names_of_metadata_services_are_refused_whatever_they_are_resolved_to() {
    for host in ["metadata.google.internal.", "METADATA.azure.internal", "metadata"] {
        let plugin = fetching(&format!("http://{host}/")).name(host, "93.184.215.14").start().await;
        let status = plugin.status();
        assert_eq!(status.tools, 0, "{host}");
        assert!(status.rejected[0].reason.contains("credentials of machines"), "{host}: {status:?}");
    }
}

#[tokio::test]
async fn names_are_judged_by_the_address_that_is_connected_to() {
    for (host, address) in [
        ("other.google.internal.", "169.254.169.254"),
        ("rebound.example.com", "127.0.0.1"),
        ("canteen.example.com", "::ffff:10.0.0.7"),
        ("six.example.com", "fd00:ec2::254"),
        ("localhost", "::1"),
    ] {
        let plugin = fetching(&format!("http://{host}/")).name(host, address).start().await;
        let result = plugin.call("t", "{}").await;
        let error = result.error.as_ref().unwrap();
        assert_eq!((result.status, error.code), (CallStatus::Denied, ErrorCode::PolicyDenied), "{host}: {result:#?}");
        assert!(error.message.contains("allow_private"), "{}", error.message);
        assert_eq!(result.executed, Executed::No);
    }
}

#[tokio::test]
async fn a_redirect_to_a_forbidden_place_is_refused_there() {
    for (target, said) in [
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("http://2852039166/", "169.254.169.254"),
        ("http://metadata.google.internal/", "metadata.google.internal"),
        ("http://other.google.internal/", "169.254.169.254"),
        ("//[fd00:ec2::254]/", "fd00:ec2::254"),
        ("file:///etc/passwd", "not http or https"),
        ("http://me:pw@ok.example.com/", "user name"),
    ] {
        let service = Service::start(move |_| redirect("302 Found", target)).await;
        let url = format!("http://ok.example.com:{}/", service.port());
        let plugin = fetching(&url)
            .name("ok.example.com", "127.0.0.1")
            .name("other.google.internal", "169.254.169.254")
            .allow(service.address.to_string())
            .start()
            .await;
        let result = plugin.call("t", "{}").await;
        let error = result.error.as_ref().unwrap();
        assert_eq!(error.code, ErrorCode::ToolFailed, "{target}: {result:#?}");
        assert!(error.message.contains("not allowed") && error.message.contains(said), "{}", error.message);
        assert_eq!(service.seen().len(), 1);
    }
}

#[tokio::test]
async fn what_is_allowed_is_one_place_and_one_port() {
    let allowed = Service::start(|_| json("{}")).await;
    let other = Service::start(|_| json("{}")).await;
    let local = |service: &Service| format!("http://local.example.com:{}/", service.port());
    for (service, rule, status) in [
        (&allowed, allowed.address.to_string(), CallStatus::Ok),
        (&allowed, "127.0.0.0/8".to_owned(), CallStatus::Ok),
        (&allowed, "local.example.com".to_owned(), CallStatus::Ok),
        (&other, allowed.address.to_string(), CallStatus::Denied),
        (&other, "10.0.0.0/8".to_owned(), CallStatus::Denied),
        (&other, "example.com".to_owned(), CallStatus::Denied),
    ] {
        let plugin = fetching(&local(service)).name("local.example.com", "127.0.0.1").allow(&rule).start().await;
        let result = plugin.call("t", "{}").await;
        assert_eq!(result.status, status, "{rule}: {result:#?}");
    }
    assert!(other.seen().is_empty(), "nothing reached it");
}

#[tokio::test]
async fn redirects_are_followed_five_times_and_secrets_stay_with_their_service() {
    let second = Service::start(|_| json(r#"{"done":true}"#)).await;
    let target = format!("http://127.0.0.1:{}/end", second.port());
    let first = Service::start(move |seen| match seen.line.split('/').nth(1).unwrap().parse::<u32>() {
        Ok(0) => redirect("307 Temporary Redirect", &target),
        Ok(n) => redirect("307 Temporary Redirect", &format!("/{}", n - 1)),
        Err(_) => redirect("302 Found", "/again"),
    })
    .await;
    let input = "input = { type = \"object\", properties = { n = { type = \"string\" } }, required = [\"n\"] }";
    let request = "method = \"POST\"\nurl = \"@/{n}\"\njson = { a = 1 }\n\
                   headers = { Authorization = \"Bearer {secrets.key}\", X-Plain = \"x\" }";
    let plugin = Setup::document(one_tool(first.port(), input, request))
        .allow("127.0.0.1")
        .file("key.txt", "s3cret-key")
        .start()
        .await;
    let result = plugin.call("t", r#"{"n":"4"}"#).await;
    assert_eq!(result.status, CallStatus::Ok, "{result:#?}");
    assert!(first.seen().iter().all(|seen| seen.header("authorization") == Some("Bearer s3cret-key")));
    let end = &second.seen()[0];
    assert_eq!((end.line.as_str(), end.body.as_str()), ("POST /end", r#"{"a":1}"#));
    assert_eq!((end.header("authorization"), end.header("x-plain")), (None, Some("x")));

    let result = plugin.call("t", r#"{"n":"5"}"#).await;
    assert!(result.error.as_ref().unwrap().message.contains("more than 5 times"), "{result:#?}");
    let before = first.seen().len();
    plugin.call("t", r#"{"n":"loop"}"#).await;
    let lines: Vec<String> = first.seen().iter().skip(before).map(|seen| seen.line.clone()).collect();
    assert_eq!(lines[..2], ["POST /loop", "GET /again"], "a 302 turns POST into GET");
    assert_eq!(lines.len(), 6);
}
