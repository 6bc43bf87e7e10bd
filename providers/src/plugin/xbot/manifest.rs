//! Manifest: what `plugin.json` says.

mod rules;

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use toolyard::ToolWarning;

use super::fields::Fields;

/// The file in a plugin's folder.
pub(super) const FILE: &str = "plugin.json";
/// Bytes of it that are read.
const MAX_BYTES: u64 = 1 << 20;
/// The permission to have tools.
const REGISTER_TOOLS: &str = "tools.register";
const PERMISSIONS: [&str; 19] = [
    "*",
    "tools.register",
    "tools.call",
    "hooks.subscribe",
    "context.enrich",
    "storage.private",
    "storage.shared",
    "network.outbound",
    "bus.read",
    "bus.write",
    "bus.plugin",
    "ui.contribute",
    "ui.themes",
    "ui.overlay",
    "channels.register",
    "commands.register",
    "cron.schedule",
    "notifications.send",
    "rpc",
];
/// Keys for people and for other hosts, which mean nothing here.
const FOR_OTHERS: [&str; 9] =
    ["name", "description", "author", "homepage", "repository", "license", "icon", "keywords", "$schema"];
/// What a plugin may contribute beside tools.
const CONTRIBUTIONS: [&str; 10] = [
    "hooks",
    "context_enrichers",
    "commands",
    "ui",
    "configuration",
    "channel_provider",
    "themes",
    "overlays",
    "cron",
    "widgets",
];

/// What `plugin.json` says.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub(super) id: String,
    pub(super) version: String,
    pub(super) program: Program,
    pub(super) permissions: Vec<String>,
    /// Names of the tools that it announces.
    pub(super) tools: Vec<String>,
    /// Time to answer `activate`.
    pub(super) timeout: Duration,
    /// SHA-256 of the plugin's program, in hexadecimal.
    pub(super) sha256: Option<String>,
    /// The plugin takes requests with ids, many at once.
    pub(super) request_ids: bool,
    /// What is not as it should be, and harms nothing.
    pub(super) warnings: Vec<ToolWarning>,
}

/// What to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) command: String,
    pub(super) args: Vec<String>,
}

// === impl Manifest ===

impl Manifest {
    /// Reads the manifest of the plugin in `folder`.
    ///
    /// # Errors
    /// A sentence that says what keeps the plugin from being run.
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join(FILE);
        let unreadable = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let size = std::fs::metadata(&path).map_err(|error| unreadable(&error))?.len();
        if size > MAX_BYTES {
            return Err(unreadable(&format!("has {size} bytes; at most {MAX_BYTES} are read")));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&error))?;
        Self::parse(&text).map_err(|reason| unreadable(&reason))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let document: Value = serde_json::from_str(text).map_err(|error| format!("is no valid JSON: {error}"))?;
        let Value::Object(object) = &document else { return Err("must be an object".to_owned()) };
        let mut fields = Fields::new(object);
        let id = fields.text("id")?.ok_or("`id` is missing")?;
        rules::check_id(id)?;
        let version = fields.text("version")?.ok_or("`version` is missing")?;
        rules::check_version(version)?;
        rules::check_runtime(fields.text("runtime")?.unwrap_or("native"))?;
        let timeout = fields.text("timeout")?.map_or(Ok(rules::DEFAULT_TIMEOUT), rules::timeout)?;
        let mut warnings = Vec::new();
        let contributed = contributions(fields.take("contributes"), &mut warnings)?;
        let mut manifest = Self {
            id: id.to_owned(),
            version: version.to_owned(),
            program: program(&mut fields)?,
            permissions: fields.texts("permissions")?,
            tools: contributed,
            timeout,
            sha256: fields.text("sha256")?.map(rules::sha256).transpose()?,
            request_ids: fields.flag("request_ids")?,
            warnings: Vec::new(),
        };
        warnings.extend(manifest.permissions.iter().filter_map(|permission| unknown_permission(permission)));
        warnings.extend(fields.texts("activation_events")?.iter().filter_map(|event| rules::unknown_event(event)));
        warnings.extend(rules::dependencies(fields.list("dependencies")?)?);
        if fields.take("web").is_some() {
            warnings.push("`web`: its pages are not shown here".to_owned());
        }
        for name in FOR_OTHERS {
            fields.take(name);
        }
        warnings.extend(fields.remarks());
        manifest.warnings = warnings.into_iter().map(warning).collect();
        Ok(manifest)
    }

    /// Why the plugin may not have tools, if so.
    pub(super) fn why_no_tools(&self) -> Option<String> {
        let is_allowed = self.permissions.iter().any(|permission| permission == REGISTER_TOOLS || permission == "*");
        (!is_allowed).then(|| {
            format!("plugin {}: permission denied for '{REGISTER_TOOLS}'; add it to `permissions` in {FILE}", self.id)
        })
    }
}

/// Something about the manifest.
pub(super) fn warning(message: String) -> ToolWarning {
    ToolWarning { name: FILE.to_owned(), message }
}

/// `executable` with `args` goes before `entry`, which is cut at spaces.
fn program(fields: &mut Fields<'_>) -> Result<Program, String> {
    let (executable, entry, args) = (fields.text("executable")?, fields.text("entry")?, fields.texts("args")?);
    if let Some(executable) = executable.filter(|executable| !executable.trim().is_empty()) {
        return Ok(Program { command: executable.to_owned(), args });
    }
    let mut words = entry.unwrap_or_default().split_whitespace().map(str::to_owned);
    let command = words.next().unwrap_or_default();
    Ok(Program { command, args: words.collect() })
}

/// The names of the announced tools. What else is contributed is reported.
fn contributions(contributes: Option<&Value>, warnings: &mut Vec<String>) -> Result<Vec<String>, String> {
    let object = match contributes {
        None => return Ok(Vec::new()),
        Some(Value::Object(object)) => object,
        Some(_) => return Err("`contributes` must be an object".to_owned()),
    };
    let mut fields = Fields::new(object);
    let mut names = Vec::new();
    for (index, tool) in fields.list("tools")?.iter().enumerate() {
        let text = |key: &str| tool.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        match (text("name"), text("description")) {
            (Some(name), Some(_)) => names.push(name.to_owned()),
            _ => return Err(format!("contributes/tools/{index} needs a `name` and a `description`")),
        }
    }
    for name in CONTRIBUTIONS {
        if fields.take(name).is_some_and(|value| !is_empty(value)) {
            warnings.push(format!("`contributes/{name}` is not used here: only tools are"));
        }
    }
    warnings.extend(fields.remarks().into_iter().map(|remark| format!("`contributes`: {remark}")));
    Ok(names)
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(serde_json::Map::is_empty)
}

fn unknown_permission(permission: &str) -> Option<String> {
    (!PERMISSIONS.contains(&permission)).then(|| format!("`permissions`: there is no permission `{permission}`"))
}

#[cfg(test)]
mod tests;
