//! Input of the gauge: counters of the same window, from a report or a sample.

use leadline_protocol::{
    counters::{DeviceCounts, IoCounts, StorageIo},
    gauge::LayerFlow,
    report::{Report, stats::DirectionStats},
    sample::Sample,
};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GaugeCounters {
    pub(super) read: DirectionCounters,
    pub(super) write: DirectionCounters,
    pub(super) trim: DirectionCounters,
    /// I/O of this process; `None` if not counted.
    pub(super) storage: Option<StorageIo>,
    /// Bytes of the targets that were dirty or in writeback at the end.
    pub(super) pending_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DirectionCounters {
    pub(super) issued: LayerFlow,
    /// The block devices of the targets.
    pub(super) device: Option<DeviceFlow>,
    /// The physical devices under them.
    pub(super) physical_devices: Option<DeviceFlow>,
}

/// Counters of block devices in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceFlow {
    pub(super) ios: u64,
    /// I/Os merged into other I/Os before they reached the device.
    pub(super) merges: u64,
    pub(super) bytes: u64,
}

impl GaugeCounters {
    pub(super) fn of_report(report: &Report, pending_bytes: u64) -> Self {
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

    pub(super) fn of_sample(sample: &Sample) -> Self {
        let issued = |counts: &IoCounts| LayerFlow::new(counts.ios, counts.bytes);
        let residency = sample.residency;
        let pending_bytes = residency.and_then(|residency| residency.pending_write_bytes());
        Self {
            storage: sample.storage,
            pending_bytes: pending_bytes.unwrap_or(0),
            ..Self::new(
                [&sample.read, &sample.write, &sample.trim].map(issued),
                sample.device.as_ref(),
                sample.physical_devices.iter(),
            )
        }
    }

    /// `issued`: reads, writes and trims.
    fn new<'a>(
        issued: [LayerFlow; 3],
        device: Option<&'a DeviceCounts>,
        physical_devices: impl Iterator<Item = &'a DeviceCounts>,
    ) -> Self {
        let device = device.map(device_flows);
        let physical = physical_devices.map(device_flows).reduce(|sum, flows| {
            std::array::from_fn(|direction| sum[direction].plus(flows[direction]))
        });
        let direction = |index: usize| DirectionCounters {
            issued: issued[index],
            device: device.map(|flows| flows[index]),
            physical_devices: physical.map(|flows| flows[index]),
        };
        Self {
            read: direction(0),
            write: direction(1),
            trim: direction(2),
            ..Self::default()
        }
    }
}

impl DeviceFlow {
    fn plus(self, other: Self) -> Self {
        Self {
            ios: self.ios + other.ios,
            merges: self.merges + other.merges,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// Reads, writes and discards.
fn device_flows(counts: &DeviceCounts) -> [DeviceFlow; 3] {
    let flow = |ios, merges, bytes| DeviceFlow { ios, merges, bytes };
    [
        flow(counts.read_ios, counts.read_merges, counts.read_bytes),
        flow(counts.write_ios, counts.write_merges, counts.write_bytes),
        flow(counts.discard_ios, 0, counts.discard_bytes),
    ]
}
