//! Finds holes in the backing files of loop devices.

use crate::system::host::{block_device::BlockDevice, resolved_path::Stat};
use rustix::fs::{Mode, OFlags, open};
use std::{
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

/// The backing file and the device's offset in it, used to find holes; `None` if the file is not
/// visible. First writes back the device's dirty pages, so the file contains all of its data.
pub(super) fn holes(device: impl AsFd, block: &BlockDevice) -> Option<(OwnedFd, u64)> {
    let backing = block.backing.as_ref()?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(&backing.path, flags, Mode::empty()).ok()?;
    let is_same = backing.device.is_none() && backing.is_file(Stat::of_fd(&file).ok()?);
    (is_same && write_back(device).is_ok()).then_some((file, backing.offset))
}

/// Writes back all dirty pages, but does not flush the device's write cache.
fn write_back(device: impl AsFd) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: the descriptor is open, and the call does not access this process's memory.
    let result = unsafe { libc::sync_file_range(device.as_fd().as_raw_fd(), 0, 0, flags) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
