//! Groups the runs of a series into points.

use crate::{
    MAX_RUNS, fact_names::finding_name, group_statistics::statistics, trend::values::RunValues,
};
use leadline_protocol::{
    compare::GroupStatistics,
    status::RunStatus,
    trend::{ExcludedRun, ExclusionCount, ExclusionKind, TrendPoint},
    verdict::VerdictClass,
};
use std::collections::{BTreeMap, HashMap};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A finished run in a series.
#[derive(Clone, Debug)]
pub struct SeriesRun {
    pub number: u64,
    pub status: RunStatus,
    /// Unix time in milliseconds.
    pub started_at_ms: u64,
    /// Study number and step.
    pub step: Option<(u64, u32)>,
    pub host_fingerprint: String,
    pub verdict: Option<VerdictClass>,
    /// `None` if the stored result or its values are damaged.
    pub values: Option<RunValues>,
}

/// A group of runs in a series.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// Ordered by number. Not empty.
    pub runs: Vec<PointRun<'a>>,
}

#[derive(Clone, Debug)]
pub struct PointRun<'a> {
    pub run: &'a SeriesRun,
    /// Why the run is excluded from the statistics of all metrics.
    pub exclusion: Option<Exclusion>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exclusion {
    pub kind: ExclusionKind,
    pub reason: String,
}

/// Origin of a run. Only runs with the same origin can be in the same point.
#[derive(Eq, Hash, PartialEq)]
enum Origin {
    Step(u64, u32),
    Day(u64),
}

impl SeriesRun {
    fn origin(&self) -> Origin {
        match self.step {
            Some((study, step)) => Origin::Step(study, step),
            None => Origin::Day(self.started_at_ms / DAY_MS),
        }
    }

    fn is_complete(&self) -> bool {
        self.status == RunStatus::Done && self.values.is_some()
    }

    fn value(&self, metric: &str) -> Option<f64> {
        let values = self.values.as_ref().filter(|_| self.is_complete())?;
        values.metrics.get(metric).copied()
    }

    fn is_lower_bound(&self, metric: &str) -> bool {
        let values = self.values.iter();
        let mut names = values.flat_map(|values| &values.lower_bounds);
        names.any(|name| name == metric)
    }

    /// The first disturbance of the run that is not a property of the series.
    fn disturbance(&self, properties: &[&str]) -> Option<&str> {
        let codes = self.values.iter().flat_map(|values| &values.disturbances);
        let mut codes = codes.map(String::as_str);
        codes.find(|code| !properties.contains(code))
    }

    fn exclusion(&self, properties: &[&str]) -> Option<Exclusion> {
        let (kind, reason) = if self.status != RunStatus::Done {
            (ExclusionKind::Incomplete, self.status.as_str().to_owned())
        } else if self.values.is_none() {
            (ExclusionKind::Damaged, "damaged result".into())
        } else {
            let code = self.disturbance(properties)?;
            (ExclusionKind::Disturbed, finding_name(code))
        };
        Some(Exclusion { kind, reason })
    }
}

impl<'a> Point<'a> {
    pub fn first(&self) -> &'a SeriesRun {
        self.runs[0].run
    }

    /// Runs that are included in the statistics.
    pub fn included(&self) -> impl Iterator<Item = &'a SeriesRun> {
        let included = self.runs.iter().filter(|run| run.exclusion.is_none());
        included.map(|run| run.run)
    }

    /// The verdict class that all included runs share.
    pub(crate) fn verdict(&self) -> Option<VerdictClass> {
        let mut classes = self.included().map(|run| run.verdict);
        let first = classes.next()?;
        first.filter(|_| classes.all(|class| class == first))
    }

    /// Describes the point without host changes.
    pub fn describe(&self, metric: &str) -> TrendPoint {
        let measured = self
            .included()
            .filter_map(|run| Some((run, run.value(metric)?)));
        let measured = Vec::from_iter(measured);
        let first = self.first();
        TrendPoint {
            started_at_ms: first.started_at_ms,
            study: first.step.map(|(study, _)| study),
            step: first.step.map(|(_, step)| step),
            runs: measured.iter().map(|(run, _)| run.number).collect(),
            excluded: self.excluded(metric),
            at_least: measured.iter().any(|(run, _)| run.is_lower_bound(metric)),
            statistics: labeled_statistics(measured.into_iter()),
            host_changes: Vec::new(),
        }
    }

    fn excluded(&self, metric: &str) -> Vec<ExcludedRun> {
        let excluded = self.runs.iter().filter_map(|PointRun { run, exclusion }| {
            let value = run.value(metric);
            let no_value = || Exclusion {
                kind: ExclusionKind::NoValue,
                reason: "no value".into(),
            };
            let exclusion = exclusion.clone();
            let exclusion = exclusion.or_else(|| value.is_none().then(no_value))?;
            Some(ExcludedRun {
                run: run.number,
                kind: exclusion.kind,
                reason: exclusion.reason,
                value,
            })
        });
        excluded.collect()
    }
}

/// Groups runs. `runs` must be ordered by number.
pub fn points(runs: &[SeriesRun]) -> Vec<Point<'_>> {
    let properties = properties(runs);
    let mut points: Vec<Point> = Vec::new();
    // Index of the newest point with each origin.
    let mut open: HashMap<Origin, usize> = HashMap::new();
    for run in runs {
        let fits = |index: &&usize| {
            let point = &points[**index];
            let is_same_host = point.first().host_fingerprint == run.host_fingerprint;
            is_same_host && point.runs.len() < MAX_RUNS
        };
        let index = open.get(&run.origin()).filter(fits).copied();
        let index = index.unwrap_or_else(|| {
            points.push(Point { runs: Vec::new() });
            points.len() - 1
        });
        open.insert(run.origin(), index);
        let exclusion = run.exclusion(&properties);
        points[index].runs.push(PointRun { run, exclusion });
    }
    points
}

/// Codes of disturbances that most complete runs have. They count as properties of the test.
pub fn properties(runs: &[SeriesRun]) -> Vec<&str> {
    let complete = || runs.iter().filter(|run| run.is_complete());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for values in complete().filter_map(|run| run.values.as_ref()) {
        for code in &values.disturbances {
            *counts.entry(code).or_default() += 1;
        }
    }
    let all = complete().count();
    let frequent = counts.into_iter().filter(|(_, count)| count * 2 > all);
    frequent.map(|(code, _)| code).collect()
}

/// Counts excluded runs by reason, most frequent first.
pub fn count_excluded(points: &[TrendPoint]) -> Vec<ExclusionCount> {
    let mut counts: Vec<ExclusionCount> = Vec::new();
    for ExcludedRun { kind, reason, .. } in points.iter().flat_map(|point| &point.excluded) {
        let same = |count: &&mut ExclusionCount| count.kind == *kind && count.reason == *reason;
        match counts.iter_mut().find(same) {
            Some(count) => count.runs += 1,
            None => counts.push(ExclusionCount {
                kind: *kind,
                reason: reason.clone(),
                runs: 1,
            }),
        }
    }
    counts.sort_by_key(|count| std::cmp::Reverse(count.runs));
    counts
}

/// Statistics of the runs with these numbers.
pub fn statistics_of(runs: &[SeriesRun], numbers: &[u64], metric: &str) -> GroupStatistics {
    let runs = runs.iter().filter(|run| numbers.contains(&run.number));
    labeled_statistics(runs.filter_map(|run| Some((run, run.value(metric)?))))
}

fn labeled_statistics<'r>(runs: impl Iterator<Item = (&'r SeriesRun, f64)>) -> GroupStatistics {
    let labeled = runs.map(|(run, value)| (format!("#{}", run.number), value));
    let labeled = Vec::from_iter(labeled);
    let values = labeled
        .iter()
        .map(|(label, value)| (label.as_str(), *value));
    statistics(&Vec::from_iter(values))
}

/// Noun phrase for a finding.
pub fn finding_text(code: &str) -> String {
    finding_name(code)
}
