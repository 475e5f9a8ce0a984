//! Targets of a run: checked by the guard, laid out, opened and cleaned up. After `open`, all I/O
//! uses file descriptors, so each path is resolved only once.
//!
//! A device opened for writing is held with O_EXCL from `open` until `Targets` is dropped. The
//! descriptors for I/O are reopened from that descriptor through /proc/self/fd, so the node cannot
//! be replaced in between. `guard` decides whether a target may be accessed, and `load` performs
//! the I/O.
//!
//! A run removes and marks only files that it created itself or that earlier steps of its study
//! created, whose paths contain the study's `file_id`. Pre-existing files are never removed.

mod attached_loop;
pub mod cache;
pub(crate) mod cancellable;
mod checks;
pub(crate) mod device_watch;
mod file_spec;
mod layout;
pub mod layout_data;
pub(crate) mod leftovers;
mod loop_devices;
mod open;
mod open_beneath;
mod owned_file;
mod progress;

use crate::{
    plan::{
        confirmations::overwrites,
        host_view::{Overwritten, PathKind},
    },
    system::{
        guard::{Admission, Guard, contents::ReadLimit, permissions::Permissions},
        host::{
            kernel::Dev,
            ownership::{self, Mark},
            resolved_path::{ResolvedPath, Stat},
        },
        target::{
            attached_loop::AttachedLoop,
            checks::{identity_changed, open_failed},
            device_watch::DeviceWatch,
            owned_file::OwnedFile,
        },
    },
};
use leadline_protocol::{
    plan::{Plan, target::Target},
    problem::Problem,
};
use std::{
    collections::BTreeMap,
    io,
    ops::Range,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread::sleep,
};

/// Bytes per system call for layout and pre_read: large enough to saturate the device, small enough
/// to stop within a second.
const CHUNK_BYTES: usize = 1 << 20;

/// A target that is ready for I/O.
#[derive(Debug)]
pub struct OpenTarget {
    /// File descriptor of the target, or of /dev/null for `ioengine=null`.
    pub fd: OwnedFd,
    pub target: Target,
}

impl OpenTarget {
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            fd: self.fd.try_clone()?,
            target: self.target.clone(),
        })
    }
}

/// Result of an operation that the stop flag can end early.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finish {
    Done,
    Stopped,
}

/// A target that the run overwrites.
#[derive(Clone, Debug, Default)]
struct Expected {
    /// Byte ranges that the run writes to.
    regions: Vec<Range<u64>>,
    /// The state that was confirmed (`guard::overwrite`); `None` if no confirmation was required.
    state: Option<String>,
}

impl Expected {
    /// Confirmed contents are verified only by samples. Unconfirmed targets must be completely
    /// blank.
    fn read_limit(&self) -> ReadLimit {
        match self.state {
            Some(_) => ReadLimit::zero(),
            None => ReadLimit::for_run(),
        }
    }
}

/// The resources that a run holds and creates. Dropping this value releases devices and detaches
/// the run's loop devices, but only `clean_up` removes files.
#[derive(Debug)]
pub struct Targets {
    permissions: Permissions,
    /// `file_id` of the study that the run belongs to.
    file_id: Option<String>,
    /// States of the targets that the run overwrites, as recorded in the plan, keyed by path.
    expected: BTreeMap<String, Expected>,
    claims: BTreeMap<Dev, Admission>,
    /// Files that this run has opened, keyed by canonical path.
    written: BTreeMap<PathBuf, Stat>,
    /// Keyed by the path of the backing file.
    loops: BTreeMap<String, AttachedLoop>,
    created: Vec<OwnedFile>,
    /// Files of earlier runs that this run changes, and that had a valid ownership mark before.
    reused: Vec<OwnedFile>,
    /// File whose layout had not finished when the run was stopped, because its storage did not
    /// respond.
    hung_layout: Option<String>,
}

impl Targets {
    pub fn new(permissions: &Permissions) -> Self {
        Self {
            permissions: permissions.clone(),
            file_id: None,
            expected: BTreeMap::new(),
            claims: BTreeMap::new(),
            written: BTreeMap::new(),
            loops: BTreeMap::new(),
            created: Vec::new(),
            reused: Vec::new(),
            hung_layout: None,
        }
    }

    pub(crate) fn hung_layout(&self) -> Option<&str> {
        self.hung_layout.as_deref()
    }

    /// Sets the study's `file_id`. Files whose paths contain it are treated as created by this run.
    pub fn with_file_id(self, file_id: Option<String>) -> Self {
        Self { file_id, ..self }
    }

    /// Sets the target states recorded in the plan. A device or file without an entry is written to
    /// only if it contains no data, or if Leadline wrote its data.
    pub(crate) fn with_plan(self, plan: &Plan) -> Self {
        let state = |path: &str| {
            let mut confirmations = plan.confirmations.iter();
            let found = confirmations.find(|confirmation| confirmation.path == path);
            found.map(|confirmation| confirmation.state.clone())
        };
        let overwrites = overwrites(plan.jobs.iter()).into_iter();
        let expected = overwrites.map(|(path, regions)| {
            let state = state(path);
            (path.to_owned(), Expected { regions, state })
        });
        Self {
            expected: expected.collect(),
            ..self
        }
    }

    /// Whether a device that the run has claimed still has the state recorded in the plan. If there
    /// is no confirmation, it must be blank.
    fn is_as_planned(&self, expected: &Expected, now: Option<Overwritten>) -> bool {
        let is_step = self.file_id.is_some();
        match (&expected.state, now) {
            (Some(state), Some(now)) => *state == now.bound_state(is_step),
            (None, Some(now)) => !now.needs_confirmation(is_step),
            (Some(_), None) => false,
            (None, None) => true,
        }
    }

    /// Checks that a file still has the state recorded in the plan before the run first opens it
    /// for writing, and later that it is still the same file. Another file may have replaced it.
    pub(crate) fn check_matches_plan(
        &self,
        guard: &Guard,
        path: &str,
        found: &ResolvedPath,
    ) -> Result<(), Problem> {
        let Some(stat) = found.stat else {
            return Ok(());
        };
        if let Some(written) = self.written.get(&found.path) {
            let is_same = written.is_same(&stat);
            return is_same
                .then_some(())
                .ok_or_else(|| identity_changed(path, "was replaced"));
        }
        let is_of_study = self.file_id.as_ref().is_some_and(|id| path.contains(id));
        let expected = self.expected.get(path).cloned().unwrap_or_default();
        let guard = guard.with_read_limit(expected.read_limit());
        let now = guard.overwritten_by_run(found, &expected.regions)?;
        if is_of_study || self.is_as_planned(&expected, now) {
            Ok(())
        } else {
            Err(identity_changed(path, "was replaced or changed"))
        }
    }

    /// The devices that this run writes to.
    ///
    /// # Errors
    /// `open_failed` if there are too many open files.
    pub(crate) fn device_watch(&self) -> Result<DeviceWatch, Problem> {
        let mut watch = DeviceWatch::default();
        for (dev, admission) in &self.claims {
            if let Some(claim) = &admission.claim {
                let path = format!("/dev/block/{dev}");
                watch.add(&path, claim.try_clone().map_err(open_failed(&path))?);
            }
        }
        Ok(watch)
    }

    fn guard(&self) -> Guard {
        let run_loops = self.loops.values().map(|attached| attached.dev);
        Guard::live(&self.permissions).with_run_loops(run_loops.collect())
    }

    /// Records a file with a valid ownership mark before this run changes it.
    pub(crate) fn record_reused(&mut self, found: &ResolvedPath) {
        let Some(stat) = found.stat else { return };
        if found.kind == PathKind::File && ownership::is_owned(Mark::Target, &found.path) {
            self.reused.push(OwnedFile::new(&found.path, stat, false));
        }
    }

    /// Renews the ownership marks of all files that this run created or changed. Must be called
    /// after the last I/O.
    pub fn mark_owned(&self) {
        let mut has_marks = false;
        for file in self.created.iter().chain(&self.reused) {
            if !file.unlink && file.is_unchanged() {
                // If the filesystem does not support user xattrs, the file has no mark, so later
                // runs treat it as foreign.
                has_marks |= ownership::mark_owned(Mark::Target, &file.path).is_ok();
            }
        }
        if has_marks {
            sleep(ownership::MARK_DELAY);
        }
    }

    /// If `unlink` is set, treats a file from an earlier study step as created by this run. The
    /// `file_id` is 64 random bits per study and enters a path only through `$study`, so a file
    /// whose path contains it cannot be older than the study.
    pub(crate) fn adopt_study_file(&mut self, path: &Path, stat: Stat, unlink: bool) {
        let Some(file_id) = &self.file_id else { return };
        let is_known = self.created.iter().any(|file| file.path == path);
        if unlink && !is_known && path.to_string_lossy().contains(file_id) {
            self.created.push(OwnedFile::new(path, stat, unlink));
        }
    }

    /// Removes the files created by jobs with `unlink=1`, and returns the number of removed files.
    /// Must be called at the end of every run, even after a failure.
    ///
    /// # Errors
    /// `clean_up_failed` for the first file that could not be removed, after trying all of them.
    pub fn clean_up(&mut self) -> Result<usize, Problem> {
        let mut files = std::mem::take(&mut self.created);
        files.retain(|file| file.unlink);
        if files.is_empty() {
            return Ok(0);
        }
        let guard = self.guard();
        let results: Vec<_> = files.iter().map(|file| file.remove(&guard)).collect();
        let removed = results.into_iter().collect::<Result<Vec<bool>, _>>()?;
        Ok(removed.into_iter().filter(|&removed| removed).count())
    }
}
