//! Exports a run: its samples as CSV, and its results in fio's formats.

use crate::{
    rollups::{
        aggregate::{max, merged_latencies, percentile},
        chunk::{MERGED_WINDOWS, TimedSample, merge_histograms},
    },
    store::{Store, samples::SamplePosition},
};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use leadline_export::{
    FinishedRun,
    fio::{
        job_file::job_file,
        json::FioJson,
        logs::{Log, LogKind},
        terse::terse,
    },
    windows::Windows,
};
use leadline_protocol::{
    annotation::Annotation,
    metrics::{METRICS, Metric, WindowValue},
    problem::Problem,
    run::Run,
    sample::Sample,
};

/// Yields the header, then pages of rows. The last column contains the window's annotations.
pub(crate) fn csv(
    store: Store,
    run: u64,
    annotations: Vec<Annotation>,
) -> impl Stream<Item = anyhow::Result<String>> {
    let names = columns().filter_map(|metric| metric.csv);
    let names = ["t_ms", "phase"].into_iter().chain(names);
    let header = line(names.chain(["annotation"]));
    let mut annotations = annotations.into_iter().peekable();
    let pages = pages(store, run).map_ok(move |page| {
        let rows = page.iter().map(|(t_ms, sample)| {
            let of_window = std::iter::from_fn(|| annotations.next_if(|next| next.t_ms <= *t_ms));
            let texts: Vec<String> = of_window.map(|annotation| annotation.text).collect();
            row(*t_ms, sample, &texts.join("; "))
        });
        rows.collect()
    });
    stream::once(async { Ok(header) }).chain(pages)
}

/// Yields all samples with their end times, in pages. Histograms are merged as in compressed
/// samples, so an export does not depend on when the samples are compressed.
fn pages(store: Store, run: u64) -> impl Stream<Item = anyhow::Result<Vec<TimedSample>>> {
    let start = SamplePosition {
        t_ms: f64::MIN,
        seq: 0,
    };
    let state = (store, Some(start), Groups::default());
    stream::try_unfold(state, move |(store, position, mut groups)| async move {
        let Some(position) = position else {
            return Ok(None);
        };
        let samples = store.samples_after(run, position, f64::MAX).await?;
        let next = samples.last().map(|(position, _)| *position);
        for (position, sample) in samples {
            groups.add(position, sample);
        }
        if next.is_none() {
            groups.close();
        }
        let page = std::mem::take(&mut groups.merged);
        Ok(Some((page, (store, next, groups))))
    })
}

/// Merges the histograms of consecutive samples, in groups as large as those in compressed chunks.
#[derive(Default)]
struct Groups {
    open: Vec<TimedSample>,
    last_seq: u64,
    merged: Vec<TimedSample>,
}

impl Groups {
    fn add(&mut self, position: SamplePosition, sample: Sample) {
        if self.open.len() == MERGED_WINDOWS || position.seq != self.last_seq + 1 {
            self.close();
        }
        self.last_seq = position.seq;
        self.open.push((position.t_ms, sample));
    }

    fn close(&mut self) {
        merge_histograms(&mut self.open);
        self.merged.append(&mut self.open);
    }
}

/// Values of fio's `--output-format`.
#[derive(Clone, Copy)]
pub(crate) enum FioFormat {
    Json,
    JsonPlus,
    Terse,
}

/// Returns the results in fio's output format, or `None` if the run has no result.
pub(crate) async fn fio_results(
    store: Store,
    run: &Run,
    format: FioFormat,
) -> anyhow::Result<Option<String>> {
    let (Some(report), Some(resolved)) = (&run.report, &run.resolved) else {
        return Ok(None);
    };
    let windows = pages(store, run.summary.number)
        .try_fold(Windows::default(), |mut windows, page| async move {
            page.iter().for_each(|(_, sample)| windows.add(sample));
            Ok(windows)
        })
        .await?;
    let runs = [FinishedRun::new(
        &run.requested.jobs,
        resolved,
        report,
        &windows,
    )];
    Ok(Some(match format {
        FioFormat::Json => serde_json::to_string_pretty(&FioJson::new(&runs, false))? + "\n",
        FioFormat::JsonPlus => serde_json::to_string_pretty(&FioJson::new(&runs, true))? + "\n",
        FioFormat::Terse => terse(&runs),
    }))
}

/// Yields one fio log, in pages.
pub(crate) fn fio_log(
    store: Store,
    run: u64,
    kind: LogKind,
) -> impl Stream<Item = anyhow::Result<String>> {
    let mut log = Log::new(kind);
    pages(store, run).map_ok(move |page| {
        let lines = page.iter().map(|(t_ms, sample)| log.lines(*t_ms, sample));
        lines.collect()
    })
}

/// A job file that runs the same jobs with fio.
///
/// # Errors
/// A path cannot be represented in a job file.
pub(crate) fn fio_job_file(run: &Run) -> Result<String, Vec<Problem>> {
    job_file(
        &run.requested.jobs,
        run.resolved.as_deref().unwrap_or_default(),
    )
}

fn columns() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(|metric| metric.csv.is_some())
}

/// Cells for unavailable values are empty.
fn row(t_ms: f64, sample: &Sample, annotation: &str) -> String {
    let phase = format!("{:?}", sample.phase).to_lowercase();
    let latencies = merged_latencies(sample);
    let values = columns().map(|metric| {
        let value = match metric.window? {
            WindowValue::Count(value) | WindowValue::Gauge(value) => value(sample),
            WindowValue::LatencyPercentile(percent) => percentile(&latencies, percent),
            WindowValue::LatencyMax => max(&latencies),
        };
        Some(value?.to_string())
    });
    let values = values.map(Option::unwrap_or_default);
    let values = [t_ms.to_string(), phase].into_iter().chain(values);
    line(values.chain([quote_cell(annotation)]))
}

/// Quotes text as a CSV cell (RFC 4180).
fn quote_cell(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("\"{}\"", text.replace('"', "\"\""))
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
