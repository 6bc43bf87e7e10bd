//! Reading: each section for itself, so that one broken section hides no error of another.

mod conduct;
mod policy;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toolyard_providers::{CommandSpec, McpConfig, McpOptions, RunnerConfig};

use super::Config;
use super::backend::{BackendConfig, BackendKind, BackendKindName, KIND_KEY};
use super::builtin::BuiltinKeys;
use super::endpoint::EndpointConfig;
use super::error::{ConfigError, ConfigErrors, explain, nearest};
use super::folder::FOLDER_KEY;
use super::mcp::{COMMAND_KEY, ENV_KEY, EnvKeys, HttpKeys, McpFiles, URL_KEY};
use super::provider::LENBOT_UNLOAD_MS;
use super::provider::{COMMON_KEYS, CommonConfig, KindName, NoSettings, ProviderConfig, ProviderKindConfig};
use super::ranges::{self, NumberRange};

const SECTIONS: [&str; 8] = ["server", "limits", "policy", "backend", "mcp", "plugins", "builtin", "providers"];

type Section<'i> = Spanned<DeValue<'i>>;

/// Collects what is wrong while the sections are read.
struct Reader<'t> {
    text: &'t str,
    errors: Vec<ConfigError>,
    /// What roles may use, to be looked at when the providers are known.
    roles: Vec<policy::RoleNames>,
}

pub(super) fn read(source: &str, text: &str) -> Result<Config, ConfigErrors> {
    let mut reader = Reader { text, errors: Vec::new(), roles: Vec::new() };
    let config = reader.document();
    reader.errors.sort_by_key(|error| error.place);
    if reader.errors.is_empty() { Ok(config) } else { Err(ConfigErrors::new(source, reader.errors)) }
}

// === impl Reader ===

impl Reader<'_> {
    fn document(&mut self) -> Config {
        let mut config = Config::default();
        let table = match DeTable::parse(self.text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                self.report(&error, "", &[]);
                return config;
            }
        };
        for (key, mut value) in table {
            let name = key.get_ref().as_ref();
            if let DeValue::Table(table) = value.get_mut() {
                self.check_numbers(name, table, ranges::of_section(name));
            }
            match name {
                "server" => config.server = self.section("server", value).unwrap_or_default(),
                "limits" => config.limits = self.section("limits", value).unwrap_or_default(),
                "policy" => (config.policy, config.rules, config.retry) = self.policy(value),
                "mcp" => (config.mcp, config.endpoint) = self.mcp_table(value),
                "plugins" => config.plugins = self.section("plugins", value).unwrap_or_default(),
                "builtin" => config.builtin = self.section("builtin", value).unwrap_or_default(),
                "backend" => config.backend = self.backend(value).unwrap_or_default(),
                "providers" => config.providers = self.providers(value),
                other => {
                    let hint = nearest(other, SECTIONS.into_iter())
                        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    self.error(key.span(), "", format!("unknown section `{other}`{hint}"));
                }
            }
        }
        self.check_roles(&config);
        if let Err(message) = config.server.check() {
            self.errors.push(ConfigError { place: None, section: "server".to_owned(), message });
        }
        config
    }

    /// A table with a `kind`, or the kind alone.
    fn backend(&mut self, value: Section<'_>) -> Option<BackendConfig> {
        let span = value.span();
        let table = match value.into_inner() {
            DeValue::Table(table) => table,
            kind => DeTable::from_iter([(key(KIND_KEY, &span), Spanned::new(span.clone(), kind))]),
        };
        let (kind, rest): (DeTable<'_>, DeTable<'_>) =
            table.into_iter().partition(|(key, _)| key.get_ref().as_ref() == KIND_KEY);
        let BackendKind { kind } = self.section("backend", Spanned::new(span.clone(), DeValue::Table(kind)))?;
        let rest = Spanned::new(span, DeValue::Table(rest));
        match kind {
            BackendKindName::None => self.section("backend", rest).map(|NoSettings {}| BackendConfig::None),
            BackendKindName::Simulate => self.section("backend", rest).map(BackendConfig::Simulate),
            BackendKindName::Http => self.section("backend", rest).map(BackendConfig::Http),
            BackendKindName::Events => self.section("backend", rest).map(BackendConfig::Events),
        }
    }

    fn providers(&mut self, value: Section<'_>) -> Vec<ProviderConfig> {
        let span = value.span();
        let DeValue::Array(entries) = value.into_inner() else {
            self.error(span, "providers", "must be written as [[providers]]".to_owned());
            return Vec::new();
        };
        let mut providers: Vec<ProviderConfig> = Vec::new();
        for (index, entry) in entries.into_iter().enumerate() {
            let span = entry.span();
            let Some(provider) = self.provider(index, entry) else { continue };
            if providers.iter().any(|earlier| earlier.name == provider.name) {
                let message = format!("there is a provider `{}` already", provider.name);
                self.error(span, &format!("providers/{index}"), message);
            }
            providers.push(provider);
        }
        providers
    }

    /// The keys that every provider has are read apart from those of its kind.
    fn provider(&mut self, index: usize, entry: Section<'_>) -> Option<ProviderConfig> {
        let span = entry.span();
        let mut section = format!("providers/{index}");
        let DeValue::Table(mut table) = entry.into_inner() else {
            self.error(span, &section, "must be a table".to_owned());
            return None;
        };
        if let Some(name) = table.get("name").and_then(|name| name.get_ref().as_str()) {
            section = format!("{section} ({name})");
        }
        self.check_numbers(&section, &mut table, &ranges::PROVIDER);
        let (common, rest): (DeTable<'_>, DeTable<'_>) =
            table.into_iter().partition(|(key, _)| COMMON_KEYS.contains(&key.get_ref().as_ref()));
        // Known even when another common key is wrong, so that the keys of the kind are looked at all the same.
        let kind =
            common.get("kind").and_then(|kind| KindName::deserialize(ValueDeserializer::from(kind.clone())).ok());
        let common: Option<CommonConfig> = self.section(&section, Spanned::new(span.clone(), DeValue::Table(common)));
        let kind = kind?;
        let (rest, is_folder) = self.plugin_path(&section, kind, rest);
        let rest = Spanned::new(span, DeValue::Table(rest));
        let others = kind.other_keys();
        let kind = match kind {
            KindName::Builtin => self.table(&section, rest, &others).map(BuiltinKeys::kind),
            KindName::Demo => self.table(&section, rest, &others).map(|NoSettings {}| ProviderKindConfig::Demo),
            KindName::Scripted => self.table(&section, rest, &others).map(ProviderKindConfig::Scripted),
            KindName::Http => self.table(&section, rest, &others).map(ProviderKindConfig::Http),
            KindName::Xbot => self.table(&section, rest, &others).map(ProviderKindConfig::Xbot),
            KindName::Mcp => self.mcp(&section, rest, &others).map(|config| ProviderKindConfig::Mcp(Box::new(config))),
            KindName::LenBot => {
                let (own, runner) = self.runner(&section, rest, LENBOT_UNLOAD_MS);
                let own = self.table(&section, own, &others);
                own.zip(runner).map(|(own, runner)| ProviderKindConfig::LenBot(own, runner))
            }
            KindName::MaiBot => {
                let (own, runner) = self.runner(&section, rest, RunnerConfig::default().unload_ms);
                let own = self.table(&section, own, &others);
                own.zip(runner).map(|(own, runner)| ProviderKindConfig::MaiBot(own, runner))
            }
        };
        let mut provider = ProviderConfig::new(common?, kind?);
        provider.is_folder = is_folder;
        Some(provider)
    }

    /// What `[mcp]` says of files, and of the endpoint.
    fn mcp_table(&mut self, value: Section<'_>) -> (McpFiles, EndpointConfig) {
        let (files, rest) = split(value, &McpFiles::KEYS);
        let endpoint = self.table("mcp", rest, &McpFiles::KEYS).unwrap_or_default();
        (self.section("mcp", files).unwrap_or_default(), endpoint)
    }

    /// A child process or a service, with the options of both.
    fn mcp(&mut self, section: &str, value: Section<'_>, others: &[&str]) -> Option<McpConfig> {
        let (options, own) = split(value, &McpOptions::KEYS);
        let options: Option<McpOptions> = self.section(section, options);
        let has = |key| own.get_ref().as_table().is_some_and(|table| table.contains_key(key));
        match (has(COMMAND_KEY), has(URL_KEY)) {
            (true, true) => {
                self.error(own.span(), section, "give `command` or `url`, not both".to_owned());
                None
            }
            (false, true) => {
                let keys: Option<HttpKeys> = self.table(section, own, others);
                keys.zip(options).map(|(keys, options)| keys.config(options))
            }
            (false, false) => {
                self.neither(section, own, others);
                None
            }
            (true, false) => {
                let (env, own) = split(own, &[ENV_KEY]);
                let env: Option<EnvKeys> = self.section(section, env);
                let command: Option<CommandSpec> = self.table(section, own, others);
                let mut config = McpConfig::stdio(command?);
                (config.env, config.options) = (env?.env, options?);
                Some(config)
            }
        }
    }

    /// A server of which nothing says how to reach it. Where one of the keys is misspelt, that says enough.
    fn neither(&mut self, section: &str, own: Section<'_>, others: &[&str]) {
        let (span, said) = (own.span(), self.errors.len());
        let (_, own) = split(split(own, &HttpKeys::KEYS).1, &[ENV_KEY]);
        if let DeValue::Table(mut keys) = own.into_inner() {
            let command = Spanned::new(span.clone(), DeValue::String("".into()));
            keys.insert(key(COMMAND_KEY, &span), command);
            drop(self.table::<CommandSpec>(section, Spanned::new(span.clone(), DeValue::Table(keys)), others));
        }
        if self.errors.len() == said {
            let message = "give `command` for a child process or `url` for a service: one of both is needed";
            self.error(span, section, message.to_owned());
        }
    }

    /// A folder of plugins is read as a path, and remembered as a folder.
    fn plugin_path<'i>(&mut self, section: &str, kind: KindName, mut rest: DeTable<'i>) -> (DeTable<'i>, bool) {
        if !kind.is_plugin() {
            return (rest, false);
        }
        let Some((key, folder)) = rest.remove_entry(FOLDER_KEY) else { return (rest, false) };
        if rest.contains_key("path") {
            self.error(key.span(), section, "give `path` for one plugin or `folder` for many, not both".to_owned());
        } else {
            rest.insert(Spanned::new(key.span(), "path".into()), folder);
        }
        (rest, true)
    }

    /// The keys of a plugin's process apart from those of its kind.
    fn runner<'i>(
        &mut self,
        section: &str,
        rest: Section<'i>,
        unload_ms: u64,
    ) -> (Section<'i>, Option<Box<RunnerConfig>>) {
        let span = rest.span();
        let DeValue::Table(table) = rest.into_inner() else {
            return (Spanned::new(span, DeValue::Table(DeTable::new())), None);
        };
        let (runner, own): (DeTable<'_>, DeTable<'_>) =
            table.into_iter().partition(|(key, _)| RunnerConfig::KEYS.contains(&key.get_ref().as_ref()));
        let has_own = runner.contains_key("unload_ms");
        let mut runner: Option<RunnerConfig> =
            self.section(section, Spanned::new(span.clone(), DeValue::Table(runner)));
        if let (false, Some(runner)) = (has_own, &mut runner) {
            runner.unload_ms = unload_ms;
        }
        (Spanned::new(span, DeValue::Table(own)), runner.map(Box::new))
    }

    /// Reads a table whose keys are all its own.
    fn section<T: DeserializeOwned>(&mut self, section: &str, value: Section<'_>) -> Option<T> {
        self.table(section, value, &[])
    }

    /// Reads one table. Every key that nobody knows is reported, not only the first, and with what is known: its own keys
    /// and `others`, which were read apart.
    fn table<T: DeserializeOwned>(&mut self, section: &str, value: Section<'_>, others: &[&str]) -> Option<T> {
        let span = value.span();
        let mut value = value.into_inner();
        let mut sound = true;
        loop {
            let attempt = Spanned::new(span.clone(), value.clone());
            match T::deserialize(ValueDeserializer::from(attempt)) {
                Ok(read) => return sound.then_some(read),
                // What is missing is most likely what was misspelt.
                Err(error) if !sound && error.message().starts_with("missing field") => return None,
                Err(error) => {
                    let is_own = remove_unknown(&mut value, &error);
                    self.report(&error, section, if is_own { others } else { &[] });
                    sound = false;
                    if !is_own {
                        return None;
                    }
                }
            }
        }
    }

    /// Numbers out of their range are reported and taken out.
    fn check_numbers(&mut self, section: &str, table: &mut DeTable<'_>, ranges: &[NumberRange]) {
        for (span, message) in ranges::take(table, ranges) {
            self.error(span, section, message);
        }
    }

    fn report(&mut self, error: &toml::de::Error, section: &str, others: &[&str]) {
        self.errors.push(ConfigError::at(self.text, error.span(), section, explain(error.message(), others)));
    }

    fn error(&mut self, span: std::ops::Range<usize>, section: &str, message: String) {
        self.errors.push(ConfigError::at(self.text, Some(span), section, message));
    }
}

/// A table in two: these keys, and all others.
fn split<'i>(value: Section<'i>, keys: &[&str]) -> (Section<'i>, Section<'i>) {
    let span = value.span();
    let table = match value.into_inner() {
        DeValue::Table(table) => table,
        // What is wrong with it is said when it is read.
        other => return (Spanned::new(span.clone(), DeValue::Table(DeTable::new())), Spanned::new(span, other)),
    };
    let (some, others): (DeTable<'_>, DeTable<'_>) =
        table.into_iter().partition(|(key, _)| keys.contains(&key.get_ref().as_ref()));
    (Spanned::new(span.clone(), DeValue::Table(some)), Spanned::new(span, DeValue::Table(others)))
}

/// A key as if it were written there.
fn key<'i>(name: &'static str, span: &std::ops::Range<usize>) -> Spanned<std::borrow::Cow<'i, str>> {
    Spanned::new(span.clone(), name.into())
}

/// Takes the key out that an error points at, so that reading can go on behind it.
fn remove_unknown(value: &mut DeValue<'_>, error: &toml::de::Error) -> bool {
    let (DeValue::Table(table), Some(span)) = (value, error.span()) else { return false };
    if !error.message().starts_with("unknown field") {
        return false;
    }
    let Some(key) = table.keys().find(|key| key.span() == span).cloned() else { return false };
    table.remove(&key).is_some()
}
