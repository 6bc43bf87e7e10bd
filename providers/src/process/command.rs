//! What to start, and with which environment.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Deserialize;
use tokio::process::Command;

use super::identity::{Choice, Ids, User, choose_identity};
use super::launcher::{Errand, LaunchPlan};
use super::{LAUNCH_COMMAND, ProcessLimits, RunAs};

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

/// Of these, the variables that describe the daemon's user and nobody else.
const OF_THE_USER: [&str; 7] =
    ["HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"];

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
    /// How much of the machine it may take. Where present, if only as `{}`, it cannot gain rights. Where the system has
    /// cgroups, it runs in some of its own in any case, so that nothing that it started outlives it.
    #[serde(default)]
    pub limits: Option<ProcessLimits>,
    /// The user that it runs as, which only a daemon that is root can choose. Has the same effect as `limits = {}`, too.
    #[serde(default)]
    pub run_as: Option<RunAs>,
}

// === impl CommandSpec ===

impl CommandSpec {
    /// Makes it fit for the program of a plugin in `folder`: with the limits of plugins where none are set, and with the
    /// folder's owner as its user where the daemon is root and no user is set. Gives what people should know about it.
    ///
    /// # Errors
    /// The user is not known or cannot be chosen, or the folder cannot be looked at.
    pub(crate) fn confine(&mut self, folder: &Path) -> io::Result<Option<String>> {
        self.limits = Some(self.limits.unwrap_or_default().or(ProcessLimits::plugin()));
        let configured = self.run_as.as_ref().map(RunAs::resolve).transpose()?;
        let choice = choose_identity(configured, Ids::of_this_process(), Ids::of_owner(folder)?);
        match choice.map_err(io::Error::other)? {
            Choice::Same => self.run_as = None,
            Choice::Other(ids) => self.run_as = Some(ids.into()),
            Choice::Root => {
                self.run_as = None;
                let folder = folder.display();
                return Ok(Some(format!(
                    "it runs as root; give {folder} to another user, or set run_as = \"user\" for it"
                )));
            }
        }
        Ok(None)
    }

    /// Whether it is kept apart from the rest of the system.
    pub(super) fn is_confined(&self) -> bool {
        self.limits.is_some() || self.run_as.is_some()
    }

    /// The command as the system takes it, without a launcher.
    ///
    /// # Errors
    /// It has limits or a user, which only a launcher can set.
    pub(super) fn build(&self, stdin: Stdio) -> io::Result<Command> {
        if self.is_confined() {
            return Err(io::Error::other("limits and run_as need a launcher"));
        }
        let mut command = Command::new(&self.command);
        self.set_up(&mut command, stdin, None);
        Ok(command)
    }

    /// The command as the system takes it, started through `launcher`, in these cgroups, with these limits besides.
    ///
    /// # Errors
    /// Its user is not known.
    pub(super) fn build_launched(
        &self,
        stdin: Stdio,
        launcher: &Path,
        cgroups: Vec<PathBuf>,
        limits: ProcessLimits,
    ) -> io::Result<Command> {
        let run_as = self.run_as.as_ref().map(RunAs::resolve).transpose()?;
        let no_new_privileges = self.is_confined();
        let plan = LaunchPlan { parent: std::process::id(), cgroups, limits, run_as, no_new_privileges };
        let mut command = Command::new(launcher);
        command.arg(LAUNCH_COMMAND).arg(serde_json::to_string(&Errand::Become(plan))?).arg(&self.command);
        self.set_up(&mut command, stdin, run_as);
        Ok(command)
    }

    fn set_up(&self, command: &mut Command, stdin: Stdio, run_as: Option<Ids>) {
        command.args(&self.args).env_clear();
        let is_fitting = |name: &&str| run_as.is_none() || !OF_THE_USER.contains(name);
        let inherited = INHERITED.into_iter().filter(is_fitting).chain(self.inherit_env.iter().map(String::as_str));
        for name in inherited {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        if let Some(user) = run_as.and_then(|ids| User::with_id(ids.uid)) {
            command.env("HOME", user.home).env("USER", &user.name).env("LOGNAME", &user.name);
        }
        command.envs(&self.env);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.process_group(0).kill_on_drop(true);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
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

    #[test]
    fn limits_and_a_user_can_be_configured_and_misspelt_ones_are_refused() {
        let read = serde_json::from_str::<CommandSpec>;
        let spec = read(r#"{"command": "x", "limits": {"open_files": 9}, "run_as": "1000:100"}"#).unwrap();
        assert_eq!(spec.limits.unwrap().open_files, Some(9));
        assert_eq!(spec.run_as.unwrap().resolve().unwrap(), Ids { uid: 1000, gid: 100 });
        assert!(!read(r#"{"command": "x"}"#).unwrap().is_confined());
        assert!(read(r#"{"command": "x", "limits": {"open_flies": 9}}"#).is_err());
        assert!(read(r#"{"command": "x", "run_as": ":"}"#).is_err());
    }

    #[test]
    fn a_plugins_program_keeps_the_limits_that_are_set_and_gets_the_others() {
        let folder = std::env::temp_dir();
        let limits = Some(ProcessLimits { processes: Some(3), ..ProcessLimits::default() });
        let mut spec = CommandSpec { command: "x".into(), limits, ..CommandSpec::default() };
        let warning = spec.confine(&folder).unwrap();
        assert_eq!(spec.limits.unwrap(), ProcessLimits { processes: Some(3), ..ProcessLimits::plugin() });
        let is_root = Ids::of_this_process().uid == 0;
        assert_eq!(warning.is_some_and(|text| text.contains("run_as")), is_root, "the folder is root's");
    }
}
