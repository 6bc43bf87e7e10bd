//! Starts that fail, and what is done about them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;
use toolyard::{
    Limits, ProviderConnector, ProviderKind, ProviderSettings, ProviderState, ProviderStatus, ToolFailure,
    ToolProvider, ToolRegistry,
};

use crate::mcp::{McpConfig, McpConnector, McpHttpConfig, McpHub, McpOptions, McpValue};
use crate::process::{CommandSpec, Spawner};

/// Counts the attempts.
struct Counted {
    connector: McpConnector,
    attempts: Arc<AtomicUsize>,
}

impl ProviderConnector for Counted {
    fn name(&self) -> &str {
        self.connector.name()
    }

    fn kind(&self) -> ProviderKind {
        self.connector.kind()
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn ToolProvider>, ToolFailure>> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        self.connector.connect()
    }

    fn mends_itself(&self, failure: &ToolFailure) -> bool {
        self.connector.mends_itself(failure)
    }
}

/// A provider that was left to itself for an hour.
async fn after_an_hour(config: McpConfig) -> (ToolRegistry, ProviderStatus, Arc<AtomicUsize>) {
    let attempts = Arc::new(AtomicUsize::new(0));
    let spawner = Arc::new(Spawner::new(None).unwrap());
    let connector = McpConnector::new("p", config, spawner, McpHub::new());
    let registry = ToolRegistry::new(Limits::default());
    let counted = Counted { connector, attempts: Arc::clone(&attempts) };
    registry.launch(Arc::new(counted), ProviderSettings::default()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    let status = registry.providers().remove(0);
    (registry, status, attempts)
}

fn with_variable(value: serde_json::Value) -> McpConfig {
    let mut config = McpConfig::stdio(CommandSpec { command: "true".into(), ..CommandSpec::default() });
    let value: McpValue = serde_json::from_value(value).unwrap();
    config.env.insert("KEY".to_owned(), value);
    config
}

#[tokio::test(start_paused = true)]
async fn what_cannot_mend_itself_is_told_and_tried_again_when_somebody_asks() {
    let unset = with_variable(json!({"env": "TOOLYARD_TEST_NO_SUCH_VARIABLE"}));
    let private = McpConfig::http(McpHttpConfig::new("http://127.0.0.1:9/mcp".parse().unwrap()));
    for (config, said) in [(unset, "TOOLYARD_TEST_NO_SUCH_VARIABLE is not set"), (private, "`allow_private = true`")] {
        let (registry, status, attempts) = after_an_hour(config).await;
        assert_eq!((status.state, attempts.load(Ordering::Relaxed)), (ProviderState::Down, 1));
        assert!(status.reason.as_ref().unwrap().contains(said), "{status:?}");
        assert!(registry.reload("p").await.is_err());
        assert_eq!(attempts.load(Ordering::Relaxed), 2);
        assert_eq!(registry.providers()[0].state, ProviderState::Down);
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_not_there_may_come_and_is_looked_for_again() {
    let (_registry, status, attempts) = after_an_hour(with_variable(json!({"file": "/nonexistent/key"}))).await;
    assert_eq!(status.state, ProviderState::BreakerOpen);
    assert!(attempts.load(Ordering::Relaxed) > 10);
}

#[test]
fn roots_that_are_no_tables_are_told_what_they_should_be() {
    let error = serde_json::from_value::<McpOptions>(json!({"roots": ["/tmp"]})).unwrap_err().to_string();
    assert!(error.contains("file:///srv/data") && !error.contains("McpRoot"), "{error}");
}
