//! What is started for a plugin, and whether it is what its manifest says.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::XbotConfig;
use super::manifest::{Manifest, Program};
use crate::process::CommandSpec;

/// The command that starts a plugin. The configuration goes before the manifest.
///
/// # Errors
/// Nothing says what to start, or the program is not the one of the manifest's `sha256`.
pub(super) fn command(config: &XbotConfig, manifest: &Manifest) -> Result<CommandSpec, String> {
    let folder = std::path::absolute(&config.path).map_err(|error| format!("{}: {error}", config.path.display()))?;
    let program = program(config, manifest);
    if program.command.is_empty() {
        return Err("nothing says what to start: give `executable` or `entry` in plugin.json, or `command`".to_owned());
    }
    if let Some(expected) = &manifest.sha256 {
        check(&folder, &program, expected)?;
    }
    let mut command = CommandSpec {
        command: in_folder(&folder, &program.command).map_or(program.command, |path| path.display().to_string()),
        args: program.args,
        env: config.env.clone(),
        inherit_env: config.inherit_env.clone(),
        cwd: Some(config.cwd.clone().unwrap_or_else(|| folder.clone())),
        limits: config.limits,
        run_as: config.run_as.clone(),
    };
    if let Some(warning) = command.confine(&folder).map_err(|error| error.to_string())? {
        tracing::warn!(plugin = manifest.id, "{warning}");
    }
    Ok(command)
}

fn program(config: &XbotConfig, manifest: &Manifest) -> Program {
    match (&config.command, &config.args) {
        (Some(command), args) => Program { command: command.clone(), args: args.clone().unwrap_or_default() },
        (None, Some(args)) => Program { args: args.clone(), ..manifest.program.clone() },
        (None, None) => manifest.program.clone(),
    }
}

/// The file of the plugin that a word names, if it names one. A program without a slash may be one too: xbot's plugins in
/// Go name their own binary so.
fn in_folder(folder: &Path, word: &str) -> Option<PathBuf> {
    let path = folder.join(word);
    path.is_file().then_some(path)
}

/// The checked file is the plugin's own: the program itself, or the script that an interpreter is given.
fn check(folder: &Path, program: &Program, expected: &str) -> Result<(), String> {
    let mut words = std::iter::once(&program.command).chain(&program.args);
    let file = words.find_map(|word| in_folder(folder, word).filter(|path| path.starts_with(folder)));
    let file = file.ok_or("plugin.json has a `sha256`, but its command names no file of the plugin to check")?;
    let found = digest(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    if found == expected {
        return Ok(());
    }
    Err(format!("{} is not the file of plugin.json's `sha256`: its own is {found}", file.display()))
}

fn digest(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-256 of `abc`.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn manifest(command: &str, args: &[&str], sha256: Option<&str>) -> Manifest {
        Manifest {
            id: "a".to_owned(),
            version: "1.0.0".to_owned(),
            program: Program { command: command.to_owned(), args: args.iter().map(|&arg| arg.to_owned()).collect() },
            permissions: Vec::new(),
            tools: Vec::new(),
            timeout: std::time::Duration::from_secs(30),
            sha256: sha256.map(str::to_owned),
            request_ids: false,
            warnings: Vec::new(),
        }
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.py"), "abc").unwrap();
        folder
    }

    #[test]
    fn programs_of_the_plugin_are_found_in_its_folder_and_others_in_the_path() {
        let folder = folder();
        let config = XbotConfig::new(folder.path());
        let own = command(&config, &manifest("main.py", &["x"], None)).unwrap();
        assert_eq!((Path::new(&own.command), own.args), (&*folder.path().join("main.py"), vec!["x".to_owned()]));
        let other = command(&config, &manifest("python3", &["main.py"], None)).unwrap();
        assert_eq!((other.command.as_str(), other.cwd.as_deref()), ("python3", Some(folder.path())));
        assert!(command(&config, &manifest("", &[], None)).unwrap_err().contains("`executable` or `entry`"));
    }

    #[test]
    fn the_configuration_goes_before_the_manifest() {
        let folder = folder();
        let mut config = XbotConfig::new(folder.path());
        config.args = Some(vec!["-u".to_owned(), "main.py".to_owned()]);
        config.cwd = Some("/".into());
        let spec = command(&config, &manifest("python3", &["main.py"], None)).unwrap();
        assert_eq!((spec.command.as_str(), spec.args.len(), spec.cwd), ("python3", 2, Some("/".into())));
        config.command = Some("/usr/bin/env".to_owned());
        config.args = None;
        let spec = command(&config, &manifest("python3", &["main.py"], None)).unwrap();
        assert_eq!((spec.command.as_str(), spec.args.len()), ("/usr/bin/env", 0));
    }

    #[test]
    fn a_changed_file_is_not_started() {
        let folder = folder();
        let config = XbotConfig::new(folder.path());
        assert!(command(&config, &manifest("python3", &["main.py"], Some(ABC))).is_ok());
        assert!(command(&config, &manifest("python3", &["other.py"], Some(ABC))).unwrap_err().contains("no file"));
        std::fs::write(folder.path().join("main.py"), "abd").unwrap();
        assert!(
            command(&config, &manifest("python3", &["main.py"], Some(ABC))).unwrap_err().contains("is not the file")
        );
    }
}
