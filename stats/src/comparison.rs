//! The ratio between two groups of runs, and its verdict.

use crate::{
    CONFIDENCE, Estimate, PROBABILITY_ERROR, paired, rank_distributions::merge_equal, unpaired,
};
use serde::{Deserialize, Serialize};

/// Whether larger values are better.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    Lower,
}

/// How the runs of two groups are related.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Each block has one run of each group, in random order.
    Paired,
    /// Two independent groups of runs.
    Unpaired,
}

impl Design {
    /// Returns the smallest possible two-sided p-value with `runs` pairs, or with two groups of
    /// `runs` each.
    pub fn smallest_p(self, runs: usize) -> f64 {
        let runs = u32::try_from(runs).unwrap_or(u32::MAX);
        let orders = match self {
            Self::Paired => 2.0_f64.powf(f64::from(runs)),
            // The number of ways to choose `runs` out of twice as many.
            Self::Unpaired => (1..=runs)
                .map(|i| f64::from(runs + i) / f64::from(i))
                .product(),
        };
        (2.0 / orders).min(1.0)
    }

    /// Returns the smallest number of pairs, or of runs per group, with which a p-value of at most
    /// `level` is possible.
    pub fn fewest_runs(self, level: f64) -> usize {
        let is_possible = |runs: &usize| self.smallest_p(*runs) <= level + PROBABILITY_ERROR;
        (1..1024).find(is_possible).unwrap_or(usize::MAX)
    }
}

/// How a metric of B compares with the same metric of A.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The difference is significant, the interval does not contain 1, and the estimate is beyond
    /// the threshold.
    Better,
    /// Like [`Verdict::Better`], in the opposite direction.
    Worse,
    /// The interval is within the threshold.
    Equivalent,
    /// None of the above: more runs are needed.
    Undecided,
    /// There are too few runs for an interval.
    TooFew,
}

/// The ratio B / A of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    pub estimate: Estimate,
    /// Two-sided p-value of the null hypothesis that the ratio is 1.
    pub p_value: f64,
}

/// Why a ratio cannot be computed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoRatio {
    Empty,
    /// There are too many values to compute the exact distributions.
    TooMany,
    /// A value is zero, negative, infinite or not a number, so it has no finite logarithm.
    NotPositive,
}

/// Compares paired runs. `pairs` contains values of (A, B).
///
/// # Errors
/// If the values have no ratio.
pub fn compare_pairs(pairs: &[(f64, f64)]) -> Result<Ratio, NoRatio> {
    compare_pairs_at(pairs, CONFIDENCE)
}

/// Like [`compare_pairs`], with a different confidence level.
///
/// # Errors
/// As for [`compare_pairs`].
pub fn compare_pairs_at(pairs: &[(f64, f64)], confidence: f64) -> Result<Ratio, NoRatio> {
    let values = pairs.iter().flat_map(|(a, b)| [*a, *b]);
    check(values, pairs.len(), paired::MAX_PAIRS)?;
    let differences = merge_equal(pairs.iter().map(|(a, b)| b.ln() - a.ln()).collect());
    Ok(Ratio {
        estimate: paired::interval_at(&differences, confidence).map(f64::exp),
        p_value: paired::p_value(&differences),
    })
}

/// Compares two groups of runs.
///
/// # Errors
/// If the values have no ratio.
pub fn compare_groups(a: &[f64], b: &[f64]) -> Result<Ratio, NoRatio> {
    compare_groups_at(a, b, CONFIDENCE)
}

/// Like [`compare_groups`], with a different confidence level.
///
/// # Errors
/// As for [`compare_groups`].
pub fn compare_groups_at(a: &[f64], b: &[f64], confidence: f64) -> Result<Ratio, NoRatio> {
    let values = a.iter().chain(b).copied();
    let count = if a.is_empty() || b.is_empty() {
        0
    } else {
        a.len() + b.len()
    };
    check(values, count, unpaired::MAX_VALUES)?;
    let logarithms = merge_equal(a.iter().chain(b).map(|value| value.ln()).collect());
    let (a, b) = logarithms.split_at(a.len());
    Ok(Ratio {
        estimate: unpaired::interval_at(a, b, confidence).map(f64::exp),
        p_value: unpaired::p_value(a, b),
    })
}

fn check(mut values: impl Iterator<Item = f64>, count: usize, max: usize) -> Result<(), NoRatio> {
    if count == 0 {
        Err(NoRatio::Empty)
    } else if count > max {
        Err(NoRatio::TooMany)
    } else if values.any(|value| !(value > 0.0 && value.is_finite())) {
        Err(NoRatio::NotPositive)
    } else {
        Ok(())
    }
}

impl Ratio {
    /// `threshold` is the smallest ratio that matters, such as 1.02. `adjusted_p` is the p-value
    /// after correction for all metrics (`holm`).
    pub fn verdict(&self, better: Better, threshold: f64, adjusted_p: f64) -> Verdict {
        self.verdict_at(better, threshold, adjusted_p, CONFIDENCE)
    }

    /// Like [`Ratio::verdict`], for a ratio that was computed with the given confidence level.
    pub fn verdict_at(
        &self,
        better: Better,
        threshold: f64,
        adjusted_p: f64,
        confidence: f64,
    ) -> Verdict {
        let Estimate {
            value, low, high, ..
        } = self.estimate;
        if !self.estimate.is_supported_at(confidence) {
            return Verdict::TooFew;
        }
        if low >= 1.0 / threshold && high <= threshold {
            return Verdict::Equivalent;
        }
        let is_significant = adjusted_p <= 1.0 - confidence + PROBABILITY_ERROR;
        // The estimate must be beyond the threshold: otherwise, more runs could turn a small
        // difference from worse into equivalent.
        let is_higher = low > 1.0 && value >= threshold;
        let is_lower = high < 1.0 && value <= 1.0 / threshold;
        if !is_significant || !(is_higher || is_lower) {
            return Verdict::Undecided;
        }
        if is_higher == (better == Better::Higher) {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(ratios: &[f64], better: Better) -> Verdict {
        let pairs: Vec<(f64, f64)> = ratios.iter().map(|ratio| (100.0, 100.0 * ratio)).collect();
        let ratio = compare_pairs(&pairs).expect("positive values");
        ratio.verdict(better, 1.02, ratio.p_value)
    }

    #[test]
    fn verdict_depends_on_direction_spread_and_number_of_runs() {
        let slower = [0.95, 0.96, 0.94, 0.95, 0.97, 0.95, 0.96, 0.95];
        assert_eq!(verdict(&slower, Better::Higher), Verdict::Worse);
        assert_eq!(verdict(&slower, Better::Lower), Verdict::Better);
        let equal = [1.001, 0.999, 1.002, 0.998, 1.0, 1.001, 0.999, 1.003];
        assert_eq!(verdict(&equal, Better::Higher), Verdict::Equivalent);
        let noisy = [1.2, 0.8, 1.1, 0.9, 1.3, 0.7, 1.05, 0.95];
        assert_eq!(verdict(&noisy, Better::Higher), Verdict::Undecided);
        assert_eq!(verdict(&slower[..5], Better::Higher), Verdict::TooFew);
    }

    #[test]
    fn estimate_must_be_beyond_the_threshold() {
        let ratios = [1.005, 1.008, 1.012, 1.014, 1.016, 1.018, 1.021, 1.023];
        assert_eq!(verdict(&ratios, Better::Lower), Verdict::Undecided);
        let inverse = ratios.map(|ratio| 1.0 / ratio);
        assert_eq!(verdict(&inverse, Better::Higher), Verdict::Undecided);
        let larger = ratios.map(|ratio| ratio * 1.007);
        assert_eq!(verdict(&larger, Better::Lower), Verdict::Worse);
    }

    #[test]
    fn correction_can_prevent_a_verdict() {
        let slower = [0.95, 0.96, 0.94, 0.95, 0.97, 0.95];
        let pairs: Vec<(f64, f64)> = slower.iter().map(|ratio| (1.0, *ratio)).collect();
        let ratio = compare_pairs(&pairs).expect("positive values");
        assert_eq!(
            ratio.verdict(Better::Higher, 1.02, ratio.p_value),
            Verdict::Worse
        );
        let corrected = ratio.p_value * 3.0;
        assert_eq!(
            ratio.verdict(Better::Higher, 1.02, corrected),
            Verdict::Undecided
        );
    }

    #[test]
    fn fewest_runs_follow_from_the_smallest_p_value() {
        // 2 / 2^6, 2 / 2^8; 2 / 70, 2 / 252.
        assert_eq!(Design::Paired.smallest_p(6), 2.0 / 64.0);
        assert_eq!(Design::Paired.fewest_runs(0.05), 6);
        assert_eq!(Design::Paired.fewest_runs(0.05 / 6.0), 8);
        assert!((Design::Unpaired.smallest_p(4) - 2.0 / 70.0).abs() < 1e-15);
        assert_eq!(Design::Unpaired.fewest_runs(0.05), 4);
        assert_eq!(Design::Unpaired.fewest_runs(0.05 / 6.0), 5);
    }

    #[test]
    fn ratios_require_positive_values() {
        assert_eq!(compare_pairs(&[]), Err(NoRatio::Empty));
        assert_eq!(compare_groups(&[], &[1.0]), Err(NoRatio::Empty));
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(compare_pairs(&[(1.0, value)]), Err(NoRatio::NotPositive));
        }
        assert_eq!(compare_pairs(&[(1.0, 1.0); 201]), Err(NoRatio::TooMany));
    }
}
