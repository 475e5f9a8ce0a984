//! Flame graphs over HTTP.

use crate::api::extract::{Path, Query};
use crate::error::{ApiError, ProblemResponses};
use crate::query::flame::{Theme, draw, draw_difference};
use crate::runs::Runs;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use leadline_protocol::evidence::Profile;
use leadline_protocol::run::Run;
use serde::Deserialize;
use utoipa::IntoParams;

/// How the picture is to look.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FlameQuery {
    /// On which ground it stands; `light` when nothing is said.
    pub theme: Option<Theme>,
}

/// Which two runs are held against each other.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FlameDifferenceQuery {
    /// Two numbers of runs, separated by a comma: the second against the first.
    pub runs: String,
    /// On which ground it stands; `light` when nothing is said.
    pub theme: Option<Theme>,
}

/// Where a run's processor time went, as a picture; for runs with `profile=1`.
#[utoipa::path(get, path = "/runs/{n}/flame.svg", tag = "runs", params(("n" = u64, Path, description = "Number of the run"), FlameQuery),
    responses((status = 200, description = "The flame graph", body = String, content_type = "image/svg+xml"), ProblemResponses))]
pub async fn run_flame(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
    Query(query): Query<FlameQuery>,
) -> Result<impl IntoResponse, ApiError> {
    let run = runs.get(n).await?;
    let (title, profile) = (title(&run), profile(run)?);
    painted(move || draw(&title, &profile, query.theme.unwrap_or_default())).await
}

/// Where the processor time of two runs differs, as a picture; for runs with `profile=1`.
#[utoipa::path(get, path = "/compare/flame.svg", tag = "compare", params(FlameDifferenceQuery),
    responses((status = 200, description = "The differential flame graph", body = String, content_type = "image/svg+xml"), ProblemResponses))]
pub async fn difference_flame(
    State(runs): State<Runs>,
    Query(query): Query<FlameDifferenceQuery>,
) -> Result<impl IntoResponse, ApiError> {
    let (first, second) = pair(&query.runs)?;
    let (first, second) = (runs.get(first).await?, runs.get(second).await?);
    let title = format!("{} against {}", title(&second), title(&first));
    let (first, second) = (profile(first)?, profile(second)?);
    painted(move || draw_difference(&title, &first, &second, query.theme.unwrap_or_default())).await
}

fn title(run: &Run) -> String {
    format!("#{} {}", run.summary.number, run.summary.name)
        .trim()
        .to_owned()
}

fn profile(run: Run) -> Result<Profile, ApiError> {
    let what = format!(
        "profile of run #{}: it was not asked for (profile=1), or could not be taken",
        run.summary.number
    );
    run.report
        .and_then(|report| report.profile)
        .ok_or(ApiError::NotFound { what })
}

fn pair(text: &str) -> Result<(u64, u64), ApiError> {
    let numbers: Option<Vec<u64>> = text
        .split(',')
        .map(|part| part.trim().parse().ok())
        .collect();
    match numbers.as_deref() {
        Some([first, second]) => Ok((*first, *second)),
        _ => {
            let sentence = format!("`{text}` are not two numbers of runs.");
            Err(ApiError::invalid(
                "bad_value",
                "runs",
                sentence,
                "Write two numbers, such as runs=1,2.",
            ))
        }
    }
}

/// Up to 20,000 stacks are drawn away from the threads that serve.
async fn painted(
    paint: impl FnOnce() -> anyhow::Result<String> + Send + 'static,
) -> Result<impl IntoResponse, ApiError> {
    let svg = tokio::task::spawn_blocking(paint)
        .await
        .map_err(anyhow::Error::from)??;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg))
}
