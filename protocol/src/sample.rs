//! One sampling window.

use crate::{
    counters::{CpuUse, DeviceCounts, IoCounts, Memory, Pressure, Residency, StorageIo},
    gauge::Gauge,
    phase::Phase,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Counts of all layers in one sampling window. If a layer is null, `absent` of the `accepted`
/// event has the reason.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Sample {
    /// `ramp` or `measure`.
    pub phase: Phase,
    /// Measured length of the window, which ends at `t_ms` of the event.
    pub window_ms: f64,
    pub read: IoCounts,
    pub write: IoCounts,
    pub trim: IoCounts,
    /// fsync and fdatasync calls; `bytes` is 0.
    pub sync: IoCounts,
    /// I/Os in flight at the end of the window.
    pub in_flight: u64,
    /// Time since the last completion of the worker that has waited longest, in ms; 0 if all workers
    /// had completions or nothing in flight, null in runs recorded before it existed.
    #[serde(default)]
    pub silent_ms: Option<f64>,
    /// Failed I/Os.
    pub errors: u64,
    /// Devices of the targets, summed.
    pub device: Option<DeviceCounts>,
    /// Physical devices below them, summed.
    pub physical_devices: Option<DeviceCounts>,
    /// Host memory at the end of the window.
    pub memory: Option<Memory>,
    pub cpu: Option<CpuUse>,
    /// I/O pressure of the host.
    pub pressure: Option<Pressure>,
    /// Storage I/O of the runner process.
    pub storage: Option<StorageIo>,
    /// Page cache residency of the targets at the end of the window. Sampled once per second and at
    /// the start and end of the measurement; null in other windows.
    pub residency: Option<Residency>,
    /// Depth gauge of all directions, from the start of the phase to the end of this window; null
    /// in runs recorded before it existed.
    #[serde(default)]
    pub gauge: Option<Gauge>,
}

impl Sample {
    /// Completed reads, writes and trims.
    pub fn ios(&self) -> u64 {
        let directions = [&self.read, &self.write, &self.trim];
        let ios = directions.into_iter().map(|counts| counts.ios);
        ios.fold(0, u64::saturating_add)
    }
}
