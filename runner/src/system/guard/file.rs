//! Checks files: they must be under a target root, and must not be server files, loop backing
//! files, swap files or files with other hard links.

use crate::{
    plan::host_view::PathKind,
    system::{
        guard::{FIELD, Guard, Purpose},
        host::{
            file_identity::SameFile,
            resolved_path::{ResolvedPath, Stat},
        },
    },
};
use leadline_protocol::problem::Problem;
use rustix::{
    fs::{Access, access},
    io::Errno,
};
use std::path::Path;

/// Why two files cannot be distinguished.
const POSSIBLY_SAME: &str =
    "it has the same length, and the kernel does not reveal whether it is the same file";

impl Guard {
    pub(crate) fn admit_file(&self, found: &ResolvedPath, purpose: Purpose) -> Result<(), Problem> {
        let path = &found.path;
        if !self.is_under_root(path) {
            return Err(self.outside_roots(path));
        }
        if self.is_in_data_directory(path) {
            return Err(Problem::guard(
                "results",
                FIELD,
                format!("{} is in the server's data directory.", path.display()),
                "Choose a file in another directory.",
            ));
        }
        match found.stat {
            Some(stat) if purpose == Purpose::Write => {
                self.check_file_uses(path, stat)?;
                check_access(path, Access::READ_OK | Access::WRITE_OK)
            }
            Some(_) => check_access(path, Access::READ_OK),
            // Missing directories are reported by the plan.
            None if found.kind == PathKind::MissingDirectory => Ok(()),
            // A missing file must be created, even if the job only reads.
            None => check_access(found.directory(), Access::WRITE_OK | Access::EXEC_OK),
        }
    }

    fn outside_roots(&self, path: &Path) -> Problem {
        let roots = self.permissions.roots();
        let roots: Vec<_> = roots.map(Path::to_string_lossy).collect();
        Problem::guard(
            "outside_roots",
            FIELD,
            format!(
                "{} is outside the target roots ({}).",
                path.display(),
                roots.join(", ")
            ),
            "Choose a file under one of them, or add its directory with --target-root.",
        )
    }

    fn check_file_uses(&self, path: &Path, stat: Stat) -> Result<(), Problem> {
        let file = self.host.file_identity(path, stat);
        for block in self.host.loops() {
            let backing = self.host.backing_identity(block);
            if let Some(same) = backing.and_then(|backing| file.compare(&backing)) {
                return Err(backs_loop(path, &block.name, same));
            }
        }
        self.check_swap(path, stat)?;
        check_hard_links(path, stat)
    }

    pub(crate) fn check_swap(&self, path: &Path, stat: Stat) -> Result<(), Problem> {
        let file = self.host.file_identity(path, stat);
        let same_as = |swap: &String| {
            let found = ResolvedPath::find(Path::new(swap));
            let is_node = found.kind == PathKind::Device;
            match found.stat {
                Some(other) if is_node => other.is_same(&stat).then_some(SameFile::Yes),
                Some(other) => file.compare(&self.host.file_identity(&found.path, other)),
                None => (Path::new(swap) == path).then_some(SameFile::Yes),
            }
        };
        let detail = match self.host.swaps.iter().find_map(same_as) {
            None => return Ok(()),
            Some(SameFile::Yes) => format!("{} is in use as swap.", path.display()),
            Some(SameFile::Possibly) => format!(
                "{} may be a file in use as swap: {POSSIBLY_SAME}.",
                path.display()
            ),
        };
        let remedy = "Choose another file, or run swapoff first.";
        Err(Problem::guard("swap_file", FIELD, detail, remedy))
    }
}

fn backs_loop(path: &Path, name: &str, same: SameFile) -> Problem {
    let detail = match same {
        SameFile::Yes => format!("{} is the backing file of {name}.", path.display()),
        SameFile::Possibly => format!(
            "{} may be the backing file of {name}: {POSSIBLY_SAME}.",
            path.display()
        ),
    };
    let remedy = format!("Detach it (losetup -d /dev/{name}), or use the device itself.");
    Problem::guard("backs_loop", FIELD, detail, remedy)
}

/// Other links to the file may be outside the target roots.
pub(crate) fn check_hard_links(path: &Path, stat: Stat) -> Result<(), Problem> {
    if stat.links <= 1 {
        return Ok(());
    }
    Err(Problem::guard(
        "hard_linked",
        FIELD,
        format!(
            "{} has {} hard links, so writing to it may change a file outside the target roots.",
            path.display(),
            stat.links
        ),
        "Choose another name, or remove this file so the run can create it.",
    ))
}

fn check_access(path: &Path, wanted: Access) -> Result<(), Problem> {
    access(path, wanted).map_err(|error| match error {
        Errno::ROFS => Problem::guard(
            "read_only",
            FIELD,
            format!("{} is on a filesystem mounted read-only.", path.display()),
            "Choose a target on another filesystem.",
        ),
        error => permission_denied(path)(error),
    })
}

pub(crate) fn permission_denied(path: &Path) -> impl Fn(Errno) -> Problem {
    move |error| {
        // For root, EPERM is caused by a container, or by an immutable or append-only file.
        let remedy = match error {
            Errno::PERM => {
                "Give the container or service access (docker run --device, DeviceAllow=), or remove the file's attribute (chattr -i -a)."
            }
            _ => "Run as a user with access (root for devices), or change the permissions.",
        };
        let detail = format!("{} cannot be opened: {error}.", path.display());
        Problem::environment("permission_denied", FIELD, detail, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{
        guard::permissions::Permissions,
        host::{
            block_device::Backing,
            fixture::{Fixture, skip},
            kernel::Dev,
        },
    };
    use rustix::{
        process::geteuid,
        thread::{Gid, Uid, set_thread_gid, set_thread_groups, set_thread_uid},
    };
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
        thread,
    };

    /// Calls a function in a thread without root privileges.
    fn run_as_nobody<T: Send>(call: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let id = 65534;
                set_thread_groups(&[]).unwrap();
                set_thread_gid(Gid::from_raw(id)).unwrap();
                set_thread_uid(Uid::from_raw(id)).unwrap();
                call()
            });
            thread.join().unwrap()
        })
    }

    #[test]
    fn runs_need_access_to_files_and_directories() {
        if !geteuid().is_root() {
            return skip("only root can switch to another user");
        }
        // The file is in /tmp, because every user can look up paths there.
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        let base = dir.path().canonicalize().unwrap();
        let set_mode = |path: &Path, mode: u32| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(&base, 0o755);
        let guard = Guard::live(&Permissions::default());
        let check = |path: &Path, purpose: Purpose, is_admitted: bool| {
            let found = ResolvedPath::find(path);
            let admitted = run_as_nobody(|| guard.admit_file(&found, purpose));
            let code = admitted.err().map(|problem| problem.code);
            let want = (!is_admitted).then_some("permission_denied");
            assert_eq!(code.as_deref(), want, "{purpose:?} {}", path.display());
        };
        for (mode, can_read, can_write) in [
            (0o606, true, true),
            (0o604, true, false),
            (0o602, false, false),
            (0o600, false, false),
        ] {
            let path = base.join(format!("file-{mode:o}"));
            fs::write(&path, "data").unwrap();
            set_mode(&path, mode);
            check(&path, Purpose::Read, can_read);
            check(&path, Purpose::Write, can_write);
        }
        for (mode, can_create) in [(0o703, true), (0o702, false), (0o701, false)] {
            let directory = base.join(format!("directory-{mode:o}"));
            fs::create_dir(&directory).unwrap();
            set_mode(&directory, mode);
            for purpose in [Purpose::Read, Purpose::Write] {
                check(&directory.join("new"), purpose, can_create);
            }
        }
        // Missing directories are reported by the plan.
        check(&base.join("missing/new"), Purpose::Write, true);
    }

    #[test]
    fn backing_files_are_found_by_identity_path_or_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("f");
        fs::write(&path, [0; 4096]).unwrap();
        let found = ResolvedPath::find(&path);
        let stat = found.stat.unwrap();
        let other = Backing {
            path: "/elsewhere/image".into(),
            // Device number 8:1, a block device.
            filesystem: Some(Dev(0x801)),
            inode: Some(stat.inode + 1),
            device: None,
            is_identified: true,
            offset: 0,
        };
        let check = |backing: Backing, filesystem: &str, is_backing: bool| {
            let loop_device = "sys/devices/loop9099/dev = 4007:9099
                sys/devices/loop9099/size = 8
                sys/devices/loop9099/loop/backing_file = /elsewhere/image";
            let mut host = Fixture::new(loop_device).inventory();
            host.mounts = Guard::live(&Permissions::default()).host.mounts;
            for mount in &mut host.mounts {
                mount.filesystem = filesystem.into();
            }
            let block = host.blocks.get_mut("loop9099").unwrap();
            block.backing = Some(backing.clone());
            let guard = Guard::new(host, &Permissions::default());
            let code = guard
                .check_file_uses(&path, stat)
                .err()
                .map(|problem| problem.code);
            let want = is_backing.then_some("backs_loop");
            assert_eq!(code.as_deref(), want, "{backing:?} {filesystem}");
        };
        check(other.clone(), "ext4", false);
        // The layers of this overlay are not visible.
        check(other.clone(), "overlay", true);
        check(other.clone(), "fuse.bindfs", false);
        let same = Backing {
            filesystem: Some(stat.dev),
            inode: Some(stat.inode),
            ..other.clone()
        };
        check(same, "ext4", true);
        let same_path = Backing {
            path: path.to_str().unwrap().into(),
            ..other.clone()
        };
        check(same_path, "ext4", true);
        // A FUSE filesystem has a separate device number.
        let same_inode = Backing {
            inode: Some(stat.inode),
            ..other.clone()
        };
        check(same_inode.clone(), "ext4", false);
        check(same_inode.clone(), "fuse.bindfs", true);
        let hidden = Backing {
            filesystem: Some(Dev(1)),
            ..same_inode
        };
        check(hidden, "ext4", true);
        let unidentified = Backing {
            is_identified: false,
            ..other
        };
        check(unidentified, "ext4", true);
    }

    #[test]
    fn swap_files_are_found_under_other_names() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["swap", "other"] {
            fs::write(base.join(name), "data").unwrap();
        }
        symlink(base.join("swap"), base.join("link")).unwrap();
        let line = |name: &str| format!("{} file 1 0 -2", base.join(name).display());
        let lines = ["Filename".into(), line("link"), line("missing")].join("\\n");
        let host = Fixture::new(&format!("proc/swaps = {lines}")).inventory();
        let guard = Guard::new(host, &Permissions::default());
        for (name, code) in [("swap", Some("swap_file")), ("other", None)] {
            let path = base.join(name);
            let checked = guard.check_file_uses(&path, ResolvedPath::find(&path).stat.unwrap());
            let found = checked.err().map(|problem| problem.code);
            assert_eq!(found.as_deref(), code, "{name}");
        }
    }
}
