//! Opens a target that the guard has admitted, and checks that it is the file or device that the
//! guard and the plan examined.

use crate::{
    plan::host_view::PathKind,
    system::{
        guard::{Admission, Guard, Purpose},
        host::{
            access_time::open_noatime,
            resolved_path::{ResolvedPath, Stat},
        },
        target::{
            OpenTarget, Targets,
            checks::{check_identity, identity_changed, open_failed},
            open_beneath::open_in_root,
            owned_file::OwnedFile,
        },
    },
};
use leadline_protocol::{
    job::keyword::SyncMode,
    plan::{
        job::ResolvedJob,
        target::{Target, TargetKind},
    },
    problem::Problem,
};
use rustix::{
    fs::{Mode, OFlags, SeekFrom, open, seek},
    io::Errno,
};
use std::{
    os::fd::{AsRawFd, OwnedFd},
    path::Path,
};

/// A loop device has the length of its backing file, rounded down to whole sectors
/// (drivers/block/loop.c).
const SECTOR_BYTES: u64 = 512;

impl Targets {
    /// Opens the targets of a job: one list per worker with the shared targets and the worker's own
    /// targets, in job order. Every entry has a separate descriptor, because readahead and fadvise
    /// state belong to the open file description.
    ///
    /// # Errors
    /// A guard problem, `identity_changed`, `open_failed`, `direct_unsupported`, or
    /// `too_many_files`.
    pub fn open(&mut self, job: &ResolvedJob) -> Result<Vec<Vec<OpenTarget>>, Problem> {
        let guard = self.guard();
        let mut open_for_worker = |worker: u32| {
            job.targets
                .iter()
                .filter(|target| target.worker.is_none_or(|owner| owner == worker))
                .map(|target| self.open_target(&guard, job, target))
                .collect()
        };
        (0..job.numjobs).map(&mut open_for_worker).collect()
    }

    fn open_target(
        &mut self,
        guard: &Guard,
        job: &ResolvedJob,
        target: &Target,
    ) -> Result<OpenTarget, Problem> {
        let path = &target.path;
        let fd = match target.kind {
            TargetKind::Null => open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
                .map_err(open_failed(path))?,
            TargetKind::File => self.open_file(guard, job, target)?,
            TargetKind::Device => self.open_device(guard, job, target, Path::new(path))?,
            TargetKind::Loop => self.open_device(guard, job, target, &self.loop_node(path)?)?,
        };
        Ok(OpenTarget {
            fd,
            target: target.clone(),
        })
    }

    fn open_file(
        &mut self,
        guard: &Guard,
        job: &ResolvedJob,
        target: &Target,
    ) -> Result<OwnedFd, Problem> {
        let path = &target.path;
        let create = job.target.create_on_open;
        let unlink = job.target.unlink;
        let found = ResolvedPath::find(Path::new(path));
        guard.admit(&found, Purpose::of(job))?;
        if found.kind != PathKind::File && !(create && found.kind == PathKind::Missing) {
            return Err(identity_changed(path, "was removed"));
        }
        if job.pattern.rw.is_destructive() {
            self.check_matches_plan(guard, path, &found)?;
            self.record_reused(&found);
        }
        let mut flags = io_flags(job);
        flags.set(OFlags::CREATE, create);
        let fd = open_noatime(flags, |flags| open_in_root(guard, &found.path, flags))
            .map_err(|error| open_problem(target, job, error))?;
        let stat = check_identity(path, &fd, found.stat)?;
        // Another file may have replaced the new one.
        if found.stat.is_none() && (stat.links != 1 || stat.length != 0) {
            return Err(identity_changed(path, "was replaced"));
        }
        self.written.insert(found.path.clone(), stat);
        if found.stat.is_some() {
            self.adopt_study_file(&found.path, stat, unlink);
        } else {
            let created = OwnedFile::new(&found.path, stat, unlink);
            self.created.push(created);
        }
        Ok(fd)
    }

    /// `node`: path of the device, which differs from `target.path` for the run's loop devices.
    fn open_device(
        &mut self,
        guard: &Guard,
        job: &ResolvedJob,
        target: &Target,
        node: &Path,
    ) -> Result<OwnedFd, Problem> {
        let found = ResolvedPath::find(node);
        let purpose = Purpose::of(job);
        let stat = match found.stat {
            Some(stat) if found.kind == PathKind::Device => stat,
            _ => {
                guard.admit(&found, purpose)?;
                return Err(identity_changed(&target.path, "is no longer a device"));
            }
        };
        let path = match purpose {
            Purpose::Read => {
                guard.admit(&found, Purpose::Read)?;
                found.path
            }
            // Reopens the claimed inode without resolving a path again.
            Purpose::Write => {
                let claim = self.claim(guard, target, &found, stat)?;
                format!("/proc/self/fd/{claim}").into()
            }
        };
        let fd = open_noatime(io_flags(job), |flags| open(&path, flags, Mode::empty()))
            .map_err(|error| open_problem(target, job, error))?;
        check_device(guard, &fd, stat, target)?;
        Ok(fd)
    }

    /// Claims a device. Once no other program can claim it, compares it with the plan.
    fn admit_for_writing(
        &self,
        guard: &Guard,
        target: &Target,
        found: &ResolvedPath,
    ) -> Result<Admission, Problem> {
        let admission = guard.admit(found, Purpose::Write)?;
        let expected = self.expected.get(&target.path).cloned().unwrap_or_default();
        let guard = guard.with_read_limit(expected.read_limit());
        let now = guard.overwritten(found, &expected.regions)?;
        // For the run's own loop devices, the plan checks the backing file instead of the device.
        let is_own_loop = target.kind == TargetKind::Loop && now.is_none();
        if is_own_loop || self.is_as_planned(&expected, now) {
            Ok(admission)
        } else {
            Err(identity_changed(&target.path, "or its data changed"))
        }
    }

    /// Returns the descriptor number through which this run claims a device.
    fn claim(
        &mut self,
        guard: &Guard,
        target: &Target,
        found: &ResolvedPath,
        stat: Stat,
    ) -> Result<i32, Problem> {
        if !self.claims.contains_key(&stat.rdev) {
            let admission = self.admit_for_writing(guard, target, found)?;
            self.claims.insert(stat.rdev, admission);
        }
        let admission = &self.claims[&stat.rdev];
        match &admission.claim {
            Some(fd) => Ok(fd.as_raw_fd()),
            None => Err(identity_changed(
                &found.path.to_string_lossy(),
                "was released",
            )),
        }
    }
}

/// Checks that an open device is the one that the guard checked, with the name and size in the
/// plan.
fn check_device(guard: &Guard, fd: &OwnedFd, before: Stat, target: &Target) -> Result<(), Problem> {
    let path = &target.path;
    let now = check_identity(path, fd, Some(before))?;
    let size = seek(fd, SeekFrom::End(0)).map_err(open_failed(path))?;
    let block = guard.host.by_dev(now.rdev);
    let is_renamed =
        target.device.is_some() && block.map(|block| &block.name) != target.device.as_ref();
    if is_renamed {
        return Err(identity_changed(path, "is now a different device"));
    }
    let expected = match target.kind {
        TargetKind::Loop => target.length / SECTOR_BYTES * SECTOR_BYTES,
        _ => target.length,
    };
    if size < expected || block.is_some_and(|block| block.size_bytes != size) {
        let change = format!("changed size from {} to {size} bytes", target.length);
        return Err(identity_changed(path, &change));
    }
    Ok(())
}

fn io_flags(job: &ResolvedJob) -> OFlags {
    let mut flags = Purpose::of(job).open_flags() | OFlags::CLOEXEC;
    flags.set(OFlags::DIRECT, job.direct);
    flags
        | match job.target.sync {
            SyncMode::None => OFlags::empty(),
            SyncMode::Sync => OFlags::SYNC,
            // In rustix 1.1.6, DSYNC has the value of O_SYNC.
            SyncMode::Dsync => OFlags::from_bits_retain(libc::O_DSYNC as u32),
        }
}

fn open_problem(target: &Target, job: &ResolvedJob, error: Errno) -> Problem {
    let path = &target.path;
    match error {
        Errno::INVAL if job.direct => Problem::environment(
            "direct_unsupported",
            "direct",
            format!("{path} does not support direct I/O (O_DIRECT)."),
            "Use direct=0, or a target on another filesystem.",
        ),
        Errno::MFILE | Errno::NFILE => Problem::environment(
            "too_many_files",
            "nrfiles",
            format!("{path} cannot be opened: too many open files."),
            "Use fewer files or workers, or raise the limit (ulimit -n).",
        ),
        error => open_failed(path)(error),
    }
}
