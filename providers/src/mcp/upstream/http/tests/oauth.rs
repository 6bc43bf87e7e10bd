use super::*;

fn form(body: &str, key: &str) -> Option<String> {
    url::form_urlencoded::parse(body.as_bytes()).find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
}

/// A service with its own authorization server, whose tokens are `t1`, `t2` and so on; only the last one is good.
async fn guarded(metadata: bool) -> Server {
    let bought = Arc::new(std::sync::atomic::AtomicU32::new(0));
    Server::start(move |seen| {
        let host = seen.header("host").unwrap_or_default();
        let order = std::sync::atomic::Ordering::SeqCst;
        match seen.line.as_str() {
            "GET /.well-known/oauth-authorization-server" if metadata => {
                json(format!(
                    r#"{{"issuer":"http://{host}","token_endpoint":"http://{host}/token","authorization_endpoint":"http://{host}/a",
                    "response_types_supported":["code"]}}"#
                ))
            }
            "POST /token" => {
                let number = bought.fetch_add(1, order) + 1;
                json(format!(r#"{{"access_token":"t{number}","token_type":"bearer","expires_in":3600,"refresh_token":"r{number}"}}"#))
            }
            "POST /mcp" => match seen.header("authorization") {
                Some(given) if given == format!("Bearer t{}", bought.load(order)) => {
                    if seen.body.contains("revoke") {
                        bought.fetch_add(1, order);
                    }
                    json(result(1))
                }
                _ => answer("401 Unauthorized", "www-authenticate: Bearer\r\n", ""),
            },
            _ => answer("404 Not Found", "", ""),
        }
    })
    .await
}

fn client(server: &Server) -> McpOAuthClient {
    McpOAuthClient {
        id: "me".to_owned(),
        secret: Some(McpValue::text("pass")),
        scopes: vec!["mail".to_owned()],
        token_url: Some(server.url().join("/token").unwrap()),
    }
}

async fn ask(transport: &HttpTransport, received: &Received, method: &str) {
    let before = received.messages().len();
    transport.send(request(1, method)).await.unwrap();
    received.wait(before + 1, 0).await;
}

#[tokio::test]
async fn credentials_of_the_client_buy_a_token_and_another_when_it_is_refused() {
    for metadata in [false, true] {
        let server = guarded(metadata).await;
        let mut config = config(&server);
        let mut client = client(&server);
        if metadata {
            client.token_url = None;
        }
        config.oauth = Some(McpOAuth::ClientCredentials(client));
        let (transport, received) = transport(&config);
        for method in ["a", "revoke", "b", "c"] {
            ask(&transport, &received, method).await;
        }
        let bought: Vec<Seen> = server.seen().into_iter().filter(|seen| seen.line == "POST /token").collect();
        assert_eq!(bought.len(), 2, "one for all, and one after the refusal");
        assert_eq!(form(&bought[0].body, "grant_type").as_deref(), Some("client_credentials"));
        assert_eq!(form(&bought[0].body, "client_secret").as_deref(), Some("pass"));
        assert_eq!(form(&bought[0].body, "scope").as_deref(), Some("mail"));
        assert_eq!(form(&bought[0].body, "resource"), Some(server.url().to_string()));
    }
}

#[tokio::test]
async fn a_refresh_token_buys_a_token_and_is_replaced_by_the_one_that_comes_with_it() {
    let server = guarded(false).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "r0\n").unwrap();
    let mut config = config(&server);
    config.oauth = Some(McpOAuth::Refresh { client: client(&server), token: McpValue::file(file.path()) });
    let (transport, received) = transport(&config);
    for method in ["revoke", "b"] {
        ask(&transport, &received, method).await;
    }
    let seen = server.seen();
    let used: Vec<Option<String>> =
        seen.iter().filter(|seen| seen.line == "POST /token").map(|seen| form(&seen.body, "refresh_token")).collect();
    assert_eq!(used, [Some("r0".to_owned()), Some("r1".to_owned())]);
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "r3", "the last one is kept");
}

#[tokio::test]
async fn a_token_that_is_refused_is_read_again_and_refused_only_once() {
    let server = guarded(false).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "old").unwrap();
    let mut config = config(&server);
    config.oauth = Some(McpOAuth::Token(McpValue::file(file.path())));
    let (transport, received) = transport(&config);
    transport.send(request(1, "a")).await.unwrap();
    received.wait(0, 1).await;
    assert!(received.failures()[0].1.contains("401"), "{received:?}");
    assert_eq!(server.seen().len(), 1, "the same token is not sent again");
    std::fs::write(file.path(), "t0").unwrap();
    ask(&transport, &received, "b").await;
    assert!(!format!("{transport:?}{received:?}").contains("old"));
}

#[tokio::test]
async fn a_token_that_cannot_be_had_says_where_to_look() {
    let server = Server::start(|_| {
        answer("400 Bad Request", "content-type: application/json\r\n", r#"{"error":"invalid_client"}"#)
    })
    .await;
    let mut config = config(&server);
    config.oauth = Some(McpOAuth::ClientCredentials(client(&server)));
    let (transport, received) = transport(&config);
    transport.send(request(1, "a")).await.unwrap();
    received.wait(0, 1).await;
    let failure = received.failures().pop().unwrap().1;
    assert!(
        failure.contains("look at `oauth`") && failure.contains("invalid_client") && !failure.contains("pass"),
        "{failure}"
    );
}
