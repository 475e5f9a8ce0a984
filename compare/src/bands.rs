//! Time series of a group of runs: the median and the range of the runs in each bucket.

use leadline_protocol::{
    metrics::Unit,
    run::RunSummary,
    series::{BandColumn, BandMetric, GroupTimeSeries, Series},
};
use leadline_stats::median::median;

/// Each band's metric and unit, and the series columns that are summed.
const BANDS: [(BandMetric, Unit, &[&str]); 3] = [
    (
        BandMetric::Iops,
        Unit::PerSecond,
        &["read_iops", "write_iops", "trim_iops"],
    ),
    (BandMetric::LatP99Ns, Unit::Nanoseconds, &["lat_p99_ns"]),
    (
        BandMetric::BytesPerSecond,
        Unit::BytesPerSecond,
        &["read_bytes_per_second", "write_bytes_per_second"],
    ),
];

/// Results of a whole run, by band.
pub fn run_results(run: &RunSummary) -> [Option<f64>; BANDS.len()] {
    let lat_p99_ns = run.lat_p99_ns.map(|ns| ns as f64);
    [run.iops, lat_p99_ns, run.bytes_per_second]
}

/// Collects the time series of the runs in a group.
#[derive(Default)]
pub struct GroupSeriesBuilder {
    runs: Vec<u64>,
    /// Results of whole runs, by band.
    results: [Vec<f64>; BANDS.len()],
    /// Values, indexed by band, run and bucket.
    values: [Vec<Vec<Option<f64>>>; BANDS.len()],
}

impl GroupSeriesBuilder {
    /// `results`: results of the whole run, by band.
    pub fn add(&mut self, series: &Series, results: [Option<f64>; BANDS.len()]) {
        for (values, result) in self.results.iter_mut().zip(results) {
            values.extend(result);
        }
        self.runs.push(series.run);
        for ((_, _, names), runs) in BANDS.iter().zip(&mut self.values) {
            runs.push(sum(series, names));
        }
    }

    pub fn finish(self, buckets: usize) -> GroupTimeSeries {
        let values_in = |runs: &[Vec<Option<f64>>], bucket: usize| -> Vec<f64> {
            let values = runs.iter().filter_map(|run| run.get(bucket).copied());
            values.flatten().collect()
        };
        let count = self.runs.len();
        let [iops, ..] = &self.values;
        let n = (0..buckets).map(|bucket| values_in(iops, bucket).len() as u32);
        let columns = BANDS.iter().zip(&self.values).zip(&self.results);
        let columns = columns.map(|(((name, unit, _), runs), results)| {
            let bands = (0..buckets).map(|bucket| band(&values_in(runs, bucket), count));
            let bands: Vec<Band> = bands.collect();
            BandColumn {
                name: *name,
                unit: *unit,
                whole: (!results.is_empty()).then(|| median(results)),
                median: bands.iter().map(|band| band.median).collect(),
                low: bands
                    .iter()
                    .map(|band| band.range.map(|(low, _)| low))
                    .collect(),
                high: bands
                    .iter()
                    .map(|band| band.range.map(|(_, high)| high))
                    .collect(),
            }
        });
        GroupTimeSeries {
            n: n.collect(),
            columns: columns.collect(),
            runs: self.runs,
        }
    }
}

#[derive(Default)]
struct Band {
    median: Option<f64>,
    range: Option<(f64, f64)>,
}

/// Returns an empty band for fewer than half of the runs: the median would jump where runs end.
fn band(values: &[f64], runs: usize) -> Band {
    if values.is_empty() || values.len() * 2 < runs {
        return Band::default();
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Band {
        median: Some(median(values)),
        range: (values.len() > 1).then_some((low, high)),
    }
}

/// Sums the means of these columns in each bucket; `None` where all means are unknown.
fn sum(series: &Series, names: &[&str]) -> Vec<Option<f64>> {
    let columns = series.columns.iter();
    let columns: Vec<_> = columns
        .filter(|column| names.contains(&column.name.as_str()))
        .collect();
    let sum = |bucket: usize| {
        let values = columns.iter().filter_map(|column| column.mean[bucket]);
        values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
    };
    (0..series.t_ms.len()).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::series::SeriesColumn;

    fn series(run: u64, columns: &[(&str, &[Option<f64>])]) -> Series {
        let columns = columns.iter().map(|(name, mean)| SeriesColumn {
            name: (*name).into(),
            unit: Unit::PerSecond,
            min: vec![Some(-1.0); mean.len()],
            mean: mean.to_vec(),
            max: vec![Some(1e9); mean.len()],
        });
        let columns: Vec<SeriesColumn> = columns.collect();
        let buckets = columns.first().map_or(0, |column| column.mean.len());
        Series {
            run,
            from_ms: 0.0,
            to_ms: buckets as f64 * 100.0,
            bucket_ms: 100.0,
            t_ms: (1..=buckets).map(|bucket| bucket as f64 * 100.0).collect(),
            columns,
            latency_rows: None,
        }
    }

    /// `expected`: median, lowest and highest IOPS of each bucket.
    fn check(runs: &[&[Option<f64>]], expected: &[[Option<f64>; 3]]) {
        let mut builder = GroupSeriesBuilder::default();
        for (run, values) in (1..).zip(runs) {
            builder.add(&series(run, &[("read_iops", values)]), [None; 3]);
        }
        let built = builder.finish(expected.len());
        let column = &built.columns[0];
        let found: Vec<[Option<f64>; 3]> = (0..expected.len())
            .map(|i| [column.median[i], column.low[i], column.high[i]])
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn band_spans_the_run_means() {
        check(
            &[&[Some(10.0)], &[Some(40.0)], &[Some(20.0)]],
            &[[Some(20.0), Some(10.0), Some(40.0)]],
        );
        check(
            &[&[Some(10.0)], &[Some(40.0)]],
            &[[Some(25.0), Some(10.0), Some(40.0)]],
        );
        check(&[&[Some(0.0)]], &[[Some(0.0), None, None]]);
        check(&[], &[[None, None, None]]);
    }

    #[test]
    fn no_median_for_fewer_than_half_of_the_runs() {
        let (ends, long) = ([Some(10.0)], [Some(40.0), Some(50.0)]);
        let nothing = [None; 3];
        let both = [Some(25.0), Some(10.0), Some(40.0)];
        check(&[&ends, &long], &[both, [Some(50.0), None, None]]);
        let all = [Some(10.0), Some(10.0), Some(40.0)];
        check(&[&ends, &ends, &long], &[all, nothing]);
        check(
            &[&[None, None], &long, &long],
            &[[Some(40.0); 3], [Some(50.0); 3]],
        );
    }

    #[test]
    fn directions_are_summed_before_the_median() {
        let mut builder = GroupSeriesBuilder::default();
        for (run, reads, writes) in [(7, 10.0, 90.0), (8, 90.0, 20.0)] {
            let columns: [(&str, &[Option<f64>]); 4] = [
                ("read_iops", &[Some(reads), Some(reads)]),
                ("write_iops", &[Some(writes), None]),
                ("trim_iops", &[None, None]),
                ("device_read_iops", &[Some(1e6), Some(1e6)]),
            ];
            builder.add(&series(run, &columns), [Some(writes), None, None]);
        }
        let built = builder.finish(2);
        assert_eq!(built.runs, [7, 8]);
        assert_eq!(built.n, [2, 2]);
        assert_eq!(built.columns[0].median, [Some(105.0), Some(50.0)]);
        assert_eq!(built.columns[0].low, [Some(100.0), Some(10.0)]);
        assert_eq!(built.columns[0].whole, Some(55.0));
        assert_eq!(built.columns[1].whole, None);
        // Latency and bandwidth are unknown.
        assert_eq!(built.columns[1].median, [None, None]);
        assert_eq!(built.columns[2].median, [None, None]);
    }
}
