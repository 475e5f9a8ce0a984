//! Aggregates samples and rollups into buckets. Pure.
//!
//! The mean of a bucket is computed from its counts and duration, from its merged latency
//! histogram, or as the time average of a gauge. Min and max are values of individual sampling
//! windows, so short stalls are visible at any zoom level.

use crate::rollups::{
    LEVELS,
    aggregate::{Aggregate, COLUMNS, max, percentile},
};
use leadline_protocol::{
    histogram::{Buckets, midpoint_of},
    metrics::WindowValue,
    sample::Sample,
    series::{Series, SeriesColumn, latency_row},
};

/// The buckets of a series. Times are relative to the start of the measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    pub from_ms: f64,
    pub bucket_ms: f64,
    /// Number of buckets.
    pub buckets: usize,
    /// Length of the rollups that make up the buckets, in sampling intervals. `None` for samples.
    pub rollup: Option<u32>,
}

impl Grid {
    /// Uses rollups if each bucket would span at least `shortest` sampling windows. Such buckets
    /// are aligned with rollups.
    pub(crate) fn new(
        from_ms: f64,
        to_ms: f64,
        points: u32,
        sample_ms: u32,
        shortest: f64,
    ) -> Self {
        let sample_ms = f64::from(sample_ms);
        let windows = ((to_ms - from_ms) / f64::from(points) / sample_ms).ceil();
        let windows = if windows >= shortest {
            windows.max(LEVELS[0].into())
        } else {
            windows
        };
        let levels = LEVELS.into_iter().rev();
        // There are no rollups before the start of the measured window.
        let rollup = levels
            .filter(|_| from_ms >= 0.0)
            .find(|level| f64::from(*level) <= windows);
        let unit = f64::from(rollup.unwrap_or(1));
        let bucket_ms = (windows / unit).ceil().max(1.0) * unit * sample_ms;
        let from_ms = match rollup {
            Some(_) => (from_ms / (unit * sample_ms)).floor() * unit * sample_ms,
            None => from_ms,
        };
        Self {
            from_ms,
            bucket_ms,
            buckets: ((to_ms - from_ms) / bucket_ms).ceil().max(0.0) as usize,
            rollup,
        }
    }
}

/// Samples and rollups must be added in order.
pub(crate) struct SeriesBuilder {
    run: u64,
    grid: Grid,
    /// The bucket being filled.
    index: usize,
    current: Aggregate,
    columns: Vec<SeriesColumn>,
    latency_rows: Option<Vec<Vec<(u32, u64)>>>,
}

impl SeriesBuilder {
    pub(crate) fn new(run: u64, grid: Grid, with_latency_rows: bool) -> Self {
        let columns = COLUMNS.iter().map(|(metric, _)| SeriesColumn {
            name: metric.name.into(),
            unit: metric.unit,
            min: vec![None; grid.buckets],
            mean: vec![None; grid.buckets],
            max: vec![None; grid.buckets],
        });
        Self {
            run,
            grid,
            index: 0,
            current: Aggregate::default(),
            columns: columns.collect(),
            latency_rows: with_latency_rows.then(|| vec![Vec::new(); grid.buckets]),
        }
    }

    /// Adds a sample. Its bucket is determined by the midpoint of its window, because windows can
    /// end slightly late.
    pub(crate) fn push(&mut self, midpoint_ms: f64, sample: &Sample) {
        if sample.window_ms > 0.0
            && let Some(bucket) = self.bucket(midpoint_ms)
        {
            bucket.add(sample);
        }
    }

    pub(crate) fn push_rollup(&mut self, midpoint_ms: f64, rollup: &Aggregate) {
        if let Some(bucket) = self.bucket(midpoint_ms) {
            bucket.merge(rollup);
        }
    }

    pub(crate) fn finish(mut self) -> Series {
        self.close_bucket();
        let grid = self.grid;
        let end_ms = |buckets: usize| grid.from_ms + buckets as f64 * grid.bucket_ms;
        Series {
            run: self.run,
            from_ms: grid.from_ms,
            to_ms: end_ms(grid.buckets),
            bucket_ms: grid.bucket_ms,
            t_ms: (1..=grid.buckets).map(end_ms).collect(),
            columns: self.columns,
            latency_rows: self.latency_rows,
        }
    }

    /// Returns the bucket at a time, or `None` if it is out of range.
    fn bucket(&mut self, t_ms: f64) -> Option<&mut Aggregate> {
        let index = (t_ms - self.grid.from_ms) / self.grid.bucket_ms;
        if !(0.0..self.grid.buckets as f64).contains(&index) {
            return None;
        }
        if index as usize > self.index {
            self.close_bucket();
            self.index = index as usize;
        }
        Some(&mut self.current)
    }

    fn close_bucket(&mut self) {
        let current = std::mem::take(&mut self.current);
        let latencies = current.latencies();
        if let Some(buckets) = &mut self.latency_rows
            && let Some(rows) = buckets.get_mut(self.index)
        {
            *rows = heat_map_rows(latencies);
        }
        for (column, (metric, value)) in self.columns.iter_mut().zip(&*COLUMNS) {
            if let Some(stats) = current.stats(metric.name) {
                column.min[self.index] = Some(stats.min);
                column.max[self.index] = Some(stats.max);
                column.mean[self.index] = mean(*value, stats.sum / stats.ms, latencies);
            }
        }
    }
}

/// Converts a histogram to I/O counts per heat map row.
fn heat_map_rows(latencies: &Buckets) -> Vec<(u32, u64)> {
    let mut rows: Vec<(u32, u64)> = Vec::new();
    for (bucket, count) in latencies {
        let row = latency_row(midpoint_of(*bucket as usize));
        match rows.last_mut() {
            Some((last, sum)) if *last == row => *sum += count,
            _ => rows.push((row, *count)),
        }
    }
    rows
}

/// `per_ms`: the count per millisecond, or the time average of a gauge.
fn mean(value: WindowValue, per_ms: f64, latencies: &Buckets) -> Option<f64> {
    match value {
        WindowValue::Count(_) => Some(per_ms * 1e3),
        WindowValue::Gauge(_) => Some(per_ms),
        WindowValue::LatencyPercentile(percent) => percentile(latencies, percent),
        WindowValue::LatencyMax => max(latencies),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::counters::{IoCounts, Memory};
    use leadline_protocol::phase::Phase;

    /// A 100 ms window with 4 KiB reads, all with the same latency.
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
            silent_ms: None,
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
            steady_states: Vec::new(),
        }
    }

    fn series(to_ms: f64, points: u32, samples: &[(f64, Sample)]) -> Series {
        let mut series = SeriesBuilder::new(1, Grid::new(0.0, to_ms, points, 100, 20.0), true);
        for (end_ms, sample) in samples {
            series.push(end_ms - sample.window_ms / 2.0, sample);
        }
        series.finish()
    }

    /// `expected`: min, mean and max of each bucket.
    fn check(series: &Series, name: &str, expected: &[Option<[f64; 3]>]) {
        let column = series.columns.iter().find(|column| column.name == name);
        let column = column.unwrap();
        let found: Vec<Option<[f64; 3]>> = (0..series.t_ms.len())
            .map(|i| Some([column.min[i]?, column.mean[i]?, column.max[i]?]))
            .collect();
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn buckets_aggregate_two_windows() {
        let samples = [
            (100.0, sample(10, 20, Some(5))),
            (200.02, sample(30, 60, Some(7))),
            (300.0, sample(0, 0, None)),
            (400.1, sample(40, 20, None)),
        ];
        let series = series(400.0, 2, &samples);
        assert_eq!(series.bucket_ms, 200.0);
        assert_eq!(series.t_ms, [200.0, 400.0]);
        let reads = [Some([100.0, 200.0, 300.0]), Some([0.0, 200.0, 400.0])];
        check(&series, "read_iops", &reads);
        check(&series, "dirty", &[Some([5.0, 6.0, 7.0]), None]);
        let latency = [Some([20.0, 60.0, 60.0]), Some([20.0, 20.0, 20.0])];
        check(&series, "lat_p50_ns", &latency);
        check(&series, "lat_max_ns", &latency);
        check(&series, "device_read_iops", &[None, None]);
    }

    #[test]
    fn latencies_are_counted_by_row() {
        let samples = [
            (100.0, sample(10, 64, None)),
            (200.0, sample(30, 65, None)),
            (300.0, sample(0, 0, None)),
            (400.0, sample(5, 128, None)),
        ];
        let rows = series(400.0, 2, &samples).latency_rows.unwrap();
        // 64 and 65 ns are in the row that starts at 2^(24/4) ns.
        assert_eq!(rows, [vec![(24, 40)], vec![(28, 5)]]);
    }

    #[test]
    fn gaps_are_null_and_samples_out_of_range_are_ignored() {
        let samples = [
            (-50.0, sample(99, 9, None)),
            (100.0, sample(10, 9, None)),
            (300.0, sample(10, 9, None)),
            (401.0, sample(99, 9, None)),
        ];
        let series = series(300.0, 600, &samples);
        assert_eq!(series.t_ms, [100.0, 200.0, 300.0]);
        let hundred = Some([100.0; 3]);
        check(&series, "read_iops", &[hundred, None, hundred]);
    }

    #[test]
    fn stall_within_one_window_is_visible_at_any_zoom() {
        let samples: Vec<_> = (1..=1000)
            .map(|window| {
                let reads = u64::from(window != 500) * 10;
                (f64::from(window) * 100.0, sample(reads, 9, None))
            })
            .collect();
        let series = series(100_000.0, 10, &samples);
        let reads = &series.columns[0];
        assert_eq!(reads.name, "read_iops");
        assert_eq!((reads.min[4], reads.max[4]), (Some(0.0), Some(100.0)));
        assert_eq!(reads.min[5], Some(100.0));
    }

    #[test]
    fn columns_of_an_empty_range_have_no_buckets() {
        let series = series(0.0, 600, &[(100.0, sample(1, 1, None))]);
        assert!(series.t_ms.is_empty());
        assert!(!series.columns.is_empty());
        assert!(series.columns.iter().all(|column| column.mean.is_empty()));
    }
}
