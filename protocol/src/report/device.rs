//! Block device counters of the measured window.

use crate::counters::{ChargedIo, DeviceCounts};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Counters of the block devices of the targets.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceReport {
    /// Kernel name, such as `vda`; several are joined by `+`.
    pub name: String,
    #[serde(flatten)]
    pub counts: DeviceCounts,
    /// Percentage of the window with I/O in flight.
    pub utilization: f64,
    /// Physical devices below it; the device itself if it is physical.
    pub physical_devices: Vec<PhysicalDeviceReport>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct PhysicalDeviceReport {
    /// Kernel name.
    pub name: String,
    #[serde(flatten)]
    pub counts: DeviceCounts,
    /// Percentage of the window with I/O in flight.
    pub utilization: f64,
}

/// Absolute counters of a device since boot, as in `/sys/class/block/NAME/stat`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Reading {
    /// Kernel name.
    pub device: String,
    /// At the start of the measured window.
    pub start: DeviceCounts,
    /// At the end of the measured window.
    pub end: DeviceCounts,
}

/// I/O of the run alone: what the kernel charged to its control group in the measured window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CgroupReport {
    /// Directory of the control group, which was removed after the run.
    pub path: String,
    /// The devices in `readings`.
    pub devices: Vec<CgroupDevice>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CgroupDevice {
    /// Kernel name.
    pub device: String,
    /// Kernel name of the disk that was counted: that of a partition, or the device itself.
    pub disk: String,
    #[serde(flatten)]
    pub counts: ChargedIo,
}
