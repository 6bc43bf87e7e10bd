use std::io;
use std::net::IpAddr;

use futures::future::BoxFuture;

use super::*;
use crate::http::Resolver;

/// Says that every name is at this address.
#[derive(Debug)]
struct Everywhere(IpAddr);

impl Resolver for Everywhere {
    fn resolve(&self, _host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let address = self.0;
        Box::pin(async move { Ok(vec![address]) })
    }
}

/// What becomes of a first message to this address.
async fn fate(url: &str, allow: Vec<AllowRule>, resolved: &str) -> String {
    let mut config = McpHttpConfig::new(url.parse().unwrap());
    config.allow_private = allow;
    let received = Arc::new(Received::default());
    let resolver = Arc::new(Everywhere(resolved.parse().unwrap()));
    match HttpTransport::new(&config, MAX, resolver, Arc::clone(&received) as _) {
        Err(failure) => failure.message.into_owned(),
        Ok(transport) => {
            transport.send(request(0, "initialize")).await.unwrap();
            received.wait(0, 1).await;
            received.failures().pop().unwrap().1
        }
    }
}

#[tokio::test]
async fn addresses_that_are_not_public_are_refused_however_they_are_written() {
    for (url, said) in [
        ("http://169.254.169.254/mcp", "169.254.169.254"),
        ("http://[fd00:ec2::254]/", "fd00:ec2::254"),
        ("http://2852039166/", "169.254.169.254"),
        ("http://0x7f.1/", "this machine counts as private"),
        ("http://metadata.google.internal./", "clouds keep the credentials"),
        ("http://rebound.example/", "rebound.example is at 169.254.169.254"),
        ("ftp://example.com/", "not http or https"),
        ("http://me:pw@example.com/", "user name or a password"),
    ] {
        let fate = fate(url, vec![], "169.254.169.254").await;
        assert!(fate.contains(said), "{url}: {fate}");
    }
}

#[tokio::test]
async fn private_networks_can_be_allowed_and_metadata_services_are_not_among_them() {
    let nearby = || vec![AllowRule::nearby()];
    for url in
        ["http://169.254.169.254/", "http://[fd00:ec2::254]/", "http://metadata.google.internal/", "http://x.example/"]
    {
        let fate = fate(url, nearby(), "169.254.169.254").await;
        assert!(fate.contains("not on the public internet") || fate.contains("credentials"), "{url}: {fate}");
    }
    // Port 1 has nobody: the connection was tried.
    for url in ["http://127.0.0.1:1/", "http://localhost:1/"] {
        let fate = fate(url, nearby(), "127.0.0.1").await;
        assert!(fate.contains("cannot be reached"), "{url}: {fate}");
    }
}
