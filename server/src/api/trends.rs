//! Handlers for trends and their baselines.

use crate::{
    api::{
        extract::{JsonBody, Path},
        problem::{ApiError, ProblemResponses},
        query_string::Query,
        requests,
    },
    runs::Runs,
    store::baselines::SeriesKey,
};
use axum::{Json, extract::State, http::StatusCode};
use leadline_protocol::trend::{
    BaselineRequest, Trend, TrendList, TrendListQuery, TrendQuery, TrendSeries,
};

/// List all series, each with the runs of one test on one machine, most recent runs first
#[utoipa::path(get, path = "/trends", tag = "trends", params(TrendListQuery),
    responses((status = 200, body = TrendList), ProblemResponses))]
pub(crate) async fn list_trends(
    State(runs): State<Runs>,
    Query(query): Query<TrendListQuery>,
) -> Result<Json<TrendList>, ApiError> {
    Ok(Json(runs.trends(&query).await?))
}

/// Get the groups in a series over time, with the change points and state of the series
///
/// `job` and `machine` are the `job_fingerprint` and `machine_fingerprint` of a run.
#[utoipa::path(get, path = "/trends/{job}/{machine}", tag = "trends", params(TrendQuery),
    responses((status = 200, body = Trend), ProblemResponses))]
pub(crate) async fn get_trend(
    State(runs): State<Runs>,
    Path(series): Path<(String, String)>,
    Query(query): Query<TrendQuery>,
) -> Result<Json<Trend>, ApiError> {
    Ok(Json(runs.trend(key(series), query).await?))
}

/// Pin a group of runs as the baseline of a series, replacing any other
#[utoipa::path(put, path = "/trends/{job}/{machine}/baseline", tag = "trends",
    request_body = BaselineRequest,
    responses((status = 200, body = TrendSeries), ProblemResponses))]
pub(crate) async fn pin_baseline(
    State(runs): State<Runs>,
    Path(series): Path<(String, String)>,
    body: JsonBody,
) -> Result<Json<TrendSeries>, ApiError> {
    let request = requests::baseline_request(body.parse()?)?;
    Ok(Json(runs.pin(key(series), request).await?))
}

/// Remove the baseline of a series
#[utoipa::path(delete, path = "/trends/{job}/{machine}/baseline", tag = "trends",
    responses((status = 204, description = "Removed"), ProblemResponses))]
pub(crate) async fn unpin_baseline(
    State(runs): State<Runs>,
    Path(series): Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    runs.unpin(key(series)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn key((job_fingerprint, machine_fingerprint): (String, String)) -> SeriesKey {
    SeriesKey {
        job_fingerprint,
        machine_fingerprint,
    }
}
