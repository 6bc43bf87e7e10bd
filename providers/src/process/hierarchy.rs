//! Hierarchy: a tree of cgroups that the system has mounted, and this process's place in it.

use std::io;
use std::path::{Path, PathBuf};

/// This process's own cgroup in one tree, below which those of children are made. Systems with the first version have a
/// tree for each controller, those with the second one for all, and some have both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) folder: PathBuf,
    /// It can limit the number of processes.
    pub(super) pids: bool,
    /// It can limit memory.
    pub(super) memory: bool,
    /// It is of the second version.
    pub(super) unified: bool,
}

/// Where a daemon of the second version steps aside to.
const ASIDE: &str = "toolyard-daemon";

/// A line of `/proc/self/mountinfo`.
struct Mount<'t> {
    root: &'t str,
    point: &'t str,
    kind: &'t str,
    options: &'t str,
}

// === impl Hierarchy ===

impl Hierarchy {
    /// Those that this process is in and that are of use here. None where the system has no cgroups.
    pub(super) fn all() -> Vec<Self> {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let mut found = Self::read(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"));
        for hierarchy in found.iter_mut().filter(|hierarchy| hierarchy.unified) {
            hierarchy.enable();
        }
        found
    }

    fn read(cgroups: &str, mounts: &str) -> Vec<Self> {
        let mounts: Vec<Mount<'_>> = mounts.lines().filter_map(Mount::read).collect();
        cgroups.lines().filter_map(|line| Self::of_line(line, &mounts)).collect()
    }

    /// A line is an id, the controllers with commas between them, and this process's place. The second version's has the
    /// id 0 and names no controller.
    fn of_line(line: &str, mounts: &[Mount<'_>]) -> Option<Self> {
        let mut fields = line.splitn(3, ':');
        let (id, controllers, place) = (fields.next()?, fields.next()?, fields.next()?);
        let has = |name: &str| controllers.split(',').any(|controller| controller == name);
        let (pids, memory, unified) = (has("pids"), has("memory"), id == "0" && controllers.is_empty());
        if !(pids || memory || unified) {
            return None;
        }
        let mount = mounts.iter().find(|mount| {
            if unified { mount.kind == "cgroup2" } else { mount.kind == "cgroup" && mount.has(controllers) }
        })?;
        let mut folder = mount.folder_of(place)?;
        if unified && folder.ends_with(ASIDE) {
            folder.pop();
        }
        Some(Self { folder, pids, memory, unified })
    }

    /// A cgroup of the second version hands its controllers on only while no process is in it itself. A process that has
    /// it to itself, as in a container or with systemd's `Delegate=`, steps aside into a cgroup below.
    fn enable(&mut self) {
        let controllers = std::fs::read_to_string(self.folder.join("cgroup.controllers")).unwrap_or_default();
        let wanted: Vec<&str> =
            controllers.split_whitespace().filter(|name| ["pids", "memory"].contains(name)).collect();
        let hand_on = |folder: &Path| {
            let switches: Vec<String> = wanted.iter().map(|name| format!("+{name}")).collect();
            std::fs::write(folder.join("cgroup.subtree_control"), switches.join(" "))
        };
        let is_on = !wanted.is_empty()
            && (hand_on(&self.folder).is_ok() || (step_aside(&self.folder).is_ok() && hand_on(&self.folder).is_ok()));
        self.pids = is_on && wanted.contains(&"pids");
        self.memory = is_on && wanted.contains(&"memory");
    }
}

fn step_aside(folder: &Path) -> io::Result<()> {
    let own = std::process::id().to_string();
    if std::fs::read_to_string(folder.join("cgroup.procs"))?.trim() != own {
        return Err(io::Error::other("other processes are in the same cgroup"));
    }
    let below = folder.join(ASIDE);
    match std::fs::create_dir(&below) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    std::fs::write(below.join("cgroup.procs"), own)
}

// === impl Mount ===

impl<'t> Mount<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let mut right = right.split(' ');
        Some(Self { root: left.next()?, point: left.next()?, kind: right.next()?, options: right.nth(1)? })
    }

    fn has(&self, controllers: &str) -> bool {
        controllers.split(',').all(|name| self.options.split(',').any(|option| option == name))
    }

    /// Where the cgroup at `place` is to be found. In a container only a part of the tree may be mounted.
    fn folder_of(&self, place: &str) -> Option<PathBuf> {
        let below = Path::new(place).strip_prefix(self.root).unwrap_or_else(|_elsewhere| Path::new(""));
        let is_outside = below.components().any(|part| part == std::path::Component::ParentDir);
        if is_outside { None } else { Some(Path::new(self.point).join(below)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_has_a_tree_for_each_controller() {
        let mounts = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                      39 31 0:36 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let found = Hierarchy::read("9:name=systemd:/\n8:pids:/\n4:memory:/a/b\n1:cpu:/\n0::/\n", mounts);
        let expected = [
            Hierarchy { folder: "/sys/fs/cgroup/pids".into(), pids: true, memory: false, unified: false },
            Hierarchy { folder: "/sys/fs/cgroup/memory/a/b".into(), pids: false, memory: true, unified: false },
            Hierarchy { folder: "/sys/fs/cgroup/unified".into(), pids: false, memory: false, unified: true },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_second_version_has_one_and_a_container_sees_a_part_of_it() {
        let whole = "30 24 0:26 / /sys/fs/cgroup ro,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let found = Hierarchy::read("0::/system.slice/toolyard.service\n", whole);
        assert_eq!(found[0].folder, Path::new("/sys/fs/cgroup/system.slice/toolyard.service"));
        let part = "30 24 0:26 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
        assert_eq!(Hierarchy::read("0::/docker/x/y\n", part)[0].folder, Path::new("/sys/fs/cgroup/y"));
        assert_eq!(Hierarchy::read("0::/\n", part)[0].folder, Path::new("/sys/fs/cgroup"));
        assert_eq!(Hierarchy::read("0::/toolyard-daemon\n", part)[0].folder, Path::new("/sys/fs/cgroup"));
        assert_eq!(Hierarchy::read("0::/../z\n", whole), []);
    }

    #[test]
    fn a_system_without_cgroups_has_none() {
        assert_eq!(Hierarchy::read("", ""), []);
        assert_eq!(Hierarchy::read("8:pids:/\n0::/\n", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"), []);
    }
}
