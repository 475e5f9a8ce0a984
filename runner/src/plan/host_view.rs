//! The facts about the host that a plan depends on. `system::host::view` reads them from the host;
//! tests use a table.

use leadline_protocol::{plan::target::TargetKind, problem::Problem};
use std::{
    hash::{BuildHasher, RandomState},
    ops::Range,
};

pub trait HostView {
    /// Facts about a path. Follows symbolic links.
    fn path(&self, path: &str) -> PathFacts;
    /// Directory for generated files and for relative paths.
    fn default_directory(&self) -> String;
    /// Memory available on the host, within control group limits, in bytes; 0 if unknown.
    fn available_memory(&self) -> u64;
    /// Huge pages that `mem=mmaphuge` can map, in bytes; `None` if unknown.
    fn available_huge_pages(&self) -> Option<u64> {
        None
    }
    /// Reason and remedy; `None` if io_uring is available.
    fn io_uring_unavailable(&self) -> Option<(String, String)>;
    /// I/Os that new Linux AIO contexts may have in flight; `None` if Linux AIO is unavailable.
    fn available_aio(&self) -> Option<u64> {
        None
    }
    /// Major and minor kernel version, such as (6, 10).
    fn kernel_version(&self) -> Option<(u32, u32)>;
    /// Reason and remedy; `None` if loop devices can be created.
    fn loop_unavailable(&self) -> Option<(String, String)>;
    /// CPUs in the runner's affinity mask.
    fn cpus(&self) -> Vec<u32>;
    /// The data directory, if it is on the same physical device as `device` (a kernel name).
    fn data_directory_on(&self, device: &str) -> Option<String>;
    /// Distance in bytes from the preceding physical block boundary to the start of a partition
    /// (kernel name); `None` if it is aligned or the device is not a partition.
    fn misaligned_by(&self, device: &str) -> Option<u64>;
    fn may_drop_caches(&self) -> bool;
    /// Returns true if the kernel's clock uses the CPU's time stamp counter.
    fn has_tsc_clock(&self) -> bool {
        false
    }
    /// The data that writes to these byte ranges of an existing target would destroy; `None` for
    /// files that Leadline created and for the run's loop devices.
    ///
    /// # Errors
    /// Returns a problem if the target cannot be opened, or if another process uses it.
    fn overwritten(
        &self,
        _path: &str,
        _regions: &[Range<u64>],
    ) -> Result<Option<Overwritten>, Problem> {
        Ok(None)
    }
    /// Minutes since the host booted.
    fn minute(&self) -> u64 {
        0
    }
    /// RLIMIT_MEMLOCK in bytes; `u64::MAX` if unlimited.
    fn lockable_bytes(&self) -> u64;
    /// Random number for `randrepeat=0`, and for a study's file ID and order.
    fn entropy(&self) -> u64 {
        RandomState::new().hash_one(0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PathFacts {
    pub kind: PathKind,
    /// Absolute path without symbolic links. The file itself may not exist.
    pub canonical: String,
    /// Length in bytes.
    pub length: u64,
    /// Disk space that the file uses, in bytes; 0 for devices.
    pub allocated_bytes: u64,
    /// Filesystem type, such as `ext4`; `None` for devices.
    pub filesystem: Option<String>,
    /// Kernel name of the block device, or of the device below the filesystem; `None` if there is
    /// none (tmpfs) or if it is not visible (below an overlay in a container).
    pub device: Option<String>,
    /// Stable device ID, such as its serial number; `None` for files.
    pub identity: Option<String>,
    /// STATX_DIOALIGN, or the logical block size of a device. The error explains why direct I/O is
    /// not supported.
    pub direct_alignment: Result<DirectAlignment, String>,
    /// Whether the device driver can poll for completions (queue/io_poll in sysfs).
    pub can_poll: bool,
    /// Filesystem space available to unprivileged users, in bytes; 0 for devices.
    pub free_bytes: u64,
    /// Whether every block of the file contains written data (SEEK_HOLE, FIEMAP); `None` if
    /// unknown.
    pub fully_written: Option<bool>,
    /// Whether Leadline created the file and no other program has modified it since
    /// (`system::host::ownership`).
    pub is_owned: bool,
    /// Whether the path is under a target root. Always true if there are no target roots.
    pub under_target_root: bool,
    /// Why the guard rejects reads; `None` if it allows them.
    pub read_problem: Option<Problem>,
    /// Why the guard rejects writes; `None` if it allows them.
    pub write_problem: Option<Problem>,
}

/// A target that a run would overwrite.
#[derive(Clone, Debug, PartialEq)]
pub struct Overwritten {
    /// File or device.
    pub kind: TargetKind,
    /// Stable device ID; `None` for files.
    pub identity: Option<String>,
    /// Text that the user types to confirm: a device's serial number or kernel name, or a file
    /// name.
    pub text: String,
    /// Descriptions of the data that was found, for display to the user.
    pub contents: Vec<String>,
    /// Whether no data was found.
    pub is_blank: bool,
    /// Whether a confirmation is required even if the target is blank.
    pub must_confirm: bool,
    /// Whether the jobs write only beyond the end of the file.
    pub is_only_extended: bool,
    /// Digest of the target's identity and size.
    pub state: String,
    /// Digest of the contents.
    pub data: String,
}

impl Overwritten {
    /// The state that a confirmation is bound to. In a study, it excludes the contents, because
    /// earlier steps change them.
    pub fn bound_state(&self, is_step: bool) -> String {
        if is_step {
            self.state.clone()
        } else {
            format!("{} {}", self.state, self.data)
        }
    }

    /// In a study, even a blank device needs a confirmation, because later steps overwrite the data
    /// of earlier ones.
    pub fn needs_confirmation(&self, is_step: bool) -> bool {
        let is_device = self.kind == TargetKind::Device;
        !self.is_blank || self.must_confirm || (is_step && is_device)
    }
}

/// Alignment that direct I/O requires.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DirectAlignment {
    /// Alignment of buffers, in bytes.
    pub memory: u32,
    /// Alignment of offsets and lengths, in bytes.
    pub offset: u32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PathKind {
    /// The directory exists, but the file does not.
    Missing,
    MissingDirectory,
    File,
    /// Block device.
    Device,
    Directory,
    /// Character device, FIFO or socket.
    Other,
}
