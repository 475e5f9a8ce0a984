//! Gauge inputs: counters of one window, from a report or a sample.

use crate::analysis::layer_shares::{SharesByDirection, SharesOrReason};
use leadline_protocol::{
    counters::{DeviceCounts, DeviceFlow, IoCounts, StorageIo},
    evidence::transition::Direction,
    gauge::LayerFlow,
    report::{Report, stats::DirectionStats},
    sample::Sample,
};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GaugeCounters {
    pub(super) read: DirectionCounters,
    pub(super) write: DirectionCounters,
    pub(super) trim: DirectionCounters,
    /// This process's storage I/O; `None` if not counted.
    pub(super) storage: Option<StorageIo>,
    /// Target bytes that were dirty or in writeback at the end.
    pub(super) pending_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DirectionCounters {
    pub(super) issued: LayerFlow,
    /// The targets' block devices.
    pub(super) device: Option<DeviceFlow>,
    /// The physical devices under them.
    pub(super) physical_devices: Option<DeviceFlow>,
    /// Shares of the I/Os by layer; `None` if they were not looked up. Reports use the shares of
    /// the verdict.
    pub(super) shares: Option<SharesOrReason>,
}

impl GaugeCounters {
    pub(super) fn from_report(report: &Report, pending_bytes: u64) -> Self {
        let issued = |stats: &DirectionStats| LayerFlow::new(stats.ios, stats.bytes);
        let device = report.device.as_ref();
        let physical = device.map_or(&[][..], |device| &device.physical_devices);
        Self {
            storage: report.storage,
            pending_bytes,
            ..Self::new(
                [&report.read, &report.write, &report.trim].map(issued),
                device.map(|device| &device.counts),
                physical.iter().map(|physical| &physical.counts),
            )
        }
    }

    pub(super) fn from_sample(sample: &Sample, sampled: SharesByDirection) -> Self {
        let issued = |counts: &IoCounts| LayerFlow::new(counts.ios, counts.bytes);
        let residency = sample.residency;
        let pending_bytes = residency.and_then(|residency| residency.pending_write_bytes());
        let mut counters = Self {
            storage: sample.storage,
            pending_bytes: pending_bytes.unwrap_or(0),
            ..Self::new(
                [&sample.read, &sample.write, &sample.trim].map(issued),
                sample.device.as_ref(),
                sample.physical_devices.iter(),
            )
        };
        counters.read.shares = sampled.read;
        counters.write.shares = sampled.write;
        counters
    }

    fn new<'a>(
        [reads, writes, trims]: [LayerFlow; 3],
        device: Option<&DeviceCounts>,
        physical_devices: impl Iterator<Item = &'a DeviceCounts> + Clone,
    ) -> Self {
        let direction = |issued, flow: fn(&DeviceCounts) -> DeviceFlow| {
            let physical_flows = physical_devices.clone().map(flow);
            DirectionCounters {
                issued,
                device: device.map(flow),
                physical_devices: physical_flows.reduce(|sum, flow| sum + flow),
                shares: None,
            }
        };
        Self {
            read: direction(reads, |counts| counts.of(Direction::Read)),
            write: direction(writes, |counts| counts.of(Direction::Write)),
            trim: direction(trims, DeviceCounts::discards),
            ..Self::default()
        }
    }
}
