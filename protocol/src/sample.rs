use crate::counters::CpuUse;
use crate::counters::DeviceCounts;
use crate::counters::IoCounts;
use crate::counters::Memory;
use crate::counters::Pressure;
use crate::counters::Residency;
use crate::counters::StorageIo;
use crate::gauge::Gauge;
use crate::phase::Phase;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One window of counts at every layer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Sample {
    /// The phase that the window lies in: `ramp` or `measure`.
    pub phase: Phase,
    /// Length of the window in milliseconds, as measured; `t_ms` of the event is its end.
    pub window_ms: f64,
    /// Reads.
    pub read: IoCounts,
    /// Writes.
    pub write: IoCounts,
    /// Trims.
    pub trim: IoCounts,
    /// fsync and fdatasync calls; their bytes are 0.
    pub sync: IoCounts,
    /// I/Os in flight at the end of the window.
    pub in_flight: u64,
    /// I/Os that failed in the window.
    pub errors: u64,
    /// What the target's device counted, summed over the targets; null with its reason in `absent` of `accepted`.
    pub device: Option<DeviceCounts>,
    /// What the physical devices under it counted; null likewise.
    pub physical_devices: Option<DeviceCounts>,
    /// The host's memory at the end of the window; null likewise.
    pub memory: Option<Memory>,
    /// Processor time; null likewise.
    pub cpu: Option<CpuUse>,
    /// Time lost to waiting for I/O; null likewise.
    pub pressure: Option<Pressure>,
    /// What this process alone moved from and to storage; null likewise.
    pub storage: Option<StorageIo>,
    /// How much of the targets lies in the page cache at the end of the window. Told once a second and at the borders of the
    /// measurement, null in between and where it is `absent`.
    pub residency: Option<Residency>,
    /// Depth gauge from the start of the phase to the end of this window, all directions together;
    /// null in runs recorded before it existed.
    #[serde(default)]
    pub gauge: Option<Gauge>,
}
