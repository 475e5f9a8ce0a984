//! Interim looks at studies with `until_decided`, and comparisons of their steps.

use super::{STEADY, change, members, run, scaled};
use crate::{
    compare_at,
    group::Group,
    interim_looks::{apply, look, plan_looks, plan_text},
    level::{Level, confidence_text},
};
use leadline_protocol::{
    compare::ChangeVerdict,
    run::Run,
    status::RunStatus,
    study::until_decided::{Look, LookOutcome, PlannedLook, UntilDecided},
};

fn until(metrics: &[&str], repeats: u32) -> UntilDecided {
    UntilDecided {
        metrics: metrics.iter().map(|name| (*name).to_owned()).collect(),
        threshold_percent: 2.0,
        looks: plan_looks(repeats, metrics.len()).unwrap(),
    }
}

fn runs(iops: &[f64], first: u64) -> Vec<Run> {
    let runs = (first..).zip(iops);
    runs.map(|(number, iops)| run(number, *iops, "device", "6.1"))
        .collect()
}

fn groups<'a>(a: &'a [Run], b: &'a [Run]) -> [Group<'a>; 2] {
    [("A", a), ("B", b)].map(|(label, runs)| Group {
        label: label.into(),
        runs: members(runs, true),
    })
}

fn first_look(until: &UntilDecided, a: &[f64], b: &[f64]) -> Look {
    let planned = until.looks[0];
    let pairs = planned.pairs as usize;
    let (a, b) = (runs(&a[..pairs], 1), runs(&b[..pairs], 101));
    look(&groups(&a, &b), until, planned)
}

#[test]
fn looks_depend_only_on_the_number_of_repeats() {
    let pairs = |repeats, metrics| -> Result<Vec<u32>, usize> {
        let looks = plan_looks(repeats, metrics)?.into_iter();
        Ok(looks.map(|look| look.pairs).collect())
    };
    assert_eq!(pairs(20, 1), Ok(vec![8, 12, 20]));
    assert_eq!(pairs(6, 1), Ok(vec![6]));
    assert_eq!(pairs(5, 1), Err(6));
    assert_eq!(pairs(7, 6), Err(8));
    assert_eq!(pairs(50, 1), Ok(vec![10, 15, 23, 35, 50]));
    let text = plan_text(&until(&["read_iops"], 20));
    assert_eq!(
        text,
        "Ends as soon as read_iops is decided. Interim looks after 8, 12 and 20 pairs, with confidence levels of 99.2 %, 99 % and 96.8 %."
    );
    assert_eq!(confidence_text(95.0), "95 %");
}

#[test]
fn every_metric_must_be_decided() {
    let slower = scaled(0.9);
    let iops = until(&["read_iops"], 10);
    let decided = first_look(&iops, &STEADY, &slower);
    assert_eq!(decided.outcome, LookOutcome::Decided, "{decided:?}");
    assert_eq!(decided.changes[0].verdict, ChangeVerdict::Worse);
    assert_eq!(decided.changes[0].pairs, 7);
    assert!(decided.sentence.contains("97.55 % interval"), "{decided:?}");
    let equal = first_look(&iops, &STEADY, &scaled(1.001));
    assert_eq!(equal.outcome, LookOutcome::Decided, "{equal:?}");
    assert_eq!(equal.changes[0].verdict, ChangeVerdict::Equivalent);
    // The runs do no trims, so `trim_iops` has no value.
    let both = until(&["read_iops", "trim_iops"], 20);
    let undecided = first_look(&both, &STEADY, &slower);
    assert_eq!(undecided.outcome, LookOutcome::Undecided, "{undecided:?}");
    assert_eq!(undecided.changes[0].verdict, ChangeVerdict::Worse);
    assert_eq!(undecided.changes[1].percent, None);
}

/// The smallest possible p-value of 7 pairs is 1.6 %.
#[test]
fn looks_use_their_own_confidence_level() {
    let fixed = UntilDecided {
        looks: vec![PlannedLook {
            pairs: 7,
            confidence_percent: 95.0,
        }],
        ..until(&["read_iops"], 10)
    };
    let strict = UntilDecided {
        looks: vec![PlannedLook {
            pairs: 7,
            confidence_percent: 99.0,
        }],
        ..fixed.clone()
    };
    let outcome = |until: &UntilDecided| first_look(until, &STEADY, &scaled(0.9)).outcome;
    assert_eq!(outcome(&fixed), LookOutcome::Decided);
    assert_eq!(outcome(&strict), LookOutcome::Undecided);
}

#[test]
fn steps_that_are_not_comparable_are_not_decided() {
    let until = until(&["read_iops"], 10);
    let (a, mut b) = (runs(&STEADY, 1), runs(&scaled(0.5), 101));
    b.iter_mut()
        .for_each(|run| run.summary.status = RunStatus::Failed);
    let failed = look(&groups(&a, &b), &until, until.looks[0]);
    assert_eq!(failed.outcome, LookOutcome::NotComparable, "{failed:?}");
    assert_eq!(failed.changes[0].verdict, ChangeVerdict::NotComparable);
    // Served by memory: 40 times the IOPS, but not because B is better.
    let cached: Vec<Run> = (101..)
        .zip(scaled(40.0))
        .map(|(number, iops)| run(number, iops, "page_cache", "6.1"))
        .collect();
    let cached = look(&groups(&a, &cached), &until, until.looks[0]);
    assert_eq!(cached.outcome, LookOutcome::NotComparable, "{cached:?}");
    assert!(cached.sentence.contains("and “B” by memory"), "{cached:?}");
    // Two kernels within a step.
    let mut mixed = runs(&scaled(0.5), 101);
    mixed[3] = run(104, 500.0, "device", "6.2");
    let mixed = look(&groups(&a, &mixed), &until, until.looks[0]);
    assert_eq!(mixed.outcome, LookOutcome::NotComparable, "{mixed:?}");
}

#[test]
fn blocks_with_a_failed_run_are_excluded() {
    let until = until(&["read_iops"], 20);
    let (mut a, b) = (runs(&STEADY[..8], 1), runs(&scaled(0.9)[..8], 101));
    a[2].summary.status = RunStatus::Failed;
    let look = look(&groups(&a, &b), &until, until.looks[0]);
    assert_eq!(look.changes[0].pairs, 7);
    // 7 pairs cannot be significant at 0.8 %.
    assert_eq!(look.outcome, LookOutcome::Undecided, "{look:?}");
    assert!(look.reasons[0].starts_with("#3 "), "{look:?}");
}

#[test]
fn single_run_served_by_another_layer_is_ignored() {
    let until = until(&["read_iops"], 10);
    let (a, mut b) = (runs(&STEADY[..7], 1), runs(&scaled(0.9)[..7], 101));
    b[3] = run(104, 900.0, "page_cache", "6.1");
    let look = look(&groups(&a, &b), &until, until.looks[0]);
    assert_eq!(look.outcome, LookOutcome::Decided, "{look:?}");
}

#[test]
fn comparisons_use_the_level_and_blocks_of_the_last_look() {
    let until = until(&["read_iops"], 10);
    let (a, b) = (runs(&STEADY, 1), runs(&scaled(0.9), 101));
    let mut compared = groups(&a, &b);
    let level = apply(&mut compared, &until, &[]);
    let assessment = compare_at(&compared, 0, 2.0, &level);
    let pending = change(&assessment, "read_iops");
    assert_eq!(pending.verdict, Some(ChangeVerdict::Undecided));
    assert_eq!(pending.interval_percent, None);
    let reason = pending.reason.as_deref().unwrap();
    assert!(
        reason.contains("first interim look is after 7 pairs"),
        "{reason}"
    );

    let looks = [first_look(&until, &STEADY, &scaled(0.9))];
    let level = apply(&mut compared, &until, &looks);
    let assessment = compare_at(&compared, 0, 2.0, &level);
    assert!((assessment.confidence_percent - 97.55).abs() < 1e-9);
    let decided = change(&assessment, "read_iops");
    assert_eq!(
        (decided.n, decided.verdict),
        (7, Some(ChangeVerdict::Worse))
    );
    assert_eq!(
        decided.interval_percent,
        looks[0].changes[0].interval_percent
    );
    let reasons = assessment.comparability.reasons.concat();
    assert!(reasons.contains("use 97.55 % instead of 95 %"), "{reasons}");
    assert!(
        reasons.contains("6 runs are newer than the last look"),
        "{reasons}"
    );
}

/// If the study's metrics were corrected together with all other metrics, the study could end with
/// a decision that the comparison of its steps does not confirm.
#[test]
fn study_metrics_are_corrected_separately() {
    let (a, b) = (runs(&STEADY[..7], 1), runs(&scaled(0.9)[..7], 101));
    let verdict = |primary: &[&str]| {
        let level = Level {
            confidence: 0.98,
            primary: primary.iter().map(|name| (*name).to_owned()).collect(),
            pending: None,
        };
        let assessment = compare_at(&groups(&a, &b), 0, 2.0, &level);
        change(&assessment, "read_iops").verdict
    };
    // p = 1.6 %, and 4.7 % after correction for three metrics.
    assert_eq!(verdict(&["read_iops"]), Some(ChangeVerdict::Worse));
    assert_eq!(verdict(&[]), Some(ChangeVerdict::Undecided));
}
