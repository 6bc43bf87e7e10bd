//! The desk at which plugins ask.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use toolyard::{HostPort, JsonText};

use super::ask::{Ask, Refusal};
use super::configuration::BotConfig;
#[cfg(feature = "plugin-database")]
use super::database::Database;
use super::forward::forward;
use super::hub::PluginHub;
use super::table::{self, By};
use super::{api, component, configuration, reply, statistics};

/// What can be configured about capabilities.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CapabilityConfig {
    /// A TOML file from which plugins read the bot's configuration, at most 1 MiB. Keep secrets out of it: every plugin
    /// with `config.get` may read all of it. Without it the bot backend is asked.
    pub bot_config: Option<PathBuf>,
    /// Folder of `plugins.sqlite3`, in which rows of plugins are kept; made when the first plugin needs it. Without it the
    /// bot backend is asked for rows too.
    pub data_dir: Option<PathBuf>,
}

/// Answers what plugins ask of their host. One a daemon.
#[derive(Debug)]
pub(crate) struct CapabilityDesk {
    host: Arc<dyn HostPort>,
    pub(super) hub: Arc<PluginHub>,
    pub(super) bot_config: Option<BotConfig>,
    #[cfg(feature = "plugin-database")]
    database: Option<Database>,
}

// === impl CapabilityDesk ===

impl CapabilityDesk {
    /// A desk that asks `host` for what belongs to the bot.
    pub(crate) fn new(host: Arc<dyn HostPort>, hub: Arc<PluginHub>, config: CapabilityConfig) -> Arc<Self> {
        Arc::new(Self {
            host,
            hub,
            bot_config: config.bot_config.map(BotConfig::new),
            #[cfg(feature = "plugin-database")]
            database: config.data_dir.map(|folder| Database::new(folder.join("plugins.sqlite3"))),
        })
    }

    /// The same desk, configured otherwise.
    pub(crate) fn configured(&self, config: CapabilityConfig) -> Arc<Self> {
        Self::new(Arc::clone(&self.host), Arc::clone(&self.hub), config)
    }

    /// The hub whose plugins ask here.
    pub(crate) fn hub(&self) -> &Arc<PluginHub> {
        &self.hub
    }

    /// Answers one request, with what MaiBot's host would give as the result of a capability. Dropping the future gives
    /// the request up, which the caller does at the request's deadline.
    ///
    /// # Errors
    /// The refusal is meant for the plugin, which sees it as an exception.
    pub(crate) async fn answer(&self, ask: Ask) -> Result<JsonText, Refusal> {
        check_permission(&ask)?;
        self.route(&ask).await
    }

    async fn route(&self, ask: &Ask) -> Result<JsonText, Refusal> {
        let known = table::find(&ask.name);
        match known {
            None if table::is_own_family(&ask.name) => {
                return Err(Refusal::not_allowed(format!("there is no capability `{}`", ask.name)));
            }
            Some(capability) if capability.by == By::Toolyard => return self.answer_itself(ask).await,
            None | Some(_) => {}
        }
        let answer = self.ask_bot(ask).await?;
        match known {
            Some(capability) => reply::normalise(capability, answer),
            None => Ok(answer),
        }
    }

    async fn answer_itself(&self, ask: &Ask) -> Result<JsonText, Refusal> {
        let name = ask.name.as_str();
        match name.split('.').next() {
            Some("config") => configuration::answer(self, ask).await,
            Some("component") => component::answer(&self.hub, ask).await,
            Some("api") => api::answer(&self.hub, ask).await,
            Some("statistics") => statistics::tool_trend(&self.hub, ask),
            Some("database") => self.rows(ask).await,
            _ => self.tool_definitions(),
        }
    }

    /// Passes the request on; the answer is held against the table where it is known.
    pub(super) async fn ask_bot(&self, ask: &Ask) -> Result<JsonText, Refusal> {
        forward(&*self.host, ask).await
    }

    #[cfg(feature = "plugin-database")]
    async fn rows(&self, ask: &Ask) -> Result<JsonText, Refusal> {
        match &self.database {
            Some(database) => database.answer(ask).await,
            None => self.rows_of_bot(ask).await,
        }
    }

    #[cfg(not(feature = "plugin-database"))]
    async fn rows(&self, ask: &Ask) -> Result<JsonText, Refusal> {
        self.rows_of_bot(ask).await
    }

    async fn rows_of_bot(&self, ask: &Ask) -> Result<JsonText, Refusal> {
        let answer = self.ask_bot(ask).await?;
        match table::find(&ask.name) {
            Some(capability) => reply::normalise(capability, answer),
            None => Ok(answer),
        }
    }

    fn tool_definitions(&self) -> Result<JsonText, Refusal> {
        let definitions =
            self.hub.definitions().ok_or_else(|| Refusal::failed("this host lists no tools to plugins"))?;
        let items = definitions.into_iter().map(|tool| {
            JsonText::object([
                ("name", JsonText::string(&tool.name)),
                ("description", JsonText::string(&tool.description)),
                ("parameters", JsonText::from(tool.parameters)),
            ])
        });
        Ok(reply::success("tools", JsonText::array(items)))
    }
}

fn check_permission(ask: &Ask) -> Result<(), Refusal> {
    let Ask { name, plugin_id, allowed, .. } = ask;
    let Some(allowed) = allowed else { return Ok(()) };
    if table::is_free(name) || allowed.contains(name.as_str()) {
        return Ok(());
    }
    Err(Refusal::denied(format!(
        "plugin `{plugin_id}` may not use `{name}`: add \"{name}\" to `capabilities` in its _manifest.json"
    )))
}

#[cfg(test)]
pub(super) mod tests;
