//! CSV export of a run's samples.

use crate::store::{Store, samples::SamplePosition};
use futures_util::{Stream, StreamExt, stream};
use leadline_protocol::{
    metrics::{METRICS, Metric},
    sample::Sample,
};

/// Yields the header, then pages of rows.
pub(crate) fn csv(store: Store, run: u64) -> impl Stream<Item = anyhow::Result<String>> {
    let names = columns().filter_map(|metric| metric.csv);
    let header = line(["t_ms", "phase"].into_iter().chain(names));
    let start = SamplePosition {
        t_ms: f64::MIN,
        seq: 0,
    };
    let rows = stream::try_unfold((store, start), move |(store, position)| async move {
        let samples = store.samples_after(run, position, f64::MAX).await?;
        let Some((last, _)) = samples.last() else {
            return Ok(None);
        };
        let last = *last;
        let rows = samples
            .iter()
            .map(|(position, sample)| row(position.t_ms, sample));
        Ok(Some((rows.collect(), (store, last))))
    });
    stream::once(async { Ok(header) }).chain(rows)
}

fn columns() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(|metric| metric.csv.is_some())
}

/// Unavailable values are empty.
fn row(t_ms: f64, sample: &Sample) -> String {
    let phase = format!("{:?}", sample.phase).to_lowercase();
    let values = columns().map(|metric| match metric.window_value(sample) {
        Some(value) => value.to_string(),
        None => String::new(),
    });
    line([t_ms.to_string(), phase].into_iter().chain(values))
}

fn line<T: AsRef<str>>(cells: impl Iterator<Item = T>) -> String {
    let mut line = String::new();
    for cell in cells {
        if !line.is_empty() {
            line.push(',');
        }
        line.push_str(cell.as_ref());
    }
    line.push('\n');
    line
}
