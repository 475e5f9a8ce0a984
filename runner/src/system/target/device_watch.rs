//! Checks during a run that the devices it writes to are still the ones that it claimed. The
//! exclusive open prevents mounts and other claims, but the backing file of a loop device and the
//! size of any device can still change.

use crate::system::{
    host::ioctl::{disk_sequence, loop_status},
    target::checks::identity_changed,
};
use leadline_protocol::problem::Problem;
use rustix::fs::{SeekFrom, seek};
use std::os::fd::OwnedFd;

#[derive(Debug, Default)]
pub(crate) struct DeviceWatch {
    devices: Vec<WatchedDevice>,
}

#[derive(Debug)]
struct WatchedDevice {
    path: String,
    claim: OwnedFd,
    state: DeviceState,
}

#[derive(Debug, Eq, PartialEq)]
struct DeviceState {
    /// The disk's `diskseq` (Documentation/ABI/testing/sysfs-block, Linux 5.15).
    sequence: Option<u64>,
    bytes: Option<u64>,
    /// Filesystem, inode and offset of a loop device's backing file.
    backing: Option<(u64, u64, u64)>,
}

impl DeviceWatch {
    /// `claim`: an open descriptor of the device.
    pub(crate) fn add(&mut self, path: &str, claim: OwnedFd) {
        let state = DeviceState::of(&claim);
        self.devices.push(WatchedDevice {
            path: path.into(),
            claim,
            state,
        });
    }

    /// # Errors
    /// `identity_changed` for the first device that has changed.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let mut devices = self.devices.iter();
        let changed = devices.find(|device| DeviceState::of(&device.claim) != device.state);
        match changed {
            Some(device) => Err(identity_changed(&device.path, "changed")),
            None => Ok(()),
        }
    }
}

impl DeviceState {
    fn of(claim: &OwnedFd) -> Self {
        Self {
            sequence: disk_sequence(claim),
            bytes: seek(claim, SeekFrom::End(0)).ok(),
            backing: loop_status(claim).map(|status| (status.device, status.inode, status.offset)),
        }
    }
}
