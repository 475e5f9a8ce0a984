//! The few ioctls that no library wraps: what is behind a loop device and putting a file there, what a file's extents
//! are, dropping a block device's page cache. Source: linux/loop.h, linux/fiemap.h, linux/fs.h.

use rustix::io::Result;
use rustix::ioctl::{Getter, Ioctl, IoctlOutput, NoArg, Opcode, Setter, Updater, ioctl};
use std::os::fd::{AsFd, AsRawFd};

/// The node that gives out loop devices.
pub const LOOP_CONTROL: &str = "/dev/loop-control";
const LOOP_GET_STATUS64: Opcode = 0x4C05;
const LOOP_CONFIGURE: Opcode = 0x4C0A;
const LOOP_CTL_GET_FREE: Opcode = 0x4C82;
/// LO_FLAGS_READ_ONLY, LO_FLAGS_AUTOCLEAR (detached when nobody has it open any more), LO_FLAGS_DIRECT_IO (its own I/O
/// past the page cache, where the file's filesystem takes that).
const LOOP_READ_ONLY: u32 = 1;
const LOOP_AUTOCLEAR: u32 = 4;
const LOOP_DIRECT_IO: u32 = 16;
const BLKFLSBUF: Opcode = 0x1261;
const FS_IOC_FIEMAP: Opcode = 0xC020_660B;
/// FIEMAP_FLAG_SYNC: write dirty pages first, so that what they will become is told.
const FIEMAP_FLAG_SYNC: u32 = 0x1;
/// Extents asked for in one call: 14 KiB of answer.
const EXTENTS_PER_CALL: usize = 256;

/// Head of `struct loop_info64`; the names and keys behind it are not looked at.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LoopStatus {
    /// Number of the filesystem that the backing file lies on.
    pub device: u64,
    /// Inode number of the backing file.
    pub inode: u64,
    /// Number of the backing device; 0 when it is a file.
    pub rdevice: u64,
    rest: [u64; 26],
}

/// What is behind an open loop device; `None` when nothing is or asking is not permitted.
pub fn loop_status(node: impl AsFd) -> Option<LoopStatus> {
    // SAFETY: LOOP_GET_STATUS64 writes one struct loop_info64, 232 bytes, which LoopStatus is as large as.
    unsafe { ioctl(node, Getter::<LOOP_GET_STATUS64, LoopStatus>::new()) }.ok()
}

/// `struct loop_info64`: what is to be behind a loop device. All but the flags is nothing: the whole file.
#[repr(C)]
struct LoopInfo {
    before: [u64; 5],
    numbers: [u32; 3],
    flags: u32,
    names: [u64; 20],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    file: u32,
    block_bytes: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// LOOP_CTL_GET_FREE: takes nothing, and gives a number as its result.
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

/// The number of a loop device that is free at this moment. `control`: an open `LOOP_CONTROL`.
///
/// # Errors
/// What the kernel says, such as EPERM without CAP_SYS_ADMIN.
pub fn free_loop(control: impl AsFd) -> Result<u32> {
    // SAFETY: see the implementation of Ioctl above.
    unsafe { ioctl(control, FreeLoop) }
}

/// Puts a file behind a free loop device, for as long as somebody has that open. `block_bytes`: its logical block.
///
/// # Errors
/// EBUSY when the device is not free any more; EINVAL for a block that is no power of two from 512 to a page.
pub fn configure_loop(
    node: impl AsFd,
    file: impl AsFd,
    block_bytes: u32,
    read_only: bool,
) -> Result<()> {
    let flags = LOOP_AUTOCLEAR | LOOP_DIRECT_IO | if read_only { LOOP_READ_ONLY } else { 0 };
    let info = LoopInfo {
        before: [0; 5],
        numbers: [0; 3],
        flags,
        names: [0; 20],
        init: [0; 2],
    };
    let file = file.as_fd().as_raw_fd().cast_unsigned();
    let config = LoopConfig {
        file,
        block_bytes,
        info,
        reserved: [0; 8],
    };
    // SAFETY: LOOP_CONFIGURE reads one struct loop_config, 304 bytes, which LoopConfig is.
    unsafe { ioctl(node, Setter::<LOOP_CONFIGURE, LoopConfig>::new(config)) }
}

/// Writes a block device's dirty pages and drops all of its page cache. Needs CAP_SYS_ADMIN.
///
/// # Errors
/// EACCES without that capability; EIO when dirty pages could not be written.
pub fn flush_block_device(device: impl AsFd) -> Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(device, NoArg::<BLKFLSBUF>::new()) }
}

/// One extent of a file: `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Extent {
    /// Where it begins in the file, in bytes.
    pub logical: u64,
    physical: u64,
    /// Its bytes.
    pub length: u64,
    reserved: [u64; 2],
    /// FIEMAP_EXTENT_ flags.
    pub flags: u32,
    reserved32: [u32; 3],
}

/// Flags of an extent, as far as they tell where its data is.
pub mod extent {
    /// No other extent follows.
    pub(crate) const LAST: u32 = 0x1;
    /// In memory only.
    pub const DELALLOC: u32 = 0x4;
    /// Compressed or encrypted.
    pub const ENCODED: u32 = 0x8;
    /// Encrypted by the filesystem.
    pub const DATA_ENCRYPTED: u32 = 0x80;
    /// Inside metadata.
    pub const DATA_INLINE: u32 = 0x200;
    /// Allocated, never written.
    pub const UNWRITTEN: u32 = 0x800;
    /// Another file has it too.
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

/// Some of a file's extents.
pub struct Extents {
    /// In order.
    pub found: Vec<Extent>,
    /// Where the next extents are to be asked for, in bytes; `None` when these were the last.
    pub next: Option<u64>,
}

/// Some extents of a file from byte `start` on. `sync` writes its dirty pages first.
///
/// # Errors
/// EOPNOTSUPP where the filesystem does not tell.
pub fn extents(file: impl AsFd, start: u64, sync: bool) -> Result<Extents> {
    let flags = if sync { FIEMAP_FLAG_SYNC } else { 0 };
    let extents = [Extent::default(); EXTENTS_PER_CALL];
    let mut map = Fiemap {
        start,
        length: u64::MAX - start,
        flags,
        mapped_extents: 0,
        extent_count: EXTENTS_PER_CALL as u32,
        reserved: 0,
        extents,
    };
    // SAFETY: FS_IOC_FIEMAP reads and writes struct fiemap with `extent_count` extents behind it, which Fiemap is.
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
