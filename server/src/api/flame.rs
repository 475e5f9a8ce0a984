//! Flame graph handlers.

use crate::{
    api::{
        extract::Path,
        problem::{ApiError, ProblemResponses},
        query_string::Query,
    },
    error::Error,
    query::flame::{Stacks, Theme, draw, draw_difference},
    runs::Runs,
};
use axum::{extract::State, http::header, response::IntoResponse};
use leadline_protocol::run::Run;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FlameQuery {
    /// Default: `light`.
    theme: Option<Theme>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FlameDifferenceQuery {
    /// Two run numbers, separated by a comma; the first is the baseline.
    runs: String,
    /// Default: `light`.
    theme: Option<Theme>,
}

/// Get the CPU flame graph of a run with `profile=1`
#[utoipa::path(get, path = "/runs/{n}/flame.svg", tag = "runs",
    params(FlameQuery),
    responses(
        (status = 200, description = "Flame graph", body = String, content_type = "image/svg+xml"),
        ProblemResponses
    ))]
pub(crate) async fn run_flame(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    Query(query): Query<FlameQuery>,
) -> Result<impl IntoResponse, ApiError> {
    let run = runs.intact_run(n).await?;
    let title = title(&run);
    let stacks = stacks(run)?;
    svg(move || draw(&title, &stacks, query.theme.unwrap_or_default())).await
}

/// Get the differential CPU flame graph of two runs with `profile=1`
#[utoipa::path(get, path = "/compare/flame.svg", tag = "compare",
    params(FlameDifferenceQuery),
    responses(
        (status = 200, description = "Flame graph", body = String, content_type = "image/svg+xml"),
        ProblemResponses
    ))]
pub(crate) async fn difference_flame(
    State(runs): State<Runs>,
    Query(query): Query<FlameDifferenceQuery>,
) -> Result<impl IntoResponse, ApiError> {
    let (first, second) = parse_run_pair(&query.runs)?;
    let first = runs.intact_run(first).await?;
    let second = runs.intact_run(second).await?;
    let title = format!("{} compared with {}", title(&second), title(&first));
    let first = stacks(first)?;
    let second = stacks(second)?;
    svg(move || draw_difference(&title, &first, &second, query.theme.unwrap_or_default())).await
}

fn title(run: &Run) -> String {
    let title = format!("#{} {}", run.summary.number, run.summary.name);
    title.trim_end().to_owned()
}

fn stacks(run: Run) -> Result<Stacks, ApiError> {
    let number = run.summary.number;
    let profile = run.report.and_then(|report| report.profile);
    profile.as_ref().and_then(Stacks::from_profile).ok_or_else(|| {
        ApiError::not_found(format!(
            "profile of run #{number}. Rerun it with profile=1 on a host that supports profiling"
        ))
    })
}

fn parse_run_pair(text: &str) -> Result<(u64, u64), Error> {
    let parse = |number: &str| number.trim().parse().ok();
    let numbers = text
        .split_once(',')
        .and_then(|(first, second)| Some((parse(first)?, parse(second)?)));
    numbers.ok_or_else(|| {
        Error::invalid(
            "bad_value",
            "runs",
            format!("`{text}` is not a pair of run numbers."),
            "Use two numbers, for example runs=1,2.",
        )
    })
}

/// Draws on a blocking thread, because profiles can have thousands of stacks.
async fn svg(
    draw: impl FnOnce() -> anyhow::Result<String> + Send + 'static,
) -> Result<impl IntoResponse, ApiError> {
    let drawn = tokio::task::spawn_blocking(draw).await;
    let svg = drawn.map_err(anyhow::Error::from)??;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg))
}
