//! Limits: with cgroups where the system lets the tests make some, and without them.

use super::*;

const NONE: ProcessLimits =
    ProcessLimits { memory_bytes: None, processes: None, open_files: None, file_bytes: None, nice: None };
/// The user with the fewest rights.
const NOBODY: &str = "65534:65534";

/// Runs a command to its end, under these limits, and says how it ended.
async fn end_under(spawner: &Spawner, limits: ProcessLimits, mut spec: CommandSpec) -> String {
    spec.limits = Some(limits);
    let (child, _socket) = ChildProcess::start_with_socket(spawner, &spec).await.unwrap();
    in_time(child.ended()).await
}

fn as_nobody(spec: CommandSpec) -> CommandSpec {
    CommandSpec { run_as: Some(NOBODY.to_owned().try_into().unwrap()), cwd: Some("/".into()), ..spec }
}

/// Keeps all that it reads, which never ends.
fn hog() -> CommandSpec {
    CommandSpec { command: "tail".to_owned(), args: vec!["/dev/zero".to_owned()], ..CommandSpec::default() }
}

#[tokio::test]
async fn a_hog_is_ended_at_its_memory_limit_and_the_reason_names_it() {
    let limits = ProcessLimits { memory_bytes: Some(64 << 20), ..NONE };
    let end = end_under(&spawner(), limits, hog()).await;
    let reason = if has_cgroups() { "ran out of memory at its limit of 64 MiB" } else { "memory exhausted" };
    assert!(end.contains(reason), "{end}");
}

#[tokio::test]
async fn a_hog_is_ended_at_its_memory_limit_without_cgroups_too() {
    let spawner = Spawner::without_cgroups(launcher()).unwrap();
    let limits = ProcessLimits { memory_bytes: Some(64 << 20), ..NONE };
    let end = end_under(&spawner, limits, hog()).await;
    assert!(end.contains("exit status: 1") && end.contains("memory exhausted"), "{end}");
}

/// Starts more processes than it may, but not so many that the machine would suffer if it were let.
fn bomb(mark: &str) -> CommandSpec {
    shell(&format!("i=0; while [ $i -lt 200 ]; do (sleep {mark} & sleep {mark}) & i=$((i+1)); done; sleep {mark}"))
}

#[tokio::test]
async fn a_fork_bomb_stays_small_and_nothing_of_it_is_left() {
    let limits = ProcessLimits { processes: Some(16), ..NONE };
    let spec = if has_cgroups() || !is_root() { bomb("1010.25") } else { as_nobody(bomb("1010.25")) };
    let spawner = spawner();
    let run = end_under(&spawner, limits, spec);
    tokio::pin!(run);
    let mut most = 0;
    let end = loop {
        tokio::select! {
            end = &mut run => break end,
            () = tokio::time::sleep(Duration::from_millis(2)) => most = most.max(processes_with("1010.25").len()),
        }
    };
    assert!(most <= 17, "{most} processes at once");
    assert!(end.contains("fork"), "{end}");
    assert_eq!(end.contains("it reached its limit of 16 processes"), has_cgroups(), "{end}");
    until("nothing of it is left", || processes_with("1010.25").is_empty()).await;
}

#[tokio::test]
async fn processes_of_an_unprivileged_user_are_limited_without_cgroups() {
    let spawner = Spawner::without_cgroups(launcher()).unwrap();
    let limits = ProcessLimits { processes: Some(16), ..NONE };
    let spec = if is_root() { as_nobody(bomb("1012.25")) } else { bomb("1012.25") };
    let end = end_under(&spawner, limits, spec).await;
    assert!(end.contains("fork"), "{end}");
    until("nothing of it is left", || processes_with("1012.25").is_empty()).await;
}

#[tokio::test]
async fn open_files_and_memory_images_are_limited() {
    let limits = ProcessLimits { open_files: Some(16), ..NONE };
    let spec = shell("echo $(ulimit -n) $(ulimit -c); exec paste $(yes /dev/null | head -20)");
    let end = end_under(&spawner(), limits, spec).await;
    assert!(end.contains("16 0") && end.contains("Too many open files"), "{end}");
}

#[tokio::test]
async fn a_file_grows_to_its_limit_and_no_further() {
    let folder = tempfile::tempdir().unwrap();
    let limits = ProcessLimits { file_bytes: Some(64 << 10), ..NONE };
    let spec = CommandSpec { cwd: Some(folder.path().to_owned()), ..shell("exec head -c 200000 /dev/zero > out") };
    let end = end_under(&spawner(), limits, spec).await;
    assert!(end.contains("SIGXFSZ"), "{end}");
    assert_eq!(std::fs::metadata(folder.path().join("out")).unwrap().len(), 64 << 10);
}

#[tokio::test]
async fn a_child_of_root_becomes_the_user_that_is_set_for_it_and_gains_no_rights() {
    let spec =
        shell("id -u; id -g; id -G; grep -E 'NoNewPrivs|CapEff' /proc/self/status | tr -d '\\t'; nice; echo $USER");
    let limits = ProcessLimits { nice: Some(7), ..NONE };
    if is_root() {
        let end = end_under(&spawner(), limits, as_nobody(spec)).await;
        let name = super::super::identity::User::with_id(65534).map(|user| user.name).unwrap_or_default();
        let said = format!("65534\n65534\n65534\nCapEff:0000000000000000\nNoNewPrivs:1\n7\n{name}");
        assert_eq!(end, format!("its process ended with exit status: 0; it last wrote: {}", said.trim()));
    } else {
        let spec = CommandSpec { run_as: Some("0:0".to_owned().try_into().unwrap()), ..spec };
        let end = end_under(&spawner(), limits, spec).await;
        assert!(end.contains("exit status: 127") && end.contains("cannot become user 0"), "{end}");
    }
}

#[tokio::test]
async fn limits_without_a_launcher_are_refused_and_not_forgotten() {
    let spawner = Spawner::new(None).unwrap();
    let spec = CommandSpec { limits: Some(ProcessLimits::plugin()), ..shell("exit 0") };
    let error = ChildProcess::start_with_socket(&spawner, &spec).await.unwrap_err();
    assert!(error.to_string().contains("launcher"), "{error}");
}
