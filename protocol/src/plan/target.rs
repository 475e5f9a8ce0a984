//! Targets of a job.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// Regular file.
    File,
    /// Block device.
    Device,
    /// Regular file, attached to a temporary loop device.
    Loop,
    /// No target (`ioengine=null` or `io_uring_nop`).
    Null,
}

/// A file or device that a job accesses.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Target {
    /// Absolute path.
    pub path: String,
    pub kind: TargetKind,
    /// Length at the start of the measurement, in bytes.
    pub length: u64,
    /// Whether the target existed before the run. Existing targets are never removed.
    pub existed: bool,
    /// Number of bytes that layout writes; 0 if there is no layout. If a file with multiple regions
    /// is extended, only the first region has a value.
    pub layout_bytes: u64,
    /// Start offset of the bytes that layout writes or allocates; null if there is no layout.
    #[serde(default)]
    pub layout_offset: Option<u64>,
    /// Filesystem type, such as `ext4`; null for a device.
    pub filesystem: Option<String>,
    /// Kernel name of the underlying block device, such as `vda`; null if there is none. For a
    /// temporary loop device, it is the device of the backing file, and the loop device once it is
    /// attached.
    pub device: Option<String>,
    /// Stable identity of a device target, such as its serial number; null for a file.
    #[serde(default)]
    pub identity: Option<String>,
    /// Alignment of offsets, lengths and memory for direct I/O, in bytes; 1 for buffered I/O.
    pub alignment: u32,
    /// Start offset of the region in bytes, including the worker's offset.
    pub offset: u64,
    /// Size of the region in bytes.
    pub size: u64,
    /// Number of the worker that uses the target; null if all workers share it.
    pub worker: Option<u32>,
}

impl Target {
    /// Identity of a device target, or its kernel name if it has no identity; `None` for other
    /// targets.
    pub fn device_id(&self) -> Option<&str> {
        if self.kind != TargetKind::Device {
            return None;
        }
        self.identity.as_deref().or(self.device.as_deref())
    }
}
