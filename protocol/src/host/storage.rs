//! Storage below the targets of a run, when the run started.

use crate::device::{DeviceKind, Mount};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct HostStorage {
    /// Mounts of the target files, and of the backing files of loop devices.
    pub mounts: Vec<Mount>,
    /// The block devices of the targets and all devices below them, each once.
    pub devices: Vec<StorageDevice>,
}

/// Request queue settings are null for a partition, which uses the queue of its disk.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct StorageDevice {
    /// Kernel name, such as `vda1`. It may change on reboot.
    pub name: String,
    pub kind: DeviceKind,
    /// Whether there are no devices below it.
    pub is_physical: bool,
    /// Stable identity, such as `wwid:...`, `serial:...`, `dm:...` or `loop:/path`; null if the
    /// device has none.
    pub identity: Option<String>,
    pub model: Option<String>,
    pub size_bytes: u64,
    /// Active I/O scheduler.
    pub scheduler: Option<String>,
    pub read_ahead_bytes: Option<u64>,
    /// Request queue length.
    pub nr_requests: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
}
