//! Input of the gauge: counters of the same window, from a report or summed over samples.

use leadline_protocol::counters::{DeviceCounts, IoCounts, StorageIo};
use leadline_protocol::gauge::LayerFlow;
use leadline_protocol::report::{DirectionStats, Report};
use leadline_protocol::sample::Sample;
use leadline_protocol::verdict::Verdicts;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GaugeCounters {
    pub(super) read: DirectionCounters,
    pub(super) write: DirectionCounters,
    pub(super) trim: DirectionCounters,
    /// I/O of this process; `None` if not counted.
    pub(super) storage: Option<StorageIo>,
    /// Bytes of the targets that were dirty or in writeback at the end.
    pub(super) waiting_bytes: u64,
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
    /// I/Os merged into another one before they reached the device.
    pub(super) merges: u64,
    pub(super) bytes: u64,
}

impl GaugeCounters {
    pub(super) fn of_report(report: &Report, verdicts: &Verdicts) -> Self {
        let mut counters = Self {
            storage: report.storage,
            waiting_bytes: verdicts
                .write
                .as_ref()
                .and_then(|verdict| verdict.evidence.get("dirty_end_bytes").copied())
                .unwrap_or(0),
            ..Self::default()
        };
        let issued = [&report.read, &report.write, &report.trim];
        for (direction, DirectionStats { ios, bytes, .. }) in counters.directions().zip(issued) {
            direction.issued = LayerFlow {
                ios: *ios,
                bytes: *bytes,
            };
        }
        if let Some(device) = &report.device {
            counters.add_device(&device.counts);
            for physical in &device.physical_devices {
                counters.add_physical_device(&physical.counts);
            }
        }
        counters
    }

    pub(super) fn add(&mut self, sample: &Sample) {
        let issued = [&sample.read, &sample.write, &sample.trim];
        for (direction, IoCounts { ios, bytes, .. }) in self.directions().zip(issued) {
            direction.issued.ios += ios;
            direction.issued.bytes += bytes;
        }
        if let Some(device) = &sample.device {
            self.add_device(device);
        }
        if let Some(physical) = &sample.physical_devices {
            self.add_physical_device(physical);
        }
        if let Some(storage) = sample.storage {
            let total = self.storage.get_or_insert_default();
            total.read_bytes += storage.read_bytes;
            total.write_bytes += storage.write_bytes;
        }
        if let Some(residency) = sample.residency {
            let waiting = residency.dirty.zip(residency.writeback);
            self.waiting_bytes = waiting.map_or(0, |(dirty, writeback)| dirty + writeback);
        }
    }

    fn directions(&mut self) -> impl Iterator<Item = &mut DirectionCounters> {
        [&mut self.read, &mut self.write, &mut self.trim].into_iter()
    }

    fn add_device(&mut self, counts: &DeviceCounts) {
        for (direction, flow) in self.directions().zip(device_flows(counts)) {
            direction.device.get_or_insert_default().add(flow);
        }
    }

    fn add_physical_device(&mut self, counts: &DeviceCounts) {
        for (direction, flow) in self.directions().zip(device_flows(counts)) {
            direction.physical_devices.get_or_insert_default().add(flow);
        }
    }
}

impl DeviceFlow {
    fn add(&mut self, other: Self) {
        self.ios += other.ios;
        self.merges += other.merges;
        self.bytes += other.bytes;
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
