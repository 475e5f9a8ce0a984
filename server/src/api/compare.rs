//! Comparison handlers.

use crate::{
    api::{
        problem::{ApiError, ProblemResponses},
        query_string::Query,
    },
    error::Error,
    query::groups,
    runs::Runs,
};
use axum::{
    Json,
    extract::State,
    http::header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    response::IntoResponse,
};
use leadline_compare::export::{csv, html, markdown};
use leadline_protocol::{
    compare::{CompareQuery, Comparison},
    series::GroupSeries,
};

/// Compare 2 to 8 runs or groups of repeated runs
#[utoipa::path(get, path = "/compare", tag = "compare",
    params(CompareQuery),
    responses((status = 200, body = Comparison), ProblemResponses))]
pub(crate) async fn compare_runs(
    State(runs): State<Runs>,
    Query(query): Query<CompareQuery>,
) -> Result<Json<Comparison>, ApiError> {
    Ok(Json(comparison(&runs, &query).await?))
}

/// Get the time series of the compared groups
///
/// Median and range of each group's runs. `baseline` and `threshold` have no effect.
#[utoipa::path(get, path = "/compare/series", tag = "compare",
    params(CompareQuery),
    responses((status = 200, body = GroupSeries), ProblemResponses))]
pub(crate) async fn compare_series(
    State(runs): State<Runs>,
    Query(query): Query<CompareQuery>,
) -> Result<Json<GroupSeries>, ApiError> {
    let request = groups::parse(&query).map_err(Error::Rejected)?;
    Ok(Json(runs.group_series(request).await?))
}

/// Export a comparison as CSV, with one row per metric and group
#[utoipa::path(get, path = "/compare/comparison.csv", tag = "compare",
    params(CompareQuery),
    responses((status = 200, description = "CSV", body = String, content_type = "text/csv"), ProblemResponses))]
pub(crate) async fn compare_csv(
    State(runs): State<Runs>,
    Query(query): Query<CompareQuery>,
) -> Result<impl IntoResponse, ApiError> {
    let text = csv::render(&comparison(&runs, &query).await?.assessment);
    Ok(download("csv", "text/csv; charset=utf-8", text))
}

/// Export a comparison as Markdown
#[utoipa::path(get, path = "/compare/comparison.md", tag = "compare",
    params(CompareQuery),
    responses((status = 200, description = "Markdown", body = String, content_type = "text/markdown"), ProblemResponses))]
pub(crate) async fn compare_markdown(
    State(runs): State<Runs>,
    Query(query): Query<CompareQuery>,
) -> Result<impl IntoResponse, ApiError> {
    let text = markdown::render(&comparison(&runs, &query).await?.assessment, &[]);
    Ok(download("md", "text/markdown; charset=utf-8", text))
}

/// Export a comparison as a self-contained HTML file
#[utoipa::path(get, path = "/compare/comparison.html", tag = "compare",
    params(CompareQuery),
    responses((status = 200, description = "HTML", body = String, content_type = "text/html"), ProblemResponses))]
pub(crate) async fn compare_html(
    State(runs): State<Runs>,
    Query(query): Query<CompareQuery>,
) -> Result<impl IntoResponse, ApiError> {
    let text = html::render(&comparison(&runs, &query).await?.assessment);
    Ok(download("html", "text/html; charset=utf-8", text))
}

/// Returns a file as a download, so browsers do not open it as a page on this server.
fn download(
    extension: &str,
    content_type: &'static str,
    text: String,
) -> impl IntoResponse + use<> {
    let disposition = format!("attachment; filename=\"comparison.{extension}\"");
    let headers = [
        (CONTENT_TYPE, content_type.to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ];
    (headers, text)
}

async fn comparison(runs: &Runs, query: &CompareQuery) -> Result<Comparison, Error> {
    let request = groups::parse(query).map_err(Error::Rejected)?;
    runs.compare(request).await
}
