//! Interim looks at a study that ends as soon as its two steps differ or are equivalent.

use crate::{
    answer::main_clause,
    compare_at,
    group::Group,
    layers,
    level::{Level, confidence_text},
    undecided::pairs,
};
use leadline_protocol::{
    compare::{Assessment, ChangeVerdict},
    study::until_decided::{Look, LookChange, LookOutcome, PlannedLook, UntilDecided},
};
use leadline_stats::{comparison::Design, sequential};

/// Returns the planned looks at a study with up to `repeats` pairs and this number of metrics.
///
/// # Errors
/// Returns the smallest number of repeats at which a verdict is possible, if `repeats` is lower.
pub fn plan_looks(repeats: u32, metrics: usize) -> Result<Vec<PlannedLook>, usize> {
    let last = repeats as usize;
    let Some(first) = sequential::first_look(last, Design::Paired, metrics) else {
        let level = (1.0 - leadline_stats::CONFIDENCE) / metrics as f64;
        return Err(Design::Paired.fewest_runs(level));
    };
    let runs = sequential::schedule(first, last);
    let looks = sequential::looks(&runs, Design::Paired).into_iter();
    let planned = looks.map(|look| PlannedLook {
        pairs: look.runs as u32,
        confidence_percent: look.confidence * 100.0,
    });
    Ok(planned.collect())
}

/// Excludes runs in blocks after the last look, and returns the confidence level for comparing the
/// study's steps.
pub fn apply(groups: &mut [Group], until: &UntilDecided, looks: &[Look]) -> Level {
    if let Some(last) = looks.last() {
        for run in groups.iter_mut().flat_map(|group| &mut group.runs) {
            let repeat = run.block.as_ref().map(|block| block.repeat);
            run.is_after_look = repeat.is_some_and(|repeat| repeat > last.planned.pairs);
        }
    }
    level(until, looks)
}

fn level(until: &UntilDecided, looks: &[Look]) -> Level {
    let planned = looks.last().map(|look| look.planned);
    match planned.or_else(|| until.looks.first().copied()) {
        Some(planned) => Level {
            pending: looks.is_empty().then(|| first_look_text(planned)),
            ..look_level(until, planned)
        },
        None => Level::default(),
    }
}

fn look_level(until: &UntilDecided, planned: PlannedLook) -> Level {
    Level {
        confidence: planned.confidence_percent / 100.0,
        primary: until.metrics.clone(),
        pending: None,
    }
}

fn first_look_text(planned: PlannedLook) -> String {
    format!(
        "The study can end early. Its first interim look is after {}.",
        pairs(planned.pairs.into())
    )
}

/// Compares the steps A and B of a study at a look. The groups contain the runs in the look's
/// blocks.
pub fn look(groups: &[Group; 2], until: &UntilDecided, planned: PlannedLook) -> Look {
    let level = look_level(until, planned);
    let assessment = compare_at(groups, 0, until.threshold_percent, &level);
    let metrics = until.metrics.iter();
    let changes: Vec<LookChange> = metrics.map(|name| change(name, &assessment)).collect();
    let obstacle = assessment.groups[1].obstacle.clone();
    let obstacle = obstacle.or_else(|| layers::majority_difference(groups));
    let outcome = if obstacle.is_some() {
        LookOutcome::NotComparable
    } else if changes.iter().all(is_decided) {
        LookOutcome::Decided
    } else {
        LookOutcome::Undecided
    };
    Look {
        planned,
        outcome,
        reasons: assessment.comparability.reasons.clone(),
        sentence: match obstacle {
            Some(obstacle) => format!("Not comparable: {obstacle}"),
            None => sentence(&assessment, until, &level),
        },
        changes,
    }
}

fn is_decided(change: &LookChange) -> bool {
    matches!(
        change.verdict,
        ChangeVerdict::Better | ChangeVerdict::Worse | ChangeVerdict::Equivalent
    )
}

fn change(name: &str, assessment: &Assessment) -> LookChange {
    let metric = assessment.metrics.iter().find(|metric| metric.name == name);
    let change = metric.and_then(|metric| metric.changes.get(1)?.as_ref());
    let Some(change) = change else {
        return LookChange {
            metric: name.to_owned(),
            percent: None,
            interval_percent: None,
            verdict: match assessment.groups[1].obstacle {
                Some(_) => ChangeVerdict::NotComparable,
                None => ChangeVerdict::Undecided,
            },
            pairs: 0,
        };
    };
    let verdict = change.verdict.unwrap_or(ChangeVerdict::Undecided);
    LookChange {
        metric: name.to_owned(),
        percent: Some(change.percent),
        interval_percent: change.interval_percent,
        // Looks compare pairs. If there are no pairs, most blocks are incomplete, so nothing is
        // decided.
        verdict: match change.paired || verdict == ChangeVerdict::NotComparable {
            true => verdict,
            false => ChangeVerdict::Undecided,
        },
        pairs: if change.paired { change.n as u32 } else { 0 },
    }
}

fn sentence(assessment: &Assessment, until: &UntilDecided, level: &Level) -> String {
    let [a, b] = [0, 1].map(|group| &assessment.groups[group].label);
    let clauses = until.metrics.iter().map(|name| {
        let metric = assessment
            .metrics
            .iter()
            .find(|metric| metric.name == *name);
        let change = metric.and_then(|metric| Some((metric, metric.changes.get(1)?.as_ref()?)));
        match change {
            Some((_, change)) if !change.paired => {
                format!(
                    "{b} and {a} have no verdict on {name}, because most blocks are incomplete."
                )
            }
            Some((metric, change)) => main_clause(a, b, metric, change, level.confidence),
            None => format!("{b} and {a} have no {name} value in common."),
        }
    });
    clauses.collect::<Vec<String>>().join(" ")
}

/// Example: `Ends as soon as read_iops is decided. Interim looks after 8 and 12 pairs, with ...`
pub fn plan_text(until: &UntilDecided) -> String {
    let join = |texts: Vec<String>| match texts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => texts.concat(),
    };
    let looks = until.looks.iter();
    let counts = join(looks.clone().map(|look| look.pairs.to_string()).collect());
    let levels = join(
        looks
            .map(|look| confidence_text(look.confidence_percent))
            .collect(),
    );
    let verb = if until.metrics.len() == 1 {
        "is"
    } else {
        "are"
    };
    format!(
        "Ends as soon as {} {verb} decided. Interim looks after {counts} pairs, with confidence levels of {levels}.",
        join(until.metrics.clone())
    )
}
