//! What a process takes away from itself before it becomes a program.

use std::io;

use rustix::process::{Pid, Resource, Rlimit, getppid, getrlimit, setpriority_process, setrlimit};

use super::identity::Ids;
use super::launcher::LaunchPlan;

/// Carries a plan out. The order matters: cgroups can be joined only with the old rights, and a new user takes the
/// parent-death signal away.
pub(super) fn restrict(plan: &LaunchPlan) -> io::Result<()> {
    for cgroup in &plan.cgroups {
        std::fs::write(cgroup.join("cgroup.procs"), std::process::id().to_string())
            .map_err(|error| explain("its cgroup cannot be joined", &error))?;
    }
    set_limits(plan)?;
    if let Some(ids) = plan.run_as {
        become_user(ids).map_err(|error| explain(&format!("it cannot become user {}", ids.uid), &error))?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        if plan.no_new_privileges {
            rustix::thread::set_no_new_privs(true)?;
        }
        set_parent_process_death_signal(Some(Signal::KILL))?;
    }
    // A parent that died before the signal was set would never be noticed.
    if getppid().map(Pid::as_raw_nonzero).and_then(|pid| u32::try_from(pid.get()).ok()) != Some(plan.parent) {
        return Err(io::Error::other("the parent process is gone"));
    }
    Ok(())
}

fn set_limits(plan: &LaunchPlan) -> io::Result<()> {
    let limits = &plan.limits;
    lower(Resource::Core, Some(0))?;
    lower(Resource::Nofile, limits.open_files)?;
    lower(Resource::Fsize, limits.file_bytes)?;
    if let Some(nice) = limits.nice {
        setpriority_process(None, i32::from(nice))?;
    }
    if let Some(processes) = limits.processes {
        let uid = plan.run_as.map_or_else(|| Ids::of_this_process().uid, |ids| ids.uid);
        // The system counts all processes of the user, whoever started them.
        lower(Resource::Nproc, Some(tasks_of(uid).saturating_add(u64::from(processes))))?;
    }
    lower(Resource::Data, limits.memory_bytes)
}

/// Sets a limit, for good. One that is lower already stays.
fn lower(resource: Resource, limit: Option<u64>) -> io::Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let limit = getrlimit(resource).maximum.map_or(limit, |maximum| maximum.min(limit));
    let limits = Rlimit { current: Some(limit), maximum: Some(limit) };
    setrlimit(resource, limits)
        .map_err(|error| explain(&format!("its limit {resource:?} cannot be set"), &error.into()))
}

/// The processes and threads that a user has.
fn tasks_of(uid: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let own = entries.filter_map(Result::ok).filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == uid));
    let counts = own.filter_map(|process| Some(std::fs::read_dir(process.path().join("task")).ok()?.count()));
    counts.fold(0, |sum, count| sum.saturating_add(u64::try_from(count).unwrap_or(u64::MAX)))
}

/// Gives up all groups but one, and the user last: nothing else can be given up after that.
#[cfg(target_os = "linux")]
fn become_user(ids: Ids) -> io::Result<()> {
    use rustix::process::{Gid, Uid};
    use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
    let (uid, gid) = (Uid::from_raw(ids.uid), Gid::from_raw(ids.gid));
    if rustix::process::geteuid().is_root() {
        set_thread_groups(&[gid])?;
    }
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn become_user(_ids: Ids) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "run_as works on Linux only"))
}

fn explain(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
