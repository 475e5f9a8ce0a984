//! Saves a study as a self-contained web page that works without a server and has the same contents
//! as the study's page.

use crate::{
    api::{
        assets,
        extract::Path,
        problem::{ApiError, ProblemResponses},
    },
    clock::now_ms,
    error::Error,
    query::groups::{self, MAX_GROUPS, MIN_GROUPS},
    runs::Runs,
};
use axum::{
    extract::State,
    http::header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    response::IntoResponse,
};
use leadline_protocol::{
    compare::{CompareQuery, Comparison},
    run::Run,
    series::GroupSeries,
    status::RunStatus,
    study::detail::{SavedStudy, Study},
};

/// Save a study as a single web page that works without a server
///
/// The page contains the study, its comparison or the results of its procedure, the time series of
/// the compared runs, and all scripts, styles and fonts.
#[utoipa::path(get, path = "/studies/{n}/study.html", tag = "studies",
    responses((status = 200, description = "HTML", body = SavedStudy, content_type = "text/html"), ProblemResponses))]
pub(crate) async fn save_study(
    State(runs): State<Runs>,
    Path(n): Path<u64>,
) -> Result<impl IntoResponse, ApiError> {
    let saved = saved_study(&runs, n).await?;
    let data = serde_json::to_string(&saved).map_err(anyhow::Error::from)?;
    let page = assets::saved_page(&data).ok_or(Error::pages_not_built())?;
    let disposition = format!("attachment; filename=\"leadline-study-{n}.html\"");
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, page))
}

async fn saved_study(runs: &Runs, n: u64) -> Result<SavedStudy, Error> {
    let study = runs.study(n).await?;
    let procedure = match study.procedure {
        Some(_) => Some(runs.procedure_results(n).await?),
        None => None,
    };
    // As in the web UI, results are shown instead of steps for a sweep or procedure.
    let is_folded = procedure.is_some() || study.steps.iter().any(|step| !step.sweep.is_empty());
    let mut compared = None;
    let mut shown = Vec::new();
    if !is_folded {
        compared = compare_steps(runs, &study).await?;
        shown = first_runs(runs, &study).await;
    }
    let (comparison, series) = compared.unzip();
    Ok(SavedStudy {
        study,
        comparison,
        procedure,
        runs: shown,
        series,
        saved_at_ms: now_ms(),
        version: env!("CARGO_PKG_VERSION").into(),
    })
}

/// The comparison on the study's page, and the time series of the compared groups; `None` if there
/// are too few results, or if they cannot be compared.
async fn compare_steps(
    runs: &Runs,
    study: &Study,
) -> Result<Option<(Comparison, GroupSeries)>, Error> {
    let Some(query) = compare_query(study) else {
        return Ok(None);
    };
    let request = || groups::parse(&query).map_err(Error::Rejected);
    let Ok(comparison) = runs.compare(request()?).await else {
        return Ok(None);
    };
    let series = runs.group_series(request()?).await?;
    Ok(Some((comparison, series)))
}

/// Compares the steps as groups if they are repeated. Otherwise, compares their runs.
fn compare_query(study: &Study) -> Option<CompareQuery> {
    let steps = study.steps.iter().map(|step| step.step).max()? as usize;
    if study.repeats > 1 && (MIN_GROUPS..=MAX_GROUPS).contains(&steps) {
        let group = |step: usize| {
            let number = study.summary.number;
            (step <= steps).then(|| format!("study:{number}/step:{step}"))
        };
        return Some(CompareQuery {
            a: group(1),
            b: group(2),
            c: group(3),
            d: group(4),
            e: group(5),
            f: group(6),
            g: group(7),
            h: group(8),
            ..CompareQuery::default()
        });
    }
    let done = study.steps.iter().filter_map(|step| step.run.as_ref());
    let numbers: Vec<_> = done
        .filter(|run| run.status == RunStatus::Done)
        .take(MAX_GROUPS)
        .map(|run| run.number.to_string())
        .collect();
    (numbers.len() >= MIN_GROUPS).then(|| CompareQuery {
        runs: Some(numbers.join(",")),
        ..CompareQuery::default()
    })
}

/// The first run of each step, unless it has not started or is damaged.
async fn first_runs(runs: &Runs, study: &Study) -> Vec<Run> {
    let mut shown = Vec::new();
    for step in study.steps.iter().filter(|step| step.repeat == 1) {
        let started = step.run.as_ref().filter(|run| run.started_at_ms.is_some());
        if let Some(summary) = started
            && let Ok(run) = runs.intact_run(summary.number).await
        {
            shown.push(run);
        }
    }
    shown
}
