//! Opening: the guard first, then the descriptor, then whether it is what the guard and the plan looked at.

use crate::plan::host_view::PathKind;
use crate::system::guard::{Guard, Purpose};
use crate::system::host::resolved_path::{ResolvedPath, Stat};
use crate::system::target::created_files::Made;
use crate::system::target::{OpenTarget, Targets};
use leadline_protocol::job::value::SyncMode;
use leadline_protocol::plan::resolved::{ResolvedJob, Target, TargetKind};
use leadline_protocol::problem::Problem;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, SeekFrom, open, openat2, seek, unlinkat};
use rustix::io::Errno;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

/// Rights of files that a run makes, less the umask; as fio's.
pub(crate) const NEW_FILE: Mode = Mode::from_raw_mode(0o644);

impl Targets {
    /// Opens the targets of a job: one list for each clone, in the order of the job's targets, with those that are
    /// every clone's or this clone's own. Each has its own descriptor, since readahead and advice belong to it.
    ///
    /// # Errors
    /// The guard's words, or `identity_changed`, `open_failed`, `direct_unsupported`, `too_many_files`.
    pub fn open(&mut self, job: &ResolvedJob) -> Result<Vec<Vec<OpenTarget>>, Problem> {
        let guard = self.guard();
        let clone = |clone: u32| {
            let own = job
                .targets
                .iter()
                .filter(|target| target.worker.is_none_or(|number| number == clone));
            own.map(|target| self.open_one(&guard, job, target))
                .collect()
        };
        (0..job.numjobs).map(clone).collect()
    }

    fn open_one(
        &mut self,
        guard: &Guard,
        job: &ResolvedJob,
        target: &Target,
    ) -> Result<OpenTarget, Problem> {
        let fd = match target.kind {
            TargetKind::Null => open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
                .map_err(|error| failed(&target.path, error)),
            TargetKind::File => self.open_file(guard, job, target),
            TargetKind::Device => self.open_device(guard, job, target, Path::new(&target.path)),
            TargetKind::Loop => {
                let node = self.loop_node(&target.path)?;
                self.open_device(guard, job, target, &node)
            }
        }?;
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
        let place = ResolvedPath::find(Path::new(&target.path));
        guard.admit(&place, purpose(job))?;
        if place.kind != PathKind::File
            && !(job.target.create_on_open && place.kind == PathKind::Missing)
        {
            return Err(changed(&target.path, "is no longer there"));
        }
        if job.pattern.rw.destroys() {
            self.remember(&place);
        }
        let create = if job.target.create_on_open {
            OFlags::CREATE
        } else {
            OFlags::empty()
        };
        let fd = with_noatime(flags(job) | create, |flags| {
            open_beneath(guard, &place.path, flags)
        })
        .map_err(|error| explain(target, job, error))?;
        let stat = stat(&fd).map_err(|error| failed(&target.path, error))?;
        match place.stat {
            Some(before) if !before.is_same(&stat) => {
                return Err(changed(&target.path, "was replaced by another file"));
            }
            Some(_) => self.adopt(&place.path, stat, job.target.unlink),
            None => self
                .made
                .push(Made::new(&place.path, stat, job.target.unlink)),
        }
        Ok(fd)
    }

    /// `node`: where the device is, which for a loop device of the run's own is not the path of the target.
    fn open_device(
        &mut self,
        guard: &Guard,
        job: &ResolvedJob,
        target: &Target,
        node: &Path,
    ) -> Result<OwnedFd, Problem> {
        let place = ResolvedPath::find(node);
        let Some(stat) = place.stat.filter(|_| place.kind == PathKind::Device) else {
            return Err(guard
                .admit(&place, purpose(job))
                .err()
                .unwrap_or_else(|| changed(&target.path, "is no longer a device")));
        };
        let fd = if job.pattern.rw.destroys() {
            let claim = self.claim(guard, &place, stat)?;
            // A further opening of the held inode: no name is looked up again.
            with_noatime(flags(job), |flags| {
                open(format!("/proc/self/fd/{claim}"), flags, Mode::empty())
            })
        } else {
            guard.admit(&place, Purpose::Read)?;
            with_noatime(flags(job), |flags| open(&place.path, flags, Mode::empty()))
        };
        let fd = fd.map_err(|error| explain(target, job, error))?;
        self.check_device(guard, &fd, stat, target)?;
        Ok(fd)
    }

    /// The number of the descriptor that holds a device for this run, taken now or before.
    fn claim(&mut self, guard: &Guard, place: &ResolvedPath, stat: Stat) -> Result<i32, Problem> {
        let admission = match self.claims.entry(stat.rdev) {
            Entry::Occupied(held) => held.into_mut(),
            Entry::Vacant(free) => free.insert(guard.admit(place, Purpose::Write)?),
        };
        admission
            .claim
            .as_ref()
            .map(AsRawFd::as_raw_fd)
            .ok_or_else(|| changed(&place.path.to_string_lossy(), "is not held"))
    }

    /// Whether an open device is the one that the guard looked at, under the name and of the size that the plan saw.
    fn check_device(
        &self,
        guard: &Guard,
        fd: &OwnedFd,
        before: Stat,
        target: &Target,
    ) -> Result<(), Problem> {
        let now = stat(fd).map_err(|error| failed(&target.path, error))?;
        let size = seek(fd, SeekFrom::End(0)).map_err(|error| failed(&target.path, error))?;
        let block = guard.host.by_dev(now.rdev);
        if !now.is_same(&before)
            || (target.device.is_some() && block.map(|block| &block.name) != target.device.as_ref())
        {
            return Err(changed(&target.path, "is another device now"));
        }
        if size < target.length || block.is_some_and(|block| block.size_bytes != size) {
            return Err(changed(
                &target.path,
                &format!("has {size} bytes now, not {}", target.length),
            ));
        }
        Ok(())
    }
}

pub(crate) fn purpose(job: &ResolvedJob) -> Purpose {
    if job.pattern.rw.destroys() {
        Purpose::Write
    } else {
        Purpose::Read
    }
}

fn flags(job: &ResolvedJob) -> OFlags {
    let mut flags = OFlags::CLOEXEC
        | if job.pattern.rw.destroys() {
            OFlags::RDWR
        } else {
            OFlags::RDONLY
        };
    flags.set(OFlags::DIRECT, job.direct);
    flags
        | match job.target.sync {
            SyncMode::None => OFlags::empty(),
            SyncMode::Sync => OFlags::SYNC,
            // rustix 1.1.6 gives its DSYNC the value of O_SYNC.
            SyncMode::Dsync => OFlags::from_bits_retain(libc::O_DSYNC as u32),
        }
}

/// Without updates of the access time, which only the owner and root may do without.
fn with_noatime(
    flags: OFlags,
    open: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => open(flags),
        result => result,
    }
}

/// Opens a path without following any symbolic link and without leaving its target root, so that what the guard
/// admitted cannot be swapped for a link to elsewhere.
pub(crate) fn open_beneath(guard: &Guard, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let root = guard.root_of(path).unwrap_or(Path::new("/"));
    let directory = open(
        root,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mode = if flags.contains(OFlags::CREATE) {
        NEW_FILE
    } else {
        Mode::empty()
    };
    // The root itself has no name beneath it.
    let beneath = path
        .strip_prefix(root)
        .ok()
        .filter(|rest| !rest.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    openat2(
        directory,
        beneath,
        flags,
        mode,
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    )
}

/// Removes a file by its name in a directory that is opened without following links, so that no other one can take its place.
pub(crate) fn remove_beneath(guard: &Guard, path: &Path) -> Result<(), Errno> {
    let (directory, name) = (
        path.parent().unwrap_or(Path::new("/")),
        path.file_name().unwrap_or_default(),
    );
    let directory = open_beneath(
        guard,
        directory,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
    )?;
    unlinkat(directory, name, AtFlags::empty())
}

/// What fstat(2) says of an open file.
pub(crate) fn stat(fd: impl AsFd) -> Result<Stat, Errno> {
    let file = File::from(fd.as_fd().try_clone_to_owned().map_err(|_| Errno::MFILE)?);
    file.metadata()
        .map(|found| Stat::of(&found))
        .map_err(|_| Errno::IO)
}

pub(crate) fn changed(path: &str, how: &str) -> Problem {
    let sentence = format!("{path} {how}, since the plan was made.");
    Problem::guard(
        "identity_changed",
        "filename",
        sentence,
        "Plan the run again, and look at what is there now.",
    )
}

/// A path that cannot be opened.
pub(crate) fn failed(path: &str, error: Errno) -> Problem {
    let sentence = format!("{path} cannot be opened: {}.", std::io::Error::from(error));
    Problem::environment(
        "open_failed",
        "filename",
        sentence,
        "Check that it is there and that the user of the runner may use it.",
    )
}

fn explain(target: &Target, job: &ResolvedJob, error: Errno) -> Problem {
    match error {
        Errno::INVAL if job.direct => {
            let sentence = format!("{} does not take direct I/O (O_DIRECT).", target.path);
            Problem::environment(
                "direct_unsupported",
                "direct",
                sentence,
                "Use direct=0, or a target on another filesystem.",
            )
        }
        Errno::MFILE | Errno::NFILE => {
            let sentence = format!("{} cannot be opened: too many files are open.", target.path);
            Problem::environment(
                "too_many_files",
                "nrfiles",
                sentence,
                "Use fewer files or clones, or raise the limit (ulimit -n).",
            )
        }
        error => failed(&target.path, error),
    }
}
