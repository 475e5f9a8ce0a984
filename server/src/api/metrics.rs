//! Prometheus metrics. Only metrics of active runs have a `run` label, which limits the number of
//! series.

use crate::{
    api::problem::{ApiError, ProblemResponses},
    runs::Runs,
};
use axum::{
    extract::{MatchedPath, Request, State},
    http::header,
    middleware::Next,
    response::{IntoResponse, Response},
};
use leadline_protocol::{metrics::METRICS, status::RunStatus, trend::TrendState};
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::time::Instant;
use strum::VariantNames;

/// Histogram buckets for request durations, in seconds. The shortest covers an index lookup; the
/// longest, a plan that waits for a disk to spin up.
const SECONDS: &[f64] = &[0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0];

const REQUESTS: &str = "leadline_http_requests_total";
const REQUEST_DURATION: &str = "leadline_http_request_duration_seconds";

/// Installs the global recorder.
///
/// # Errors
/// A recorder is already installed.
pub(crate) fn install() -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full(REQUEST_DURATION.into()), SECONDS)?
        .install_recorder()?;
    describe_counter!(REQUESTS, "HTTP requests by route and status");
    describe_histogram!(REQUEST_DURATION, "Time to response headers, by route");
    describe_counter!(
        "leadline_runs_ended_total",
        "Runs finished since the server started, by status"
    );
    describe_gauge!("leadline_runs", "Stored runs by status");
    describe_gauge!("leadline_runs_running", "Active runs");
    describe_gauge!("leadline_runs_queued", "Queued runs");
    describe_gauge!(
        "leadline_open_streams",
        "Open WebSockets and NDJSON streams"
    );
    describe_gauge!(
        "leadline_build_info",
        "Server version, as a label; the value is always 1"
    );
    gauge!("leadline_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(handle)
}

/// Middleware: counts and times requests. They are grouped by route because the number of paths is
/// unbounded.
pub(crate) async fn record(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("other", MatchedPath::as_str).to_owned();
    let method = request.method().to_string();
    let started = Instant::now();
    let response = next.run(request).await;
    let elapsed = started.elapsed();
    let status = response.status().as_u16().to_string();
    tracing::debug!(
        method,
        route,
        status,
        ms = elapsed.as_millis() as u64,
        "request"
    );
    counter!(REQUESTS, "method" => method, "route" => route.clone(), "status" => status)
        .increment(1);
    histogram!(REQUEST_DURATION, "route" => route).record(elapsed);
    response
}

/// State of each series that has a baseline (1 for its current state, 0 for all others), and the
/// start of its newest run. These are not registered gauges, because they must disappear when the
/// series is unpinned.
async fn trend_states(runs: &Runs) -> Result<String, ApiError> {
    let mut text = String::from(
        "# HELP leadline_trend_state State of a series relative to its baseline\n# TYPE leadline_trend_state gauge\n",
    );
    let mut newest = String::from(
        "# HELP leadline_trend_newest_run_timestamp_seconds Start of the newest run of a series\n# TYPE leadline_trend_newest_run_timestamp_seconds gauge\n",
    );
    let pinned = runs.pinned_trends().await?;
    for series in &pinned {
        let labels = format!(
            "job=\"{}\",machine=\"{}\",name=\"{}\"",
            series.job_fingerprint,
            series.machine_fingerprint,
            escape_label(&series.newest_run.name)
        );
        let current = series.state.as_ref().map(|state| state.state.as_str());
        for state in TrendState::VARIANTS {
            let value = u8::from(current == Some(state));
            text += &format!("leadline_trend_state{{{labels},state=\"{state}\"}} {value}\n");
        }
        let run = &series.newest_run;
        let started_at_ms = run.started_at_ms.unwrap_or(run.created_at_ms);
        newest += &format!(
            "leadline_trend_newest_run_timestamp_seconds{{{labels}}} {}\n",
            started_at_ms as f64 / 1e3
        );
    }
    Ok(text + &newest)
}

/// Escapes a label value (Prometheus text format 0.0.4).
fn escape_label(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('\n', "\\n")
}

/// Get metrics in the Prometheus text format
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain"), ProblemResponses))]
pub(crate) async fn get_metrics(
    State(runs): State<Runs>,
    State(handle): State<PrometheusHandle>,
) -> Result<impl IntoResponse, ApiError> {
    let stats = runs.stats().await?;
    gauge!("leadline_runs_running").set(stats.running as f64);
    gauge!("leadline_runs_queued").set(stats.queued as f64);
    gauge!("leadline_open_streams").set(stats.streams as f64);
    for status in RunStatus::VARIANTS {
        let runs = stats
            .by_status
            .iter()
            .find(|(counted, _)| counted.as_str() == *status)
            .map_or(0, |(_, runs)| *runs);
        gauge!("leadline_runs", "status" => *status).set(runs as f64);
    }
    let mut text = handle.render();
    // Not a registered gauge, because a run's metrics must disappear when the run ends.
    let iops = METRICS.iter().find(|metric| metric.name == "iops");
    if let Some(name) = iops.and_then(|metric| metric.prometheus) {
        text += &format!("# HELP {name} IOPS in the last sample of a run\n# TYPE {name} gauge\n");
        for (run, iops) in stats.iops {
            text += &format!("{name}{{run=\"{run}\"}} {iops}\n");
        }
    }
    text += &trend_states(&runs).await?;
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, content_type)], text))
}
