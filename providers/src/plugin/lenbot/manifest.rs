//! plugin.toml: what a plugin says of itself.

use std::str::FromStr;

use indexmap::IndexMap;
use pep440_rs::{Version, VersionSpecifiers};
use serde::Deserialize;
use serde_json::Value;

use super::LenBotConfig;
use super::declaration::Declaration;

const FILE: &str = "plugin.toml";
/// The only interface there is.
const INTERFACE: i64 = 1;
/// The largest plugin.toml, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Names that stand for other sources of tools.
const RESERVED: [&str; 3] = ["core", "len_bot", "mcp"];
const REQUIRED: [&str; 10] = [
    "name",
    "version",
    "interface",
    "requires_lenbot",
    "requires_python",
    "platforms",
    "reload",
    "authors",
    "license",
    "description",
];

/// A manifest that has passed every check.
#[derive(Clone, Debug)]
pub(super) struct LenBotManifest {
    pub(super) name: String,
    pub(super) config: IndexMap<String, Declaration>,
    /// The whole manifest, for the runner.
    pub(super) document: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    name: String,
    version: String,
    interface: i64,
    requires_lenbot: String,
    requires_python: String,
    platforms: Vec<String>,
    #[serde(rename = "reload")]
    _reload: Reload,
    authors: Vec<String>,
    license: String,
    description: String,
    #[serde(default, rename = "repository")]
    _repository: Option<String>,
    #[serde(default, rename = "homepage")]
    _homepage: Option<String>,
    #[serde(default, rename = "model")]
    _model: Option<Model>,
    #[serde(default, rename = "dependencies")]
    _dependencies: Vec<String>,
    #[serde(default = "first")]
    data_version: u32,
    #[serde(default)]
    config: IndexMap<String, Declaration>,
}

/// Whether the plugin can be loaded again by itself. Here it always can: it has a process of its own.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reload {
    Plugin,
    Host,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    #[serde(default, rename = "instructions")]
    _instructions: Option<String>,
}

// === impl LenBotManifest ===

impl LenBotManifest {
    /// Reads and checks the manifest of the plugin in this folder.
    ///
    /// # Errors
    /// A sentence that names everything that is wrong.
    pub(super) fn read(config: &LenBotConfig) -> Result<Self, String> {
        let path = &config.path;
        let file = path.join(FILE);
        let text =
            std::fs::read_to_string(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        if text.len() > MAX_BYTES {
            return Err(format!("{FILE} has {} bytes; at most {MAX_BYTES} are read", text.len()));
        }
        let folder =
            std::fs::canonicalize(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let folder = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self::parse(&text, &folder, config)
    }

    fn parse(text: &str, folder: &str, config: &LenBotConfig) -> Result<Self, String> {
        let document: Value = toml::from_str(text).map_err(|error| format!("{FILE}: {error}"))?;
        // A manifest of another interface may have other keys: that it is another is all there is to say.
        if let Some(interface) = document.get("interface").filter(|value| **value != INTERFACE) {
            return Err(format!("{FILE}: interface {interface} is not supported; only {INTERFACE} is"));
        }
        let missing: Vec<_> = REQUIRED.into_iter().filter(|key| document.get(key).is_none()).collect();
        if !missing.is_empty() {
            return Err(format!("{FILE} lacks {}", missing.join(", ")));
        }
        let fields: Fields = toml::from_str(text).map_err(|error| format!("{FILE}: {error}"))?;
        let problems = fields.problems(folder, config);
        if !problems.is_empty() {
            return Err(format!("{FILE}: {}", problems.join("; ")));
        }
        Ok(Self { name: fields.name, config: fields.config, document })
    }
}

// === impl Fields ===

impl Fields {
    fn problems(&self, folder: &str, config: &LenBotConfig) -> Vec<String> {
        let mut problems = Vec::new();
        let mut refuse = |is_wrong: bool, what: String| {
            if is_wrong {
                problems.push(what);
            }
        };
        let name = &self.name;
        let is_legal = !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        refuse(!is_legal, format!("the name `{name}` has other characters than a-z, 0-9 and _"));
        refuse(RESERVED.contains(&name.as_str()), format!("the name `{name}` is reserved"));
        refuse(is_legal && name != folder, format!("the name `{name}` is not the folder's, `{folder}`"));
        refuse(self.interface != INTERFACE, format!("interface {} is not supported", self.interface));
        let version = Version::from_str(&self.version);
        refuse(version.is_err(), format!("the version `{}` is no version by PEP 440", self.version));
        refuse(self.data_version == 0, "data_version begins at 1".to_owned());
        for (key, value) in [("license", &self.license), ("description", &self.description)] {
            refuse(value.trim().is_empty(), format!("{key} is empty"));
        }
        refuse(self.authors.iter().all(|author| author.trim().is_empty()), "authors names nobody".to_owned());
        problems.extend(self.platform_problems());
        let claims = [
            ("requires_lenbot", &self.requires_lenbot, "lenbot_version", &config.lenbot_version),
            ("requires_python", &self.requires_python, "python_version", &config.python_version),
        ];
        problems
            .extend(claims.into_iter().filter_map(|(key, wanted, claim, claimed)| admit(key, wanted, claim, claimed)));
        problems.extend(self.config.iter().flat_map(|(key, value)| value.problems(&format!("config.{key}"))));
        problems
    }

    fn platform_problems(&self) -> Vec<String> {
        let here = match std::env::consts::OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        };
        let known = ["linux", "darwin", "win32"];
        let unknown = self.platforms.iter().filter(|platform| !known.contains(&platform.as_str()));
        let mut problems: Vec<_> = unknown.map(|platform| format!("there is no platform `{platform}`")).collect();
        if problems.is_empty() && !self.platforms.iter().any(|platform| platform == here) {
            problems.push(format!("it does not run on {here}"));
        }
        problems
    }
}

/// What stands against the claimed version, if anything.
fn admit(key: &str, wanted: &str, claim: &str, claimed: &str) -> Option<String> {
    let Ok(specifiers) = VersionSpecifiers::from_str(wanted) else {
        return Some(format!("{key} `{wanted}` is no version specifier by PEP 440"));
    };
    let Ok(version) = Version::from_str(claimed) else {
        return Some(format!("the configured {claim} `{claimed}` is no version by PEP 440"));
    };
    let is_admitted = specifiers.contains(&version);
    (!is_admitted).then(|| format!("{key} `{wanted}` does not admit {claimed}; {claim} is configurable"))
}

const fn first() -> u32 {
    1
}

#[cfg(test)]
mod tests;
