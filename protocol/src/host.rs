//! Hardware, kernel, limits and storage of a host.

pub mod storage;

use crate::{doctor::Doctor, host::storage::HostStorage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// ID of the host that the server runs on.
pub const LOCAL_HOST: &str = "local";

/// Hardware, kernel and limits of a host.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct HostFacts {
    pub hostname: String,
    /// Kernel release, such as `6.18.44`.
    pub kernel: String,
    /// CPU architecture, such as `x86_64`.
    pub machine: String,
    pub cpu_model: Option<String>,
    /// Number of online CPUs.
    pub cpus: u32,
    pub memory_bytes: Option<u64>,
    /// Kernel clock source, such as `tsc`.
    pub clocksource: Option<String>,
    /// CPU frequency governors, each once, such as `performance` or `performance powersave`.
    pub governor: Option<String>,
    /// Kernel status of each CPU vulnerability that affects the host, such as `spectre_v2`:
    /// `Mitigation: Retpolines` (Documentation/ABI/testing/sysfs-devices-system-cpu). Null for runs
    /// recorded before it was introduced.
    #[serde(default)]
    pub vulnerabilities: Option<BTreeMap<String, String>>,
    /// Why io_uring is not available; null if it is.
    pub io_uring_unavailable: Option<String>,
    /// Locked memory limit in bytes; null if unlimited.
    pub memlock_bytes: Option<u64>,
    /// Amount of dirty memory at which background writeback starts, in bytes.
    pub dirty_background_bytes: Option<u64>,
    /// Amount of dirty memory at which writers are throttled, in bytes.
    pub dirty_bytes: Option<u64>,
    /// Hypervisor or container, such as `kvm`; null on bare metal or if unknown.
    pub virtualization: Option<String>,
    /// Storage below the targets; null if there is no run, and for runs recorded before it was
    /// introduced.
    #[serde(default)]
    pub storage: Option<HostStorage>,
    /// Runner version.
    pub runner: String,
    /// Facts that are missing, with the reason.
    pub absent: BTreeMap<String, String>,
}

/// A host in a list.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct HostSummary {
    /// Always `local`.
    pub id: String,
    pub facts: Option<HostFacts>,
    /// Whether the runner responds.
    pub online: bool,
    /// Number of active runs.
    pub running: u64,
    /// Number of queued runs.
    pub queued: u64,
    /// Error message if the runner does not respond; otherwise null.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct HostDetail {
    #[serde(flatten)]
    pub summary: HostSummary,
    pub doctor: Option<Doctor>,
}
