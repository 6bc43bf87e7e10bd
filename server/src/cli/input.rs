//! Files that a command is given: replies, contexts, definitions of tools.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolyard::ToolSpec;

use super::CliError;

/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// A tool in the array that `--echo-tools` takes.
#[derive(Deserialize)]
struct EchoTool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(rename = "inputSchema", alias = "input_schema", alias = "parameters")]
    input_schema: Option<Value>,
}

/// The text of a file, or of standard input for `-`.
pub(super) fn text(path: &Path) -> Result<String, CliError> {
    let unreadable = |error: std::io::Error| CliError::Input(format!("{}: cannot be read: {error}", path.display()));
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().take(MAX_BYTES).read_to_string(&mut text).map_err(unreadable)?;
    } else {
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(unreadable)?;
    }
    if text.len() as u64 >= MAX_BYTES {
        return Err(CliError::Input(format!("{}: is larger than {MAX_BYTES} bytes", path.display())));
    }
    Ok(text)
}

/// A JSON file.
pub(super) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, CliError> {
    let text = text(path)?;
    serde_json::from_str(&text).map_err(|error| CliError::Input(format!("{}: {error}", path.display())))
}

/// An array of tool definitions.
pub(super) fn echo_tools(path: &Path) -> Result<Vec<ToolSpec>, CliError> {
    let tools: Vec<EchoTool> = json(path)?;
    Ok(tools
        .into_iter()
        .map(|tool| {
            let spec = ToolSpec::new(tool.name, tool.description);
            match tool.input_schema {
                Some(schema) => spec.with_parameters(schema),
                None => spec,
            }
        })
        .collect())
}
