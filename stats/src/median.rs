//! The median of a group, and its confidence interval from order statistics.

use crate::{CONFIDENCE, Estimate, order_statistic_interval, sorted};

/// Returns the median and its interval, with the confidence level of a sign test (David and
/// Nagaraja, Order Statistics, 3rd edition, §7.1): the k-th smallest and the k-th largest of n
/// values enclose the median unless fewer than k values are on one side of it.
///
/// # Panics
/// If there are no values.
pub fn interval(values: &[f64]) -> Estimate {
    let cumulative = binomial(values.len());
    order_statistic_interval(&sorted(values.to_vec()), &cumulative, CONFIDENCE)
}

/// # Panics
/// If there are no values.
pub fn median(values: &[f64]) -> f64 {
    of_sorted(&sorted(values.to_vec()))
}

pub(crate) fn of_sorted(values: &[f64]) -> f64 {
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// P(B ≤ k) for B ~ Binomial(n, 1/2).
fn binomial(n: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; n + 1];
    probabilities[0] = 1.0;
    for _ in 0..n {
        for k in (0..=n).rev() {
            let lower = if k > 0 { probabilities[k - 1] } else { 0.0 };
            probabilities[k] = f64::midpoint(probabilities[k], lower);
        }
    }
    crate::rank_distributions::cumulative(probabilities)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_match_published_tables() {
        // n, number of values excluded at each end, and confidence (Conover, Practical
        // Nonparametric Statistics, table A3).
        for (n, outside, percent) in [
            (6, 0, 96.88),
            (7, 0, 98.44),
            (8, 0, 99.22),
            (9, 1, 96.09),
            (11, 1, 98.83),
            (12, 2, 96.14),
            (20, 5, 95.86),
        ] {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            let found = interval(&values);
            assert_eq!(found.low, f64::from(outside), "{n}");
            assert_eq!(found.high, f64::from(n - 1 - outside), "{n}");
            let error = found.confidence * 100.0 - percent;
            assert!(error.abs() < 0.006, "{n}: {}", found.confidence);
        }
    }

    #[test]
    fn five_values_are_too_few() {
        let found = interval(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(!found.is_supported());
        assert_eq!((found.low, found.high), (1.0, 5.0));
        assert_eq!(interval(&[7.0]).value, 7.0);
    }

    #[test]
    fn even_counts_average_the_middle_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
