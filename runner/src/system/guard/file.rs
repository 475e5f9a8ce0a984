//! Checks files: they must be under a target root, and must not be server files, loop backing
//! files, swap files or files with other hard links.

use crate::{
    plan::host_view::PathKind,
    system::{
        guard::{FIELD, Guard, Purpose},
        host::resolved_path::{ResolvedPath, Stat},
    },
};
use leadline_protocol::problem::Problem;
use rustix::{
    fs::{Access, access},
    io::Errno,
};
use std::path::Path;

impl Guard {
    pub(crate) fn admit_file(&self, found: &ResolvedPath, purpose: Purpose) -> Result<(), Problem> {
        let path = &found.path;
        if !self.is_under_root(path) {
            return Err(self.outside_roots(path));
        }
        if self.is_result(path) {
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
            // The plan reports missing directories.
            None if found.kind == PathKind::MissingDirectory => Ok(()),
            // The file must be created, even for reading.
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
        let mount = self.host.mount_at(path);
        let is_on_overlay = mount.is_some_and(|mount| mount.filesystem == "overlay");
        let backed_loop = self.host.loops().find(|block| {
            let backing = block.backing.as_ref();
            backing.is_some_and(|file| {
                file.is_file(stat)
                    || Path::new(&file.path) == path
                    || file.may_be_file(stat, block.size_bytes, is_on_overlay)
            })
        });
        if let Some(block) = backed_loop {
            let name = &block.name;
            return Err(Problem::guard(
                "backs_loop",
                FIELD,
                format!("{} is the backing file of {name}.", path.display()),
                format!("Detach it (losetup -d /dev/{name}), or use the device itself."),
            ));
        }
        self.check_swap(path, stat)?;
        check_hard_links(path, stat)
    }

    pub(crate) fn check_swap(&self, path: &Path, stat: Stat) -> Result<(), Problem> {
        let is_swap = self.host.swaps.iter().map(Path::new).any(|swap| {
            let found = ResolvedPath::find(swap).stat;
            swap == path || found.is_some_and(|found| found.is_same(&stat))
        });
        if !is_swap {
            return Ok(());
        }
        Err(Problem::guard(
            "swap_file",
            FIELD,
            format!("{} is in use as swap.", path.display()),
            "Choose another file, or run swapoff first.",
        ))
    }
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
        "Choose another name, or remove this file so that the run creates it.",
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
