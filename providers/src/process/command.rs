//! What to start, and with which environment.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;

use serde::Deserialize;
use tokio::process::Command;

use super::LAUNCH_COMMAND;

/// Variables that a child gets from the daemon's own environment. Everything else, secrets above all, stays out unless it
/// is named.
const INHERITED: [&str; 17] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// A command with its environment.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// The program, looked up in `PATH` when it has no slash.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables that are set for it. Their values are treated as secrets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Further variables that it gets from the daemon's environment.
    #[serde(default)]
    pub inherit_env: Vec<String>,
    /// Its working directory; the daemon's where absent.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
}

// === impl CommandSpec ===

impl CommandSpec {
    /// The command as the system takes it, started through `launcher` where there is one.
    pub(super) fn build(&self, launcher: Option<&PathBuf>, stdin: Stdio) -> Command {
        let mut command = match launcher {
            Some(launcher) => {
                let mut command = Command::new(launcher);
                command.arg(LAUNCH_COMMAND).arg(std::process::id().to_string()).arg(&self.command);
                command
            }
            None => Command::new(&self.command),
        };
        command.args(&self.args).env_clear();
        let inherited = INHERITED.into_iter().chain(self.inherit_env.iter().map(String::as_str));
        for name in inherited {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(&self.env);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.process_group(0).kill_on_drop(true);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `text` without the values of the command's own variables.
    pub(super) fn redact(&self, text: &str) -> String {
        let secrets = self.env.values().filter(|value| value.len() >= 4);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "***"))
    }
}

impl fmt::Debug for CommandSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.env.keys().collect();
        f.debug_struct("CommandSpec").field("command", &self.command).field("env", &names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_variables_are_kept_out_of_texts() {
        let env = BTreeMap::from([("TOKEN".to_owned(), "s3cret-value".to_owned())]);
        let spec = CommandSpec { command: "x".into(), env, ..CommandSpec::default() };
        assert_eq!(spec.redact("bad token s3cret-value"), "bad token ***");
        assert!(!format!("{spec:?}").contains("s3cret"));
    }
}
