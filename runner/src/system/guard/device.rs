//! Block devices: whoever uses them comes first.

use crate::system::guard::file::{permission_denied, refuse_hard_links};
use crate::system::guard::{Admission, FIELD, Guard, Purpose};
use crate::system::host::block_device::{Backing, BlockDevice};
use crate::system::host::inventory::Use;
use crate::system::host::resolved_path::{ResolvedPath, Stat};
use leadline_protocol::problem::Problem;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

/// How often an exclusive open is tried: another dry run or list of devices holds it for less than a millisecond.
const CLAIM_TRIES: u32 = 5;
/// The pause between two of them.
const CLAIM_PAUSE: Duration = Duration::from_millis(10);

impl Guard {
    pub(crate) fn admit_device(
        &self,
        path: &Path,
        stat: Stat,
        purpose: Purpose,
    ) -> Result<Admission, Problem> {
        let Some(block) = self.host.by_dev(stat.rdev) else {
            return Err(crate::system::guard::not_a_device(path));
        };
        if block.size_bytes == 0 {
            let sentence = format!(
                "{} has a size of 0 bytes: no medium, or nothing is attached.",
                path.display()
            );
            return Err(Problem::environment(
                "no_medium",
                FIELD,
                sentence,
                "Insert a medium, or attach a file with losetup.",
            ));
        }
        if purpose == Purpose::Read {
            return open_device(path, OFlags::empty())
                .map(|_| Admission { claim: None })
                .map_err(|error| permission_denied(path, error));
        }
        self.judge_write(block)?;
        let claim = claim(path, block)?;
        // Judged by a look that was taken before it was held: nobody can put another file there from now on.
        if block
            .backing
            .as_ref()
            .is_some_and(|backing| !backing.is_behind(&claim))
        {
            let sentence = format!(
                "{} has another file behind it now, since it was looked at.",
                block.path()
            );
            return Err(Problem::guard(
                "identity_changed",
                FIELD,
                sentence,
                "Plan the run again, and look at what is there now.",
            ));
        }
        Ok(Admission { claim: Some(claim) })
    }

    /// Whether a device may be written, as far as the look shows. What it is used by is told before what it is.
    pub(crate) fn judge_write(&self, block: &BlockDevice) -> Result<(), Problem> {
        if let Some(problem) = self.host.uses(block).first().map(|by| in_use(block, by)) {
            return Err(problem);
        }
        if block.read_only {
            let sentence = format!("{} is read-only.", block.path());
            return Err(Problem::guard(
                "read_only",
                FIELD,
                sentence,
                "Attach it for writing (blockdev --setrw), or choose another device.",
            ));
        }
        match &block.backing {
            Some(_) if self.own.contains(&block.dev) => Ok(()),
            Some(backing) => self.judge_backing(block, backing),
            None => Err(raw_write_refused(format!(
                "{} is not a loop device, and raw writes to anything else are not built yet.",
                block.path()
            ))),
        }
    }

    fn judge_backing(&self, block: &BlockDevice, backing: &Backing) -> Result<(), Problem> {
        let Some((path, stat)) = self.ours(backing) else {
            let path = block.path();
            return Err(raw_write_refused(format!(
                "{path} has {} behind it, which does not lie under a target root.",
                backing.path
            )));
        };
        refuse_hard_links(&path, stat)
    }

    /// The file behind a loop device, if it is the one that its path shows here, under a target root.
    fn ours(&self, backing: &Backing) -> Option<(PathBuf, Stat)> {
        let place = ResolvedPath::find(Path::new(&backing.path));
        let stat = place
            .stat
            .filter(|stat| backing.device.is_none() && backing.is_file(*stat))?;
        (self.root_of(&place.path).is_some() && !self.is_result(&place.path))
            .then_some((place.path, stat))
    }
}

fn raw_write_refused(sentence: String) -> Problem {
    let remedy = "Write to a file, or attach a file under a target root (--target-root) with losetup and write to that device.";
    Problem::guard("raw_write_refused", FIELD, sentence, remedy)
}

fn in_use(block: &BlockDevice, by: &Use) -> Problem {
    let (code, remedy) = match by {
        Use::BacksLoop(name) => (
            "backs_loop",
            format!("Detach {name} first (losetup -d /dev/{name}), or choose another target."),
        ),
        Use::Mounted { point, .. } => (
            "device_in_use",
            format!(
                "Unmount {point} first, or choose another target; a device in use is never written."
            ),
        ),
        _ => (
            "device_in_use",
            "Choose another target; a device in use is never written.".into(),
        ),
    };
    Problem::guard(
        code,
        FIELD,
        format!("{} is in use: {by}.", block.path()),
        remedy,
    )
}

/// Takes hold of a device, so that nobody else can begin to use it.
fn claim(path: &Path, block: &BlockDevice) -> Result<OwnedFd, Problem> {
    let mut tries = 1;
    loop {
        match open_device(path, OFlags::EXCL) {
            Ok(fd) => return Ok(fd),
            Err(Errno::BUSY) if tries < CLAIM_TRIES => sleep(CLAIM_PAUSE),
            Err(Errno::BUSY) => return Err(in_use_out_of_sight(block)),
            Err(error) => return Err(permission_denied(path, error)),
        }
        tries += 1;
    }
}

fn in_use_out_of_sight(block: &BlockDevice) -> Problem {
    let sentence = format!(
        "{} is held exclusively by somebody (EBUSY): another run, or a mount in a namespace out of sight.",
        block.path()
    );
    Problem::guard(
        "device_in_use",
        FIELD,
        sentence,
        "Wait for the other run, or choose another target; a device in use is never written.",
    )
}

/// Reading rights are enough for a claim, and closing the node wakes nobody that watches for writers. Nonblocking, so
/// that a drive without medium does not wait for one.
fn open_device(path: &Path, extra: OFlags) -> Result<OwnedFd, Errno> {
    open(
        path,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | extra,
        Mode::empty(),
    )
}
