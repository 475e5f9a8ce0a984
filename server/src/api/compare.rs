//! Comparison handlers.

use crate::{
    api::{
        extract::Query,
        problem::{ApiError, ProblemResponses},
    },
    error::Error,
    query::{
        compare::{StoredGroup, compare},
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
    query::{RunQuery, RunSort, SortOrder},
    run::Run,
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
    let mut compared = Vec::with_capacity(request.groups.len());
    for selection in &request.groups {
        compared.push(read_group(runs, selection).await?);
    }
    Ok(compare(
        &compared,
        request.baseline,
        request.threshold_percent,
    ))
}

async fn read_group(runs: &Runs, selection: &Selection) -> Result<StoredGroup, Error> {
    let numbers = match &selection.runs {
        Selector::Numbers(numbers) => numbers.clone(),
        Selector::Filter(text) => matching_runs(runs, text).await?,
    };
    if numbers.len() > MAX_RUNS {
        return Err(Error::invalid(
            "bad_value",
            &selection.field,
            format!("`{}` has more than {MAX_RUNS} runs.", selection.text),
            "Use a list of run numbers or a narrower filter.",
        ));
    }
    let mut group = Vec::with_capacity(numbers.len());
    for number in numbers {
        group.push(intact_run(runs, number).await?);
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
        label: label(&selection.text, &group),
        runs: group,
    })
}

/// Numbers of finished runs, in order; one more than the limit if there are too many.
async fn matching_runs(runs: &Runs, text: &str) -> Result<Vec<u64>, Error> {
    let query = RunQuery {
        q: Some(text.to_owned()),
        sort: Some(RunSort::Number),
        order: Some(SortOrder::Asc),
        limit: Some(MAX_RUNS as u32 + 1),
        ..RunQuery::default()
    };
    let found = runs.list(&query).await?.runs.into_iter();
    let ended = found.filter(|run| run.status.is_final());
    Ok(ended.map(|run| run.number).collect())
}

async fn intact_run(runs: &Runs, number: u64) -> Result<Run, Error> {
    let run = runs.get(number).await?;
    if run.damaged {
        return Err(Error::damaged(number));
    }
    Ok(run)
}

/// Repeats of a step are labeled with its name; other groups, with the text of their selection.
fn label(selected: &str, runs: &[Run]) -> String {
    let step = |run: &Run| run.summary.study.zip(run.summary.step);
    let first = runs.first().filter(|_| runs.len() > 1);
    match first.and_then(|first| Some((first, step(first)?))) {
        Some((first, position)) if runs.iter().all(|run| step(run) == Some(position)) => {
            let name = &first.summary.name;
            let name = name
                .rsplit_once(" (")
                .map_or(name.as_str(), |(name, _)| name);
            name.split_once(": ")
                .map_or(name, |(_, step)| step)
                .to_owned()
        }
        _ => selected.to_owned(),
    }
}
