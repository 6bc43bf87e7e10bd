//! `config.*`: the bot's configuration, and the plugins' own.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolyard::JsonText;

use super::ask::{Ask, Refusal};
use super::desk::CapabilityDesk;
use super::reply::{self, success};
use super::table;

/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The file with the bot's configuration; read again when it has changed.
#[derive(Debug)]
pub(super) struct BotConfig {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    read: Mutex<Option<(Stamp, Arc<Value>)>>,
}

/// By what a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    bytes: u64,
}

#[derive(Debug, Deserialize)]
struct Key {
    key: String,
    #[serde(default = "JsonText::null")]
    default: JsonText,
}

#[derive(Debug, Deserialize)]
struct OfPlugin {
    #[serde(default)]
    plugin_name: Option<String>,
}

pub(super) async fn answer(desk: &CapabilityDesk, ask: &Ask) -> Result<JsonText, Refusal> {
    match ask.name.as_str() {
        "config.get" => bot_value(desk, ask).await,
        "config.get_plugin" => plugin_config(desk, ask),
        _ => Ok(success("value", own_config(desk, ask))),
    }
}

/// A value of the bot's configuration: from the file, else from the bot backend, else the default that the plugin gave.
async fn bot_value(desk: &CapabilityDesk, ask: &Ask) -> Result<JsonText, Refusal> {
    let Key { key, default } = ask.read()?;
    if let Some(file) = &desk.bot_config {
        let config = file.read().await?;
        let value = look_up(&config, &key).map_or(default, JsonText::from);
        return Ok(success("value", value));
    }
    let Ok(answer) = desk.ask_bot(ask).await else { return Ok(success("value", default)) };
    match table::find(&ask.name) {
        Some(capability) => reply::normalise(capability, answer),
        None => Ok(answer),
    }
}

fn plugin_config(desk: &CapabilityDesk, ask: &Ask) -> Result<JsonText, Refusal> {
    let OfPlugin { plugin_name } = ask.read()?;
    let Some(name) = plugin_name.filter(|name| !name.is_empty() && **name != *ask.plugin_id) else {
        return Ok(success("value", own_config(desk, ask)));
    };
    let plugin = desk.hub.find(&name);
    let plugin = plugin.ok_or_else(|| Refusal::plugin_not_found(format!("no plugin `{name}` is up")))?;
    Ok(success("value", plugin.state().config.unwrap_or_else(|| JsonText::object([]))))
}

fn own_config(desk: &CapabilityDesk, ask: &Ask) -> JsonText {
    let config = desk.hub.asking(ask).and_then(|plugin| plugin.state().config);
    config.unwrap_or_else(|| JsonText::object([]))
}

/// The value under dotted keys; list items go by their number.
fn look_up<'a>(config: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(config, |value, part| match value {
        Value::Object(members) => members.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

// === impl BotConfig ===

impl BotConfig {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { shared: Arc::new(Shared { path, read: Mutex::new(None) }) }
    }

    /// The whole configuration; empty where there is no file.
    async fn read(&self) -> Result<Arc<Value>, Refusal> {
        let shared = Arc::clone(&self.shared);
        let read = tokio::task::spawn_blocking(move || shared.read()).await;
        read.map_err(|error| Refusal::failed(format!("the bot's configuration could not be read: {error}")))?
    }
}

// === impl Shared ===

impl Shared {
    fn read(&self) -> Result<Arc<Value>, Refusal> {
        let Ok(metadata) = fs::metadata(&self.path) else { return Ok(Arc::new(Value::Object(Map::new()))) };
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let stamp = Stamp { modified, bytes: metadata.len() };
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, config)) = &*read
            && *known == stamp
        {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.parse()?);
        *read = Some((stamp, Arc::clone(&config)));
        Ok(config)
    }

    fn parse(&self) -> Result<Value, Refusal> {
        let broken = |why: String| Refusal::failed(format!("the bot's configuration could not be read: {why}"));
        let file = File::open(&self.path).map_err(|error| broken(error.to_string()))?;
        let mut text = String::new();
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| broken(error.to_string()))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(broken(format!("it has more than {MAX_BYTES} bytes")));
        }
        // Only the place: the sentence of the parser may quote a value.
        let table: toml::Table = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            broken(format!("it is no TOML, in line {}", before.matches('\n').count() + 1))
        })?;
        Ok(to_json(toml::Value::Table(table)))
    }
}

fn to_json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Datetime(moment) => Value::String(moment.to_string()),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(to_json).collect()),
        toml::Value::Table(members) => members.into_iter().map(|(key, value)| (key, to_json(value))).collect(),
    }
}

#[cfg(test)]
mod tests;
