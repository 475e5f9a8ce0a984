//! Comparison handlers.

use crate::{
    api::{
        extract::Query,
        problem::{ApiError, ProblemResponses},
    },
    error::Error,
    query::{
        compare::{StoredGroup, Studies, compare},
        groups::{self, Selection, Selector},
    },
    runs::Runs,
};
use axum::{
    Json,
    extract::State,
    http::header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    response::IntoResponse,
};
use leadline_compare::{
    MAX_RUNS,
    export::{csv, html, markdown},
};
use leadline_protocol::{
    compare::{CompareQuery, Comparison},
    problem::Problem,
    query::{RunQuery, RunSort, SortOrder},
    run::Run,
    status::RunStatus,
};
use strum::VariantNames;

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

/// Export a comparison as CSV, one row per metric and group
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

/// Returns a file to save. Browsers do not open it as a page of this server.
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
    let mut groups = Vec::with_capacity(request.groups.len());
    for selection in &request.groups {
        groups.push(read_group(runs, selection).await?);
    }
    let studies = studies_of(runs, &groups).await?;
    // The exact distributions of large groups take up to a second.
    let compared = tokio::task::spawn_blocking(move || {
        compare(&groups, &studies, request.baseline, request.threshold)
    });
    Ok(compared.await.map_err(anyhow::Error::from)?)
}

async fn studies_of(runs: &Runs, groups: &[StoredGroup]) -> Result<Studies, Error> {
    let mut studies = Studies::new();
    for run in groups.iter().flat_map(|group| &group.runs) {
        if let Some(study) = run.summary.study
            && !studies.contains_key(&study)
            && let Some(stored) = runs.store().study(study).await?
        {
            studies.insert(study, stored.into());
        }
    }
    Ok(studies)
}

async fn read_group(runs: &Runs, selection: &Selection) -> Result<StoredGroup, Error> {
    let numbers = match &selection.runs {
        Selector::Numbers(numbers) => numbers.clone(),
        Selector::Filter(text) => matching_runs(runs, text)
            .await
            .map_err(|error| in_field(error, &selection.field))?,
    };
    // Twice as many, because failed runs are repeated and have no result.
    if numbers.len() > 2 * MAX_RUNS {
        return Err(too_many(selection));
    }
    let mut group = Vec::with_capacity(numbers.len());
    for number in numbers {
        group.push(intact_run(runs, number).await?);
    }
    let repeated: Vec<u64> = group
        .iter()
        .filter_map(|run| run.summary.retry_of)
        .collect();
    let is_repeated = |run: &&Run| repeated.contains(&run.summary.number);
    if group.len() - group.iter().filter(is_repeated).count() > MAX_RUNS {
        return Err(too_many(selection));
    }
    if group.is_empty() {
        return Err(Error::invalid(
            "bad_value",
            &selection.field,
            format!("`{}` matches no finished run.", selection.text),
            "Use a list of run numbers or another filter.",
        ));
    }
    Ok(StoredGroup {
        selection: selection.text.clone(),
        runs: group,
    })
}

fn too_many(selection: &Selection) -> Error {
    Error::invalid(
        "bad_value",
        &selection.field,
        format!("`{}` has more than {MAX_RUNS} runs.", selection.text),
        "Use a list of run numbers or a narrower filter.",
    )
}

/// Numbers of finished runs, in order; one more than the limit if there are too many.
async fn matching_runs(runs: &Runs, text: &str) -> Result<Vec<u64>, Error> {
    let ended = RunStatus::VARIANTS.iter().filter(|name| {
        let status: Option<RunStatus> = name.parse().ok();
        status.is_some_and(RunStatus::is_final)
    });
    let query = RunQuery {
        q: Some(text.to_owned()),
        status: Some(ended.copied().collect::<Vec<&str>>().join(",")),
        sort: Some(RunSort::Number),
        order: Some(SortOrder::Asc),
        limit: Some(2 * MAX_RUNS as u32 + 1),
        ..RunQuery::default()
    };
    let found = runs.list(&query).await?.runs.into_iter();
    Ok(found.map(|run| run.number).collect())
}

/// Reports problems of a filter as problems of the group.
fn in_field(error: Error, field: &str) -> Error {
    match error {
        Error::Rejected(problems) => {
            let problems = problems.into_iter().map(|problem| Problem {
                field: Some(field.to_owned()),
                ..problem
            });
            Error::Rejected(problems.collect())
        }
        other => other,
    }
}

async fn intact_run(runs: &Runs, number: u64) -> Result<Run, Error> {
    let run = runs.get(number).await?;
    if run.damaged {
        return Err(Error::damaged(number));
    }
    Ok(run)
}
