//! `toolyard plugin new`: writes a small working plugin.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::{CliError, PluginDialect, template};
use crate::process::print;

/// Characters of a name.
const MAX_NAME: usize = 64;
/// Names that LenBot keeps for other sources of tools.
const RESERVED: [&str; 3] = ["core", "len_bot", "mcp"];

/// Writes a small working plugin and says what to do next.
#[derive(Debug, Args)]
pub(super) struct New {
    /// For whom it is written.
    #[arg(long)]
    dialect: PluginDialect,
    /// The plugin's name, which its folder or its document gets too.
    name: String,
    /// The folder in which it is made.
    #[arg(long, default_value = ".")]
    dir: PathBuf,
}

// === impl New ===

impl New {
    pub(super) fn run(self) -> Result<ExitCode, CliError> {
        if let Err(rule) = check_name(self.dialect, &self.name) {
            return Err(CliError::Input(format!("`{}` cannot be the name of a plugin: {rule}", self.name)));
        }
        let (made, written) = self.write()?;
        let mut lines: Vec<String> = written.iter().map(|path| format!("wrote {}", path.display())).collect();
        lines.push(String::new());
        lines.push("Next:".to_owned());
        lines.extend(template::next_steps(self.dialect, &made.to_string_lossy()));
        print(&lines.join("\n"))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Where the plugin is, and its files.
    fn write(&self) -> Result<(PathBuf, Vec<PathBuf>), CliError> {
        let failed = |path: &Path, error: std::io::Error| CliError::Input(refusal(path, &error));
        fs::create_dir_all(&self.dir).map_err(|error| failed(&self.dir, error))?;
        let files = template::files(self.dialect, &self.name);
        // Paths are shown as people would write them.
        let dir = if self.dir == Path::new(".") { Path::new("") } else { &self.dir };
        let folder = match self.dialect {
            PluginDialect::Http => dir.to_owned(),
            PluginDialect::MaiBot | PluginDialect::LenBot | PluginDialect::Xbot => {
                let folder = dir.join(&self.name);
                fs::create_dir(&folder).map_err(|error| failed(&folder, error))?;
                folder
            }
        };
        let mut written = Vec::new();
        for (name, text) in files {
            let path = folder.join(name);
            let made = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
            made.map_err(|error| failed(&path, error))?;
            written.push(path);
        }
        let made = match (self.dialect, written.first()) {
            (PluginDialect::Http, Some(document)) => document.clone(),
            _ => folder,
        };
        Ok((made, written))
    }
}

fn refusal(path: &Path, error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::AlreadyExists {
        return format!("{} is there already, and nothing is overwritten", path.display());
    }
    format!("{} cannot be written: {error}", path.display())
}

/// The rule that the name breaks.
fn check_name(dialect: PluginDialect, name: &str) -> Result<(), &'static str> {
    let has_only = |more: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    let begins_with_letter = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let fits = !name.is_empty() && name.len() <= MAX_NAME;
    let (is_right, rule) = match dialect {
        PluginDialect::MaiBot => {
            let parts_are_whole = name.split(['.', '-']).all(|part| !part.is_empty());
            (
                has_only("_.-") && parts_are_whole,
                "MaiBot's ids are letters, digits and `_`, in parts that `.` or `-` joins, such as dice or alice.dice; at \
                 most 64 characters",
            )
        }
        PluginDialect::LenBot => (
            has_only("_") && begins_with_letter && name == name.to_ascii_lowercase() && !RESERVED.contains(&name),
            "LenBot's names are small letters, digits and `_`, begin with a letter, and are not core, len_bot or mcp; at \
             most 64 characters",
        ),
        PluginDialect::Xbot => (
            has_only("._-") && name.starts_with(|c: char| c.is_ascii_alphanumeric()),
            "xbot's ids are letters, digits, `.`, `_` and `-`, and begin with a letter or a digit; at most 64 characters",
        ),
        PluginDialect::Http => (
            has_only("_-") && begins_with_letter,
            "a document's name is letters, digits, `_` and `-`, and begins with a letter; at most 64 characters",
        ),
    };
    if fits && is_right { Ok(()) } else { Err(rule) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_the_rules_of_their_dialect() {
        use PluginDialect::{Http, LenBot, MaiBot, Xbot};
        for (dialect, name) in
            [(MaiBot, "dice"), (MaiBot, "alice.dice-2"), (LenBot, "dice_2"), (Xbot, "2.a_b-c"), (Http, "my-dice")]
        {
            assert_eq!(check_name(dialect, name), Ok(()), "{dialect:?} {name}");
        }
        let long = "x".repeat(65);
        for dialect in [MaiBot, LenBot, Xbot, Http] {
            for name in ["", "a b", "../a", "骰子", "a/b", &long] {
                assert!(check_name(dialect, name).is_err(), "{dialect:?} {name}");
            }
        }
        for (dialect, name) in
            [(MaiBot, "a..b"), (LenBot, "Dice"), (LenBot, "mcp"), (LenBot, "a-b"), (Http, "2a"), (Xbot, ".a")]
        {
            assert!(check_name(dialect, name).is_err(), "{dialect:?} {name}");
        }
    }
}
