//! Export handlers.

use crate::{
    api::{
        assets,
        extract::Path,
        problem::{ApiError, ProblemResponses},
        query_string::Query,
        streams::ndjson,
    },
    clock::now_ms,
    error::Error,
    query::{
        export::{self, FioFormat},
        series,
    },
    runs::Runs,
};
use axum::{
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use leadline_export::fio::logs::LogKind;
use leadline_protocol::{
    event::Event,
    query::{ExportFormat, ExportQuery, SeriesQuery},
    report::{Report, foreign::Source},
    run::{Run, SavedRun},
};

const PLAIN: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// Export a run
#[utoipa::path(get, path = "/runs/{n}/export", tag = "runs",
    params(ExportQuery),
    responses(
        (
            status = 200,
            description = "The exported file",
            content(
                (String = "text/csv"),
                (Event = "application/x-ndjson"),
                (String = "text/plain"),
                (SavedRun = "text/html"),
                (Object = "application/json")
            )
        ),
        ProblemResponses
    ))]
pub(crate) async fn export_run(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let (extension, media_type, body) = match query.format {
        ExportFormat::Csv => {
            check_samples(&runs, n).await?;
            let annotations = runs.intact_run(n).await?.annotations;
            let rows = export::csv(runs.store().clone(), n, annotations);
            ("csv", "text/csv; charset=utf-8", Body::from_stream(rows))
        }
        ExportFormat::Ndjson => {
            let events = ndjson(runs.stored_events(n).await?);
            ("ndjson", "application/x-ndjson", Body::from_stream(events))
        }
        ExportFormat::Html => (
            "html",
            "text/html; charset=utf-8",
            saved_page(&runs, n).await?,
        ),
        ExportFormat::FioJob => {
            let text = export::fio_job_file(&runs.intact_run(n).await?)?;
            ("fio", PLAIN, Body::from(text))
        }
        ExportFormat::FioJson => ("json", JSON, fio(&runs, n, FioFormat::Json).await?),
        ExportFormat::FioJsonPlus => ("json", JSON, fio(&runs, n, FioFormat::JsonPlus).await?),
        ExportFormat::FioTerse => ("terse", PLAIN, fio(&runs, n, FioFormat::Terse).await?),
        ExportFormat::FioBwLog => ("bw.log", PLAIN, log(&runs, n, LogKind::Bandwidth).await?),
        ExportFormat::FioIopsLog => ("iops.log", PLAIN, log(&runs, n, LogKind::Iops).await?),
        ExportFormat::FioLatLog => ("lat.log", PLAIN, log(&runs, n, LogKind::Latency).await?),
        ExportFormat::FioClatHistLog => (
            "clat_hist.log",
            PLAIN,
            log(&runs, n, LogKind::LatencyHistogram).await?,
        ),
    };
    let disposition = format!("attachment; filename=\"leadline-{n}.{extension}\"");
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CONTENT_DISPOSITION, &disposition),
    ];
    Ok((headers, body).into_response())
}

async fn fio(runs: &Runs, n: u64, format: FioFormat) -> Result<Body, ApiError> {
    let run = runs.intact_run(n).await?;
    if run.summary.source != Source::Leadline {
        return imported_document(runs, &run, format).await;
    }
    let text = export::fio_results(runs.store().clone(), &run, format).await?;
    let text = text.ok_or(Error::no_result(n))?;
    Ok(Body::from(text))
}

/// The original document from which the run was imported.
async fn imported_document(runs: &Runs, run: &Run, format: FioFormat) -> Result<Body, ApiError> {
    let n = run.summary.number;
    let not_recorded = || Error::not_recorded(n, run.summary.source);
    let is_recorded = match format {
        FioFormat::Json => true,
        FioFormat::JsonPlus => run.report.as_ref().is_some_and(has_bins),
        FioFormat::Terse => false,
    };
    let document = runs.foreign_document(n).await?;
    let document = document.filter(|_| is_recorded).ok_or_else(not_recorded)?;
    Ok(Body::from(document + "\n"))
}

fn has_bins(report: &Report) -> bool {
    let directions = [&report.read, &report.write, &report.trim];
    let mut latencies = directions.into_iter().map(|stats| &stats.lat_ns);
    latencies.any(|latency| !latency.buckets.is_empty())
}

/// # Errors
/// Returns an error if the run was imported from another program's result, because such runs have
/// no samples.
async fn check_samples(runs: &Runs, n: u64) -> Result<(), Error> {
    match runs.intact_summary(n).await?.source {
        Source::Leadline => Ok(()),
        source => Err(Error::not_recorded(n, source)),
    }
}

async fn log(runs: &Runs, n: u64, kind: LogKind) -> Result<Body, ApiError> {
    check_samples(runs, n).await?;
    let lines = export::fio_log(runs.store().clone(), n, kind);
    Ok(Body::from_stream(lines))
}

/// Number of points per chart, about one per pixel.
const SAVED_POINTS: u32 = 1000;

async fn saved_page(runs: &Runs, n: u64) -> Result<Body, ApiError> {
    let run = runs.intact_run(n).await?;
    if run.report.is_none() {
        return Err(Error::no_result(n).into());
    }
    let range = SeriesQuery {
        latency_rows: Some(true),
        ..SeriesQuery::default()
    };
    let series = series::load(runs.store(), n, run.sample_ms, &range, SAVED_POINTS).await?;
    let saved = SavedRun {
        run,
        series,
        saved_at_ms: now_ms(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    let data = serde_json::to_string(&saved).map_err(anyhow::Error::from)?;
    let page = assets::saved_page(&data).ok_or(Error::pages_not_built())?;
    Ok(Body::from(page))
}
