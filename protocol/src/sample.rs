//! Counts from all layers for one sampling window.

use crate::{
    counters::{CpuUse, DeviceCounts, IoCounts, Memory, Pressure, Residency, StorageIo},
    gauge::Gauge,
    phase::Phase,
    report::steady_state::SteadyStateProgress,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Counts from all layers for one sampling window. `absent` in the `accepted` event explains null
/// layers.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Sample {
    /// `ramp` or `measure`.
    pub phase: Phase,
    /// Measured length of the window, which ends at the event's `t_ms`.
    pub window_ms: f64,
    pub read: IoCounts,
    pub write: IoCounts,
    pub trim: IoCounts,
    /// fsync and fdatasync calls; `bytes` is 0.
    pub sync: IoCounts,
    /// I/Os in flight at the end of the window.
    pub in_flight: u64,
    /// Time since the last completion of the worker that has been waiting longest, in ms; 0 if all
    /// workers had completions or nothing in flight; null for runs recorded before it was
    /// introduced.
    #[serde(default)]
    pub silent_ms: Option<f64>,
    /// Failed I/Os.
    pub errors: u64,
    /// Sum over the targets' devices.
    pub device: Option<DeviceCounts>,
    /// Sum over the physical devices below them.
    pub physical_devices: Option<DeviceCounts>,
    /// Host memory at the end of the window.
    pub memory: Option<Memory>,
    pub cpu: Option<CpuUse>,
    /// I/O pressure on the host.
    pub pressure: Option<Pressure>,
    /// Storage I/O of the runner process.
    pub storage: Option<StorageIo>,
    /// Page cache residency of the targets at the end of the window. Sampled once per second, and
    /// at the start and end of the measurement; null in other windows.
    pub residency: Option<Residency>,
    /// Depth gauge for all directions, from the start of the phase to the end of this window; null
    /// for runs recorded before it was introduced.
    #[serde(default)]
    pub gauge: Option<Gauge>,
    /// Jobs with `steadystate_duration` for which an interval ended since the previous sample;
    /// absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady_states: Vec<SteadyStateProgress>,
}

impl Sample {
    /// Completed reads, writes and trims.
    pub fn ios(&self) -> u64 {
        let directions = [&self.read, &self.write, &self.trim];
        let ios = directions.into_iter().map(|counts| counts.ios);
        ios.fold(0, u64::saturating_add)
    }
}
