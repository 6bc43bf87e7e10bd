//! `mcpServers`: servers in the JSON form that MCP clients have in common.

use std::path::Path;

use serde_json::{Map, Value, json};
use toolyard_providers::{CommandSpec, McpConfig, McpOptions};

use super::error::{ConfigError, explain, nearest};
use super::mcp::{COMMAND_KEY, ENV_KEY, EnvKeys, HttpKeys, URL_KEY};
use super::provider::{ProviderConfig, ProviderKindConfig};

const SERVERS_KEY: &str = "mcpServers";
const KEYS: [&str; 10] =
    ["command", "args", "env", "cwd", "url", "type", "headers", "disabled", "timeout", "allow_private"];

/// The servers of a file that are not disabled, in its order.
///
/// # Errors
/// The file cannot be read, or everything that is wrong in it.
pub(super) fn read(file: &Path) -> Result<Vec<ProviderConfig>, Vec<ConfigError>> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| vec![error_in("mcp", format!("servers_file: {}: cannot be read: {error}", file.display()))])?;
    parse(&text, &|name| std::env::var(name).ok()).map_err(|errors| {
        let place =
            |error: ConfigError| ConfigError { message: format!("{}: {}", file.display(), error.message), ..error };
        errors.into_iter().map(place).collect()
    })
}

fn parse(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<Vec<ProviderConfig>, Vec<ConfigError>> {
    let root: Value =
        serde_json::from_str(text).map_err(|error| vec![error_in("", format!("it is no JSON: {error}"))])?;
    let Some(Value::Object(servers)) = root.get(SERVERS_KEY) else {
        return Err(vec![error_in("", format!("it has no object `{SERVERS_KEY}`"))]);
    };
    let (mut providers, mut errors) = (Vec::new(), Vec::new());
    if let Some(other) = root.as_object().into_iter().flat_map(Map::keys).find(|key| *key != SERVERS_KEY) {
        errors.push(error_in("", format!("unknown key `{other}` beside `{SERVERS_KEY}`")));
    }
    for (name, entry) in servers {
        match server(name, entry, environment) {
            Ok(provider) => providers.extend(provider),
            Err(messages) => {
                let section = format!("{SERVERS_KEY}/{name}");
                errors.extend(messages.into_iter().map(|message| error_in(&section, message)));
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
) -> Result<Option<ProviderConfig>, Vec<String>> {
    let Value::Object(entry) = entry else { return Err(vec!["must be an object".to_owned()]) };
    let mut errors: Vec<String> =
        entry.keys().filter(|key| !KEYS.contains(&key.as_str())).map(|key| unknown(key)).collect();
    let mut entry = entry.clone();
    for value in entry.values_mut() {
        errors.extend(expand(value, environment).err());
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    match entry.remove("disabled") {
        None | Some(Value::Bool(false) | Value::Null) => {}
        Some(Value::Bool(true)) => return Ok(None),
        Some(_) => return Err(vec!["disabled: must be true or false".to_owned()]),
    }
    let timeout = entry.remove("timeout").unwrap_or(Value::Null);
    let common = serde_json::from_value(json!({"name": name, "kind": "mcp", "tool_timeout_ms": timeout}))
        .map_err(|_| vec!["timeout: must be a number of milliseconds".to_owned()])?;
    let config = config(entry).map_err(|message| vec![message])?;
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
}
