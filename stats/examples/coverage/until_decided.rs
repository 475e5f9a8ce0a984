//! Studies with multiple looks, and the recommended number of runs for an undecided comparison.

use crate::comparisons::{SLOWDOWN, THRESHOLD, compare_at};
use crate::designs::{Design, METRICS, Noise, study};
use crate::simulation::{DATA_SETS, percent, shares, table};
use leadline_stats::CONFIDENCE;
use leadline_stats::comparison::{self, Better, Verdict};
use leadline_stats::holm;
use leadline_stats::sample_size::{Goal, Spread};
use leadline_stats::sequential::{Look, looks, schedule};
use rand::rngs::StdRng;

const FIRST: usize = 6;
const LAST: usize = 30;
/// Maximum recommended number of runs to simulate.
const MAX_RECOMMENDED: usize = 50;

use Design::{RandomGroups, RandomPairs};
use Noise::{Autocorrelated, Bimodal, Drifting, LogNormal, Normal};

const NOISES: [Noise; 5] = [Normal, LogNormal, Bimodal, Drifting, Autocorrelated];
const DESIGNS: [Design; 2] = [RandomPairs, RandomGroups];

fn stats_design(design: Design) -> comparison::Design {
    if design.is_paired() {
        comparison::Design::Paired
    } else {
        comparison::Design::Unpaired
    }
}

fn verdict(design: Design, [a, b]: [&[f64]; 2], look: &Look) -> Verdict {
    let ratio = compare_at(design, a, b, look.confidence);
    ratio.verdict_at(Better::Lower, THRESHOLD, ratio.p_value, look.confidence)
}

fn is_better_or_worse(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

/// Returns the first decisive verdict, or else the last one, and the number of runs at that look.
fn decide(design: Design, a: &[f64], b: &[f64], looks: &[Look]) -> (Verdict, usize) {
    let outcomes = looks.iter().map(|look| {
        let values = [&a[..look.runs], &b[..look.runs]];
        (verdict(design, values, look), look.runs)
    });
    let is_open = |verdict| matches!(verdict, Verdict::Undecided | Verdict::TooFew);
    let mut last = (Verdict::TooFew, 0);
    for outcome in outcomes {
        last = outcome;
        if !is_open(outcome.0) {
            break;
        }
    }
    last
}

/// Returns whether any metric is better or worse at any look.
fn has_false_verdict(design: Design, metrics: &[[Vec<f64>; 2]; METRICS], looks: &[Look]) -> bool {
    looks.iter().any(|look| {
        let ratios = metrics
            .each_ref()
            .map(|[a, b]| compare_at(design, &a[..look.runs], &b[..look.runs], look.confidence));
        let adjusted = holm::adjust(&ratios.map(|ratio| ratio.p_value));
        let verdict = |(ratio, p): (&comparison::Ratio, &f64)| {
            ratio.verdict_at(Better::Lower, 1.0, *p, look.confidence)
        };
        ratios
            .iter()
            .zip(&adjusted)
            .map(verdict)
            .any(is_better_or_worse)
    })
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

/// One table row for sequential comparisons: false verdicts with and without alpha spending, false
/// equivalence, and power.
fn sequential_row(noise: Noise, design: Design, seed: u64) -> Vec<String> {
    let sizes = schedule(FIRST, LAST);
    let spending = looks(&sizes, stats_design(design));
    let constant: Vec<Look> = sizes
        .iter()
        .map(|runs| Look {
            runs: *runs,
            confidence: CONFIDENCE,
        })
        .collect();
    let last = [Look {
        runs: LAST,
        confidence: CONFIDENCE,
    }];
    let figures = shares(seed, |random| {
        let metrics = study(noise, design, LAST, random);
        let [a, b] = &metrics[0];
        let has_false_positive = |looks: &[Look]| {
            let is_false = |look: &Look| {
                let ratio = compare_at(design, &a[..look.runs], &b[..look.runs], look.confidence);
                let verdict = ratio.verdict_at(Better::Lower, 1.0, ratio.p_value, look.confidence);
                is_better_or_worse(verdict)
            };
            looks.iter().any(is_false)
        };
        let slower = scaled(b, SLOWDOWN);
        [
            has_false_positive(&constant),
            has_false_positive(&spending),
            has_false_verdict(design, &metrics, &spending),
            decide(design, a, &scaled(b, THRESHOLD), &spending).0 == Verdict::Equivalent,
            decide(design, a, &slower, &spending).0 == Verdict::Worse,
            decide(design, a, &slower, &last).0 == Verdict::Worse,
        ]
    });
    let mean_runs = mean(seed, |random| {
        let metrics = study(noise, design, LAST, random);
        let [a, b] = &metrics[0];
        decide(design, a, &scaled(b, SLOWDOWN), &spending).1
    });
    let names = [noise.name(), design.name()].map(str::to_owned);
    let figures = figures.map(percent);
    names
        .into_iter()
        .chain(figures)
        .chain([format!("{mean_runs:.1}")])
        .collect()
}

/// Returns the mean of a number, at most 127, over the same data sets as `shares`.
fn mean(seed: u64, number: impl Fn(&mut StdRng) -> usize + Sync) -> f64 {
    let bits = shares(seed, |random| {
        let number = number(random);
        std::array::from_fn::<bool, 7, _>(|bit| number >> bit & 1 == 1)
    });
    let value = |(bit, share): (u32, &f64)| f64::from(1_u32 << bit) * share / 100.0;
    (0..).zip(&bits).map(value).sum()
}

/// One table row for the number of runs recommended after a study with `first` runs: how often that
/// number detects a 5 % difference, both in a new study and when the undecided study is continued.
fn recommendation_row(noise: Noise, design: Design, first: usize, seed: u64) -> Vec<String> {
    let goal = Goal {
        max_runs: MAX_RECOMMENDED,
        ..Goal::default()
    };
    let recommended = |a: &[f64], b: &[f64]| {
        let spread = if design.is_paired() {
            let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
            Spread::from_pairs(&pairs)
        } else {
            Spread::from_groups(a, b)
        };
        let spread = spread.expect("positive values");
        let difference = spread
            .runs_for_difference(SLOWDOWN, &goal)
            .unwrap_or(goal.max_runs);
        (difference, spread.runs_for_equivalence(SLOWDOWN, &goal))
    };
    let look = |runs| Look {
        runs,
        confidence: CONFIDENCE,
    };
    let figures = shares(seed, |random| {
        let [[a, b], ..] = study(noise, design, goal.max_runs, random);
        let b = scaled(&b, SLOWDOWN);
        let first_verdict = verdict(design, [&a[..first], &b[..first]], &look(first));
        let (runs, equivalence) = recommended(&a[..first], &b[..first]);
        let [[c, d], ..] = study(noise, design, goal.max_runs, random);
        let same = equivalence.map(|n| {
            let ratio = compare_at(design, &c[..n], &d[..n], CONFIDENCE);
            ratio.verdict(Better::Lower, SLOWDOWN, ratio.p_value)
        });
        let d = scaled(&d, SLOWDOWN);
        let found = verdict(design, [&c[..runs], &d[..runs]], &look(runs)) == Verdict::Worse;
        let continued = verdict(design, [&a[..runs], &b[..runs]], &look(runs)) == Verdict::Worse;
        let is_open = first_verdict == Verdict::Undecided && runs > first;
        [
            found,
            is_open,
            is_open && continued,
            same.is_some(),
            same == Some(Verdict::Equivalent),
        ]
    });
    let runs = mean(seed, |random| {
        let [[a, b], ..] = study(noise, design, goal.max_runs, random);
        recommended(&a[..first], &b[..first]).0
    });
    let share = |part: f64, of: f64| {
        if of < 1.0 {
            "–".to_owned()
        } else {
            percent(100.0 * part / of)
        }
    };
    vec![
        noise.name().to_owned(),
        design.name().to_owned(),
        first.to_string(),
        format!("{runs:.1}"),
        percent(figures[0]),
        share(figures[2], figures[1]),
        share(figures[4], figures[3]),
    ]
}

pub(crate) fn section() -> String {
    let rows = |row: &dyn Fn(Noise, Design, u64) -> Vec<String>, seed: u64| {
        let studies = NOISES
            .iter()
            .flat_map(|n| DESIGNS.map(|design| (*n, design)));
        let rows = studies
            .zip(seed..)
            .map(|((noise, design), seed)| row(noise, design, seed));
        rows.collect::<Vec<_>>()
    };
    let sequential = rows(&sequential_row, 1000);
    let columns = [
        "runs",
        "design",
        "false positives, 95 % per look",
        "false positives",
        "false positives, 6 metrics",
        "false equivalence",
        "power",
        "power, single comparison",
        "mean runs",
    ];
    let recommendations = [6, 10].map(|first| {
        rows(
            &|noise, design, seed| recommendation_row(noise, design, first, seed),
            2000 + first as u64 * 50,
        )
    });
    let recommendation_columns = [
        "runs",
        "design",
        "first",
        "recommended",
        "found",
        "found, continued",
        "equivalent",
    ];
    format!(
        "### Until decided\n\n\
         Percentages of {DATA_SETS} studies with looks at {:?} pairs or runs per group.\n\
         False positives, for A compared with A: *better* or *worse* at any look, with 95 %\n\
         confidence at each look, with alpha spending, and with alpha spending and Holm's\n\
         correction for {METRICS} metrics. False equivalence: *equivalent* if the true ratio\n\
         equals the threshold. Power, for a B that is 5 % slower: how often the verdict\n\
         is *worse*, with these looks and in a single comparison of {LAST} pairs or runs per\n\
         group. Mean runs: the mean number of pairs or runs per group until this B is decided.\n\n{}\n\
         ### Recommended numbers of runs\n\n\
         Recommendations based on the spread of the first runs:\n\n\
         - *recommended*: mean number of runs for detecting a 5 % difference\n\
         - *found*: how often that number detects it in a new study, in percent\n\
         - *found, continued*: the same if an undecided first study is continued\n\
         - *equivalent*: how often a study of the size recommended for showing equivalence\n  \
           within 5 % ends in *equivalent*, in percent, if the true ratio is 1 (sizes up to\n  \
           {MAX_RECOMMENDED})\n\n{}",
        schedule(FIRST, LAST),
        table(&columns, &sequential),
        table(&recommendation_columns, &recommendations.concat()),
    )
}
