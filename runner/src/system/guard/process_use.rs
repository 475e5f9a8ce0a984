//! Rejects targets that another program's process can change or has locked. An exclusive open of a
//! device does not detect processes that opened it without O_EXCL. The kernel does not grant a
//! lease on a loop device's backing file, because the loop driver has it open; and a lease on an
//! overlayfs file does not cover the underlying file. For these targets, the open files of all
//! processes are searched instead.

use crate::system::{
    guard::{
        FIELD, Guard,
        file_use::{check_unlocked, file_in_use, retry, try_open_for_writing},
    },
    host::{
        block_device::{Backing, BlockDevice},
        file_identity::FileIdentity,
        kernel::Kernel,
        open_files::{User, first_preventing_use, users},
        resolved_path::Stat,
    },
};
use leadline_protocol::problem::Problem;
use rustix::io::Errno;
use std::path::Path;

/// A device or file that shares bytes with the target device.
enum Changed<'a> {
    Device(&'a BlockDevice),
    File(&'a BackingFile<'a>),
}

/// The backing file of a loop device.
struct BackingFile<'a> {
    device: &'a BlockDevice,
    backing: &'a Backing,
    identity: FileIdentity,
}

impl Guard {
    /// Checks a device, the devices that share its bytes, and the backing files of all loop devices
    /// that a write to it would change.
    ///
    /// # Errors
    /// `device_in_use` or `file_in_use` if another program's process has one of them open for
    /// writing, or has mapped or locked it.
    pub(super) fn check_device_unused(&self, block: &BlockDevice) -> Result<(), Problem> {
        let devices = self.host.shared_devices(block);
        let files: Vec<BackingFile> = self.backing_files(block).collect();
        retry(|| {
            let found = users(&Kernel::live(), |open| match open.device() {
                Some(number) => {
                    let device = devices.iter().find(|device| device.dev == number);
                    device.map(|device| Changed::Device(device))
                }
                None => {
                    let is_open = |file: &&BackingFile| self.host.is_open_as(&file.identity, open);
                    files.iter().find(is_open).map(Changed::File)
                }
            });
            match first_preventing_use(found) {
                Some(user) => Err(match user.used {
                    Changed::Device(used) => device_in_use(block, used, &user),
                    Changed::File(file) => file.in_use(&reason(&user)),
                }),
                None => files
                    .iter()
                    .try_for_each(BackingFile::check_leases_and_locks),
            }
        })
    }

    /// Checks a file on overlayfs: another process may be using the underlying file in one of its
    /// layers.
    ///
    /// # Errors
    /// `file_in_use` if another program's process has it open for writing, or has mapped or locked
    /// it.
    pub(super) fn check_underlying_file_unused(
        &self,
        path: &Path,
        stat: Stat,
    ) -> Result<(), Problem> {
        let file = self.host.file_identity(path, stat);
        if !file.is_on_overlay() {
            return Ok(());
        }
        retry(|| match first_preventing_use(self.users_of_file(&file)) {
            Some(user) => Err(file_in_use(path, &reason(&user))),
            None => Ok(()),
        })
    }

    pub(super) fn users_of_file(&self, file: &FileIdentity) -> Vec<User<()>> {
        users(&Kernel::live(), |open| {
            self.host.is_open_as(file, open).then_some(())
        })
    }

    fn backing_files<'a>(
        &'a self,
        block: &'a BlockDevice,
    ) -> impl Iterator<Item = BackingFile<'a>> {
        let changed = self.host.changed_devices(block).into_iter();
        let other = changed.filter(|device| !self.is_run_loop(device));
        other.filter_map(|device| {
            Some(BackingFile {
                device,
                backing: device.backing.as_ref()?,
                identity: self.host.backing_identity(device)?,
            })
        })
    }
}

impl BackingFile<'_> {
    /// Checks whether the file is leased or locked. This also detects use by processes that are not
    /// visible, as long as the file is.
    fn check_leases_and_locks(&self) -> Result<(), Problem> {
        let path = Path::new(&self.backing.path);
        let is_file = |found| self.backing.is_file(Stat::of(&found));
        if !std::fs::metadata(path).is_ok_and(is_file) {
            return Ok(());
        }
        match try_open_for_writing(path) {
            Err(Errno::AGAIN) => Err(self.in_use("is leased by another process")),
            // A user who can access only the device cannot see locks on the file.
            Err(_) => Ok(()),
            Ok(file) => check_unlocked(&file).map_err(|reason| self.in_use(reason)),
        }
    }

    fn in_use(&self, reason: &str) -> Problem {
        let path = &self.backing.path;
        Problem::guard(
            "file_in_use",
            FIELD,
            format!(
                "{} is backed by {path}, which {reason}.",
                self.device.path()
            ),
            format!("Stop that process (fuser -v {path}), or choose another device."),
        )
    }
}

fn reason<T>(user: &User<T>) -> String {
    format!("is {} in {}", user.access, user.process)
}

fn device_in_use<T>(block: &BlockDevice, used: &BlockDevice, user: &User<T>) -> Problem {
    let (path, used, reason) = (block.path(), used.path(), reason(user));
    let detail = if path == used {
        format!("{path} {reason}.")
    } else {
        format!("{path} overlaps {used}, which {reason}.")
    };
    Problem::guard(
        "device_in_use",
        FIELD,
        detail,
        format!(
            "Stop that process (fuser -v {used}), or choose another target. Leadline never writes to devices in use."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::guard::device::tests::Attached;
    use std::fs::File;

    /// This process runs the same program as the guard, so it does not count as another program.
    #[test]
    fn own_descriptors_do_not_reject_a_device() {
        let Some(device) = Attached::new() else {
            return;
        };
        let guard = device.guard();
        let block = device.block(&guard);
        let open = File::options().write(true).open(&device.path).unwrap();
        assert_eq!(guard.check_device_unused(&block), Ok(()));
        let found = users(&Kernel::live(), |open| {
            (open.device() == Some(block.dev)).then_some(())
        });
        let user = found
            .into_iter()
            .find(|user| user.process.id == std::process::id());
        drop(open);
        assert!(user.is_some_and(|user| user.is_own && user.access.prevents_writes()));
    }
}
