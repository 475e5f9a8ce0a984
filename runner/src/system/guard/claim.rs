//! Opens devices exclusively. If that fails, the error message names the processes that have the
//! device open.

use crate::system::{
    guard::{FIELD, file::permission_denied, not_a_device},
    host::{
        block_device::BlockDevice,
        kernel::{Dev, Kernel},
        open_files::{Process, users},
    },
};
use leadline_protocol::problem::Problem;
use rustix::{
    fs::{Mode, OFlags, fstat, open},
    io::Errno,
};
use std::{
    fs,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

/// Number of attempts to open a device exclusively. Another process that plans a run or lists
/// devices holds the device for less than 1 ms.
const CLAIM_TRIES: u32 = 5;
const CLAIM_PAUSE: Duration = Duration::from_millis(10);

/// Maximum number of processes listed in a message.
const MAX_PROCESSES: usize = 4;

/// Opens a device with O_EXCL, so no other program can start using it.
pub(super) fn claim(path: &Path, block: &BlockDevice) -> Result<OwnedFd, Problem> {
    let mut tries = 1;
    loop {
        match open_device(path, OFlags::EXCL) {
            Err(Errno::BUSY) if tries < CLAIM_TRIES => sleep(CLAIM_PAUSE),
            Err(Errno::BUSY) => return Err(device_held(block)),
            result => return result.map_err(permission_denied(path)),
        }
        tries += 1;
    }
}

/// Claims a device by its kernel name.
pub(super) fn claim_by_name(block: &BlockDevice) -> Result<OwnedFd, Problem> {
    let path = PathBuf::from(block.path());
    let claim = claim(&path, block)?;
    let is_same = fstat(&claim).is_ok_and(|found| Dev(found.st_rdev) == block.dev);
    if is_same {
        Ok(claim)
    } else {
        Err(not_a_device(&path))
    }
}

fn device_held(block: &BlockDevice) -> Problem {
    let path = block.path();
    let processes = processes_using_device(&Kernel::live(), block);
    let (detail, remedy) = if processes.is_empty() {
        (
            format!(
                "{path} is held exclusively (EBUSY) by another user's process, or by a mount in a namespace that is not visible."
            ),
            "Free the device, or choose another target.".to_owned(),
        )
    } else {
        let processes = processes.iter().map(ToString::to_string);
        (
            format!(
                "{path} is held exclusively (EBUSY). It is open in {}.",
                processes.collect::<Vec<_>>().join(", ")
            ),
            "Wait until the process exits, or choose another target.".to_owned(),
        )
    };
    let remedy = format!("{remedy} Leadline never writes to devices in use.");
    Problem::guard("device_in_use", FIELD, detail, remedy)
}

/// Finds other processes that have the device, its disk or one of its partitions open: an exclusive
/// open of a disk also covers its partitions, and vice versa. The kernel does not report which of
/// these processes opened it exclusively.
fn processes_using_device(kernel: &Kernel, block: &BlockDevice) -> Vec<Process> {
    let disk = block.disk.as_ref().unwrap_or(&block.name);
    let is_disk = |dir: Option<&Path>| {
        let name = dir.and_then(Path::file_name);
        name.is_some_and(|name| name == disk.as_str())
    };
    let is_related = |dev: Dev| {
        if dev == block.dev {
            return true;
        }
        let dir = fs::canonicalize(kernel.sys.join(format!("dev/block/{dev}")));
        dir.is_ok_and(|dir| is_disk(Some(&dir)) || (block.disk.is_none() && is_disk(dir.parent())))
    };
    let found = users(kernel, |open| is_related(open.device()?).then_some(()));
    let processes = found.into_iter().map(|user| user.process);
    let others = processes.filter(|process| process.id != std::process::id());
    others.take(MAX_PROCESSES).collect()
}

/// O_RDONLY is sufficient for a claim. Unlike a writable descriptor, it does not trigger a udev
/// event when it is closed. With O_NONBLOCK, opening a drive that contains no medium does not
/// block.
pub(super) fn open_device(path: &Path, extra: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | extra;
    open(path, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::guard::device::tests::Attached;
    use rustix::{
        fs::fcntl_getfl,
        io::{FdFlags, fcntl_getfd},
    };
    use std::{
        process::{Command, Stdio},
        thread,
    };

    #[test]
    fn devices_held_briefly_by_others_are_claimed() {
        let Some(device) = Attached::new() else {
            return;
        };
        let path = Path::new(&device.path);
        let block = device.block(&device.guard());
        let claim_while_held = |held_for: Duration| {
            // Retries, because other tests list devices.
            let held = claim(path, &block).expect("a free device");
            let holder = thread::spawn(move || {
                sleep(held_for);
                drop(held);
            });
            let claimed = claim(path, &block).map_err(|problem| problem.code);
            holder.join().unwrap();
            claimed
        };
        // The other thread may be delayed longer on a busy host.
        let mut attempts = (0..20).map(|_| claim_while_held(Duration::from_millis(15)));
        assert!(attempts.any(|claimed| claimed.is_ok()));
        let code = claim_while_held(Duration::from_secs(1)).unwrap_err();
        assert_eq!(code, "device_in_use");
    }

    #[test]
    fn names_reused_by_other_devices_are_not_claimed() {
        let Some(device) = Attached::new() else {
            return;
        };
        let mut block = device.block(&device.guard());
        assert!(claim_by_name(&block).is_ok());
        block.dev = Dev(block.dev.0 + 1);
        let problem = claim_by_name(&block).unwrap_err();
        assert_eq!(problem.code, "not_a_block_device");
    }

    #[test]
    fn devices_are_opened_without_blocking_and_not_inherited() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let device = open_device(file.path(), OFlags::empty()).unwrap();
        assert!(fcntl_getfl(&device).unwrap().contains(OFlags::NONBLOCK));
        assert_eq!(fcntl_getfd(&device), Ok(FdFlags::CLOEXEC));
    }

    #[test]
    fn the_process_that_holds_a_device_is_named() {
        let Some(device) = Attached::new() else {
            return;
        };
        let path = Path::new(&device.path);
        let held = open_device(path, OFlags::EXCL).unwrap();
        // The exclusive open is held by the inherited descriptor.
        let mut holder = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::from(held))
            .spawn()
            .unwrap();
        let expected = format!("It is open in process {} (sleep).", holder.id());
        let details: Vec<String> = (0..20)
            .map(|_| {
                claim(path, &device.block(&device.guard()))
                    .unwrap_err()
                    .detail
            })
            .collect();
        holder.kill().unwrap();
        holder.wait().unwrap();
        // `losetup` in another test may briefly have it open.
        assert!(
            details.iter().any(|detail| detail.ends_with(&expected)),
            "{details:?}"
        );
    }
}
