//! What the tests need beside Rust: a Python environment and Node packages, made under the target folder from lock files.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{run, say};

/// Where everything is. Made once; made anew when a lock file changes.
pub(crate) struct Environment {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) node_modules: PathBuf,
}

/// Programs that have to be there already, and how people get them.
const NEEDED: [(&str, &str, &str); 3] = [
    ("python3", "--version", "Python 3.10 or newer with venv (Debian: apt-get install python3-venv)"),
    ("node", "--version", "Node 20 or newer"),
    ("npm", "--version", "npm, which comes with Node"),
];

// === impl Environment ===

impl Environment {
    /// Makes what is missing.
    pub(crate) fn set_up() -> Result<Self, String> {
        let root = root();
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let home = target.join("test-env");
        std::fs::create_dir_all(&home).map_err(|error| format!("cannot make {}: {error}", home.display()))?;
        let environment =
            Self { python: home.join("python/bin/python"), node_modules: home.join("node/node_modules"), root, target };
        check_programs()?;
        environment.set_up_python(&home)?;
        environment.set_up_node(&home)?;
        Ok(environment)
    }

    /// The file's content is the stamp: an environment made from the same lock file is taken as it is.
    fn set_up_python(&self, home: &Path) -> Result<(), String> {
        let lock = self.root.join("tests/python/requirements.lock");
        let (folder, stamp) = (home.join("python"), home.join("python.lock"));
        if is_same(&lock, &stamp) && self.python.exists() {
            return Ok(());
        }
        say("== set up: Python packages for the tests");
        std::fs::remove_dir_all(&folder).ok();
        if run(Command::new("python3").args(["-m", "venv"]).arg(&folder)).is_err() {
            install_debian_package("python3-venv")?;
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        }
        run(Command::new(&self.python)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r"])
            .arg(&lock))?;
        stamp_with(&lock, &stamp)
    }

    fn set_up_node(&self, home: &Path) -> Result<(), String> {
        install_packages(&self.root.join("tests/node"), &home.join("node")).map(drop)
    }
}

/// Installs the Node packages whose lock file is in `from`, and says where they are.
pub(crate) fn install_packages(from: &Path, folder: &Path) -> Result<PathBuf, String> {
    let (lock, stamp) = (from.join("package-lock.json"), folder.with_extension("lock"));
    let modules = folder.join("node_modules");
    if is_same(&lock, &stamp) && modules.exists() {
        return Ok(modules);
    }
    say(&format!("== set up: Node packages of {}", from.display()));
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    for file in ["package.json", "package-lock.json"] {
        copy(&from.join(file), &folder.join(file))?;
    }
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder))?;
    stamp_with(&lock, &stamp)?;
    Ok(modules)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

fn check_programs() -> Result<(), String> {
    let missing: Vec<&str> = NEEDED
        .into_iter()
        .filter(|(program, flag, _)| Command::new(program).arg(flag).output().is_err())
        .map(|(_, _, what)| what)
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("the tests need {}", missing.join("; "))) }
}

/// Only as root, and only where apt is.
pub(crate) fn install_debian_package(package: &str) -> Result<(), String> {
    say(&format!("== set up: Debian package {package}"));
    run(Command::new("apt-get").args(["update", "-qq"]))
        .and_then(|()| run(Command::new("apt-get").args(["install", "-y", "-qq", "--no-install-recommends", package])))
        .map_err(|reason| format!("{package} is missing and cannot be installed here ({reason}); install it yourself"))
}

fn is_same(lock: &Path, stamp: &Path) -> bool {
    matches!((std::fs::read(lock), std::fs::read(stamp)), (Ok(a), Ok(b)) if a == b)
}

fn stamp_with(lock: &Path, stamp: &Path) -> Result<(), String> {
    copy(lock, stamp)
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::copy(from, to).map(drop).map_err(|error| format!("cannot copy {}: {error}", from.display()))
}
