//! Computes metrics from the samples of a run that ended without a report.

use crate::{
    query::series,
    store::{Store, samples::SamplePosition},
};
use leadline_protocol::{
    limits::MAX_MS, phase::Phase, query::SeriesQuery, report_summary::ReportSummary,
    sample::Sample, series::Series,
};

/// Totals over the measured window.
#[derive(Default)]
struct Counts {
    ms: f64,
    ios: u64,
    bytes: u64,
}

impl Counts {
    fn add(&mut self, sample: &Sample) {
        if sample.phase == Phase::Measure {
            self.ms += sample.window_ms;
            self.ios += sample.ios();
            self.bytes += sample.read.bytes + sample.write.bytes + sample.trim.bytes;
        }
    }

    fn rate_per_second(&self, count: u64) -> f64 {
        if self.ms > 0.0 {
            count as f64 * 1e3 / self.ms
        } else {
            0.0
        }
    }
}

/// Reads page by page, so memory use does not depend on the length of the run.
pub(crate) async fn metrics_from_samples(
    store: &Store,
    run: u64,
    sample_ms: u32,
) -> anyhow::Result<ReportSummary> {
    let mut counts = Counts::default();
    let mut position = SamplePosition { t_ms: -1.0, seq: 0 };
    loop {
        let samples = store.samples_after(run, position, MAX_MS).await?;
        let Some((last, _)) = samples.last() else {
            break;
        };
        position = *last;
        samples.iter().for_each(|(_, sample)| counts.add(sample));
    }
    // One bucket that contains the merged histogram of all windows.
    let whole = series::load(store, run, sample_ms, &SeriesQuery::default(), 1).await?;
    Ok(ReportSummary {
        iops: Some(counts.rate_per_second(counts.ios)),
        bytes_per_second: Some(counts.rate_per_second(counts.bytes)),
        lat_p50_ns: latency(&whole, "lat_p50_ns"),
        lat_p99_ns: latency(&whole, "lat_p99_ns"),
        lat_max_ns: latency(&whole, "lat_max_ns"),
        verdict: None,
    })
}

fn latency(series: &Series, name: &str) -> Option<u64> {
    let column = series.columns.iter().find(|column| column.name == name)?;
    column.mean.first()?.map(|ns| ns as u64)
}
