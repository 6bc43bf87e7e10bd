//! Files that a command is given: replies, contexts, definitions of tools.

use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;
use toolyard::{ImportedTool, import_definitions};

use super::CliError;
use crate::process::say;

/// The largest file that is read.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// The text of a file, or of standard input for `-`.
pub(super) fn text(path: &Path) -> Result<String, CliError> {
    let unreadable = |error: std::io::Error| CliError::Input(format!("{}: cannot be read: {error}", path.display()));
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().take(MAX_BYTES as u64).read_to_string(&mut text).map_err(unreadable)?;
    } else {
        let file = std::fs::File::open(path).map_err(unreadable)?;
        // Text that grows as it is read is held twice when it moves.
        let size = file.metadata().map_or(0, |metadata| metadata.len()).min(MAX_BYTES as u64);
        text.reserve_exact(usize::try_from(size).unwrap_or(0));
        file.take(MAX_BYTES as u64).read_to_string(&mut text).map_err(unreadable)?;
    }
    if text.len() >= MAX_BYTES {
        return Err(CliError::Input(format!("{}: is larger than {MAX_BYTES} bytes", path.display())));
    }
    Ok(text)
}

/// A JSON file.
pub(super) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, CliError> {
    let text = text(path)?;
    serde_json::from_str(&text).map_err(|error| CliError::Input(format!("{}: {error}", path.display())))
}

/// Tool definitions in any of the known forms. What cannot be used is told and left out.
pub(super) fn echo_tools(path: &Path) -> Result<Vec<ImportedTool>, CliError> {
    let definitions = json(path)?;
    let imported =
        import_definitions(&definitions).map_err(|error| CliError::Input(format!("{}: {error}", path.display())))?;
    for rejected in &imported.rejected {
        let name = rejected.name.as_deref().unwrap_or(&rejected.pointer);
        say(&format!("tool `{name}` is left out: {}", rejected.reason));
    }
    Ok(imported.tools)
}
