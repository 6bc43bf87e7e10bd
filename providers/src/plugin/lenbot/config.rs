//! What can be configured of a LenBot plugin.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A LenBot plugin, as configured. Keys of every runner stand beside these.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LenBotConfig {
    /// The folder with `plugin.toml` and `__init__.py`.
    pub path: PathBuf,
    /// Values of the plugin's own configuration. A secret is a text, `{ env = "NAME" }` or `{ file = "path" }`.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// Scenes (`platform:group:id`, `platform:private:id`) in which the plugin may be used. Default every scene.
    #[serde(default)]
    pub scenes: Option<Vec<String>>,
    /// Scenes whose chat is closed for now: no tool of the plugin may be used there.
    #[serde(default)]
    pub paused_scenes: Vec<String>,
    /// Owners of the bot (`platform:account`), as `require_owner` asks. Where absent, the bot backend is asked.
    #[serde(default)]
    pub owners: Option<Vec<String>>,
    /// Users whose messages ask for nothing.
    #[serde(default)]
    pub blacklist: Vec<String>,
    /// Accounts of other bots, whose messages ask for nothing either.
    #[serde(default)]
    pub other_bots: Vec<String>,
    /// The bot's own account (`platform:account`).
    #[serde(default)]
    pub bot_id: String,
    /// The platform's name in scenes, where it differs from the context's, such as `onebot` for `qq`.
    #[serde(default)]
    pub platform: Option<String>,
    /// Time zone of the scenes. Default `Asia/Shanghai`.
    #[serde(default = "timezone")]
    pub timezone: String,
    /// LenBot's version that is claimed. Default `0.9.0`, which admits every plugin of interface 1.
    #[serde(default = "lenbot_version")]
    pub lenbot_version: String,
    /// Python's version that is claimed. Default `3.13.0`.
    #[serde(default = "python_version")]
    pub python_version: String,
}

// === impl LenBotConfig ===

/// Shows no values of the plugin's configuration: there are secrets among them.
impl std::fmt::Debug for LenBotConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LenBotConfig").field("path", &self.path).finish_non_exhaustive()
    }
}

fn timezone() -> String {
    "Asia/Shanghai".to_owned()
}

fn lenbot_version() -> String {
    "0.9.0".to_owned()
}

fn python_version() -> String {
    "3.13.0".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_is_needed_and_unknown_keys_are_refused() {
        let config: LenBotConfig = serde_json::from_str(r#"{"path": "plugins/counter"}"#).unwrap();
        assert_eq!((config.scenes, config.owners), (None, None));
        assert!(serde_json::from_str::<LenBotConfig>(r#"{"path": "x", "scene": []}"#).is_err());
        assert!(serde_json::from_str::<LenBotConfig>("{}").is_err());
    }

    #[test]
    fn the_debug_form_shows_no_values() {
        let text = r#"{"path": "x", "config": {"token": "hunter2"}}"#;
        let config: LenBotConfig = serde_json::from_str(text).unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
