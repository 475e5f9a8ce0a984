//! Loop devices of the run's own (`loop_device=1`): a file that was laid out is put behind a free one, and the I/O goes
//! there. Each is detached by the kernel when its last descriptor is closed (autoclear), however the run ends.
//!
//! Not here: whether the file may be written (`guard`, as for any file), whether the device may (it is known as our own).

use crate::system::guard::{Guard, Purpose};
use crate::system::host::ioctl::{LOOP_CONTROL, configure_loop, free_loop};
use crate::system::host::kernel::{Dev, attribute};
use crate::system::host::resolved_path::ResolvedPath;
use crate::system::target::Targets;
use crate::system::target::open::{changed, failed, open_beneath, stat};
use leadline_protocol::plan::resolved::{ResolvedJob, Target, TargetKind};
use leadline_protocol::problem::Problem;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a free device is asked for: another program may take the same one in between.
const TRIES: u32 = 8;
/// How long detaching may take: whoever looks at all devices (udev, a list of devices) has each open for a moment.
const DETACHED_WITHIN: Duration = Duration::from_secs(2);
/// The pause between two looks.
const DETACH_PAUSE: Duration = Duration::from_millis(5);
/// The smallest and largest logical block of a loop device in bytes: a sector, and a page on most machines.
const BLOCK_BYTES: std::ops::RangeInclusive<u32> = 512..=4096;

/// A loop device with a file of this run behind it, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Attached {
    /// Its kernel name, such as `loop0`.
    name: String,
    /// Its number.
    pub(crate) dev: Dev,
    /// Keeps it attached.
    _hold: OwnedFd,
}

/// One file that is to be behind a loop device: whether any job writes it, and the coarsest alignment that one needs.
struct Wanted {
    writes: bool,
    unlink: bool,
    alignment: u32,
}

impl Targets {
    /// Attaches the files of all loop targets, and writes the devices that they got into the targets. Whether there were any.
    /// To be called when the files are laid out.
    ///
    /// # Errors
    /// The guard's words about a file, `open_failed`, or `loop_failed`.
    pub fn attach_loops(&mut self, jobs: &mut [ResolvedJob]) -> Result<bool, Problem> {
        let guard = self.guard();
        for (path, wanted) in wanted(jobs) {
            let attached = self.attach(&guard, &path, &wanted)?;
            self.loops.insert(path, attached);
        }
        for target in jobs.iter_mut().flat_map(|job| &mut job.targets) {
            if let Some(attached) = self
                .loops
                .get(&target.path)
                .filter(|_| target.kind == TargetKind::Loop)
            {
                target.device = Some(attached.name.clone());
                // The filesystem lies under the device, not over it.
                target.filesystem = None;
            }
        }
        Ok(!self.loops.is_empty())
    }

    /// Lets the loop devices of the run go and waits until they are gone, so that the next run finds their files free. To be
    /// called at the end of every run; a run that is killed leaves it to the kernel.
    pub fn detach_loops(&mut self) {
        self.claims
            .retain(|dev, _| self.loops.values().all(|attached| attached.dev != *dev));
        let loops = std::mem::take(&mut self.loops).into_iter();
        // The descriptors are closed here.
        let held: Vec<(String, String)> = loops
            .map(|(path, attached)| (path, attached.name))
            .collect();
        let deadline = Instant::now() + DETACHED_WITHIN;
        let is_attached = |(path, name): &(String, String)| {
            let behind = attribute(Path::new("/sys/block").join(name).join("loop/backing_file"));
            behind.is_some_and(|behind| behind.starts_with(path.as_str()))
        };
        while held.iter().any(is_attached) && Instant::now() < deadline {
            sleep(DETACH_PAUSE);
        }
    }

    /// Where the loop device of a target is.
    pub(crate) fn loop_node(&self, path: &str) -> Result<PathBuf, Problem> {
        self.loops
            .get(path)
            .map(|attached| node(&attached.name))
            .ok_or_else(|| changed(path, "is behind no loop device"))
    }

    fn attach(&mut self, guard: &Guard, path: &str, wanted: &Wanted) -> Result<Attached, Problem> {
        let place = ResolvedPath::find(Path::new(path));
        guard.admit(
            &place,
            if wanted.writes {
                Purpose::Write
            } else {
                Purpose::Read
            },
        )?;
        let access = if wanted.writes {
            OFlags::RDWR
        } else {
            OFlags::RDONLY
        };
        let file = open_beneath(guard, &place.path, access | OFlags::CLOEXEC)
            .map_err(|error| failed(path, error))?;
        let now = stat(&file).map_err(|error| failed(path, error))?;
        if !place.stat.is_some_and(|before| before.is_same(&now)) {
            return Err(changed(path, "was replaced by another file"));
        }
        self.adopt(&place.path, now, wanted.unlink);
        let block_bytes = wanted
            .alignment
            .clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end());
        put_behind_a_free_one(&file, block_bytes, !wanted.writes)
            .map_err(|error| loop_failed(path, error))
    }
}

/// The files that are to be behind loop devices, by their path: several jobs that name one share the device.
fn wanted(jobs: &[ResolvedJob]) -> BTreeMap<String, Wanted> {
    let mut wanted: BTreeMap<String, Wanted> = BTreeMap::new();
    let is_loop = |target: &&Target| target.kind == TargetKind::Loop;
    for (job, target) in jobs.iter().flat_map(|job| {
        job.targets
            .iter()
            .filter(is_loop)
            .map(move |target| (job, target))
    }) {
        let file = wanted.entry(target.path.clone()).or_insert(Wanted {
            writes: false,
            unlink: true,
            alignment: 1,
        });
        file.writes |= job.pattern.rw.destroys();
        file.unlink &= job.target.unlink;
        file.alignment = file.alignment.max(target.alignment);
    }
    wanted
}

fn put_behind_a_free_one(
    file: &OwnedFd,
    block_bytes: u32,
    read_only: bool,
) -> Result<Attached, Errno> {
    let control = open(LOOP_CONTROL, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let mut tries = 1;
    loop {
        let name = format!("loop{}", free_loop(&control)?);
        let hold = open(node(&name), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        match configure_loop(&hold, file, block_bytes, read_only) {
            Ok(()) => {
                return Ok(Attached {
                    name,
                    dev: stat(&hold)?.rdev,
                    _hold: hold,
                });
            }
            Err(Errno::BUSY) if tries < TRIES => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

fn node(name: &str) -> PathBuf {
    Path::new("/dev").join(name)
}

fn loop_failed(path: &str, error: Errno) -> Problem {
    let sentence = format!(
        "{path} cannot be put behind a loop device: {}.",
        std::io::Error::from(error)
    );
    let remedy = "Run as root on the host itself (a container must be given /dev/loop*), or leave loop_device out.";
    Problem::environment("loop_failed", "loop_device", sentence, remedy)
}
