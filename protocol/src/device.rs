//! Block devices on a host.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// All block devices on a host.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceList {
    /// `parents` defines the device tree.
    pub devices: Vec<Device>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    Disk,
    Partition,
    Loop,
    /// Device mapper (LVM, dm-crypt, ...).
    Dm,
    /// Software RAID.
    Md,
    Zram,
    Ram,
    /// CD or DVD.
    Rom,
    Other,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Device {
    /// Kernel name, such as `vda1`. It may change on reboot.
    pub name: String,
    /// Path of the device node, such as `/dev/vda1`.
    pub path: String,
    /// Major and minor number, such as `254:0`.
    pub dev: String,
    pub kind: DeviceKind,
    /// Stable identity, such as `wwid:...`, `serial:...`, `dm:...` or `loop:/path`; null if the
    /// device has none.
    pub identity: Option<String>,
    /// Stable links, such as `/dev/disk/by-id/...`.
    pub links: Vec<String>,
    pub size_bytes: u64,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub rotational: Option<bool>,
    pub removable: Option<bool>,
    /// Whether the kernel rejects writes.
    pub read_only: bool,
    /// Active I/O scheduler.
    pub scheduler: Option<String>,
    pub logical_block_bytes: Option<u32>,
    pub physical_block_bytes: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    pub read_ahead_bytes: Option<u64>,
    /// Request queue length.
    pub nr_requests: Option<u32>,
    pub mounts: Vec<Mount>,
    /// Filesystem or other signature, such as `ext4`; null if none is known.
    pub filesystem: Option<String>,
    /// Backing file of a loop device.
    pub backing_file: Option<String>,
    /// Users of the device, such as `mounted at /`, `swap`, `part of md0`.
    pub used_by: Vec<String>,
    /// Whether runs may read from the device.
    pub read_access: Access,
    /// Whether runs may write to the device.
    pub write_access: Access,
    /// Kernel names of the devices directly below it; empty for a whole disk.
    pub parents: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Access {
    pub allowed: bool,
    /// Reason for the restriction; null if access is allowed.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Mount {
    /// Mount point.
    pub point: String,
    /// Filesystem type.
    pub filesystem: String,
    pub options: String,
}
