//! Compares stored runs.

use crate::{
    error::Error,
    query::{
        common_grid::CommonGrid,
        compare::{StoredGroup, Studies, compare, included_runs},
        groups::{Request, Selection, Selector},
        series::{self, Extent},
    },
    runs::{Runs, run_detached},
};
use futures_util::future::try_join_all;
use leadline_compare::{
    MAX_RUNS,
    bands::{GroupSeriesBuilder, run_results},
};
use leadline_protocol::{
    compare::Comparison,
    problem::Problem,
    query::{RunQuery, RunSort, SortOrder},
    run::{Run, RunSummary},
    series::{GroupSeries, GroupTimeSeries},
    status::RunStatus,
};
use strum::VariantNames;

impl Runs {
    pub(crate) async fn compare(&self, request: Request) -> Result<Comparison, Error> {
        // Groups are loaded in parallel, because parsing the reports of 160 runs takes longer than
        // reading them.
        let groups = request.groups.iter().cloned().map(|selection| {
            let runs = self.clone();
            run_detached(async move { read_group(&runs, &selection).await })
        });
        let groups = try_join_all(groups).await?;
        let studies = read_studies(self, &groups).await?;
        let thresholds = self.store.settings().await?.thresholds;
        // The exact distributions of large groups take up to a second.
        let compared = tokio::task::spawn_blocking(move || {
            let Request {
                baseline,
                threshold,
                ..
            } = request;
            compare(&groups, &studies, baseline, threshold, &thresholds)
        });
        Ok(compared.await.map_err(anyhow::Error::from)?)
    }

    /// Computes the groups' time series from the runs included in the comparison.
    pub(crate) async fn group_series(&self, request: Request) -> Result<GroupSeries, Error> {
        let groups = request.groups.iter().cloned().map(|selection| {
            let runs = self.clone();
            run_detached(async move {
                let group = read_group(&runs, &selection).await?;
                let mut extents = Vec::new();
                for run in included_runs(&group) {
                    let number = run.summary.number;
                    let extent = Extent::read(runs.store(), number, run.sample_ms).await?;
                    extents.push((run.summary.clone(), extent));
                }
                Ok(extents)
            })
        });
        let groups: Vec<Vec<(RunSummary, Extent)>> = try_join_all(groups).await?;
        let extents: Vec<&Extent> = groups.iter().flatten().map(|(_, extent)| extent).collect();
        let buckets =
            CommonGrid::new(&extents).map_err(|problem| Error::Rejected(vec![problem]))?;
        let series = groups.into_iter().map(|group| {
            let runs = self.clone();
            run_detached(async move { time_series(&runs, group, buckets).await })
        });
        Ok(GroupSeries {
            bucket_ms: buckets.bucket_ms(),
            t_ms: buckets.ends_ms(),
            groups: try_join_all(series).await?,
        })
    }
}

/// Reads a group's runs one by one, so only the group's bands and one run are in memory.
async fn time_series(
    runs: &Runs,
    group: Vec<(RunSummary, Extent)>,
    buckets: CommonGrid,
) -> Result<GroupTimeSeries, Error> {
    let mut builder = GroupSeriesBuilder::default();
    for (run, extent) in &group {
        let (grid, to_ms) = (buckets.for_run(extent), buckets.end_ms());
        let to_ms = extent.end_ms.min(to_ms);
        let series = series::load_grid(runs.store(), extent, grid, to_ms, false).await?;
        builder.add(&series, run_results(run));
    }
    Ok(builder.finish(buckets.len()))
}

async fn read_studies(runs: &Runs, groups: &[StoredGroup]) -> Result<Studies, Error> {
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
            .map_err(|error| assign_to_field(error, &selection.field))?,
    };
    // Twice the limit: failed runs have no result, and each may have been retried.
    if numbers.len() > 2 * MAX_RUNS {
        return Err(too_many_runs_error(selection));
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
        return Err(too_many_runs_error(selection));
    }
    if group.is_empty() {
        return Err(Error::invalid(
            "bad_value",
            &selection.field,
            format!("No finished run matches `{}`.", selection.text),
            "Use a list of run numbers or another filter.",
        ));
    }
    Ok(StoredGroup {
        selection: selection.text.clone(),
        runs: group,
    })
}

fn too_many_runs_error(selection: &Selection) -> Error {
    Error::invalid(
        "bad_value",
        &selection.field,
        format!("`{}` has more than {MAX_RUNS} runs.", selection.text),
        "Use a list of run numbers or a narrower filter.",
    )
}

/// Returns the numbers of finished runs in order. If there are too many, returns one more than the
/// limit.
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

/// Assigns a filter's problems to its group's request field.
fn assign_to_field(error: Error, field: &str) -> Error {
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
    if run.summary.damaged {
        return Err(Error::damaged(number));
    }
    Ok(run)
}
