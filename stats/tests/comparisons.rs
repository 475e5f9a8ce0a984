//! Invariants of comparisons: units and the order of runs do not matter, exchanging the groups
//! inverts the ratio, invalid values are rejected, and verdicts follow from the interval.

use leadline_stats::comparison::{Better, NoRatio, Ratio, Verdict, compare_groups, compare_pairs};
use leadline_stats::{Estimate, holm, median, paired, unpaired};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

fn random(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

fn assert_close(actual: f64, expected: f64) {
    let error = (actual - expected).abs();
    assert!(error <= 1e-9 * expected.abs(), "{actual} is not {expected}");
}

fn assert_same(actual: &Ratio, expected: &Ratio) {
    assert_close(actual.estimate.value, expected.estimate.value);
    assert_close(actual.estimate.low, expected.estimate.low);
    assert_close(actual.estimate.high, expected.estimate.high);
    assert_close(actual.estimate.confidence, expected.estimate.confidence);
    assert_close(actual.p_value, expected.p_value);
}

fn inverse(ratio: &Ratio) -> Ratio {
    let estimate = ratio.estimate;
    Ratio {
        estimate: Estimate {
            value: 1.0 / estimate.value,
            low: 1.0 / estimate.high,
            high: 1.0 / estimate.low,
            confidence: estimate.confidence,
        },
        p_value: ratio.p_value,
    }
}

/// Values with one decimal place, so that values and ratios have ties.
fn runs(random: &mut StdRng, n: usize) -> Vec<f64> {
    (0..n)
        .map(|_| f64::from(random.random_range(95..106)) / 10.0)
        .collect()
}

#[test]
fn units_and_order_do_not_matter_and_exchange_inverts_the_ratio() {
    let mut random = random(1);
    for n in (2..=16).cycle().take(300) {
        let (a, b) = (runs(&mut random, n), runs(&mut random, n));
        let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
        let paired = compare_pairs(&pairs).expect("ratio");
        let unpaired = compare_groups(&a, &b[..n / 2 + 1]).expect("ratio");

        for unit in [1e-6, 1e3, 1.0 / 3.0, 1e9, 1024.0] {
            let scaled: Vec<_> = pairs.iter().map(|(a, b)| (a * unit, b * unit)).collect();
            assert_same(&compare_pairs(&scaled).expect("ratio"), &paired);
            let [a, b] = [&a, &b].map(|v| v.iter().map(|v| v * unit).collect::<Vec<_>>());
            assert_same(
                &compare_groups(&a, &b[..n / 2 + 1]).expect("ratio"),
                &unpaired,
            );
        }

        let exchanged: Vec<_> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        assert_same(
            &compare_pairs(&exchanged).expect("ratio"),
            &inverse(&paired),
        );
        let exchanged = compare_groups(&b[..n / 2 + 1], &a).expect("ratio");
        assert_same(&exchanged, &inverse(&unpaired));

        let mut shuffled = pairs.clone();
        shuffled.shuffle(&mut random);
        assert_same(&compare_pairs(&shuffled).expect("ratio"), &paired);
        let mut shuffled = a.clone();
        shuffled.shuffle(&mut random);
        assert_same(
            &compare_groups(&shuffled, &b[..n / 2 + 1]).expect("ratio"),
            &unpaired,
        );
    }
}

#[test]
fn values_without_a_logarithm_are_rejected() {
    for invalid in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let pairs = [(1.0, 2.0), (invalid, 2.0), (3.0, 2.0)];
        assert_eq!(
            compare_pairs(&pairs),
            Err(NoRatio::NotPositive),
            "{invalid}"
        );
        let pairs = [(1.0, 2.0), (2.0, invalid), (3.0, 2.0)];
        assert_eq!(
            compare_pairs(&pairs),
            Err(NoRatio::NotPositive),
            "{invalid}"
        );
        assert_eq!(
            compare_groups(&[1.0, invalid], &[1.0]),
            Err(NoRatio::NotPositive)
        );
        assert_eq!(
            compare_groups(&[1.0], &[invalid, 1.0]),
            Err(NoRatio::NotPositive)
        );
    }
    assert_eq!(compare_pairs(&[]), Err(NoRatio::Empty));
    assert_eq!(compare_groups(&[], &[1.0]), Err(NoRatio::Empty));
    assert_eq!(compare_groups(&[1.0], &[]), Err(NoRatio::Empty));
}

#[test]
fn too_many_values_are_rejected() {
    let mut random = random(2);
    let mut values =
        |n: usize| -> Vec<f64> { (0..n).map(|_| random.random_range(1.0..2.0)).collect() };
    let (a, b) = (values(paired::MAX_PAIRS + 1), values(paired::MAX_PAIRS + 1));
    let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
    assert_eq!(compare_pairs(&pairs), Err(NoRatio::TooMany));
    let ratio = compare_pairs(&pairs[1..]).expect("ratio");
    assert!(
        (0.95..0.951).contains(&ratio.estimate.confidence),
        "{ratio:?}"
    );

    let half = unpaired::MAX_VALUES / 2;
    assert_eq!(
        compare_groups(&a[..=half], &b[..half]),
        Err(NoRatio::TooMany)
    );
    let ratio = compare_groups(&a[..half], &b[..half]).expect("ratio");
    assert!(
        (0.95..0.951).contains(&ratio.estimate.confidence),
        "{ratio:?}"
    );
    assert!(ratio.p_value > 0.0 && ratio.p_value <= 1.0);
    let ratio = compare_groups(&a[..1], &b[..unpaired::MAX_VALUES - 1]).expect("ratio");
    assert!(ratio.estimate.confidence >= 0.95, "{ratio:?}");
}

#[test]
fn extreme_values_have_ordered_bounds() {
    let extremes = [
        f64::MIN_POSITIVE / 1e10,
        f64::MIN_POSITIVE,
        1.0,
        1e300,
        f64::MAX,
    ];
    let a: Vec<f64> = extremes.iter().copied().cycle().take(10).collect();
    let mut b = a.clone();
    b.reverse();
    let pairs: Vec<_> = a.iter().copied().zip(b.iter().copied()).collect();
    for ratio in [compare_pairs(&pairs), compare_groups(&a, &b)] {
        let Estimate {
            value, low, high, ..
        } = ratio.expect("ratio").estimate;
        assert!(low <= value && value <= high, "{low} {value} {high}");
        assert!(low >= 0.0 && !high.is_nan());
    }
}

#[test]
fn ranks_do_not_depend_on_rounding_errors() {
    // 100 → 102 and 102 → 100 are changes of the same size, in opposite directions.
    let increases = [(100.0, 102.0), (0.3, 0.306), (7.0, 7.14), (0.1, 0.102)];
    let decreases = increases.map(|(a, b)| (b, a));
    for _ in 0..2 {
        let pairs: Vec<_> = increases.iter().chain(&decreases).copied().collect();
        let ratio = compare_pairs(&pairs).expect("ratio");
        assert_eq!(ratio.p_value, 1.0);
        assert_close(ratio.estimate.value, 1.0);
    }
    // 0.1 + 0.2 may appear as 0.3 elsewhere in the same report.
    let ratio = compare_groups(&[0.1 + 0.2, 0.3, 0.3], &[0.3, 0.1 + 0.2, 0.1 + 0.2]);
    assert_eq!(ratio.expect("ratio").p_value, 1.0);
    let pairs = [(0.1 + 0.2, 0.3); 8];
    let ratio = compare_pairs(&pairs).expect("ratio");
    assert_eq!(ratio.p_value, 1.0, "equal values have no difference");
}

fn verdict(low: f64, high: f64, confidence: f64, better: Better, p: f64) -> Verdict {
    let value = (low * high).sqrt();
    let estimate = Estimate {
        value,
        low,
        high,
        confidence,
    };
    Ratio {
        estimate,
        p_value: p / 6.0,
    }
    .verdict(better, 1.02, p)
}

#[test]
fn verdict_follows_from_the_interval_and_the_adjusted_p_value() {
    use Better::{Higher, Lower};
    let check = |low: f64, high: f64, p: f64, expected: Verdict| {
        assert_eq!(
            verdict(low, high, 0.95, Lower, p),
            expected,
            "{low} {high} {p}"
        );
        // Mirror image: the ratio B / A and the direction are inverted.
        let mirrored = verdict(1.0 / high, 1.0 / low, 0.95, Higher, p);
        assert_eq!(mirrored, expected, "mirrored {low} {high} {p}");
        let opposite = match expected {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            other => other,
        };
        assert_eq!(
            verdict(low, high, 0.95, Higher, p),
            opposite,
            "{low} {high} {p}"
        );
        assert_eq!(
            verdict(low, high, 0.94, Lower, p),
            Verdict::TooFew,
            "{low} {high} {p}"
        );
    };
    check(1.028, 1.055, 0.01, Verdict::Worse);
    check(0.90, 0.97, 0.01, Verdict::Better);
    // Not significant after correction for all metrics.
    check(1.028, 1.055, 0.06, Verdict::Undecided);
    check(0.90, 0.97, 0.06, Verdict::Undecided);
    check(1.028, 1.055, f64::NAN, Verdict::Undecided);
    // Within the threshold, whether significant or not.
    check(0.99, 1.01, 0.9, Verdict::Equivalent);
    check(1.004, 1.012, 0.001, Verdict::Equivalent);
    check(1.0, 1.0, 1.0, Verdict::Equivalent);
    check(1.0 / 1.019, 1.019, 0.9, Verdict::Equivalent);
    // The interval contains both relevant and negligible differences.
    check(0.97, 1.01, 0.5, Verdict::Undecided);
    check(0.99, 1.05, 0.3, Verdict::Undecided);
    check(0.90, 1.10, 0.9, Verdict::Undecided);
    check(0.0, f64::INFINITY, 0.9, Verdict::Undecided);
    check(f64::NAN, f64::NAN, 0.01, Verdict::Undecided);
}

/// Group sizes, and the value of U at which the cumulative probability is exactly 1/40.
const EXACT: [(u32, u32, usize); 6] = [
    (1, 79, 1),
    (1, 119, 2),
    (1, 159, 3),
    (1, 199, 4),
    (2, 79, 16),
    (3, 93, 47),
];

#[test]
fn exactly_the_required_confidence_is_sufficient() {
    // In 1 of 40 orders, the single value of A is below all values of B: exactly 2.5 % at each end.
    let b: Vec<f64> = (1..=39).map(f64::from).collect();
    let estimate = unpaired::interval(&[0.5], &b);
    assert_close(estimate.confidence, 0.95);
    assert!(estimate.is_supported());
    assert_eq!((estimate.low, estimate.high), (0.5, 38.5));
    // All other group sizes up to 200 values in total with this property, and the number of
    // excluded differences.
    for (m, n, excluded) in EXACT {
        let a: Vec<f64> = (1..=m).map(f64::from).collect();
        let b: Vec<f64> = (1..=n).map(|i| f64::from(i) * 1e3).collect();
        let mut differences: Vec<f64> = Vec::new();
        for a in &a {
            differences.extend(b.iter().map(|b| b - a));
        }
        differences.sort_by(f64::total_cmp);
        for exchanged in [false, true] {
            let estimate = if exchanged {
                unpaired::interval(&b, &a)
            } else {
                unpaired::interval(&a, &b)
            };
            assert_close(estimate.confidence, 0.95);
            assert!(
                estimate.is_supported(),
                "{m} and {n}: {}",
                estimate.confidence
            );
            let low = if exchanged {
                -estimate.high
            } else {
                estimate.low
            };
            assert_eq!(low, differences[excluded], "{m} and {n}");
        }
    }
}

#[test]
fn verdicts_require_enough_runs() {
    // The two-sided p-value of n pairs that all differ in one direction is 2 / 2^n.
    for (n, is_supported) in [(1, false), (5, false), (6, true), (7, true)] {
        let pairs: Vec<_> = (1..=n).map(|i| (1.0, 1.05 + f64::from(i) / 1e3)).collect();
        let ratio = compare_pairs(&pairs).expect("ratio");
        assert_eq!(ratio.estimate.is_supported(), is_supported, "{n}");
        assert_close(ratio.p_value, 2.0_f64.powi(1 - n));
        let verdict = ratio.verdict(Better::Lower, 1.02, ratio.p_value);
        let expected = if is_supported {
            Verdict::Worse
        } else {
            Verdict::TooFew
        };
        assert_eq!(verdict, expected, "{n}");
    }
    for (m, n, is_supported) in [(3, 3, false), (3, 4, false), (3, 5, true), (4, 4, true)] {
        let a: Vec<_> = (1..=m).map(|i| 1.0 + f64::from(i) / 1e3).collect();
        let b: Vec<_> = (1..=n).map(|i| 1.1 + f64::from(i) / 1e3).collect();
        let ratio = compare_groups(&a, &b).expect("ratio");
        assert_eq!(ratio.estimate.is_supported(), is_supported, "{m} and {n}");
    }
}

#[test]
fn intervals_contain_their_estimates() {
    let mut random = random(3);
    for n in (1..=30).cycle().take(300) {
        let x = runs(&mut random, n);
        let y = runs(&mut random, n / 2 + 1);
        for estimate in [
            median::interval(&x),
            paired::interval(&x),
            unpaired::interval(&x, &y),
        ] {
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
            assert!((0.0..1.0).contains(&estimate.confidence));
        }
    }
}

#[test]
fn holm_accepts_empty_and_invalid_p_values() {
    assert!(holm::adjust(&[]).is_empty());
    assert_eq!(holm::adjust(&[0.02]), [0.02]);
    // A metric without a p-value is omitted, as in R's p.adjust. 0.0 / 0.0 has a sign.
    for invalid in [f64::NAN, -f64::NAN] {
        let adjusted = holm::adjust(&[invalid, 0.001, 0.9]);
        assert!(adjusted[0].is_nan(), "{adjusted:?}");
        assert_eq!(adjusted[1..], [0.002, 0.9]);
    }
}
