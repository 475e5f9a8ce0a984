//! Ratio of two groups of runs, and the verdict about it.

use crate::{CONFIDENCE, Estimate, paired, unpaired};
use serde::Serialize;

/// Whether larger values are better.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    Lower,
}

/// How a metric of B compares with that of A.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Better,
    Worse,
    /// The interval is within the threshold.
    Equivalent,
    /// The interval contains differences that matter and those that do not.
    Undecided,
    /// There are too few runs for an interval.
    TooFew,
}

/// Ratio B / A of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    pub estimate: Estimate,
    /// Two-sided, of the hypothesis that the ratio is 1.
    pub p_value: f64,
}

/// Why two groups have no ratio.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoRatio {
    Empty,
    /// Too many values for the exact distributions.
    TooMany,
    /// A value is zero, negative or not a number, so it has no logarithm.
    NotPositive,
}

/// Compares runs that were made in pairs: `pairs` of (A, B).
///
/// # Errors
/// The values have no ratio.
pub fn compare_pairs(pairs: &[(f64, f64)]) -> Result<Ratio, NoRatio> {
    let values = pairs.iter().flat_map(|(a, b)| [*a, *b]);
    check(values, pairs.len(), paired::MAX_PAIRS)?;
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| b.ln() - a.ln()).collect();
    Ok(Ratio {
        estimate: paired::interval(&differences).map(f64::exp),
        p_value: paired::p_value(&differences),
    })
}

/// Compares two groups of runs.
///
/// # Errors
/// The values have no ratio.
pub fn compare_groups(a: &[f64], b: &[f64]) -> Result<Ratio, NoRatio> {
    let values = a.iter().chain(b).copied();
    let fewest = if a.is_empty() || b.is_empty() {
        0
    } else {
        a.len() + b.len()
    };
    check(values, fewest, unpaired::MAX_VALUES)?;
    let logarithms = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
    let (a, b) = (logarithms(a), logarithms(b));
    Ok(Ratio {
        estimate: unpaired::interval(&a, &b).map(f64::exp),
        p_value: unpaired::p_value(&a, &b),
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
    /// `threshold`: smallest ratio that matters, such as 1.02. `adjusted_p`: the p-value after the
    /// correction for all metrics (`holm`).
    pub fn verdict(&self, better: Better, threshold: f64, adjusted_p: f64) -> Verdict {
        let Estimate { low, high, .. } = self.estimate;
        if !self.estimate.is_supported() {
            return Verdict::TooFew;
        }
        if low >= 1.0 / threshold && high <= threshold {
            return Verdict::Equivalent;
        }
        let is_significant = adjusted_p <= 1.0 - CONFIDENCE;
        let is_higher = low > 1.0;
        let is_lower = high < 1.0;
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
    fn verdicts() {
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
    fn a_corrected_p_value_can_undo_a_verdict() {
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
    fn ratios_need_positive_values() {
        assert_eq!(compare_pairs(&[]), Err(NoRatio::Empty));
        assert_eq!(compare_groups(&[], &[1.0]), Err(NoRatio::Empty));
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(compare_pairs(&[(1.0, value)]), Err(NoRatio::NotPositive));
        }
        assert_eq!(compare_pairs(&[(1.0, 1.0); 201]), Err(NoRatio::TooMany));
    }
}
