//! Paired differences: the Hodges–Lehmann estimate with the interval of Wilcoxon's signed-rank test
//! (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd edition, §3.2 and §3.3).
//! Valid if the differences are distributed symmetrically around their median.

use crate::{
    CONFIDENCE, Estimate, order_statistic_interval,
    rank_distributions::{cumulative, doubled_ranks, signed_sums, two_sided},
    sorted,
};

/// Maximum number of pairs. With more, computing the exact distribution takes too long.
pub const MAX_PAIRS: usize = 200;

/// Returns the median of the Walsh averages (the means of all pairs of differences, and the
/// differences themselves), with its exact interval. With ties, the confidence is at least the
/// stated level.
///
/// # Panics
/// If there are no differences, or more than [`MAX_PAIRS`].
pub fn interval(differences: &[f64]) -> Estimate {
    interval_at(differences, CONFIDENCE)
}

/// Like [`interval`], with a different confidence level.
///
/// # Panics
/// As for [`interval`].
pub fn interval_at(differences: &[f64], confidence: f64) -> Estimate {
    let n = differences.len();
    assert!((1..=MAX_PAIRS).contains(&n), "{n} pairs");
    let means = differences
        .iter()
        .enumerate()
        .flat_map(|(index, a)| differences[index..].iter().map(|b| f64::midpoint(*a, *b)));
    let ranks: Vec<usize> = (1..=n).collect();
    let cumulative = cumulative(signed_sums(&ranks));
    order_statistic_interval(&sorted(means.collect()), &cumulative, confidence)
}

/// Returns the two-sided p-value of the signed-rank test. Omits zero differences (Wilcoxon). Ties
/// get their mean rank, and the distribution is exact even with ties. Only equal values are ties,
/// so the caller must first equalize differences that differ only by rounding errors.
pub fn p_value(differences: &[f64]) -> f64 {
    let differing: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let sizes: Vec<f64> = differing
        .iter()
        .map(|difference| difference.abs())
        .collect();
    let ranks = doubled_ranks(&sizes);
    let positive = ranks.iter().zip(&differing).filter(|(_, d)| **d > 0.0);
    let sum = positive.map(|(rank, _)| rank).sum();
    two_sided(&signed_sums(&ranks), sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_match_published_tables() {
        // n, and the largest sum with a one-sided probability of at most 0.025 (Hollander, Wolfe
        // and Chicken, table A.4).
        for (n, sum) in [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (12, 13),
            (15, 25),
            (20, 52),
        ] {
            let ranks: Vec<usize> = (1..=n).collect();
            let cumulative = cumulative(signed_sums(&ranks));
            assert!(cumulative[sum] <= 0.025, "{n}");
            assert!(cumulative[sum + 1] > 0.025, "{n}");
        }
    }

    #[test]
    fn six_pairs_are_the_minimum() {
        assert!(!interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).is_supported());
        let found = interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(found.is_supported());
        assert_eq!((found.low, found.value, found.high), (1.0, 3.5, 6.0));
        assert_eq!(p_value(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2.0 / 64.0);
    }

    #[test]
    fn equal_pairs_have_no_difference() {
        assert_eq!(p_value(&[0.0; 8]), 1.0);
        let found = interval(&[0.0; 8]);
        assert_eq!((found.low, found.high), (0.0, 0.0));
    }
}
