//! The difference between two groups: the Hodges–Lehmann estimate with the interval of the rank-sum
//! test (Hollander, Wolfe and Chicken, §4.2 and §4.3). Valid for distributions of the same shape.

use crate::{
    CONFIDENCE, Estimate, order_statistic_interval,
    rank_distributions::{cumulative, doubled_ranks, drawn_sums, reduced, two_sided},
    sorted,
};
use std::{cell::RefCell, rc::Rc};

/// Maximum number of values. With more, computing the exact distribution takes too long.
pub const MAX_VALUES: usize = 200;

/// Returns the median of all differences `b − a`, with its exact interval. With ties, the
/// confidence is at least the stated level.
///
/// # Panics
/// If a group is empty, or the two groups have more than [`MAX_VALUES`] values in total.
pub fn interval(a: &[f64], b: &[f64]) -> Estimate {
    interval_at(a, b, CONFIDENCE)
}

/// Like [`interval`], with a different confidence level.
///
/// # Panics
/// As for [`interval`].
pub fn interval_at(a: &[f64], b: &[f64], confidence: f64) -> Estimate {
    check(a, b);
    let differences = a.iter().flat_map(|a| b.iter().map(move |b| b - a));
    order_statistic_interval(
        &sorted(differences.collect()),
        &cumulative(u_distribution(a.len(), b.len()).to_vec()),
        confidence,
    )
}

/// Returns the two-sided p-value of the rank-sum test: twice the p-value of the smaller tail. Ties
/// get their mean rank, and the distribution is exact even with ties. Only equal values are ties.
///
/// # Panics
/// As for [`interval`].
pub fn p_value(a: &[f64], b: &[f64]) -> f64 {
    check(a, b);
    // The rank sums of both groups have the same p-value. The smaller group is faster to compute.
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let ranks = reduced(doubled_ranks(&[few, many].concat()));
    let sum: usize = ranks[..few.len()].iter().sum();
    if has_no_ties(&ranks) {
        let smallest_sum = few.len() * (few.len() - 1) / 2;
        return two_sided(&u_distribution(few.len(), many.len()), sum - smallest_sum);
    }
    two_sided(&drawn_sums(&ranks, few.len()), sum)
}

fn check(a: &[f64], b: &[f64]) {
    let total = a.len() + b.len();
    assert!(
        !a.is_empty() && !b.is_empty() && total <= MAX_VALUES,
        "{total} values"
    );
}

/// Whether the reduced ranks are 0, 1, 2 and so on, in any order.
fn has_no_ties(ranks: &[usize]) -> bool {
    let ranks = sorted(ranks.iter().map(|rank| *rank as f64).collect());
    (0..)
        .zip(ranks)
        .all(|(index, rank)| f64::from(index) == rank)
}

/// The sizes of both groups, and the distribution of U for these sizes.
type Distribution = ((usize, usize), Rc<[f64]>);

thread_local! {
    /// The last distribution. All metrics of a comparison usually share the group sizes.
    static LAST: RefCell<Option<Distribution>> = const { RefCell::new(None) };
}

/// P(U = u) without ties, where U is the number of pairs with b < a (Mann and Whitney 1947).
fn u_distribution(n: usize, m: usize) -> Rc<[f64]> {
    let (few, many) = (n.min(m), n.max(m));
    LAST.with_borrow_mut(|last| match last {
        Some((sizes, distribution)) if *sizes == (few, many) => Rc::clone(distribution),
        _ => {
            let ranks: Vec<usize> = (0..few + many).collect();
            // The smallest possible sum: the smaller group has all the lowest ranks.
            let distribution = drawn_sums(&ranks, few).split_off(few * (few - 1) / 2);
            let distribution: Rc<[f64]> = distribution.into();
            *last = Some(((few, many), Rc::clone(&distribution)));
            distribution
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_match_published_tables() {
        // n, m, and the largest U with a one-sided probability of at most 0.025 (Mann and Whitney).
        for (n, m, u) in [
            (4, 4, 0),
            (5, 5, 2),
            (6, 6, 5),
            (8, 8, 13),
            (10, 10, 23),
            (5, 10, 8),
        ] {
            let cumulative = cumulative(u_distribution(n, m).to_vec());
            assert!(cumulative[u] <= 0.025, "{n}, {m}");
            assert!(cumulative[u + 1] > 0.025, "{n}, {m}");
        }
    }

    #[test]
    fn four_per_group_are_the_minimum() {
        assert!(!interval(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).is_supported());
        let found = interval(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]);
        assert!(found.is_supported());
        assert_eq!((found.low, found.value, found.high), (7.0, 10.0, 13.0));
        let p = p_value(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0]);
        assert!((p - 2.0 / 70.0).abs() < 1e-12, "{p}");
    }

    #[test]
    fn equal_groups_have_no_difference() {
        assert_eq!(p_value(&[1.0; 5], &[1.0; 5]), 1.0);
    }
}
