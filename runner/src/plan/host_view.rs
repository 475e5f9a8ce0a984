//! What the plan must know of the host, as words. The real host answers through `host::View`, tests from a table.

use leadline_protocol::problem::Problem;
use std::hash::BuildHasher;

/// What the plan must know of the host: the real one looks (`host::view`), the tests' one answers from a table.
pub trait HostView {
    /// What is at a path, following symbolic links.
    fn path(&self, path: &str) -> PathFacts;
    /// Where files without a `filename` or `directory` go, and what relative names are relative to.
    fn default_directory(&self) -> String;
    /// Memory that could be had for buffers, in bytes.
    fn available_memory(&self) -> u64;
    /// Why io_uring may not be used, and its remedy; `None` when it may.
    fn io_uring_unavailable(&self) -> Option<(String, String)>;
    /// Major and minor number of the kernel's release, such as (6, 10); `None` where that is not known.
    fn kernel_version(&self) -> Option<(u32, u32)>;
    /// Why no loop device can be made, and its remedy; `None` when one can.
    fn loop_unavailable(&self) -> Option<(String, String)>;
    /// Processors online.
    fn cpus(&self) -> Vec<u32>;
    /// The directory with the server's results, where it lies on a physical device that this one lies on too (kernel name).
    fn results_on(&self, _device: &str) -> Option<String> {
        None
    }
    /// Bytes by which this partition (kernel name) begins off its disk's physical blocks; `None` when it does not, or is none.
    fn misaligned_by(&self, _device: &str) -> Option<u64> {
        None
    }
    /// Whether the runner may drop the caches of the host (it is root).
    fn may_drop_caches(&self) -> bool;
    /// Bytes that the runner may pin in memory (RLIMIT_MEMLOCK); `u64::MAX` where nothing bounds it.
    fn lockable_bytes(&self) -> u64;
    /// A number that is another one every time, for `randrepeat=0`.
    fn entropy(&self) -> u64 {
        std::collections::hash_map::RandomState::new().hash_one(0)
    }
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathFacts {
    /// What it is.
    pub kind: PathKind,
    /// The absolute path without symbolic links; where nothing is there, that of the directory with the name.
    pub canonical: String,
    /// Length in bytes of the file or device.
    pub length: u64,
    /// Filesystem type that it lies on, such as `ext4`; `None` for a device.
    pub filesystem: Option<String>,
    /// Kernel name of the block device under it or of itself; `None` where there is none (tmpfs, overlay, ...).
    pub device: Option<String>,
    /// What the device is by its own word, such as its serial number; `None` for a file.
    pub identity: Option<String>,
    /// What direct I/O needs here (`statx` STATX_DIOALIGN, for devices the logical block size), in bytes;
    /// `Err` with the reason where direct I/O is not possible.
    pub direct_alignment: Result<DirectAlignment, String>,
    /// Bytes free for an ordinary user on the filesystem; 0 for a device.
    pub free_bytes: u64,
    /// Whether every block of the file holds written data (SEEK_HOLE, FIEMAP); `None` when that cannot be told.
    pub fully_written: Option<bool>,
    /// Whether a run of ours made the file and nobody has written it since (`host::mark`).
    pub is_ours: bool,
    /// Whether it lies under one of the target roots; true when no root was given (the command line by itself).
    pub under_target_root: bool,
    /// Why the guard refuses to read it; `None` when it may be read.
    pub reading_refused: Option<Problem>,
    /// Why the guard refuses to write it; `None` when it may be written.
    pub writing_refused: Option<Problem>,
}

/// What direct I/O needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DirectAlignment {
    /// Of buffers in memory, in bytes.
    pub memory: u32,
    /// Of offsets and lengths, in bytes.
    pub offset: u32,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PathKind {
    /// Nothing, and its directory exists.
    Missing,
    /// Nothing, and its directory does not exist either.
    MissingDirectory,
    /// A regular file.
    File,
    /// A block device.
    Device,
    /// A directory.
    Directory,
    /// A character device, FIFO, socket.
    Other,
}
