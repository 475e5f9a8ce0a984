//! Estimates, from the spread of a few runs, how many runs a comparison requires.
//!
//! The estimate is the sample size of a z-test, plus z²/2 pairs or z²/4 runs per group for a t-test
//! (Guenther, The American Statistician 35, 1981), divided by 108/125, the lowest efficiency of
//! rank tests relative to t-tests (Hodges and Lehmann 1956). The spread of a few runs is itself
//! uncertain, so quantiles of Student's t-distribution with the spread's degrees of freedom replace
//! the normal quantiles (Stein, Annals of Mathematical Statistics 16, 1945). With these quantiles,
//! the power is reached on average over all possible spreads.

use crate::{CONFIDENCE, comparison::Design};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Probability of reaching a verdict (power).
const POWER: f64 = 0.8;

/// Efficiency of rank tests relative to t-tests for the worst distribution; it is 3/π for normal
/// distributions.
const EFFICIENCY: f64 = 108.0 / 125.0;

/// Run-to-run variation of the logarithms of results.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub design: Design,
    /// Standard deviation of the logarithms of the pairs' ratios, or of the logarithms within a
    /// group.
    pub standard_deviation: f64,
    pub degrees_of_freedom: usize,
}

/// Requirements for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Confidence level of the interval, 0 to 1.
    pub confidence: f64,
    /// Number of metrics, for Holm's correction.
    pub metrics: usize,
    /// Maximum number of pairs, or of runs per group.
    pub max_runs: usize,
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            confidence: CONFIDENCE,
            metrics: 1,
            max_runs: 100,
        }
    }
}

impl Spread {
    /// Returns `None` if there are fewer than two pairs, or if a value has no logarithm.
    pub fn from_pairs(pairs: &[(f64, f64)]) -> Option<Self> {
        let ratios: Vec<f64> = pairs.iter().map(|(a, b)| b.ln() - a.ln()).collect();
        Self::new(Design::Paired, &[&ratios])
    }

    /// Returns `None` if no group has two runs, or if a value has no logarithm.
    pub fn from_groups(a: &[f64], b: &[f64]) -> Option<Self> {
        let [a, b] = [a, b].map(|group| group.iter().map(|v| v.ln()).collect::<Vec<_>>());
        Self::new(Design::Unpaired, &[&a, &b])
    }

    fn new(design: Design, groups: &[&[f64]]) -> Option<Self> {
        let squares = |values: &&[f64]| {
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>()
        };
        let degrees_of_freedom = groups.iter().map(|g| g.len().saturating_sub(1)).sum();
        let variance = groups.iter().map(squares).sum::<f64>() / degrees_of_freedom as f64;
        variance.is_finite().then(|| Self {
            design,
            standard_deviation: variance.sqrt(),
            degrees_of_freedom,
        })
    }

    /// Returns the total number of pairs, or of runs per group, that detects the given ratio with a
    /// probability of 80 %. Returns `None` if it exceeds `goal.max_runs`.
    pub fn runs_for_difference(&self, ratio: f64, goal: &Goal) -> Option<usize> {
        let level = (1.0 - goal.confidence) / goal.metrics.max(1) as f64;
        self.runs(level, 1.0 - POWER, ratio, goal)
    }

    /// Returns the total number of pairs, or of runs per group, whose interval is within the
    /// threshold (such as 1.02) with a probability of 80 % if there is no difference. Returns
    /// `None` if it exceeds `goal.max_runs`.
    pub fn runs_for_equivalence(&self, threshold: f64, goal: &Goal) -> Option<usize> {
        // The interval can exceed the threshold at either end, so each end gets half of the error.
        self.runs(1.0 - goal.confidence, (1.0 - POWER) / 2.0, threshold, goal)
    }

    /// `level`: level of a two-sided test. `miss`: probability of missing the ratio at one end.
    fn runs(&self, level: f64, miss: f64, ratio: f64, goal: &Goal) -> Option<usize> {
        let student = StudentsT::new(0.0, 1.0, self.degrees_of_freedom as f64).ok()?;
        let quantiles = student.inverse_cdf(1.0 - level / 2.0) + student.inverse_cdf(1.0 - miss);
        let z = Normal::standard().inverse_cdf(1.0 - level / 2.0);
        let (variance, correction) = match self.design {
            Design::Paired => (self.standard_deviation.powi(2), z * z / 2.0),
            Design::Unpaired => (2.0 * self.standard_deviation.powi(2), z * z / 4.0),
        };
        let runs = (variance * (quantiles / ratio.ln()).powi(2) + correction) / EFFICIENCY;
        let fewest = self.design.fewest_runs(level);
        // The result is NaN if the ratio is 1 and there is no spread.
        let runs = if runs.is_nan() {
            f64::INFINITY
        } else {
            runs.ceil()
        };
        let is_possible = runs <= goal.max_runs as f64 && fewest <= goal.max_runs;
        is_possible.then(|| fewest.max(runs as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ratios: &[f64]) -> Vec<(f64, f64)> {
        ratios.iter().map(|ratio| (200.0, 200.0 * ratio)).collect()
    }

    #[test]
    fn number_of_pairs_matches_published_quantiles() {
        // Standard deviation 0.05, 10 degrees of freedom, t(0.975) = 2.228, t(0.8) = 0.879: ((3.107
        // · 0.05 / ln 1.05)² + 1.92) · 125 / 108 = 13.96.
        let spread = Spread {
            design: Design::Paired,
            standard_deviation: 0.05,
            degrees_of_freedom: 10,
        };
        let goal = Goal::default();
        assert_eq!(spread.runs_for_difference(1.05, &goal), Some(14));
        assert_eq!(spread.runs_for_difference(1.0 / 1.05, &goal), Some(14));
        // t(0.9) = 1.372: ((3.600 · 0.05 / ln 1.05)² + 1.92) · 125 / 108 = 17.98.
        assert_eq!(spread.runs_for_equivalence(1.05, &goal), Some(18));
        let unpaired = Spread {
            design: Design::Unpaired,
            ..spread
        };
        assert_eq!(unpaired.runs_for_difference(1.05, &goal), Some(25));
        assert_eq!(spread.runs_for_difference(1.01, &goal), None);
        assert_eq!(spread.runs_for_difference(1.0, &goal), None);
    }

    #[test]
    fn recommendations_allow_a_verdict() {
        let spread = Spread::from_pairs(&pairs(&[1.05, 1.05, 1.05])).expect("spread");
        assert_eq!(spread.standard_deviation, 0.0);
        let goal = |metrics| Goal {
            metrics,
            ..Goal::default()
        };
        assert_eq!(spread.runs_for_difference(1.05, &goal(1)), Some(6));
        assert_eq!(spread.runs_for_difference(1.05, &goal(6)), Some(8));
        assert_eq!(spread.runs_for_difference(1.0, &goal(1)), None);
        let spread = Spread::from_groups(&[3.0, 3.0], &[4.0]).expect("spread");
        assert_eq!(spread.runs_for_difference(1.05, &goal(1)), Some(4));
        assert_eq!(spread.runs_for_difference(1.05, &goal(6)), Some(5));
    }

    #[test]
    fn spread_is_computed_from_logarithms() {
        let spread = Spread::from_pairs(&pairs(&[1.0, 2.0, 4.0])).expect("spread");
        assert!((spread.standard_deviation - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(spread.degrees_of_freedom, 2);
        // Two groups with 1 and 2 degrees of freedom, and sums of squares of 1/2 and 2 in units of
        // (ln 2)².
        let spread = Spread::from_groups(&[1.0, 2.0], &[8.0, 16.0, 32.0]).expect("spread");
        let expected = (2.5_f64 / 3.0).sqrt() * 2.0_f64.ln();
        assert!((spread.standard_deviation - expected).abs() < 1e-12);
        assert_eq!(spread.degrees_of_freedom, 3);
    }

    #[test]
    fn spread_requires_two_valid_values() {
        assert_eq!(Spread::from_pairs(&pairs(&[1.1])), None);
        assert_eq!(Spread::from_groups(&[1.0], &[2.0]), None);
        assert_eq!(Spread::from_groups(&[], &[]), None);
        assert_eq!(Spread::from_pairs(&[(1.0, 0.0), (1.0, 2.0)]), None);
        assert_eq!(Spread::from_groups(&[1.0, -2.0], &[1.0]), None);
    }
}
