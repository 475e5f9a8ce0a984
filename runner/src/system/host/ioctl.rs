//! Ioctls of loop devices, block devices and files. Sources: linux/loop.h, linux/fs.h.

use rustix::{
    io::Result,
    ioctl::{Getter, NoArg, Opcode, Setter, ioctl},
};
use std::{
    io,
    os::fd::{AsFd, AsRawFd},
};

pub(crate) const LOOP_CONTROL: &str = "/dev/loop-control";
const LOOP_GET_STATUS64: Opcode = 0x4C05;
const LOOP_CONFIGURE: Opcode = 0x4C0A;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
/// LO_FLAGS_READ_ONLY, LO_FLAGS_AUTOCLEAR (detach on last close), LO_FLAGS_DIRECT_IO (direct I/O on
/// the backing file, if its filesystem supports it).
const LOOP_READ_ONLY: u32 = 1;
const LOOP_AUTOCLEAR: u32 = 4;
const LOOP_DIRECT_IO: u32 = 16;
const BLKFLSBUF: Opcode = 0x1261;
const BLKGETDISKSEQ: Opcode = 0x8008_1280;
const BLKBSZGET: Opcode = 0x8008_1270;
const FIGETBSZ: Opcode = 2;

/// The first fields of `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LoopStatus {
    /// `st_dev` of the backing file.
    pub device: u64,
    pub inode: u64,
    /// `st_rdev` of the backing device; 0 for a file.
    pub rdevice: u64,
    /// Offset of the first byte in the backing file.
    pub offset: u64,
    rest: [u64; 25],
}

/// `None` if the loop device is not attached or cannot be queried.
pub(crate) fn loop_status(node: impl AsFd) -> Option<LoopStatus> {
    // SAFETY: LOOP_GET_STATUS64 writes one struct loop_info64, 232 bytes, the size of LoopStatus.
    unsafe { ioctl(node, Getter::<LOOP_GET_STATUS64, LoopStatus>::new()) }.ok()
}

/// `struct loop_config` with its `struct loop_info64`, in which only `lo_flags` is set, so the
/// device covers the whole file.
#[repr(C)]
struct LoopConfig {
    file: u32,
    block_bytes: u32,
    before: [u32; 13],
    flags: u32,
    after: [u64; 30],
}

/// Number of a free loop device. `control`: the open `LOOP_CONTROL` device.
///
/// # Errors
/// EPERM if the caller lacks CAP_SYS_ADMIN.
pub(crate) fn free_loop(control: impl AsFd) -> io::Result<i32> {
    // SAFETY: LOOP_CTL_GET_FREE takes no argument and returns a number.
    match unsafe { libc::ioctl(control.as_fd().as_raw_fd(), LOOP_CTL_GET_FREE) } {
        -1 => Err(io::Error::last_os_error()),
        number => Ok(number),
    }
}

/// Attaches a file to a free loop device until the device's last descriptor is closed.
/// `block_bytes`: logical block size.
///
/// # Errors
/// EBUSY if the device is no longer free; EINVAL unless `block_bytes` is a power of two from 512 to
/// the page size.
pub(crate) fn configure_loop(
    node: impl AsFd,
    file: impl AsFd,
    block_bytes: u32,
    read_only: bool,
) -> Result<()> {
    let flags = LOOP_AUTOCLEAR | LOOP_DIRECT_IO | if read_only { LOOP_READ_ONLY } else { 0 };
    let config = LoopConfig {
        file: file.as_fd().as_raw_fd().cast_unsigned(),
        block_bytes,
        before: [0; 13],
        flags,
        after: [0; 30],
    };
    // SAFETY: LOOP_CONFIGURE reads one struct loop_config, 304 bytes, the size of LoopConfig.
    unsafe { ioctl(node, Setter::<LOOP_CONFIGURE, LoopConfig>::new(config)) }
}

/// A number that distinguishes disks that have had the same name since boot; `None` before Linux
/// 5.15.
pub(crate) fn disk_sequence(device: impl AsFd) -> Option<u64> {
    // SAFETY: BLKGETDISKSEQ writes one 64-bit number.
    unsafe { ioctl(device, Getter::<BLKGETDISKSEQ, u64>::new()) }.ok()
}

/// Writes a block device's dirty pages and drops its page cache.
///
/// # Errors
/// EACCES if the caller lacks CAP_SYS_ADMIN; EIO if dirty pages could not be written.
pub(crate) fn flush_block_device(device: impl AsFd) -> Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(device, NoArg::<BLKFLSBUF>::new()) }
}

/// Block size of a block device's page cache, in bytes; `None` for other files.
pub(crate) fn device_block_bytes(device: impl AsFd) -> Option<u64> {
    // SAFETY: BLKBSZGET writes one int, although its request code encodes a size_t.
    let bytes = unsafe { ioctl(device, Getter::<BLKBSZGET, i32>::new()) };
    u64::try_from(bytes.ok()?).ok()
}

/// Block size of a file's filesystem, in bytes; `None` if the filesystem has none. Unlike the
/// `f_bsize` of statfs(2), it is not the size of a cluster.
pub(crate) fn filesystem_block_bytes(file: impl AsFd) -> Option<u64> {
    // SAFETY: FIGETBSZ writes one int.
    let bytes = unsafe { ioctl(file, Getter::<FIGETBSZ, i32>::new()) };
    u64::try_from(bytes.ok()?).ok()
}
