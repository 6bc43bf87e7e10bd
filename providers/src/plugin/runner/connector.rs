//! PluginConnector: starts a plugin's process and loads the plugin.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;
use toolyard::{ErrorCode, ProviderConnector, ProviderKind, ToolFailure, ToolProvider};

use super::api::ApiLink;
use super::handshake::{self, Frames};
use super::link::Link;
use super::provider::{PluginProvider, Shared};
use super::reader;
use super::requests::{Asker, RequestLimits, Requests};
use super::watch::Watch;
use super::watchdog::{self, Pulse};
use super::{RunnerConfig, RunnerPackage};
use crate::plugin::capability::{Attachment, CapabilityDesk};
use crate::plugin::dialect::Dialect;
use crate::plugin::wire::{self, LoadRequest};
use crate::process::{ChildProcess, CommandSpec, Spawner};

/// What all plugin processes of one daemon share.
#[derive(Clone, Debug)]
pub(crate) struct Workshop {
    pub(crate) spawner: Arc<Spawner>,
    pub(crate) package: Arc<RunnerPackage>,
    pub(crate) desk: Arc<CapabilityDesk>,
}

/// Reads a plugin's manifest, anew for each incarnation.
pub(crate) type ReadDialect = Box<dyn Fn() -> Result<Arc<dyn Dialect>, String> + Send + Sync>;

/// Makes processes of one plugin.
pub struct PluginConnector {
    name: Arc<str>,
    kind: ProviderKind,
    path: PathBuf,
    config: RunnerConfig,
    read: ReadDialect,
    workshop: Workshop,
}

// === impl PluginConnector ===

impl PluginConnector {
    /// A connector for the plugin in the folder `path`, under the provider name `name`.
    pub(crate) fn new(
        name: &str,
        kind: ProviderKind,
        path: PathBuf,
        config: RunnerConfig,
        read: ReadDialect,
        workshop: Workshop,
    ) -> Self {
        Self { name: name.into(), kind, path, config, read, workshop }
    }

    async fn open(&self) -> Result<Arc<dyn ToolProvider>, ToolFailure> {
        let dialect = (self.read)().map_err(down)?;
        self.wait_for(dialect.needs()).await?;
        let token = uuid::Uuid::new_v4().simple().to_string();
        let command = self.command(&token).map_err(|error| down(error.to_string()))?;
        let started = ChildProcess::start_with_socket(&self.workshop.spawner, &command).await;
        let (child, socket) =
            started.map_err(|error| down(format!("`{}` cannot be started: {error}", self.config.python)))?;
        tracing::debug!(provider = %self.name, pid = child.pid(), "a plugin's process has started");
        let (reading, writing) = socket.into_split();
        let (link, outbox) = Link::new();
        let link = Arc::new(link);
        let writer = Arc::clone(&link);
        let writer = own(async move { writer.write(outbox, writing).await });
        let mut frames = handshake::frames(reading, self.config.max_frame_bytes);
        let attachment = self.attach(&*dialect, &link)?;
        let requests = self.requests(&*dialect, &attachment);
        let document = tokio::select! {
            biased;
            loaded = self.load(&*dialect, &token, &mut frames, &link, &requests) => loaded,
            reason = child.ended() => Err(down(reason)),
        };
        let document = match document {
            Ok(document) => document,
            Err(failure) => return Err(self.explain(failure, &child).await),
        };
        let (document, config) = reader::with_config_apart(document);
        let plugin = dialect.read(&document).map_err(down)?;
        attachment.describe(&plugin, config);
        let watch = self.watch().await;
        let name = Arc::clone(&self.name);
        let shared = Arc::new(Shared::new(name, dialect, self.config.clone(), link, child, plugin, attachment));
        Ok(Arc::new(provider(&shared, writer, frames, requests, watch)))
    }

    /// Waits until the plugins that this one needs are up.
    async fn wait_for(&self, needs: &[String]) -> Result<(), ToolFailure> {
        const PATIENCE: Duration = Duration::from_secs(20);
        const LOOK: Duration = Duration::from_millis(50);
        let hub = self.workshop.desk.hub();
        for need in needs {
            let is_up = async {
                while !hub.is_up(need) {
                    tokio::time::sleep(LOOK).await;
                }
            };
            let waited = tokio::time::timeout(PATIENCE, is_up).await;
            waited.map_err(|_elapsed| down(format!("it needs the plugin `{need}`, which is not up")))?;
        }
        Ok(())
    }

    async fn load(
        &self,
        dialect: &dyn Dialect,
        token: &str,
        frames: &mut Frames,
        link: &Arc<Link>,
        requests: &Requests,
    ) -> Result<Value, ToolFailure> {
        handshake::hello(frames, token).await?;
        let request = LoadRequest {
            dialect: self.kind.as_str(),
            path: &self.path,
            data_dir: &self.data_dir(),
            log_level: self.config.log_level.as_str(),
            options: dialect.options(),
        };
        link.send(wire::load(request)).await;
        handshake::loaded(frames, link, requests, &self.name).await
    }

    /// Before the plugin is up, so that no change of it is missed. A plugin that cannot be watched works all the same.
    async fn watch(&self) -> Option<Watch> {
        if !self.config.watch {
            return None;
        }
        let (path, data_dir) = (self.path.clone(), self.data_dir());
        let begun = tokio::task::spawn_blocking(move || Watch::begin(&path, data_dir)).await.ok()?;
        if let Err(error) = &begun {
            tracing::warn!(provider = %self.name, %error, "the plugin's files cannot be watched");
        }
        begun.ok()
    }

    fn attach(&self, dialect: &dyn Dialect, link: &Arc<Link>) -> Result<Attachment, ToolFailure> {
        let link = ApiLink { link: Arc::clone(link), max_frame_bytes: self.config.max_frame_bytes };
        let attached = self.workshop.desk.hub().attach(&self.name, dialect.id(), Arc::new(link));
        attached.map_err(|full| down(full.to_string()))
    }

    fn requests(&self, dialect: &dyn Dialect, attachment: &Attachment) -> Requests {
        let asker = Asker {
            provider: Arc::clone(&self.name),
            plugin_id: dialect.id().into(),
            incarnation: attachment.incarnation(),
            allowed: dialect.capabilities(),
        };
        let RunnerConfig { max_requests, max_frame_bytes, .. } = self.config;
        Requests::new(asker, Arc::clone(&self.workshop.desk), RequestLimits { max_requests, max_frame_bytes })
    }

    fn command(&self, token: &str) -> io::Result<CommandSpec> {
        let mut env = self.config.env.clone();
        env.insert("PYTHONPATH".to_owned(), self.workshop.package.path().to_string_lossy().into_owned());
        env.insert("PYTHONUNBUFFERED".to_owned(), "1".to_owned());
        env.insert("PYTHONIOENCODING".to_owned(), "utf-8:backslashreplace".to_owned());
        env.insert("TOOLYARD_RUNNER_TOKEN".to_owned(), token.to_owned());
        env.insert("TOOLYARD_RUNNER_MAX_FRAME".to_owned(), self.config.max_frame_bytes.to_string());
        let mut command = CommandSpec {
            command: program(&self.config.python),
            args: vec!["-m".to_owned(), "toolyard_runner".to_owned()],
            env,
            inherit_env: self.config.inherit_env.clone(),
            cwd: Some(self.path.clone()),
            limits: self.config.limits,
            run_as: self.config.run_as.clone(),
        };
        if let Some(warning) = command.confine(&self.path)? {
            static SAID: std::sync::Once = std::sync::Once::new();
            SAID.call_once(|| tracing::warn!(provider = %self.name, "{warning}; this holds for other plugins too"));
        }
        Ok(command)
    }

    fn data_dir(&self) -> PathBuf {
        self.config.data_dir.clone().unwrap_or_else(|| self.path.join("data"))
    }

    /// A process that broke off is about to end, and its end says more.
    async fn explain(&self, failure: ToolFailure, child: &ChildProcess) -> ToolFailure {
        const LAST_WORDS: Duration = Duration::from_secs(2);
        if failure.code != ErrorCode::ProviderProtocol {
            return failure;
        }
        match tokio::time::timeout(LAST_WORDS, child.ended()).await {
            Ok(end) => down(format!("the plugin was not loaded: {end}")),
            Err(_lives) => failure,
        }
    }
}

impl ProviderConnector for PluginConnector {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ProviderKind {
        self.kind
    }

    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn ToolProvider>, ToolFailure>> {
        Box::pin(self.open())
    }
}

impl fmt::Debug for PluginConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginConnector").field("name", &self.name).field("path", &self.path).finish_non_exhaustive()
    }
}

fn provider(
    shared: &Arc<Shared>,
    writer: AbortOnDropHandle<()>,
    frames: Frames,
    requests: Requests,
    watch: Option<Watch>,
) -> PluginProvider {
    let pulse = Arc::new(Pulse::default());
    let mut tasks = vec![
        writer,
        own(reader::read(Arc::clone(shared), frames, requests, Arc::clone(&pulse))),
        own(watchdog::watch(Arc::clone(shared), pulse)),
    ];
    tasks.extend(watch.map(|watch| own(watch.run(Arc::clone(shared)))));
    PluginProvider { shared: Arc::clone(shared), tasks: Mutex::new(tasks) }
}

fn own(work: impl Future<Output = ()> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(work))
}

/// A program with a slash is a path, which must not depend on the plugin's own folder.
fn program(python: &str) -> String {
    match std::path::absolute(python) {
        Ok(path) if python.contains('/') => path.to_string_lossy().into_owned(),
        _ => python.to_owned(),
    }
}

fn down(reason: String) -> ToolFailure {
    ToolFailure::not_sent(ErrorCode::ProviderDown, reason)
}
