//! A control group (cgroup v2) for the duration of a run. Its `io.stat` counts only this run's I/O,
//! including I/O that kernel threads submit on its behalf. Source:
//! Documentation/admin-guide/cgroup-v2.rst.
//!
//! The group is a sibling of the process's group, and is created only in a delegated parent:
//! elsewhere, the service manager owns the tree, and a sibling would escape the limits of the
//! process's group. Errors are not fatal: the run continues without the group's counters.

use crate::system::host::{kernel::Kernel, mounts::own_mounts};
use rustix::fs::getxattr;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Prefix of the group name, followed by the run's process ID.
const PREFIX: &str = "leadline-run-";
/// systemd marks delegated groups with one of these xattrs, set to 1.
const DELEGATION_XATTRS: [&str; 2] = ["user.delegate", "trusted.delegate"];
/// With the `memory` controller, writeback is charged to the group that owns the pages instead of
/// the root group.
const CONTROLLERS: [&str; 2] = ["io", "memory"];
/// Limits that would no longer apply if the process left its group.
const LIMITS: [&str; 6] = [
    "memory.max",
    "memory.high",
    "io.max",
    "cpu.max",
    "cpuset.cpus",
    "pids.max",
];
pub(crate) const REMEDY: &str = "Run it in a delegated control group: Delegate=yes and \
    DelegateSubgroup=main in the unit (systemd 254 or later), or systemd-run --pty \
    -p Delegate=yes -p DelegateSubgroup=main leadline-runner run ...";

/// The process stays in this group until the value is dropped.
#[derive(Debug)]
pub(crate) struct RunCgroup {
    dir: PathBuf,
    home: PathBuf,
}

impl RunCgroup {
    /// # Errors
    /// Returns the reason and a remedy if the host does not permit such a group.
    pub(crate) fn enter(kernel: &Kernel) -> Result<Self, String> {
        let entered = find_home(kernel).and_then(Self::enter_sibling);
        entered.map_err(|reason| format!("{reason}. {REMEDY}"))
    }

    fn enter_sibling(home: PathBuf) -> Result<Self, String> {
        let parent = home.parent().unwrap_or(&home);
        remove_leftovers(parent);
        enable_controllers(parent)?;
        let dir = parent.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&dir).map_err(|error| error_message("creating", &dir, &error))?;
        let group = Self { dir, home };
        let dir = &group.dir;
        fs::metadata(dir.join("io.stat"))
            .map_err(|error| error_message("counting I/O in", dir, &error))?;
        move_process(dir).map_err(|error| error_message("entering", dir, &error))?;
        Ok(group)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }
}

impl Drop for RunCgroup {
    /// Ignores failures, because the next run removes leftover groups.
    fn drop(&mut self) {
        let _ = move_process(&self.home);
        let _ = fs::remove_dir(&self.dir);
    }
}

/// This process's group, if it may have a sibling for a run.
///
/// # Errors
/// Returns why a sibling is not permitted.
pub(crate) fn find_home(kernel: &Kernel) -> Result<PathBuf, String> {
    let mounts = own_mounts(kernel);
    let mount = mounts.iter().find(|mount| mount.filesystem == "cgroup2");
    let mount = mount.ok_or("cgroup v2 is not mounted")?;
    let root = Path::new(&mount.point);
    if !has_controller(root, "cgroup.controllers", "io") {
        return Err(
            "cgroup v2 has no io controller on this host; cgroup v1 may be using it".into(),
        );
    }
    let groups = fs::read_to_string(kernel.proc.join("self/cgroup")).unwrap_or_default();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let home = root.join(own.unwrap_or_default());
    let id = std::process::id().to_string();
    if !words(&home.join("cgroup.procs")).contains(&id) {
        return Err(format!("{} does not contain this process", home.display()));
    }
    let parent = home.parent().filter(|parent| parent.starts_with(root));
    let parent = parent.ok_or("the process is in the root control group")?;
    if !is_delegated(parent) {
        return Err(format!("{} is not delegated", parent.display()));
    }
    match LIMITS.iter().find(|limit| is_limited(&home.join(limit))) {
        Some(limit) => Err(format!("{} has a limit ({limit})", home.display())),
        None => Ok(home),
    }
}

fn is_delegated(group: &Path) -> bool {
    let mut value = [0u8; 1];
    let mut marks = DELEGATION_XATTRS.iter();
    marks.any(|name| getxattr(group, *name, &mut value) == Ok(1) && value == *b"1")
}

/// If there is no limit, the file is empty, missing, or starts with `max`.
fn is_limited(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    !text.trim().is_empty() && !text.starts_with("max")
}

/// Fails with EBUSY if the parent itself contains processes.
fn enable_controllers(parent: &Path) -> Result<(), String> {
    let missing = CONTROLLERS.iter().filter(|name| {
        has_controller(parent, "cgroup.controllers", name)
            && !has_controller(parent, "cgroup.subtree_control", name)
    });
    let missing: Vec<String> = missing.map(|name| format!("+{name}")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    fs::write(parent.join("cgroup.subtree_control"), missing.join(" "))
        .map_err(|error| error_message("enabling controllers in", parent, &error))
}

fn has_controller(group: &Path, file: &str, name: &str) -> bool {
    words(&group.join(file)).iter().any(|word| word == name)
}

fn words(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Removes groups of killed runs. The kernel does not remove groups that contain processes.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Moves this process, including all threads, to a group. 0 stands for the writing process.
fn move_process(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

fn error_message(action: &str, group: &Path, error: &io::Error) -> String {
    format!("{action} {}: {error}", group.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{XattrFlags, setxattr};

    /// A cgroup hierarchy in which this process is in the group `unit/main`.
    struct Hierarchy {
        dir: tempfile::TempDir,
        kernel: Kernel,
    }

    impl Hierarchy {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let kernel = Kernel {
                sys: dir.path().join("sys"),
                proc: dir.path().join("proc"),
            };
            let new = Self { dir, kernel };
            let root = new.dir.path().display();
            new.write("proc/self/cgroup", "4:memory:/x\n0::/unit/main\n");
            let mount = format!("30 1 0:29 / {root} rw - cgroup2 cgroup2 rw\n");
            new.write("proc/self/mountinfo", &mount);
            new.write("cgroup.controllers", "cpu io memory\n");
            new.write("unit/cgroup.controllers", "cpu io memory\n");
            new.write("unit/cgroup.subtree_control", "memory\n");
            new.write(
                "unit/main/cgroup.procs",
                &format!("1\n{}\n", std::process::id()),
            );
            new.write("unit/main/memory.max", "max\n");
            new.write("unit/main/cpu.max", "max 100000\n");
            new.write("unit/main/io.max", "");
            let unit = new.dir.path().join("unit");
            setxattr(&unit, "user.delegate", b"1", XattrFlags::empty()).unwrap();
            new
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn assert_rejected(&self, reason: &str) {
            let found = find_home(&self.kernel).unwrap_err();
            assert!(found.contains(reason), "{found}");
        }
    }

    #[test]
    fn the_parent_group_must_be_delegated() {
        let host = Hierarchy::new();
        let home = host.dir.path().join("unit/main");
        assert_eq!(find_home(&host.kernel), Ok(home));
        host.write("unit/main/memory.max", "1048576\n");
        host.assert_rejected("has a limit (memory.max)");
        let unit = host.dir.path().join("unit");
        rustix::fs::removexattr(&unit, "user.delegate").unwrap();
        host.assert_rejected("unit is not delegated");
        host.write("unit/main/cgroup.procs", "1\n");
        host.assert_rejected("does not contain this process");
        host.write("cgroup.controllers", "cpu memory\n");
        host.assert_rejected("no io controller");
        host.write("proc/self/mountinfo", "");
        host.assert_rejected("cgroup v2 is not mounted");
    }

    #[test]
    fn the_root_has_no_siblings() {
        let host = Hierarchy::new();
        host.write("proc/self/cgroup", "0::/\n");
        host.write("cgroup.procs", &format!("{}\n", std::process::id()));
        host.assert_rejected("in the root control group");
    }

    #[test]
    fn missing_controllers_are_enabled_and_leftovers_removed() {
        let host = Hierarchy::new();
        let unit = host.dir.path().join("unit");
        fs::create_dir(unit.join("leadline-run-1")).unwrap();
        // The directory is not on a cgroup filesystem, so the kernel creates no files in the new
        // group.
        let error = RunCgroup::enter(&host.kernel).unwrap_err();
        assert!(error.contains("counting I/O in"), "{error}");
        assert!(error.ends_with(REMEDY), "{error}");
        let enabled = fs::read_to_string(unit.join("cgroup.subtree_control")).unwrap();
        assert_eq!(enabled, "+io");
        let mut left = fs::read_dir(&unit).unwrap().flatten();
        assert!(!left.any(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)));
    }
}
