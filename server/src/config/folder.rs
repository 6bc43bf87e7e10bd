//! Folders of plugins: each plugin in one becomes a provider of its own.

use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::provider::{ProviderConfig, ProviderKindConfig};

/// The key that names a folder of plugins instead of one plugin.
pub(super) const FOLDER_KEY: &str = "folder";
/// Plugins of one folder.
const MAX_PLUGINS: usize = 500;

/// Every provider, with those that stand for folders replaced by the plugins in them.
///
/// # Errors
/// A folder cannot be read, holds too many plugins, or holds one of a name that another provider has.
pub(super) fn expand_all(providers: Vec<ProviderConfig>) -> Result<Vec<ProviderConfig>, Vec<ConfigError>> {
    let (mut expanded, mut errors): (Vec<ProviderConfig>, Vec<ConfigError>) = (Vec::new(), Vec::new());
    for (index, provider) in providers.into_iter().enumerate() {
        let section = format!("providers/{index} ({})", provider.name);
        let mut fail = |message: String| errors.push(ConfigError { place: None, section: section.clone(), message });
        match expand(provider) {
            Ok(plugins) => {
                for plugin in plugins {
                    if expanded.iter().any(|earlier| earlier.name == plugin.name) {
                        fail(format!("there is a provider `{}` already", plugin.name));
                    }
                    expanded.push(plugin);
                }
            }
            Err(message) => fail(message),
        }
    }
    if errors.is_empty() { Ok(expanded) } else { Err(errors) }
}

/// The plugins of a provider that stands for a folder, in the order of their names; any other provider as it is.
///
/// # Errors
/// The folder cannot be read, or holds too many plugins.
fn expand(provider: ProviderConfig) -> Result<Vec<ProviderConfig>, String> {
    let (true, Some((folder, manifest))) = (provider.is_folder, provider.kind.plugin()) else {
        return Ok(vec![provider]);
    };
    let folder = folder.to_owned();
    let plugins = plugins_in(&folder, manifest).map_err(|error| format!("{}: {error}", folder.display()))?;
    if plugins.len() > MAX_PLUGINS {
        return Err(format!("{} holds {} plugins; at most {MAX_PLUGINS} are read", folder.display(), plugins.len()));
    }
    let plugin = |(name, path): (String, PathBuf)| {
        let mut plugin = provider.clone();
        (plugin.name, plugin.is_folder) = (name, false);
        plugin.kind.set_plugin_path(&plugin.name, path);
        plugin
    };
    Ok(plugins.into_iter().map(plugin).collect())
}

/// Folders that hold a manifest, by name. Hidden ones, caches and data are none.
fn plugins_in(folder: &Path, manifest: &str) -> std::io::Result<Vec<(String, PathBuf)>> {
    let mut plugins = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).map(str::to_owned) else { continue };
        let is_skipped = name.starts_with('.') || matches!(name.as_str(), "data" | "__pycache__");
        if !is_skipped && path.join(manifest).is_file() {
            plugins.push((name, path));
        }
    }
    plugins.sort();
    Ok(plugins)
}

// === impl ProviderKindConfig ===

impl ProviderKindConfig {
    /// The folder of a plugin, and the file that makes a folder one.
    fn plugin(&self) -> Option<(&Path, &'static str)> {
        match self {
            Self::MaiBot(config, _) => Some((&config.path, "_manifest.json")),
            Self::LenBot(config, _) => Some((&config.path, "plugin.toml")),
            Self::Xbot(config) => Some((&config.path, "plugin.json")),
            Self::Builtin(_) | Self::Demo | Self::Scripted(_) | Self::Http(_) | Self::Mcp(_) => None,
        }
    }

    /// Plugins that were given one folder for their data get a folder each in it.
    fn set_plugin_path(&mut self, name: &str, path: PathBuf) {
        if let Self::MaiBot(_, runner) | Self::LenBot(_, runner) = self {
            runner.data_dir = runner.data_dir.take().map(|folder| folder.join(name));
        }
        match self {
            Self::MaiBot(config, _) => config.path = path,
            Self::LenBot(config, _) => config.path = path,
            Self::Xbot(config) => config.path = path,
            Self::Builtin(_) | Self::Demo | Self::Scripted(_) | Self::Http(_) | Self::Mcp(_) => {}
        }
    }
}
