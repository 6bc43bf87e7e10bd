//! Declarative plugins in the daemon.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolyard_tests::{Daemon, eventually, until};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 13\r\nconnection: close\r\n\r\n{\"people\":12}";

/// A service that gives every request the same answer.
async fn service() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") && stream.read_buf(&mut head).await.is_ok_and(|read| read > 0) {}
            stream.write_all(ANSWER.as_bytes()).await.ok();
        }
    });
    address
}

#[tokio::test]
async fn the_daemon_runs_a_document_that_its_configuration_names() {
    let address = service().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("canteen.toml");
    let document = format!(
        "plugin = \"canteen\"\ntitle = \"食堂\"\n[[tools]]\nname = \"crowd\"\ntitle = \"食堂拥挤度\"\n\
         description = \"Gives the people.\"\neffect = \"read\"\nrequest = {{ url = \"http://{address}/\" }}\n"
    );
    std::fs::write(&file, document).unwrap();
    let config = format!(
        "[[providers]]\nname = \"canteen\"\nkind = \"http\"\nfile = \"{}\"\nallow_private = [\"{address}\"]\n\
         [[providers]]\nname = \"shut\"\nkind = \"http\"\nfile = \"{0}\"\n\
         [[providers]]\nname = \"gone\"\nkind = \"http\"\nfile = \"/nonexistent/gone.toml\"\n",
        file.display()
    );
    let daemon = Daemon::start(&config).await;
    let call = json!({"calls": [
        {"call_id": "a", "tool": "canteen__crowd", "arguments": {}},
        {"call_id": "b", "tool": "shut__crowd", "arguments": {}},
    ]});
    let document = eventually("both outcomes", async || {
        let document = daemon.batch(&call).await.1;
        let [first, second] = [0, 1].map(|n| document["results"][n]["status"].clone());
        if (first, second) == (json!("ok"), json!("unknown_tool")) { Ok(document) } else { Err(document) }
    })
    .await;
    assert_eq!(document["results"][0]["tool_id"], "canteen.crowd", "{document:#}");
    let providers = daemon.get("/v1/providers").await.1;
    for said in ["/nonexistent/gone.toml", "\"kind\":\"http\"", "not on the public internet"] {
        assert!(providers.contains(said), "{said}: {providers}");
    }
}

#[tokio::test]
async fn a_changed_document_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("canteen.toml");
    let document = |tool: &str| {
        format!(
            "plugin = \"canteen\"\ntitle = \"食堂\"\n[[tools]]\nname = \"{tool}\"\ntitle = \"食堂拥挤度\"\n\
             description = \"Gives the people.\"\neffect = \"read\"\nrequest = {{ url = \"https://example.org/\" }}\n"
        )
    };
    std::fs::write(&file, document("crowd")).unwrap();
    let config = format!("[[providers]]\nname = \"canteen\"\nkind = \"http\"\nfile = \"{}\"\n", file.display());
    let daemon = Daemon::start(&config).await;
    let lists = async |tool: &str| {
        let name = format!("canteen__{tool}");
        until(&name, async || daemon.get("/v1/tools").await.1.contains(&name)).await;
    };
    lists("crowd").await;
    // Editors write a new file and put it in the old one's place.
    std::fs::write(folder.path().join("new"), document("menu")).unwrap();
    std::fs::rename(folder.path().join("new"), &file).unwrap();
    lists("menu").await;
    assert!(!daemon.get("/v1/tools").await.1.contains("canteen__crowd"));
}
