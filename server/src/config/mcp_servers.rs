//! `mcpServers`: servers in the JSON form that MCP clients have in common.

use std::collections::HashMap;
use std::path::Path;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolyard_providers::{CommandSpec, McpConfig, McpOptions};

use super::error::{ConfigError, explain, nearest};
use super::mcp::{COMMAND_KEY, ENV_KEY, EnvKeys, HttpKeys, URL_KEY};
use super::provider::{ProviderConfig, ProviderKindConfig};

const SERVERS_KEY: &str = "mcpServers";
const KEYS: [&str; 10] =
    ["command", "args", "env", "cwd", "url", "type", "headers", "disabled", "timeout", "allow_private"];

/// What is wrong with one server: with the whole of it where there is no key.
struct Fault {
    key: Option<String>,
    message: String,
}

/// The members of an object, as they stand in the text.
struct Members<'t> {
    text: &'t str,
    values: HashMap<String, &'t RawValue>,
}

/// The servers of a file that are not disabled, in its order.
///
/// # Errors
/// The file cannot be read, or everything that is wrong in it.
pub(super) fn read(file: &Path) -> Result<Vec<ProviderConfig>, Vec<ConfigError>> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| vec![error_in("mcp", format!("servers_file: {}: cannot be read: {error}", file.display()))])?;
    parse(&text, &|name| std::env::var(name).ok()).map_err(|errors| {
        // The place is one in this file, and not in the configuration that names it.
        let of_file = |error: ConfigError| {
            let place = error.place.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
            ConfigError { message: format!("{}{place}: {}", file.display(), error.message), place: None, ..error }
        };
        errors.into_iter().map(of_file).collect()
    })
}

fn parse(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Vec<ProviderConfig>, Vec<ConfigError>> {
    let root: Value = serde_json::from_str(text).map_err(|error| vec![no_json(&error)])?;
    let all = Members::of(text, text);
    let Some(Value::Object(servers)) = root.get(SERVERS_KEY) else {
        return Err(vec![ConfigError::at(text, Some(0..0), "", format!("it has no object `{SERVERS_KEY}`"))]);
    };
    let (mut providers, mut errors) = (Vec::new(), Vec::new());
    if let Some(other) = root.as_object().into_iter().flat_map(Map::keys).find(|key| *key != SERVERS_KEY) {
        errors.push(all.error(other, "", format!("unknown key `{other}` beside `{SERVERS_KEY}`")));
    }
    let entries = all.inside(SERVERS_KEY);
    for (name, entry) in servers {
        match server(name, entry, environment) {
            Ok(provider) => providers.extend(provider),
            Err(faults) => {
                let (section, keys) = (format!("{SERVERS_KEY}/{name}"), entries.inside(name));
                errors.extend(faults.into_iter().map(|Fault { key, message }| match key {
                    Some(key) => keys.error(&key, &section, message),
                    None => entries.error(name, &section, message),
                }));
            }
        }
    }
    if errors.is_empty() { Ok(providers) } else { Err(errors) }
}

/// One server; nothing where it is disabled.
fn server(
    name: &str,
    entry: &Value,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<ProviderConfig>, Vec<Fault>> {
    let Value::Object(entry) = entry else { return Err(vec![Fault::of_all("must be an object")]) };
    let mut faults: Vec<Fault> =
        entry.keys().filter(|key| !KEYS.contains(&key.as_str())).map(|key| Fault::of(key, unknown(key))).collect();
    let mut entry = entry.clone();
    for (key, value) in &mut entry {
        faults.extend(expand(value, environment).err().map(|message| Fault::of(key, message)));
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    match entry.remove("disabled") {
        None | Some(Value::Bool(false) | Value::Null) => {}
        Some(Value::Bool(true)) => return Ok(None),
        Some(_) => return Err(vec![Fault::of("disabled", "disabled: must be true or false")]),
    }
    let timeout = entry.remove("timeout").unwrap_or(Value::Null);
    let common = serde_json::from_value(json!({"name": name, "kind": "mcp", "tool_timeout_ms": timeout}))
        .map_err(|_| vec![Fault::of("timeout", "timeout: must be a number of milliseconds")])?;
    let config = config(entry).map_err(|message| vec![Fault::about(message)])?;
    Ok(Some(ProviderConfig::new(common, ProviderKindConfig::Mcp(Box::new(config)))))
}

fn config(mut entry: Map<String, Value>) -> Result<McpConfig, String> {
    let kind = entry.remove("type");
    let kind = kind.as_ref().map(|kind| kind.as_str().unwrap_or_default());
    match (entry.contains_key(COMMAND_KEY), entry.contains_key(URL_KEY)) {
        (true, true) => return Err("give `command` or `url`, not both".to_owned()),
        (false, false) => return Err("missing key `command` or `url`".to_owned()),
        _ => {}
    }
    if entry.contains_key(URL_KEY) {
        let transport = match kind {
            None => "auto",
            Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => "http",
            Some("sse") => "sse",
            Some(other) => return Err(format!("type: `{other}` has no `url`; known are `http` and `sse`")),
        };
        entry.insert("transport".to_owned(), transport.into());
        let keys: HttpKeys = serde_json::from_value(entry.into()).map_err(|error| explain(&error.to_string(), &[]))?;
        return Ok(keys.config(McpOptions::default()));
    }
    if kind.is_some_and(|kind| kind != "stdio") {
        return Err("type: a server with a `command` is `stdio`".to_owned());
    }
    let env: Map<String, Value> = entry.remove_entry(ENV_KEY).into_iter().collect();
    let env: EnvKeys = serde_json::from_value(env.into()).map_err(|error| format!("env: {error}"))?;
    let command: CommandSpec =
        serde_json::from_value(entry.into()).map_err(|error| explain(&error.to_string(), &[]))?;
    let mut config = McpConfig::stdio(command);
    config.env = env.env;
    Ok(config)
}

/// Puts variables of the environment in their places: `${NAME}`, `${NAME:-default}`, `${env:NAME}`.
fn expand(value: &mut Value, environment: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
    match value {
        Value::String(text) if text.contains("${") => *text = expanded(text, environment)?,
        Value::Array(items) => items.iter_mut().try_for_each(|item| expand(item, environment))?,
        Value::Object(members) => members.values_mut().try_for_each(|member| expand(member, environment))?,
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

fn expanded(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let (place, after) = behind.split_once('}').ok_or("a `${` without its `}`")?;
        let (name, default) = match place.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (place.strip_prefix("env:").unwrap_or(place), None),
        };
        let value = environment(name).or_else(|| default.map(str::to_owned));
        out.push_str(before);
        out.push_str(&value.ok_or_else(|| format!("the environment variable `{name}` is not set"))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn unknown(key: &str) -> String {
    match nearest(key, KEYS.into_iter()) {
        Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
        None => format!("unknown key `{key}`"),
    }
}

/// serde's message ends with the place.
fn no_json(error: &serde_json::Error) -> ConfigError {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let place = Some((error.line(), error.column().max(1)));
    ConfigError { place, section: String::new(), message: format!("it is no JSON: {message}") }
}

// === impl Fault ===

impl Fault {
    fn of(key: &str, message: impl Into<String>) -> Self {
        Self { key: Some(key.to_owned()), message: message.into() }
    }

    fn of_all(message: &str) -> Self {
        Self { key: None, message: message.to_owned() }
    }

    /// A message that may begin with the key that it is about.
    fn about(message: String) -> Self {
        let key = message.split_once(':').map(|(key, _)| key).filter(|key| KEYS.contains(key));
        Self { key: key.map(str::to_owned), message }
    }
}

// === impl Members ===

impl<'t> Members<'t> {
    /// Those of `part`, which is a part of the text; none where it is no object.
    fn of(text: &'t str, part: &'t str) -> Self {
        Self { text, values: serde_json::from_str(part).unwrap_or_default() }
    }

    fn inside(&self, key: &str) -> Self {
        self.values.get(key).map_or_else(|| Self::of(self.text, ""), |value| Self::of(self.text, value.get()))
    }

    /// An error at a key.
    fn error(&self, key: &str, section: &str, message: String) -> ConfigError {
        let place = self.values.get(key).map(|value| self.place_of(key, value));
        ConfigError::at(self.text, place.map(|at| at..at), section, message)
    }

    /// Where a key stands; where it is spelt in another way, its value.
    fn place_of(&self, key: &str, value: &RawValue) -> usize {
        // What is read raw is a part of what it is read from.
        let at = value.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        let before = self.text.get(..at).unwrap_or_default().trim_end().trim_end_matches(':').trim_end();
        let spelt = Value::from(key).to_string();
        if before.ends_with(&spelt) { before.len() - spelt.len() } else { at }
    }
}

fn error_in(section: &str, message: String) -> ConfigError {
    ConfigError { place: None, section: section.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolyard_providers::{McpTransport, McpWay};

    fn read_text(text: &str) -> Result<Vec<ProviderConfig>, Vec<String>> {
        let environment = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
        let shown = |error: ConfigError| format!("{}: {}", error.section, error.message);
        parse(text, &environment).map_err(|errors| errors.into_iter().map(shown).collect())
    }

    fn mcp(provider: &ProviderConfig) -> &McpConfig {
        let ProviderKindConfig::Mcp(config) = &provider.kind else { panic!("another kind") };
        config
    }

    #[test]
    fn servers_of_other_clients_are_read() {
        let providers = read_text(
            r#"{"mcpServers": {
                "git": {"command": "uvx", "args": ["mcp-server-git", "${REPO:-.}"], "env": {"KEY": "${env:TOKEN}"}, "cwd": "/srv", "timeout": 5000},
                "off": {"command": "x", "disabled": true},
                "web": {"type": "streamable-http", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
                "old": {"type": "sse", "url": "https://mcp.example.com/sse", "disabled": false}
            }}"#,
        )
        .unwrap();
        let names: Vec<&str> = providers.iter().map(|provider| provider.name.as_str()).collect();
        assert_eq!(names, ["git", "web", "old"]);
        let McpTransport::Stdio(command) = &mcp(&providers[0]).transport else { panic!("no child") };
        assert_eq!((command.args[1].as_str(), mcp(&providers[0]).env.len()), (".", 1));
        assert_eq!(providers[0].settings().tool_timeout.unwrap().as_millis(), 5000);
        let McpTransport::Http(web) = &mcp(&providers[1]).transport else { panic!("no service") };
        assert_eq!((web.way, web.headers.len()), (McpWay::Http, 1));
        let McpTransport::Http(old) = &mcp(&providers[2]).transport else { panic!("no service") };
        assert_eq!(old.way, McpWay::Sse);
        assert!(!format!("{providers:?}").contains("s3cret"));
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let errors = read_text(
            r#"{"mcpServers": {
                "a": {"comand": "x"}, "b": {}, "c": {"command": "x", "url": "http://y/"}, "d": {"url": "ftp://y/"},
                "e": {"command": "x", "args": ["${NOPE}"]}, "f": {"command": "x", "timeout": "soon"}, "g": 7,
                "h": {"command": "x", "type": "sse"}, "i": {"url": "https://y/", "headers": {"Host": "z"}}
            }, "inputs": []}"#,
        )
        .unwrap_err();
        for said in [
            "mcpServers/a: unknown key `comand`; did you mean `command`?",
            "mcpServers/b: missing key `command` or `url`",
            "mcpServers/c: give `command` or `url`, not both",
            "must start with http:// or https://",
            "mcpServers/e: the environment variable `NOPE` is not set",
            "mcpServers/f: timeout",
            "mcpServers/g: must be an object",
            "mcpServers/h: type",
            "`host` is set by Toolyard",
            "unknown key `inputs`",
        ] {
            assert!(errors.iter().any(|error| error.contains(said)), "{said}: {errors:#?}");
        }
        assert_eq!(errors.len(), 10, "{errors:#?}");
        assert!(read_text("{}").unwrap_err()[0].contains("mcpServers"));
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_column() {
        let text = "{\n  \"mcpServers\": {\n    \"ä\": {\"command\": \"x\",\n      \"args\": [\"${NOPE}\"]},\n    \"b\": {\n      \"comand\" : \"x\"},\n \"c\": 7, \"d\": {\"url\": \"ftp://y/\"}}, \"inputs\": 1}";
        let errors = parse(text, &|_| None).map(|_| ()).unwrap_err();
        let places: Vec<(String, (usize, usize))> =
            errors.into_iter().map(|error| (error.section, error.place.unwrap())).collect();
        let expected = [
            ("", (7, 37)),
            ("mcpServers/ä", (4, 7)),
            ("mcpServers/b", (6, 7)),
            ("mcpServers/c", (7, 2)),
            ("mcpServers/d", (7, 16)),
        ];
        assert_eq!(places, expected.map(|(section, place)| (section.to_owned(), place)));
        let broken = parse("{\n \"mcpServers\": {,}}", &|_| None).map(|_| ()).unwrap_err();
        assert_eq!(broken[0].place, Some((2, 17)), "{broken:?}");
        assert!(!broken[0].message.contains("line"), "{broken:?}");

        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let error = read(file.path()).map(|_| ()).unwrap_err().remove(2);
        let said = format!("{}:6:7: unknown key `comand`", file.path().display());
        assert!(error.place.is_none() && error.message.starts_with(&said), "{error:?}");
    }
}
