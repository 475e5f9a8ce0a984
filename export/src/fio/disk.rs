//! `disk_util`: the devices below the targets.

use crate::{FinishedRun, fio::rounded};
use leadline_protocol::{
    counters::DeviceCounts,
    report::{Report, device::Reading},
};
use serde::Serialize;

#[derive(Default, Serialize)]
pub(super) struct Disk {
    pub(super) name: String,
    pub(super) read_ios: u64,
    pub(super) write_ios: u64,
    pub(super) read_merges: u64,
    pub(super) write_merges: u64,
    /// In ms, like all times here.
    pub(super) read_ticks: u64,
    pub(super) write_ticks: u64,
    /// Sum of the latencies of reads and writes; fio's value also contains discards and flushes.
    pub(super) in_queue: u64,
    /// Percentage of the measured window with I/O in flight.
    pub(super) util: f64,
}

/// Sums the counts over the measured windows of all runs; fio's counts also cover the time before
/// and after the measurement.
pub(super) fn disks(runs: &[FinishedRun<'_>]) -> Vec<Disk> {
    let mut disks: Vec<Disk> = Vec::new();
    for run in runs {
        for reading in target_readings(&run.report) {
            let position = disks.iter().position(|disk| disk.name == reading.device);
            let position = position.unwrap_or_else(|| {
                disks.push(Disk::new(&reading.device));
                disks.len() - 1
            });
            disks[position].add(reading);
        }
    }
    let total_ms: f64 = runs.iter().map(|run| run.report.duration_ms).sum();
    for disk in &mut disks {
        disk.util = rounded((disk.util * 100.0 / total_ms.max(1.0)).min(100.0));
    }
    disks
}

fn target_readings(report: &Report) -> impl Iterator<Item = &Reading> {
    let names = report.device.as_ref().map_or("", |device| &device.name);
    names.split('+').filter_map(|name| {
        let mut readings = report.readings.iter();
        readings.find(|reading| reading.device == name)
    })
}

impl Disk {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds the time with I/O in flight, in ms, to `util`; [`disks`] converts it to a percentage.
    fn add(&mut self, reading: &Reading) {
        let difference = |count: fn(&DeviceCounts) -> u64| {
            count(&reading.end).saturating_sub(count(&reading.start))
        };
        self.read_ios += difference(|counts| counts.read_ios);
        self.write_ios += difference(|counts| counts.write_ios);
        self.read_merges += difference(|counts| counts.read_merges);
        self.write_merges += difference(|counts| counts.write_merges);
        self.read_ticks += difference(|counts| counts.read_ticks_ms);
        self.write_ticks += difference(|counts| counts.write_ticks_ms);
        self.in_queue = self.read_ticks + self.write_ticks;
        self.util += difference(|counts| counts.busy_ms) as f64;
    }
}
