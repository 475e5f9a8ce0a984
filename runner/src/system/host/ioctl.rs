//! ioctls that no library wraps: loop devices, FIEMAP and BLKFLSBUF. Sources: linux/loop.h, linux/fiemap.h,
//! linux/fs.h.

use rustix::io::Result;
use rustix::ioctl::{Getter, Ioctl, IoctlOutput, NoArg, Opcode, Setter, Updater, ioctl};
use std::os::fd::{AsFd, AsRawFd};

pub const LOOP_CONTROL: &str = "/dev/loop-control";
const LOOP_GET_STATUS64: Opcode = 0x4C05;
const LOOP_CONFIGURE: Opcode = 0x4C0A;
const LOOP_CTL_GET_FREE: Opcode = 0x4C82;
/// LO_FLAGS_READ_ONLY, LO_FLAGS_AUTOCLEAR (detach on last close), LO_FLAGS_DIRECT_IO (direct I/O on the backing file,
/// where its filesystem supports it).
const LOOP_READ_ONLY: u32 = 1;
const LOOP_AUTOCLEAR: u32 = 4;
const LOOP_DIRECT_IO: u32 = 16;
const BLKFLSBUF: Opcode = 0x1261;
const FS_IOC_FIEMAP: Opcode = 0xC020_660B;
/// Write dirty pages before mapping.
const FIEMAP_FLAG_SYNC: u32 = 0x1;
/// 14 KiB of result.
const EXTENTS_PER_CALL: usize = 256;

/// Head of `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LoopStatus {
    /// `st_dev` of the backing file.
    pub device: u64,
    pub inode: u64,
    /// `st_rdev` of a backing device; 0 for a file.
    pub rdevice: u64,
    rest: [u64; 26],
}

/// `None` if the loop device is not attached or may not be queried.
pub fn loop_status(node: impl AsFd) -> Option<LoopStatus> {
    // SAFETY: LOOP_GET_STATUS64 writes one struct loop_info64, 232 bytes, the size of LoopStatus.
    unsafe { ioctl(node, Getter::<LOOP_GET_STATUS64, LoopStatus>::new()) }.ok()
}

/// `struct loop_config` with its `struct loop_info64`, of which only `lo_flags` is set: the whole file.
#[repr(C)]
struct LoopConfig {
    file: u32,
    block_bytes: u32,
    before: [u32; 13],
    flags: u32,
    after: [u64; 30],
}

/// LOOP_CTL_GET_FREE, which returns its result as the return value of ioctl(2).
struct FreeLoop;

// SAFETY: LOOP_CTL_GET_FREE takes no argument and returns the number as the result of ioctl(2).
unsafe impl Ioctl for FreeLoop {
    type Output = u32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        LOOP_CTL_GET_FREE
    }

    fn as_ptr(&mut self) -> *mut std::ffi::c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(output: IoctlOutput, _: *mut std::ffi::c_void) -> Result<u32> {
        Ok(output.cast_unsigned())
    }
}

/// Number of a free loop device. `control`: an open `LOOP_CONTROL`.
///
/// # Errors
/// EPERM without CAP_SYS_ADMIN.
pub fn free_loop(control: impl AsFd) -> Result<u32> {
    // SAFETY: see the implementation of Ioctl above.
    unsafe { ioctl(control, FreeLoop) }
}

/// Attaches a file to a free loop device until its last descriptor is closed. `block_bytes`: logical block size.
///
/// # Errors
/// EBUSY if the device is no longer free; EINVAL unless `block_bytes` is a power of two from 512 to the page size.
pub fn configure_loop(
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
    // SAFETY: LOOP_CONFIGURE reads one struct loop_config, 304 bytes, which LoopConfig is.
    unsafe { ioctl(node, Setter::<LOOP_CONFIGURE, LoopConfig>::new(config)) }
}

/// Writes the dirty pages of a block device and drops its page cache.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN; EIO if dirty pages could not be written.
pub fn flush_block_device(device: impl AsFd) -> Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(device, NoArg::<BLKFLSBUF>::new()) }
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Extent {
    /// Offset in the file in bytes.
    pub logical: u64,
    physical: u64,
    /// In bytes.
    pub length: u64,
    reserved: [u64; 2],
    /// FIEMAP_EXTENT_ flags.
    pub flags: u32,
    reserved32: [u32; 3],
}

/// FIEMAP_EXTENT_ flags that concern where the data is.
pub mod extent {
    pub(crate) const LAST: u32 = 0x1;
    /// Delayed allocation: in memory only.
    pub const DELALLOC: u32 = 0x4;
    /// Compressed or encrypted.
    pub const ENCODED: u32 = 0x8;
    /// Encrypted by the filesystem.
    pub const DATA_ENCRYPTED: u32 = 0x80;
    /// Stored in metadata.
    pub const DATA_INLINE: u32 = 0x200;
    /// Allocated, never written.
    pub const UNWRITTEN: u32 = 0x800;
    /// Shared with another file (reflink).
    pub const SHARED: u32 = 0x2000;
}

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_PER_CALL],
}

pub struct Extents {
    pub found: Vec<Extent>,
    /// Offset for the next call in bytes; `None` after the last extent.
    pub next: Option<u64>,
}

/// Up to 256 extents from byte `start` on, in order. `sync` writes dirty pages first.
///
/// # Errors
/// EOPNOTSUPP if the filesystem has no FIEMAP.
pub fn extents(file: impl AsFd, start: u64, sync: bool) -> Result<Extents> {
    let mut map = Fiemap {
        start,
        length: u64::MAX - start,
        flags: if sync { FIEMAP_FLAG_SYNC } else { 0 },
        mapped_extents: 0,
        extent_count: EXTENTS_PER_CALL as u32,
        reserved: 0,
        extents: [Extent::default(); EXTENTS_PER_CALL],
    };
    // SAFETY: FS_IOC_FIEMAP reads and writes struct fiemap followed by `extent_count` extents, as in Fiemap.
    unsafe { ioctl(file, Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut map)) }?;
    let found = &map.extents[..(map.mapped_extents as usize).min(EXTENTS_PER_CALL)];
    let next = found
        .last()
        .filter(|extent| extent.flags & extent::LAST == 0)
        .map(|extent| extent.logical + extent.length);
    Ok(Extents {
        found: found.to_vec(),
        next,
    })
}
