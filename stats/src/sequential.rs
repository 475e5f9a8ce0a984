//! Sequential comparisons, which end at the first look with a verdict. The confidence level of each
//! look is chosen so that the probability of a false verdict at any look is at most 5 %.
//!
//! Each look spends part of the 5 %. After a fraction t of the maximum number of runs, 5 % · t² may
//! have been spent (Kim and DeMets, Biometrika 74, 1987, with exponent 2, which is between Pocock's
//! and O'Brien and Fleming's methods). Each part is the level of an exact test. The sum of the
//! levels is an upper bound on the error, regardless of how the looks depend on each other (Boole's
//! inequality). Unlike the usual boundaries, this method does not assume a normal distribution.

use crate::{CONFIDENCE, PROBABILITY_ERROR, comparison::Design};
use serde::{Deserialize, Serialize};

/// Exponent of the fraction of runs that determines how much error has been spent.
const EXPONENT: f64 = 2.0;

/// Ratio of the numbers of runs at two consecutive looks.
const GROWTH: f64 = 1.5;

/// A planned look: when to compare, and at what confidence level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Total number of pairs, or of runs per group, at this look.
    pub runs: usize,
    /// Confidence level of the interval and the verdict at this look: 1 minus its part of the
    /// error.
    pub confidence: f64,
}

/// Returns a schedule of looks from `first` to `last` runs, each with about 1.5 times as many runs
/// as the previous one.
///
/// # Panics
/// If `first` is 0 or larger than `last`.
pub fn schedule(first: usize, last: usize) -> Vec<usize> {
    assert!(0 < first && first <= last, "{first} to {last}");
    let next = |runs: &usize| Some((*runs as f64 * GROWTH).ceil() as usize);
    let mut runs: Vec<usize> = std::iter::successors(Some(first), next)
        .take_while(|runs| (*runs as f64) * GROWTH.sqrt() < last as f64)
        .collect();
    runs.push(last);
    runs
}

/// Returns the smallest number of runs at which a first look can find a difference in `metrics`
/// metrics with Holm's correction. Returns `None` if even `last` runs are not enough.
pub fn first_look(last: usize, design: Design, metrics: usize) -> Option<usize> {
    let can_differ = |runs: &usize| {
        let level = (1.0 - CONFIDENCE) * (*runs as f64 / last as f64).powf(EXPONENT);
        design.smallest_p(*runs) * metrics as f64 <= level + PROBABILITY_ERROR
    };
    (1..=last).find(can_differ)
}

/// Returns the confidence level of each look in a schedule. If a look has too few runs for its
/// level, it does not spend its part, which remains available for later looks. The schedule must
/// not depend on results.
///
/// # Panics
/// If the numbers of runs do not increase, or the first one is 0.
pub fn looks(runs: &[usize], design: Design) -> Vec<Look> {
    let is_increasing = runs.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(is_increasing && runs.first() != Some(&0), "{runs:?}");
    let last = runs.last().copied().unwrap_or(1) as f64;
    let mut spent = 0.0;
    runs.iter()
        .map(|runs| {
            let share = *runs as f64 / last;
            let level = (1.0 - CONFIDENCE) * share.powf(EXPONENT) - spent;
            if design.smallest_p(*runs) <= level + PROBABILITY_ERROR {
                spent += level;
            }
            Look {
                runs: *runs,
                confidence: 1.0 - level,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_grow_to_the_last_look() {
        assert_eq!(schedule(6, 30), [6, 9, 14, 21, 30]);
        assert_eq!(schedule(8, 40), [8, 12, 18, 27, 40]);
        assert_eq!(schedule(6, 7), [7]);
        assert_eq!(schedule(5, 5), [5]);
    }

    #[test]
    fn every_look_can_find_a_difference() {
        assert_eq!(first_look(5, Design::Paired, 1), None);
        // The smallest p-value of 8 pairs, 2 / 2^8 = 0.78 %, is below 5 % · (8 / 20)² = 0.8 %.
        assert_eq!(first_look(20, Design::Paired, 1), Some(8));
        for metrics in 1..=6 {
            for last in 8..=50 {
                let first = first_look(last, Design::Paired, metrics).expect("enough pairs");
                for look in looks(&schedule(first, last), Design::Paired) {
                    let p = Design::Paired.smallest_p(look.runs) * metrics as f64;
                    assert!(
                        p <= 1.0 - look.confidence + 1e-12,
                        "{metrics} {last} {look:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn looks_spend_five_percent_in_total() {
        for design in [Design::Paired, Design::Unpaired] {
            for last in [6, 10, 30, 100] {
                let looks = looks(&schedule(4, last), design);
                let is_used = |look: &&Look| {
                    design.smallest_p(look.runs) <= 1.0 - look.confidence + PROBABILITY_ERROR
                };
                let errors: f64 = looks
                    .iter()
                    .filter(is_used)
                    .map(|l| 1.0 - l.confidence)
                    .sum();
                assert!((errors - 0.05).abs() < 1e-12, "{design:?} {last}: {errors}");
            }
        }
    }

    #[test]
    fn a_look_with_too_few_pairs_spends_nothing() {
        // 5 % · (6 / 24)² = 0.3 % requires 10 pairs; 12 pairs may spend 5 % · (12 / 24)² = 1.25 %.
        let looks = looks(&[6, 12, 24], Design::Paired);
        let levels: Vec<f64> = looks.iter().map(|look| 1.0 - look.confidence).collect();
        let expected = [0.003_125, 0.0125, 0.0375];
        for (level, expected) in levels.iter().zip(expected) {
            assert!((level - expected).abs() < 1e-12, "{levels:?}");
        }
    }

    #[test]
    fn a_single_look_is_an_ordinary_comparison() {
        let looks = looks(&[10], Design::Unpaired);
        assert!((looks[0].confidence - CONFIDENCE).abs() < 1e-12);
    }

    #[test]
    #[should_panic(expected = "[8, 8]")]
    fn runs_must_increase() {
        looks(&[8, 8], Design::Paired);
    }
}
