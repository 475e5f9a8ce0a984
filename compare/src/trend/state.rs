//! The state of a series relative to its baseline. The comparison itself is the same as between any
//! two groups.

use crate::{
    answer::HEADLINES,
    trend::points::{Point, SeriesRun},
};
use leadline_protocol::{
    compare::{Assessment, ChangeVerdict, ComparabilityLevel, ComparedMetric},
    trend::{ExclusionKind, MetricState, SeriesState, TrendState},
};

/// Earlier runs outside studies are added to the newest group until it has this many runs, which is
/// enough for a verdict on all metrics unless the results are too noisy.
const MIN_RUNS: usize = 10;

/// Returns the runs to compare with the baseline, or the state of the series if there are none.
pub fn newest_group(points: &[Point], baseline: &[u64]) -> Result<Vec<u64>, SeriesState> {
    let is_measured = |point: &&Point| {
        let mut runs = point.runs.iter();
        runs.any(|run| {
            let exclusion = run.exclusion.as_ref();
            let is_failed = exclusion.is_some_and(|why| why.kind == ExclusionKind::Incomplete);
            !is_failed && is_after(run.run, point, baseline)
        })
    };
    let Some(newest) = points.iter().rfind(is_measured) else {
        let reason = "There are no complete runs after the baseline.";
        return Err(state_without_comparison(TrendState::Undecided, reason));
    };
    let runs = runs_after(newest, baseline);
    if runs.is_empty() {
        let reason = exclusion_reason(newest);
        return Err(state_without_comparison(TrendState::NotComparable, reason));
    }
    if newest.first().step.is_some() {
        return Ok(runs);
    }
    Ok(with_earlier_runs(runs, newest, points, baseline))
}

/// Adds the newest earlier runs outside studies, up to the first point with a different host or
/// verdict.
fn with_earlier_runs(
    mut runs: Vec<u64>,
    newest: &Point,
    points: &[Point],
    baseline: &[u64],
) -> Vec<u64> {
    let is_earlier = |point: &&Point| {
        let first = point.first();
        first.step.is_none() && first.number < newest.first().number
    };
    let host = &newest.first().host_fingerprint;
    let is_same = |point: &&Point| {
        point.first().host_fingerprint == *host && point.verdict() == newest.verdict()
    };
    let earlier = points.iter().rev().filter(is_earlier).take_while(is_same);
    let earlier = earlier.flat_map(|point| runs_after(point, baseline).into_iter().rev());
    let missing = MIN_RUNS.saturating_sub(runs.len());
    runs.extend(earlier.take(missing));
    runs.sort_unstable();
    runs
}

fn runs_after(point: &Point, baseline: &[u64]) -> Vec<u64> {
    let included = point.included();
    let after = included.filter(|run| is_after(run, point, baseline));
    after.map(|run| run.number).collect()
}

/// Whether a run counts as newer than the baseline. For a study step, its first run decides,
/// because a study interleaves its steps.
fn is_after(run: &SeriesRun, point: &Point, baseline: &[u64]) -> bool {
    let bounds = baseline.iter().min().zip(baseline.iter().max());
    bounds.is_none_or(|(first, last)| match run.step {
        Some(_) => point.first().number > *first && !baseline.contains(&run.number),
        None => run.number > *last,
    })
}

fn exclusion_reason(point: &Point) -> String {
    let excluded = point.runs.iter().filter_map(|run| {
        let exclusion = run.exclusion.as_ref()?;
        Some(format!("#{} ({})", run.run.number, exclusion.reason))
    });
    let listed = Vec::from_iter(excluded).join(", ");
    format!("All runs in the newest group are excluded: {listed}.")
}

/// The state of a series whose newest group was not compared.
pub fn state_without_comparison(state: TrendState, reason: impl Into<String>) -> SeriesState {
    SeriesState {
        state,
        reason: reason.into(),
        runs: Vec::new(),
        metrics: Vec::new(),
    }
}

/// The state of the second group in a comparison. The first group is the baseline.
pub fn state_from_comparison(assessment: &Assessment, runs: Vec<u64>) -> SeriesState {
    let metrics = assessment.metrics.iter().filter_map(metric_state);
    let metrics = Vec::from_iter(metrics);
    let headlines = || metrics.iter().filter(|metric| metric.is_headline);
    let has = |state| headlines().any(|metric| metric.state == state);
    let is_comparable = assessment.comparability.level != ComparabilityLevel::NotComparable;
    let is_comparable = is_comparable && !is_served_by_different_layers(assessment);
    let state = if !is_comparable {
        TrendState::NotComparable
    } else if has(TrendState::Regressed) {
        TrendState::Regressed
    } else if has(TrendState::Improved) {
        TrendState::Improved
    } else if has(TrendState::Ok) && headlines().all(|metric| metric.state == TrendState::Ok) {
        TrendState::Ok
    } else {
        TrendState::Undecided
    };
    let comparability = &assessment.comparability;
    let mut sentences = Vec::new();
    if is_comparable {
        sentences.extend(assessment.answers.iter().cloned());
    }
    if comparability.level != ComparabilityLevel::Comparable {
        sentences.push(comparability.sentence.clone());
    }
    SeriesState {
        state,
        reason: capitalized(&sentences.join(" ")),
        runs,
        metrics,
    }
}

/// Capitalizes a sentence, which may start with a group label.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Whether the layers that served the runs of the two groups are disjoint. In that case, a change
/// shows only whether the cache was used.
fn is_served_by_different_layers(assessment: &Assessment) -> bool {
    let runs = assessment.groups[0].runs.len();
    let mut verdicts = assessment
        .result_differences
        .iter()
        .filter(|difference| difference.name.ends_with(" verdict"));
    verdicts.any(|verdict| {
        let (baseline, newest) = verdict.values.split_at(runs);
        let mut classes = baseline.iter().flatten();
        !classes.any(|class| newest.contains(&Some(class.clone())))
    })
}

fn metric_state(metric: &ComparedMetric) -> Option<MetricState> {
    let change = metric.changes.get(1)?.as_ref()?;
    let state = match change.verdict? {
        ChangeVerdict::Better => TrendState::Improved,
        ChangeVerdict::Worse => TrendState::Regressed,
        ChangeVerdict::Equivalent => TrendState::Ok,
        ChangeVerdict::Undecided => TrendState::Undecided,
        ChangeVerdict::NotComparable => TrendState::NotComparable,
    };
    Some(MetricState {
        metric: metric.name.clone(),
        state,
        // Excludes metrics that cannot be tested, such as a percentile of too few I/Os.
        is_headline: HEADLINES.contains(&metric.name.as_str())
            && (change.p_value.is_some() || state == TrendState::NotComparable),
        change: change.clone(),
    })
}
