//! Aggregates samples into buckets. Pure.
//!
//! The mean of a bucket is computed from its counts per time, from its merged latency histogram, or
//! as the time average of a gauge. Min and max are values of single sampling windows, so short
//! stalls stay visible at any zoom.

use leadline_protocol::{
    histogram::{self, Buckets},
    metrics::{METRICS, Metric, WindowValue},
    sample::Sample,
    series::{Series, SeriesColumn},
};
use std::collections::BTreeMap;

/// The midpoint of a window determines its bucket, because windows can end slightly late.
pub(crate) struct SeriesBuilder {
    run: u64,
    from_ms: f64,
    bucket_ms: f64,
    buckets: usize,
    current: usize,
    /// Latencies of all directions in the current bucket.
    latencies: BTreeMap<u32, u64>,
    columns: Vec<Column>,
}

impl SeriesBuilder {
    /// Times are relative to the start of the measured window.
    pub(crate) fn new(run: u64, from_ms: f64, to_ms: f64, points: u32, sample_ms: u32) -> Self {
        let sample_ms = f64::from(sample_ms);
        let range_ms = to_ms - from_ms;
        let windows = (range_ms / f64::from(points) / sample_ms).ceil();
        let bucket_ms = windows.max(1.0) * sample_ms;
        let buckets = (range_ms / bucket_ms).ceil().max(0.0) as usize;
        let columns = METRICS.iter().filter_map(|metric| {
            let value = metric.window.filter(|_| metric.in_series)?;
            Some(Column::new(metric, value, buckets))
        });
        Self {
            run,
            from_ms,
            bucket_ms,
            buckets,
            current: 0,
            latencies: BTreeMap::new(),
            columns: columns.collect(),
        }
    }

    /// Adds a sample whose window ends at `end_ms`. Samples must be in order.
    pub(crate) fn push(&mut self, end_ms: f64, sample: &Sample) {
        let midpoint_ms = end_ms - sample.window_ms / 2.0;
        let bucket = (midpoint_ms - self.from_ms) / self.bucket_ms;
        if sample.window_ms <= 0.0 || !(0.0..self.buckets as f64).contains(&bucket) {
            return;
        }
        if bucket as usize > self.current {
            self.close_bucket();
            self.current = bucket as usize;
        }
        let directions = [&sample.read, &sample.write, &sample.trim];
        let latencies = histogram::merge(directions.map(|counts| &counts.lat_ns));
        for column in &mut self.columns {
            column.add(sample, &latencies);
        }
        for (bucket, count) in &latencies {
            *self.latencies.entry(*bucket).or_default() += count;
        }
    }

    pub(crate) fn finish(mut self) -> Series {
        if self.buckets > 0 {
            self.close_bucket();
        }
        let end_ms = |buckets: usize| self.from_ms + buckets as f64 * self.bucket_ms;
        Series {
            run: self.run,
            from_ms: self.from_ms,
            to_ms: end_ms(self.buckets),
            bucket_ms: self.bucket_ms,
            t_ms: (1..=self.buckets).map(end_ms).collect(),
            columns: self
                .columns
                .into_iter()
                .map(|column| column.series)
                .collect(),
        }
    }

    fn close_bucket(&mut self) {
        let latencies: Buckets = std::mem::take(&mut self.latencies).into_iter().collect();
        for column in &mut self.columns {
            column.close_bucket(self.current, &latencies);
        }
    }
}

struct Column {
    value: WindowValue,
    current: Bucket,
    series: SeriesColumn,
}

#[derive(Default)]
struct Bucket {
    /// Counts, or gauge times milliseconds.
    sum: f64,
    /// Length of the windows with a value.
    ms: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl Column {
    fn new(metric: &Metric, value: WindowValue, buckets: usize) -> Self {
        let series = SeriesColumn {
            name: metric.name.into(),
            unit: metric.unit,
            min: vec![None; buckets],
            mean: vec![None; buckets],
            max: vec![None; buckets],
        };
        Self {
            value,
            current: Bucket::default(),
            series,
        }
    }

    fn add(&mut self, sample: &Sample, latencies: &Buckets) {
        let window_ms = sample.window_ms;
        let bucket = &mut self.current;
        let mut weigh = |sum: f64| {
            bucket.sum += sum;
            bucket.ms += window_ms;
        };
        let value = match self.value {
            WindowValue::Count(count) => count(sample).map(|count| {
                weigh(count);
                count / window_ms * 1e3
            }),
            WindowValue::Gauge(gauge) => gauge(sample).inspect(|level| weigh(level * window_ms)),
            WindowValue::LatencyPercentile(percent) => percentile(latencies, percent),
            WindowValue::LatencyMax => max(latencies),
        };
        if let Some(value) = value {
            bucket.min = Some(bucket.min.map_or(value, |min| min.min(value)));
            bucket.max = Some(bucket.max.map_or(value, |max| max.max(value)));
        }
    }

    fn close_bucket(&mut self, index: usize, latencies: &Buckets) {
        let bucket = std::mem::take(&mut self.current);
        let average = (bucket.ms > 0.0).then(|| bucket.sum / bucket.ms);
        self.series.min[index] = bucket.min;
        self.series.max[index] = bucket.max;
        self.series.mean[index] = match self.value {
            WindowValue::Count(_) => average.map(|per_ms| per_ms * 1e3),
            WindowValue::Gauge(_) => average,
            WindowValue::LatencyPercentile(percent) => percentile(latencies, percent),
            WindowValue::LatencyMax => max(latencies),
        };
    }
}

fn percentile(buckets: &Buckets, percent: f64) -> Option<f64> {
    let percentiles = histogram::percentiles(buckets, &[percent]);
    percentiles.first().map(|ns| *ns as f64)
}

fn max(buckets: &Buckets) -> Option<f64> {
    let (bucket, _) = buckets.last()?;
    Some(histogram::midpoint_of(*bucket as usize) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::counters::{IoCounts, Memory};
    use leadline_protocol::phase::Phase;

    /// A window of 100 ms with 4 KiB reads of one latency.
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

    fn series(to_ms: f64, points: u32, samples: &[(f64, Sample)]) -> Series {
        let mut series = SeriesBuilder::new(1, 0.0, to_ms, points, 100);
        for (end_ms, sample) in samples {
            series.push(*end_ms, sample);
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
    fn empty_range_has_columns_without_buckets() {
        let series = series(0.0, 600, &[(100.0, sample(1, 1, None))]);
        assert!(series.t_ms.is_empty());
        assert!(!series.columns.is_empty());
        assert!(series.columns.iter().all(|column| column.mean.is_empty()));
    }
}
