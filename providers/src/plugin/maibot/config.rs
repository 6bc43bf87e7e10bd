//! What can be configured of a MaiBot plugin.

use std::path::PathBuf;

use serde::Deserialize;
use toolyard::Visibility;

use super::version::{Claim, Version};

/// A MaiBot plugin, as configured. Keys of every runner stand beside these.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaiBotConfig {
    /// The folder with `_manifest.json` and `plugin.py`.
    pub path: PathBuf,
    /// MaiBot's version that is claimed, as one or as a list of which the plugin must admit one. Default `["1.0.12",
    /// "1.2.1"]`, which admits most public plugins.
    #[serde(default = "host_versions")]
    pub host_version: Claim,
    /// The SDK's version that is claimed, likewise. Default `["2.7.1", "2.16.0"]`.
    #[serde(default = "sdk_versions")]
    pub sdk_version: Claim,
    /// When a model sees tools that say nothing of it. Default `deferred`.
    #[serde(default = "deferred")]
    pub default_visibility: Visibility,
    /// Whether the plugin may only use the capabilities of its manifest. Default true.
    #[serde(default = "yes")]
    pub enforce_capabilities: bool,
}

fn host_versions() -> Claim {
    Claim::of(&[Version::new(1, 0, 12), Version::new(1, 2, 1)])
}

fn sdk_versions() -> Claim {
    Claim::of(&[Version::new(2, 7, 1), Version::new(2, 16, 0)])
}

const fn deferred() -> Visibility {
    Visibility::Deferred
}

const fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_is_needed_and_unknown_keys_are_refused() {
        let config: MaiBotConfig = serde_json::from_str(r#"{"path": "plugins/search"}"#).unwrap();
        assert_eq!((config.default_visibility, config.enforce_capabilities), (Visibility::Deferred, true));
        assert_eq!(config.host_version.to_string(), "1.0.12 or 1.2.1");
        assert_eq!(config.sdk_version.to_string(), "2.7.1 or 2.16.0");
        assert!(serde_json::from_str::<MaiBotConfig>(r#"{"path": "x", "sdk": "2.0.0"}"#).is_err());
        assert!(serde_json::from_str::<MaiBotConfig>("{}").is_err());
    }
}
