//! Decides whether a target may be read or written to. `Guard::admit` is the only entry point for
//! the plan (which drops the admission) and for the run (which keeps it), so the two cannot
//! disagree.
//!
//! Raw writes are limited to unused devices that the operator listed, unused loop devices whose
//! backing file is under a target root, and loop devices that the run itself attached.
//! `host::inventory` determines the users of a device, and O_EXCL is the final check. `overwrite`
//! determines which data a run would destroy, and the state to which a confirmation is bound.

mod backing_file;
mod claim;
pub(crate) mod contents;
pub(crate) mod device;
pub(crate) mod file;
pub(crate) mod file_use;
#[cfg(test)]
mod generated_hosts;
mod mounted_copy;
pub(crate) mod overwrite;
pub mod permissions;
mod process_use;
#[cfg(test)]
mod tests;

use crate::{
    plan::host_view::PathKind,
    system::{
        guard::{contents::ReadLimit, permissions::Permissions},
        host::{
            interference::data_directory,
            inventory::Inventory,
            kernel::{Dev, Kernel},
            resolved_path::ResolvedPath,
        },
    },
};
use leadline_protocol::{plan::job::ResolvedJob, problem::Problem};
use rustix::fs::OFlags;
use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The option that all guard problems refer to.
const FIELD: &str = "filename";

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Purpose {
    /// Access that does not change the contents.
    Read,
    /// Access that may destroy the contents.
    Write,
}

impl Purpose {
    pub(crate) fn of(job: &ResolvedJob) -> Self {
        if job.pattern.rw.is_destructive() {
            Self::Write
        } else {
            Self::Read
        }
    }

    pub(crate) fn open_flags(self) -> OFlags {
        match self {
            Self::Read => OFlags::RDONLY,
            Self::Write => OFlags::RDWR,
        }
    }
}

/// Permission to use a target.
#[derive(Debug, Default)]
pub(crate) struct Admission {
    /// Holds the device open with O_EXCL, so no other program can mount it, use it for swap, or
    /// stack another device on it; `None` for files and for reads.
    pub claim: Option<OwnedFd>,
    /// Like `claim`, for the backing devices of loop devices.
    #[expect(dead_code, reason = "held open")]
    pub lower_claims: Vec<OwnedFd>,
}

#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub host: Inventory,
    pub permissions: Permissions,
    /// Loop devices that the run itself attached to files that it may write to.
    run_loops: Vec<Dev>,
    /// Directory that contains the server's database and token.
    results: Option<PathBuf>,
    /// Limits how much data is read to verify that the jobs' regions are blank.
    read_limit: Arc<ReadLimit>,
}

impl Guard {
    /// Takes an inventory of this host.
    pub(crate) fn live(permissions: &Permissions) -> Self {
        let host = Inventory::read(&Kernel::live());
        Self::new(host, permissions).with_data_directory(data_directory())
    }

    pub(crate) fn new(host: Inventory, permissions: &Permissions) -> Self {
        Self {
            host,
            permissions: permissions.clone(),
            run_loops: Vec::new(),
            results: None,
            read_limit: ReadLimit::for_plan().into(),
        }
    }

    fn with_data_directory(self, results: Option<PathBuf>) -> Self {
        Self {
            results: results.and_then(|directory| directory.canonicalize().ok()),
            ..self
        }
    }

    /// Admits the run's own loop devices for writing, even if their backing files are not under a
    /// target root and the operator has not listed them. All other checks still apply.
    pub(crate) fn with_run_loops(self, run_loops: Vec<Dev>) -> Self {
        Self { run_loops, ..self }
    }

    pub(crate) fn with_read_limit(&self, limit: ReadLimit) -> Self {
        Self {
            read_limit: limit.into(),
            ..self.clone()
        }
    }

    /// `path` must be canonical. Returns true for all paths if there are no target roots.
    pub(crate) fn is_under_root(&self, path: &Path) -> bool {
        !self.permissions.has_roots() || self.permissions.root_containing(path).is_some()
    }

    /// Returns true for paths in the data directory, except those under a target root inside it.
    fn is_in_data_directory(&self, path: &Path) -> bool {
        let Some(results) = &self.results else {
            return false;
        };
        let is_inner_root = |root: &&Path| *root != results && root.starts_with(results);
        let mut inner_roots = self.permissions.roots().filter(is_inner_root);
        path.starts_with(results) && !inner_roots.any(|root| path.starts_with(root))
    }

    /// # Errors
    /// Problem codes: `not_a_block_device`, `not_a_file`, `outside_roots`, `results`,
    /// `hard_linked`, `backs_loop`, `swap_file`, `read_only`, `permission_denied`, `device_in_use`,
    /// `no_medium`, `raw_write_refused`, `ambiguous_identity`, `identity_changed`.
    pub(crate) fn admit(
        &self,
        found: &ResolvedPath,
        purpose: Purpose,
    ) -> Result<Admission, Problem> {
        match (found.kind, found.stat) {
            (PathKind::Device, Some(stat)) => self.admit_device(&found.path, stat, purpose),
            _ if found.is_under_dev() => Err(not_a_device(&found.path)),
            (PathKind::Directory | PathKind::Device | PathKind::Other, _) => {
                Err(not_a_file(&found.path))
            }
            _ => {
                self.admit_file(found, purpose)?;
                Ok(Admission::default())
            }
        }
    }
}

fn not_a_device(path: &Path) -> Problem {
    Problem::invalid(
        "not_a_block_device",
        FIELD,
        format!("{} is not a block device on this host.", path.display()),
        "Choose a device from `leadline-runner devices`. Leadline never creates files under /dev.",
    )
}

fn not_a_file(path: &Path) -> Problem {
    Problem::invalid(
        "not_a_file",
        FIELD,
        format!(
            "{} is neither a regular file nor an accessible block device.",
            path.display()
        ),
        "Specify a file (or use `directory`), or a device from `leadline-runner devices`.",
    )
}
