//! Comparisons of A with A, and of A with a slower B: coverage, false verdicts and power.

use crate::designs::{Design, METRICS, Noise, study};
use crate::simulation::{DATA_SETS, percent, shares, table};
use leadline_stats::CONFIDENCE;
use leadline_stats::comparison::{Better, Ratio, Verdict, compare_groups_at, compare_pairs_at};
use leadline_stats::holm;

const SIZES: [usize; 4] = [6, 8, 10, 20];
pub(crate) const SLOWDOWN: f64 = 1.05;
/// Smallest ratio that matters.
pub(crate) const THRESHOLD: f64 = 1.02;
/// With this threshold, every significant difference is a verdict. This gives an upper bound for
/// false verdicts.
const NO_THRESHOLD: f64 = 1.0;

use Design::{OrderedGroups, OrderedPairs, RandomGroups, RandomPairs};
use Noise::{Autocorrelated, Bimodal, Drifting, LogNormal, Normal, OtherShape};

/// The order of independent runs does not matter, so they are simulated only in random order.
const STUDIES: [(Noise, Design); 16] = [
    (Normal, RandomPairs),
    (Normal, RandomGroups),
    (LogNormal, RandomPairs),
    (LogNormal, RandomGroups),
    (Bimodal, RandomPairs),
    (Bimodal, RandomGroups),
    (Drifting, RandomPairs),
    (Drifting, OrderedPairs),
    (Drifting, RandomGroups),
    (Drifting, OrderedGroups),
    (Autocorrelated, RandomPairs),
    (Autocorrelated, OrderedPairs),
    (Autocorrelated, RandomGroups),
    (Autocorrelated, OrderedGroups),
    (OtherShape, RandomPairs),
    (OtherShape, RandomGroups),
];

pub(crate) fn compare_at(design: Design, a: &[f64], b: &[f64], confidence: f64) -> Ratio {
    let ratio = if design.is_paired() {
        let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
        compare_pairs_at(&pairs, confidence)
    } else {
        compare_groups_at(a, b, confidence)
    };
    ratio.expect("positive values")
}

fn compare(design: Design, a: &[f64], b: &[f64]) -> Ratio {
    compare_at(design, a, b, CONFIDENCE)
}

/// Returns whether any metric is better or worse, and whether the first metric is worse.
fn verdicts(ratios: &[Ratio; METRICS], threshold: f64) -> (bool, bool) {
    let p_values = ratios.map(|ratio| ratio.p_value);
    let adjusted = holm::adjust(&p_values);
    let verdict = |(ratio, p): (&Ratio, &f64)| ratio.verdict(Better::Lower, threshold, *p);
    let verdicts: Vec<Verdict> = ratios.iter().zip(&adjusted).map(verdict).collect();
    let is_decided = |verdict: &Verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
    (
        verdicts.iter().any(is_decided),
        verdicts[0] == Verdict::Worse,
    )
}

/// One table cell: coverage, false verdicts, and power for one metric and for six metrics.
fn study_shares(noise: Noise, design: Design, n: usize, seed: u64) -> [f64; 4] {
    shares(seed, |random| {
        let metrics = study(noise, design, n, random);
        let same = metrics.each_ref().map(|[a, b]| compare(design, a, b));
        let slower = metrics.each_ref().map(|[a, b]| {
            let b: Vec<f64> = b.iter().map(|b| b * SLOWDOWN).collect();
            compare(design, a, &b)
        });
        let interval = same[0].estimate;
        let single_metric = slower[0].verdict(Better::Lower, THRESHOLD, slower[0].p_value);
        [
            interval.low <= 1.0 && 1.0 <= interval.high,
            verdicts(&same, NO_THRESHOLD).0,
            single_metric == Verdict::Worse,
            verdicts(&slower, THRESHOLD).1,
        ]
    })
}

/// Confidence level of the exact interval for `n` pairs, or for two groups of `n` runs.
fn exact_confidence(design: Design, n: usize) -> String {
    let values = |start: usize| (start..start + n).map(|i| i as f64).collect::<Vec<_>>();
    percent(100.0 * compare(design, &values(1), &values(3)).estimate.confidence)
}

pub(crate) fn section() -> String {
    let figures: Vec<_> = STUDIES
        .iter()
        .zip(1..)
        .map(|((noise, design), row)| {
            let sizes = SIZES.iter().zip(1..);
            sizes
                .map(|(n, column)| study_shares(*noise, *design, *n, row * 10 + column))
                .collect::<Vec<_>>()
        })
        .collect();
    let columns = ["runs", "design", "n = 6", "n = 8", "n = 10", "n = 20"];
    let rows = |cells: &dyn Fn(&[f64; 4]) -> String| -> Vec<Vec<String>> {
        let studies = STUDIES.iter().zip(&figures);
        studies
            .map(|((noise, design), figures)| {
                let names = [noise.name(), design.name()].map(str::to_owned);
                names.into_iter().chain(figures.iter().map(cells)).collect()
            })
            .collect()
    };
    let exact = [RandomPairs, RandomGroups].map(|design| {
        let names = [
            "*exact confidence*".to_owned(),
            design.name().replace(", random order", ""),
        ];
        let confidences = SIZES.iter().map(|n| exact_confidence(design, *n));
        names.into_iter().chain(confidences).collect::<Vec<_>>()
    });
    let coverage = [exact.to_vec(), rows(&|f| percent(f[0]))].concat();
    format!(
        "### Coverage\n\n\
         Percentage of intervals that contain the true ratio, in {DATA_SETS} studies.\n\n{}\n\
         ### False verdicts\n\n\
         Percentage of studies of A against A in which at least one of {METRICS} metrics is \
         *better* or *worse*\nafter Holm's correction, without a threshold. With 6 or 7 pairs and \
         {METRICS} metrics, no\nverdict is possible.\n\n{}\n\
         ### Power\n\n\
         Percentage of studies in which a B that is 5 % slower is *worse*: one metric / each of \
         {METRICS} metrics\nwith Holm's correction.\n\n{}",
        table(&columns, &coverage),
        table(&columns, &rows(&|f| percent(f[1]))),
        table(
            &columns,
            &rows(&|f| format!("{} / {}", percent(f[2]), percent(f[3])))
        ),
    )
}
