//! What monitoring sees, in Prometheus' conventions: base units, `_total` for counters, `leadline_build_info`. Only
//! runs that run carry a `run` label.

use crate::error::{ApiError, ProblemResponses};
use crate::runs::Runs;
use crate::scheduler::states::ALL;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::fmt::Write;
use std::time::Instant;

/// Bounds of the request histogram in seconds: from an index lookup to a plan that wakes a disk.
const SECONDS: &[f64] = &[0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0];

/// Starts counting.
///
/// # Errors
/// Somebody counts already.
pub fn install() -> anyhow::Result<PrometheusHandle> {
    let seconds = Matcher::Full("leadline_http_request_duration_seconds".into());
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(seconds, SECONDS)?
        .install_recorder()?;
    metrics::describe_counter!(
        "leadline_http_requests_total",
        "Requests answered, by route and status"
    );
    metrics::describe_histogram!(
        "leadline_http_request_duration_seconds",
        "Time until the head of the answer, by route"
    );
    metrics::describe_counter!(
        "leadline_runs_ended_total",
        "Runs that came to their end since the server started, by status"
    );
    metrics::describe_gauge!("leadline_runs", "Runs kept, by status");
    metrics::describe_gauge!("leadline_runs_running", "Runs that run");
    metrics::describe_gauge!("leadline_runs_queued", "Runs that wait");
    metrics::describe_gauge!("leadline_listeners", "Open sockets and streams");
    metrics::describe_gauge!("leadline_build_info", "Always 1");
    gauge!("leadline_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    Ok(handle)
}

/// Counts every request by its route, never by its path, whose numbers have no end.
pub async fn count(request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("other", MatchedPath::as_str)
        .to_owned();
    let method = request.method().as_str().to_owned();
    let began = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16().to_string();
    tracing::debug!(
        method,
        route,
        status,
        ms = began.elapsed().as_millis() as u64,
        "request"
    );
    counter!("leadline_http_requests_total", "method" => method, "route" => route.clone(), "status" => status).increment(1);
    histogram!("leadline_http_request_duration_seconds", "route" => route)
        .record(began.elapsed().as_secs_f64());
    response
}

/// Prometheus text.
#[utoipa::path(get, path = "/metrics", tag = "server", responses((status = 200, body = String, content_type = "text/plain"), ProblemResponses))]
pub async fn get_metrics(
    State(runs): State<Runs>,
    State(handle): State<PrometheusHandle>,
) -> Result<Response, ApiError> {
    let figures = runs.figures().await?;
    gauge!("leadline_runs_running").set(figures.running as f64);
    gauge!("leadline_runs_queued").set(figures.queued as f64);
    gauge!("leadline_listeners").set(figures.listeners as f64);
    for status in ALL {
        let count = figures
            .by_status
            .iter()
            .find(|known| known.0 == status)
            .map_or(0, |known| known.1);
        gauge!("leadline_runs", "status" => status.word()).set(count as f64);
    }
    let mut text = handle.render();
    // Written here and not kept: a run that ended must not go on with its last figure.
    text.push_str("# HELP leadline_run_iops I/Os a second of a run's last window\n# TYPE leadline_run_iops gauge\n");
    for (run, iops) in figures.iops {
        writeln!(text, "leadline_run_iops{{run=\"{run}\"}} {iops}").map_err(anyhow::Error::from)?;
    }
    Ok((
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        text,
    )
        .into_response())
}
