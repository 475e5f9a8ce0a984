use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The host as found.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct HostFacts {
    /// Name of the host.
    pub hostname: String,
    /// Kernel release, such as `6.18.44`.
    pub kernel: String,
    /// Machine, such as `x86_64`.
    pub machine: String,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// Processors online.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Clock source of the kernel, such as `tsc`.
    pub clocksource: Option<String>,
    /// Frequency governor of processor 0, such as `performance`.
    pub governor: Option<String>,
    /// Whether io_uring may be used; null when it may, else why not.
    pub io_uring_unavailable: Option<String>,
    /// Memory that may be locked, in bytes; null when not bounded.
    pub memlock_bytes: Option<u64>,
    /// Dirty memory at which writeback starts, in bytes.
    pub dirty_background_bytes: Option<u64>,
    /// Dirty memory at which writers are slowed, in bytes.
    pub dirty_bytes: Option<u64>,
    /// Hypervisor or container, such as `kvm`; null on bare metal or when not known.
    pub virtualization: Option<String>,
    /// Version of the runner.
    pub runner: String,
    /// What could not be found out, with the reason.
    pub absent: BTreeMap<String, String>,
}

/// All block devices of a host.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceList {
    /// The devices; the tree is in their `parents`.
    pub devices: Vec<Device>,
}

/// What a device is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A whole disk.
    Disk,
    /// A part of one.
    Partition,
    /// A file as a device.
    Loop,
    /// Device mapper (LVM, crypt, ...).
    Dm,
    /// Software RAID.
    Md,
    /// Compressed memory.
    Zram,
    /// Memory.
    Ram,
    /// CD, DVD.
    Rom,
    /// Something else.
    Other,
}

/// One block device.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Device {
    /// Kernel name, such as `vda1`: a hint only, it may change at the next boot.
    pub name: String,
    /// Path of its node, such as `/dev/vda1`.
    pub path: String,
    /// Major and minor number, such as `254:0`.
    pub dev: String,
    /// What it is.
    pub kind: DeviceKind,
    /// Stable identity, such as `wwid:...`, `serial:...`, `dm:...`, `loop:/path`; null when it has none.
    pub identity: Option<String>,
    /// Stable links, such as `/dev/disk/by-id/...`.
    pub links: Vec<String>,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Whether seeking costs time.
    pub rotational: Option<bool>,
    /// Whether it can be taken out.
    pub removable: Option<bool>,
    /// Whether the kernel refuses writes.
    pub read_only: bool,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Smallest addressable unit in bytes.
    pub logical_block_bytes: Option<u32>,
    /// Smallest unit written without read-modify-write, in bytes.
    pub physical_block_bytes: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Readahead in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Requests that the kernel queues.
    pub nr_requests: Option<u32>,
    /// Where it is mounted.
    pub mounts: Vec<Mount>,
    /// Filesystem or other signature found on it, such as `ext4`; null when none is known.
    pub filesystem: Option<String>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// Who uses it, one sentence each, such as `mounted at /`, `swap`, `part of md0`.
    pub used_by: Vec<String>,
    /// Whether a run may read it.
    pub read_access: Access,
    /// Whether a run may write it.
    pub write_access: Access,
    /// Kernel names of the devices it lies on; empty for a whole disk.
    pub parents: Vec<String>,
}

/// Whether something may be done, and why not.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Access {
    /// Whether it may.
    pub allowed: bool,
    /// Why not; null when it may.
    pub reason: Option<String>,
}

/// One mount.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Mount {
    /// Where.
    pub point: String,
    /// Filesystem type.
    pub filesystem: String,
    /// Options.
    pub options: String,
}

/// What this host can do.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Doctor {
    /// One line a question.
    pub checks: Vec<Check>,
}

/// The answer to one question about the host.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Check {
    /// What was looked at, such as `io_uring`.
    pub name: String,
    /// How it stands.
    pub status: CheckStatus,
    /// What was found.
    pub detail: String,
    /// What to do about it; null when it is well.
    pub remedy: Option<String>,
}

/// How a check stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// Well.
    Ok,
    /// Numbers may suffer.
    Warn,
    /// Something will not work.
    Fail,
}
