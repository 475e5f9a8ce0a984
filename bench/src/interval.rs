//! Median intervals from order statistics, without assumptions about the distribution (rounds are
//! often bimodal): of n values, the k-th smallest and the k-th largest enclose the median unless
//! fewer than k values are on one side of it, which has a binomial probability.

use serde::Serialize;

pub const CONFIDENCE: f64 = 0.95;

/// A median and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    /// 0 to 1; below 0.95 with fewer than six values.
    pub confidence: f64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ahead,
    Behind,
    NoDifference,
    TooFewRounds,
}

impl Interval {
    /// `values` must not be empty.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let outside = excluded_values(n);
        Self {
            median: median(&sorted),
            low: sorted[outside],
            high: sorted[n - 1 - outside],
            confidence: confidence(n, outside),
        }
    }

    pub fn verdict(&self) -> Verdict {
        match self {
            _ if self.confidence < CONFIDENCE => Verdict::TooFewRounds,
            _ if self.low > 1.0 => Verdict::Ahead,
            _ if self.high < 1.0 => Verdict::Behind,
            _ => Verdict::NoDifference,
        }
    }
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ahead => "ahead",
            Self::Behind => "behind",
            Self::NoDifference => "no difference",
            Self::TooFewRounds => "too few rounds",
        }
    }
}

pub fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// Largest number of values that can be excluded at each end with the required confidence; 0 if
/// there is none.
fn excluded_values(n: usize) -> usize {
    (0..n.div_ceil(2))
        .take_while(|outside| *outside == 0 || confidence(n, *outside) >= CONFIDENCE)
        .last()
        .unwrap_or(0)
}

/// 1 − 2 P(B ≤ outside) for B ~ Binomial(n, 1/2) (David and Nagaraja, Order Statistics, §7.1).
fn confidence(n: usize, outside: usize) -> f64 {
    let choose =
        |k: usize| (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64);
    1.0 - 2.0 * (0..=outside).map(choose).sum::<f64>() / 2f64.powi(n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_match_published_tables() {
        // n, values excluded at each end, confidence (Conover, Practical Nonparametric Statistics,
        // table A3).
        for (n, outside, percent) in [
            (6, 0, 96.88),
            (7, 0, 98.44),
            (8, 0, 99.22),
            (9, 1, 96.09),
            (11, 1, 98.83),
            (12, 2, 96.14),
            (20, 5, 95.86),
        ] {
            assert_eq!(excluded_values(n), outside, "{n}");
            assert!(
                (confidence(n, outside) * 100.0 - percent).abs() < 0.006,
                "{n}: {}",
                confidence(n, outside)
            );
        }
    }

    #[test]
    fn verdict_compares_the_interval_with_one() {
        let check = |values: &[f64], verdict| {
            assert_eq!(Interval::of(values).verdict(), verdict, "{values:?}")
        };
        check(&[1.2, 1.3, 1.1, 1.2, 1.4, 1.2, 1.3], Verdict::Ahead);
        check(&[0.9, 0.8, 0.9, 0.9, 0.9, 0.7, 0.9], Verdict::Behind);
        check(&[1.2, 1.3, 0.99, 1.2, 1.4, 1.2, 1.3], Verdict::NoDifference);
        check(
            &[1.2, 1.3, 0.99, 1.2, 1.4, 1.2, 1.3, 1.2, 1.2],
            Verdict::Ahead,
        );
        check(&[1.2, 1.3, 1.2, 1.4, 1.2], Verdict::TooFewRounds);
        check(&[1.2], Verdict::TooFewRounds);
    }

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(Interval::of(&[3.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Interval::of(&[4.0, 1.0, 2.0, 3.0]).median, 2.5);
    }
}
