//! A run's samples in buckets, for charts: min, mean and max of every column, never the samples whole. Pure, one pass,
//! memory for one bucket. A column is one line in `COLUMNS`.
//!
//! What a bucket's mean is: counts over the bucket's time, percentiles of its merged histogram, gauges averaged over
//! time. Min and max are those of single sampling windows, so that a stall of one window is seen at any zoom.

use leadline_protocol::counters::{CpuUse, DeviceCounts, IoCounts, Memory, Pressure};
use leadline_protocol::histogram;
use leadline_protocol::histogram::Buckets;
use leadline_protocol::sample::Sample;
use leadline_protocol::series::{Series, SeriesColumn};
use std::collections::BTreeMap;

/// Enough for two points a pixel on the widest screen.
pub const MAX_POINTS: u32 = 5_000;
/// Buckets when nothing is said.
pub const DEFAULT_POINTS: u32 = 600;

/// How a column comes out of a sample.
enum Measure {
    /// A count in the window; shown per second.
    Rate(fn(&Sample) -> Option<u64>),
    /// A state at the end of the window, or a share of it.
    Gauge(fn(&Sample) -> Option<f64>),
    /// A percentile of all latencies.
    Percentile(f64),
    /// The longest latency.
    Longest,
}

/// Every column: name, unit, source.
const COLUMNS: &[(&str, &str, Measure)] = &[
    (
        "read_iops",
        "1/s",
        Measure::Rate(|sample| Some(sample.read.ios)),
    ),
    (
        "write_iops",
        "1/s",
        Measure::Rate(|sample| Some(sample.write.ios)),
    ),
    (
        "trim_iops",
        "1/s",
        Measure::Rate(|sample| Some(sample.trim.ios)),
    ),
    (
        "read_bytes_per_second",
        "bytes/s",
        Measure::Rate(|sample| Some(sample.read.bytes)),
    ),
    (
        "write_bytes_per_second",
        "bytes/s",
        Measure::Rate(|sample| Some(sample.write.bytes)),
    ),
    ("lat_p50_ns", "ns", Measure::Percentile(50.0)),
    ("lat_p99_ns", "ns", Measure::Percentile(99.0)),
    ("lat_p999_ns", "ns", Measure::Percentile(99.9)),
    ("lat_max_ns", "ns", Measure::Longest),
    (
        "device_read_iops",
        "1/s",
        Measure::Rate(|sample| device(sample, |counts| counts.read_ios)),
    ),
    (
        "device_write_iops",
        "1/s",
        Measure::Rate(|sample| device(sample, |counts| counts.write_ios)),
    ),
    (
        "device_read_bytes_per_second",
        "bytes/s",
        Measure::Rate(|sample| device(sample, |counts| counts.read_bytes)),
    ),
    (
        "device_write_bytes_per_second",
        "bytes/s",
        Measure::Rate(|sample| device(sample, |counts| counts.write_bytes)),
    ),
    (
        "in_flight",
        "1",
        Measure::Gauge(|sample| Some(sample.in_flight as f64)),
    ),
    (
        "cached",
        "bytes",
        Measure::Gauge(|sample| memory(sample, |memory| memory.cached)),
    ),
    (
        "buffers",
        "bytes",
        Measure::Gauge(|sample| memory(sample, |memory| memory.buffers)),
    ),
    (
        "dirty",
        "bytes",
        Measure::Gauge(|sample| memory(sample, |memory| memory.dirty)),
    ),
    (
        "writeback",
        "bytes",
        Measure::Gauge(|sample| memory(sample, |memory| memory.writeback)),
    ),
    (
        "target_cached",
        "bytes",
        Measure::Gauge(|sample| sample.residency.map(|residency| residency.cached as f64)),
    ),
    (
        "target_dirty",
        "bytes",
        Measure::Gauge(|sample| {
            sample
                .residency
                .and_then(|residency| Some(residency.dirty? as f64))
        }),
    ),
    (
        "process_user",
        "%",
        Measure::Gauge(|sample| cpu(sample, |cpu| cpu.process_user)),
    ),
    (
        "process_system",
        "%",
        Measure::Gauge(|sample| cpu(sample, |cpu| cpu.process_system)),
    ),
    (
        "machine_busy",
        "%",
        Measure::Gauge(|sample| {
            cpu(sample, |cpu| {
                cpu.host_user + cpu.host_system + cpu.host_steal
            })
        }),
    ),
    (
        "io_some",
        "%",
        Measure::Gauge(|sample| pressure(sample, |pressure| pressure.io_some)),
    ),
    (
        "io_full",
        "%",
        Measure::Gauge(|sample| pressure(sample, |pressure| pressure.io_full)),
    ),
];

fn device(sample: &Sample, count: fn(&DeviceCounts) -> u64) -> Option<u64> {
    sample.device.as_ref().map(count)
}

fn memory(sample: &Sample, bytes: fn(&Memory) -> u64) -> Option<f64> {
    sample.memory.as_ref().map(|memory| bytes(memory) as f64)
}

fn cpu(sample: &Sample, percent: fn(&CpuUse) -> f64) -> Option<f64> {
    sample.cpu.as_ref().map(percent)
}

fn pressure(sample: &Sample, percent: fn(&Pressure) -> f64) -> Option<f64> {
    sample.pressure.as_ref().map(percent)
}

/// One column inside one bucket.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// Counts, or gauge × milliseconds.
    sum: f64,
    /// Milliseconds that have a value.
    weight_ms: f64,
    /// Smallest and largest value of a window.
    span: Option<(f64, f64)>,
}

impl Cell {
    fn see(&mut self, value: f64) {
        self.span = Some(self.span.map_or((value, value), |(min, max)| {
            (min.min(value), max.max(value))
        }));
    }
}

/// Folds samples into a series.
pub struct SeriesFold {
    series: Series,
    current: usize,
    cells: Vec<Cell>,
    /// All latencies of the current bucket.
    latencies: BTreeMap<u32, u64>,
    buckets: usize,
}

impl SeriesFold {
    /// From `from_ms` to `to_ms` (from the start of the measured window) in at most `points` buckets, each a whole
    /// number of sampling windows long.
    pub fn new(run: u64, (from_ms, to_ms): (f64, f64), points: u32, sample_ms: u32) -> Self {
        let grid_ms = f64::from(sample_ms);
        let bucket_ms = ((to_ms - from_ms) / f64::from(points) / grid_ms)
            .ceil()
            .max(1.0)
            * grid_ms;
        let buckets = ((to_ms - from_ms) / bucket_ms).ceil().max(0.0) as usize;
        let ends = (1..=buckets).map(|bucket| from_ms + bucket as f64 * bucket_ms);
        let columns = COLUMNS
            .iter()
            .map(|(name, unit, _)| empty_column(name, unit, buckets))
            .collect();
        let t_ms: Vec<f64> = ends.collect();
        let to_ms = t_ms.last().copied().unwrap_or(from_ms);
        let series = Series {
            run,
            from_ms,
            to_ms,
            bucket_ms,
            t_ms,
            columns,
        };
        Self {
            series,
            current: 0,
            cells: vec![Cell::default(); COLUMNS.len()],
            latencies: BTreeMap::new(),
            buckets,
        }
    }

    /// Adds a sample by the end of its window; ends must not fall.
    pub fn push(&mut self, end_ms: f64, sample: &Sample) {
        // The middle of a window tells its bucket: ends may be a moment late.
        let middle =
            (end_ms - sample.window_ms / 2.0 - self.series.from_ms) / self.series.bucket_ms;
        if middle < 0.0 || middle >= self.buckets as f64 || sample.window_ms <= 0.0 {
            return;
        }
        if middle as usize > self.current {
            self.close_bucket();
            self.current = middle as usize;
        }
        let latencies = latencies(sample);
        for ((_, _, measure), cell) in COLUMNS.iter().zip(&mut self.cells) {
            add(cell, measure, sample, &latencies);
        }
        latencies
            .into_iter()
            .for_each(|(bucket, count)| *self.latencies.entry(bucket).or_default() += count);
    }

    /// The series.
    pub fn finish(mut self) -> Series {
        if self.buckets > 0 {
            self.close_bucket();
        }
        self.series
    }

    fn close_bucket(&mut self) {
        let merged: Buckets = std::mem::take(&mut self.latencies).into_iter().collect();
        for (((_, _, measure), cell), column) in COLUMNS
            .iter()
            .zip(&mut self.cells)
            .zip(&mut self.series.columns)
        {
            let cell = std::mem::take(cell);
            column.min[self.current] = cell.span.map(|span| span.0);
            column.max[self.current] = cell.span.map(|span| span.1);
            column.mean[self.current] = match measure {
                Measure::Rate(_) => (cell.weight_ms > 0.0).then(|| cell.sum / cell.weight_ms * 1e3),
                Measure::Gauge(_) => (cell.weight_ms > 0.0).then(|| cell.sum / cell.weight_ms),
                Measure::Percentile(percentile) => percentile_of(&merged, *percentile),
                Measure::Longest => longest_of(&merged),
            };
        }
    }
}

fn empty_column(name: &str, unit: &str, buckets: usize) -> SeriesColumn {
    let none = || vec![None; buckets];
    SeriesColumn {
        name: name.into(),
        unit: unit.into(),
        min: none(),
        mean: none(),
        max: none(),
    }
}

fn add(cell: &mut Cell, measure: &Measure, sample: &Sample, latencies: &Buckets) {
    let value = match measure {
        Measure::Rate(count) => count(sample).map(|count| {
            cell.sum += count as f64;
            cell.weight_ms += sample.window_ms;
            count as f64 / sample.window_ms * 1e3
        }),
        Measure::Gauge(state) => state(sample).inspect(|value| {
            cell.sum += value * sample.window_ms;
            cell.weight_ms += sample.window_ms;
        }),
        Measure::Percentile(percentile) => percentile_of(latencies, *percentile),
        Measure::Longest => longest_of(latencies),
    };
    if let Some(value) = value {
        cell.see(value);
    }
}

/// Latencies of reads, writes and trims together, in order of their buckets.
fn latencies(sample: &Sample) -> Buckets {
    let flows = [&sample.read, &sample.write, &sample.trim];
    match flows
        .map(|flow: &IoCounts| !flow.lat_ns.is_empty())
        .into_iter()
        .filter(|some| *some)
        .count()
    {
        0 => Vec::new(),
        1 => flows
            .into_iter()
            .find(|flow| !flow.lat_ns.is_empty())
            .map(|flow| flow.lat_ns.clone())
            .unwrap_or_default(),
        _ => {
            let mut sum = BTreeMap::new();
            flows
                .into_iter()
                .flat_map(|flow| &flow.lat_ns)
                .for_each(|(bucket, count)| *sum.entry(*bucket).or_insert(0) += count);
            sum.into_iter().collect()
        }
    }
}

fn percentile_of(buckets: &Buckets, percentile: f64) -> Option<f64> {
    histogram::percentiles(buckets, &[percentile])
        .first()
        .map(|ns| *ns as f64)
}

fn longest_of(buckets: &[(u32, u64)]) -> Option<f64> {
    buckets
        .last()
        .map(|(bucket, _)| histogram::middle_of(*bucket as usize) as f64)
}

#[cfg(test)]
mod tests {
    use leadline_protocol::phase::Phase;

    use super::*;

    /// A sample of 100 ms with so many reads of 4 KiB, all with the latency of one bucket.
    fn sample(reads: u64, bucket: u32, dirty: Option<u64>) -> Sample {
        let lat_ns = if reads > 0 {
            vec![(bucket, reads)]
        } else {
            Vec::new()
        };
        Sample {
            phase: Phase::Measure,
            window_ms: 100.0,
            read: IoCounts {
                ios: reads,
                bytes: reads * 4096,
                lat_ns,
            },
            write: IoCounts::default(),
            trim: IoCounts::default(),
            sync: IoCounts::default(),
            in_flight: 8,
            errors: 0,
            device: None,
            physical_devices: None,
            memory: dirty.map(|dirty| Memory {
                dirty,
                ..Memory::default()
            }),
            cpu: None,
            pressure: None,
            storage: None,
            residency: None,
            gauge: None,
        }
    }

    fn fold(span: (f64, f64), points: u32, samples: &[(f64, Sample)]) -> Series {
        let mut fold = SeriesFold::new(1, span, points, 100);
        samples
            .iter()
            .for_each(|(end, sample)| fold.push(*end, sample));
        fold.finish()
    }

    /// min, mean and max of a column.
    type Rows<'a> = (&'a [Option<f64>], &'a [Option<f64>], &'a [Option<f64>]);

    fn check(series: &Series, name: &str, expect: Rows<'_>) {
        let column = series
            .columns
            .iter()
            .find(|column| column.name == name)
            .unwrap();
        assert_eq!(
            (
                column.min.as_slice(),
                column.mean.as_slice(),
                column.max.as_slice()
            ),
            expect,
            "{name}"
        );
    }

    #[test]
    fn two_windows_a_bucket() {
        let samples = [
            (100.0, sample(10, 20, Some(5))),
            (200.02, sample(30, 60, Some(7))),
            (300.0, sample(0, 0, None)),
            (400.1, sample(40, 20, None)),
        ];
        let series = fold((0.0, 400.0), 2, &samples);
        assert_eq!(
            (series.bucket_ms, series.t_ms.as_slice()),
            (200.0, [200.0, 400.0].as_slice())
        );
        check(
            &series,
            "read_iops",
            (
                &[Some(100.0), Some(0.0)],
                &[Some(200.0), Some(200.0)],
                &[Some(300.0), Some(400.0)],
            ),
        );
        check(
            &series,
            "dirty",
            (&[Some(5.0), None], &[Some(6.0), None], &[Some(7.0), None]),
        );
        check(
            &series,
            "lat_p50_ns",
            (
                &[Some(20.0), Some(20.0)],
                &[Some(60.0), Some(20.0)],
                &[Some(60.0), Some(20.0)],
            ),
        );
        check(
            &series,
            "lat_max_ns",
            (
                &[Some(20.0), Some(20.0)],
                &[Some(60.0), Some(20.0)],
                &[Some(60.0), Some(20.0)],
            ),
        );
        check(
            &series,
            "device_read_iops",
            (&[None, None], &[None, None], &[None, None]),
        );
    }

    #[test]
    fn gaps_are_null_and_strangers_are_left_out() {
        let samples = [
            (-50.0, sample(99, 9, None)),
            (100.0, sample(10, 9, None)),
            (300.0, sample(10, 9, None)),
            (401.0, sample(99, 9, None)),
        ];
        let series = fold((0.0, 300.0), 600, &samples);
        assert_eq!(series.t_ms, [100.0, 200.0, 300.0]);
        check(
            &series,
            "read_iops",
            (
                &[Some(100.0), None, Some(100.0)],
                &[Some(100.0), None, Some(100.0)],
                &[Some(100.0), None, Some(100.0)],
            ),
        );
    }

    #[test]
    fn a_stall_of_one_window_is_seen_at_any_zoom() {
        let samples: Vec<_> = (1..=1000)
            .map(|window| {
                (
                    f64::from(window) * 100.0,
                    sample(u64::from(window != 500) * 10, 9, None),
                )
            })
            .collect();
        let series = fold((0.0, 100_000.0), 10, &samples);
        let reads = &series.columns[0];
        assert_eq!(
            (reads.min[4], reads.max[4], reads.min[5]),
            (Some(0.0), Some(100.0), Some(100.0))
        );
    }

    #[test]
    fn nothing_asked_nothing_given() {
        let series = fold((0.0, 0.0), 600, &[(100.0, sample(1, 1, None))]);
        assert!(
            series.t_ms.is_empty() && series.columns.iter().all(|column| column.mean.is_empty())
        );
        assert_eq!(series.columns.len(), COLUMNS.len());
    }
}
