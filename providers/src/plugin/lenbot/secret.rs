//! Secrets of a plugin's configuration, read from where the configuration says they are.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::declaration::{ConfigType, Declaration};

/// The longest file of a secret, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// Where a secret is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SecretSource {
    Env(String),
    File(std::path::PathBuf),
}

/// The values with every secret in place.
///
/// # Errors
/// A sentence that names the key, never the value.
pub(super) fn resolve(
    declared: &IndexMap<String, Declaration>,
    values: &Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut resolved = values.clone();
    for (key, declaration) in declared {
        let Some(value) = resolved.get_mut(key) else { continue };
        match declaration.kind {
            ConfigType::Secret if value.is_object() => {
                *value = Value::String(read(value).map_err(|why| format!("config.{key}: {why}"))?);
            }
            ConfigType::ObjectList => {
                for (index, entry) in value.as_array_mut().into_iter().flatten().enumerate() {
                    let Some(entry) = entry.as_object_mut() else { continue };
                    *entry = resolve(&declaration.fields, entry)
                        .map_err(|why| why.replacen("config.", &format!("config.{key}[{index}]."), 1))?;
                }
            }
            _ => {}
        }
    }
    Ok(resolved)
}

fn read(source: &Value) -> Result<String, String> {
    let source = SecretSource::deserialize(source)
        .map_err(|_| "a secret is a text, { env = \"NAME\" } or { file = \"path\" }".to_owned())?;
    match source {
        SecretSource::Env(name) => {
            std::env::var(&name).map_err(|_| format!("the variable {name} is not set, or is not UTF-8"))
        }
        SecretSource::File(path) => {
            let shown = path.display();
            let size = std::fs::metadata(&path).map_err(|error| format!("{shown} cannot be read: {error}"))?.len();
            if size > MAX_BYTES {
                return Err(format!("{shown} has {size} bytes; a secret has at most {MAX_BYTES}"));
            }
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn declared() -> IndexMap<String, Declaration> {
        serde_json::from_value(json!({
            "token": {"type": "secret"},
            "label": {"type": "string"},
            "rooms": {"type": "object_list", "fields": {"key": {"type": "secret"}}},
        }))
        .unwrap()
    }

    fn values(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn secrets_come_from_files_also_within_lists() {
        let file = std::env::temp_dir().join(format!("toolyard-lenbot-secret-{}", std::process::id()));
        std::fs::write(&file, "s3cret\n").unwrap();
        let given =
            json!({"token": {"file": file}, "label": "x", "rooms": [{"key": {"file": file}}, {"key": "plain"}]});
        let resolved = resolve(&declared(), &values(given)).unwrap();
        std::fs::remove_file(&file).unwrap();
        let expected = json!({"token": "s3cret", "label": "x", "rooms": [{"key": "s3cret"}, {"key": "plain"}]});
        assert_eq!(Value::Object(resolved), expected);
    }

    #[test]
    fn a_secret_that_is_not_there_is_named_by_its_key() {
        let name = "TOOLYARD_NO_SUCH_VARIABLE";
        let top = resolve(&declared(), &values(json!({"token": {"env": name}}))).unwrap_err();
        assert_eq!(top, format!("config.token: the variable {name} is not set, or is not UTF-8"));
        let inner = resolve(&declared(), &values(json!({"rooms": [{}, {"key": {"env": name}}]}))).unwrap_err();
        assert!(inner.starts_with("config.rooms[1].key: "), "{inner}");
        let odd = resolve(&declared(), &values(json!({"token": {"vault": "x"}}))).unwrap_err();
        assert!(odd.starts_with("config.token: a secret is"), "{odd}");
    }
}
