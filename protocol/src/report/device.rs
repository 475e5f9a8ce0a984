//! Block device counters for the measured window.

use crate::counters::{ChargedIo, DeviceCounts};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Counters for the targets' block devices.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceReport {
    /// Kernel name, such as `vda`; multiple names are joined by `+`.
    pub name: String,
    #[serde(flatten)]
    pub counts: DeviceCounts,
    /// Percentage of the window with I/O in flight.
    pub utilization: f64,
    /// Physical devices below the device; the device itself if it is physical.
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

/// Absolute device counters since boot, as in `/sys/class/block/NAME/stat`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Reading {
    /// Kernel name.
    pub device: String,
    /// At the start of the measured window.
    pub start: DeviceCounts,
    /// At the end of the measured window.
    pub end: DeviceCounts,
}

/// I/O of this run only: the I/O that the kernel charged to its control group in the measured
/// window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CgroupReport {
    /// Directory of the control group, which is removed after the run.
    pub path: String,
    /// The devices that also appear in `readings`.
    pub devices: Vec<CgroupDevice>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CgroupDevice {
    /// Kernel name.
    pub device: String,
    /// Kernel name of the disk whose I/O was counted: the disk of a partition, or the device
    /// itself.
    pub disk: String,
    #[serde(flatten)]
    pub counts: ChargedIo,
}
