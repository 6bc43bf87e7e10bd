//! The Python side as a package that pip installs.

use std::path::Path;
use std::process::Command;

use toolyard_tests::Environment;

/// Copies what belongs to the package; building it must not leave anything in the repository.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_dir() && name != "__pycache__" {
            copy(&path, &to.join(name));
        } else if path.is_file() {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

#[test]
fn pip_installs_the_runner_and_it_says_who_starts_it() {
    let python = Environment::get().python;
    let folder = tempfile::tempdir().unwrap();
    let (source, installed) = (folder.path().join("source"), folder.path().join("installed"));
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("providers/python"), &source);
    let pip = ["-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target"];
    let done = Command::new(&python).args(pip).arg(&installed).arg(&source).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = Command::new(&python)
        .args(["-m", "toolyard_runner"])
        .env("PYTHONPATH", &installed)
        .current_dir(folder.path())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&said.stderr).contains("started by Toolyard"), "{said:?}");
    let test = "import toolyard_runner.lenbot.testing, toolyard_runner.maibot";
    let imported = Command::new(&python).args(["-c", test]).env("PYTHONPATH", &installed).output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
}
