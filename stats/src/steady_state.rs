//! Steady-state criteria for the rounds of a study (SNIA) and for the intervals of a run (fio).
//!
//! SNIA Solid State Storage Performance Test Specification 2.0.2, definition 2.1.24: within the
//! measurement window of five rounds, the range of the values is at most 20 % of their average, and
//! the range of the best linear fit is at most 10 % of the average. The fit over five rounds has
//! its extremes at the first and last rounds, so its range is |slope| · 4.
//!
//! fio, option `steadystate` (HOWTO and steadystate.c): over the intervals of the last `ss_dur`
//! seconds, the slope of the least-squares line (per interval) or the largest deviation from the
//! mean is below a limit. An interval is one second by default (`ss_interval`).

use serde::{Deserialize, Serialize};

/// Number of rounds in the measurement window.
pub const WINDOW: usize = 5;

/// Maximum range of the values, relative to the average.
const MAX_EXCURSION: f64 = 0.20;

/// Maximum range of the linear fit, relative to the average.
const MAX_SLOPE_EXCURSION: f64 = 0.10;

/// Properties of a measurement window, as shown in reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasurementWindow {
    /// Index of the first round in the window.
    pub first_round: usize,
    pub average: f64,
    /// Largest value − smallest value.
    pub excursion: f64,
    /// Slope of the least-squares line, per round.
    pub slope: f64,
    /// Value of that line at `first_round`.
    pub intercept: f64,
    /// Largest value − smallest value of the line within the window.
    pub slope_excursion: f64,
}

impl MeasurementWindow {
    /// `values`: at least two successive rounds.
    fn new(first_round: usize, values: &[f64]) -> Self {
        let count = values.len() as f64;
        let average = values.iter().sum::<f64>() / count;
        let slope = slope(values);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self {
            first_round,
            average,
            excursion: largest - smallest,
            slope,
            intercept: average - slope * (count - 1.0) / 2.0,
            slope_excursion: slope.abs() * (count - 1.0),
        }
    }

    /// Rounds without I/O are not steady, even though their range of 0 is within 20 % of 0.
    pub fn is_steady(&self) -> bool {
        self.average > 0.0
            && self.excursion <= MAX_EXCURSION * self.average
            && self.slope_excursion <= MAX_SLOPE_EXCURSION * self.average
    }
}

/// Returns the window of the last five rounds; `None` if there are fewer.
pub fn last_window(rounds: &[f64]) -> Option<MeasurementWindow> {
    let first = rounds.len().checked_sub(WINDOW)?;
    Some(MeasurementWindow::new(first, &rounds[first..]))
}

/// Returns the index of the first round of the first window in which all variables are steady.
/// `variables` contains the values of each tracked variable, by round.
pub fn first_steady(variables: &[&[f64]]) -> Option<usize> {
    let rounds = variables.iter().map(|rounds| rounds.len()).min()?;
    (WINDOW..=rounds)
        .find(|end| {
            let windows = variables.iter().map(|rounds| last_window(&rounds[..*end]));
            windows.flatten().all(|window| window.is_steady())
        })
        .map(|end| end - WINDOW)
}

/// A fio criterion. Each applies to IOPS, bandwidth or latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// `iops`, `bw` and `lat`: largest deviation of any interval from the mean of the window.
    Deviation,
    /// `iops_slope`, `bw_slope` and `lat_slope`: slope of the least-squares line, per interval.
    Slope,
}

/// Limit for a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// In the unit of the criterion.
    Absolute(f64),
    /// As a percentage of the mean.
    Percent(f64),
}

/// Statistics of the intervals in the last `ss_dur` seconds of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondsWindow {
    pub mean: f64,
    /// Largest distance of any interval from the mean.
    pub max_deviation: f64,
    /// Slope of the least-squares line, per interval; 0 for a single interval.
    pub slope: f64,
    has_slope: bool,
}

impl SecondsWindow {
    /// `seconds`: IOPS, bandwidth or mean latency of each interval in the window. Returns `None` if
    /// it is empty.
    pub fn new(seconds: &[f64]) -> Option<Self> {
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        let deviations = seconds.iter().map(|value| (value - mean).abs());
        (!seconds.is_empty()).then(|| Self {
            mean,
            max_deviation: deviations.fold(0.0, f64::max),
            slope: slope(seconds),
            has_slope: seconds.len() > 1,
        })
    }

    /// Returns the value of a criterion, in the unit of the limit. Returns `None` if it is
    /// undefined, such as a percentage of a mean of 0, or the slope of a single interval.
    pub fn value(&self, criterion: Criterion, limit: Limit) -> Option<f64> {
        let value = match criterion {
            Criterion::Slope => self.has_slope.then_some(self.slope)?,
            Criterion::Deviation => self.max_deviation,
        };
        match limit {
            Limit::Absolute(_) => Some(value),
            Limit::Percent(_) => (self.mean > 0.0).then(|| 100.0 * value / self.mean),
        }
    }

    /// Whether the job can end. An undefined value is not steady. fio 3.33 ends a job with an
    /// undefined value, because it is compiled with `-ffast-math`.
    pub fn is_steady(&self, criterion: Criterion, limit: Limit) -> bool {
        let (Limit::Absolute(max) | Limit::Percent(max)) = limit;
        let value = self.value(criterion, limit);
        value.is_some_and(|value| value.abs() < max)
    }
}

/// Slope of the least-squares line through values at 0, 1, 2 and so on; 0 for fewer than two
/// values.
pub(crate) fn slope(values: &[f64]) -> f64 {
    let center = (values.len() as f64 - 1.0) / 2.0;
    let positions = (0..values.len()).map(|index| index as f64 - center);
    let products: f64 = positions.clone().zip(values).map(|(x, y)| x * y).sum();
    let squares: f64 = positions.map(|x| x * x).sum();
    if squares > 0.0 {
        products / squares
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(actual: f64, expected: f64) {
        let error = (actual - expected).abs();
        assert!(
            error < 1e-9 * expected.abs().max(1.0),
            "{actual} is not {expected}"
        );
    }

    /// The worked example from docs/comparison.md.
    #[test]
    fn window_matches_the_worked_example() {
        let window = last_window(&[20_000.0, 11_200.0, 10_900.0, 10_600.0, 10_450.0, 10_350.0]);
        let window = window.expect("five rounds");
        assert_eq!(window.first_round, 1);
        assert_close(window.average, 10_700.0);
        assert_close(window.excursion, 850.0);
        // (−2 · 11,200 − 10,900 + 10,450 + 2 · 10,350) / 10
        assert_close(window.slope, -215.0);
        assert_close(window.intercept, 11_130.0);
        assert_close(window.slope_excursion, 860.0);
        assert!(window.is_steady());
    }

    #[test]
    fn both_excursions_must_be_within_their_limits() {
        let is_steady = |rounds: &[f64]| last_window(rounds).expect("rounds").is_steady();
        // The average is 100, and the range of the fit is only 4 %. The range of the values is
        // first exactly 20 %, then above it.
        assert!(is_steady(&[100.0, 110.0, 90.0, 100.0, 100.0]));
        assert!(!is_steady(&[100.0, 110.2, 89.8, 100.0, 100.0]));
        // On a straight line, the range of the values is the range of the fit: exactly 10 %, then
        // above it.
        assert!(is_steady(&[95.0, 97.5, 100.0, 102.5, 105.0]));
        assert!(!is_steady(&[94.9, 97.45, 100.0, 102.55, 105.1]));
        assert!(!is_steady(&[105.1, 102.55, 100.0, 97.45, 94.9]));
        assert_eq!(last_window(&[1.0; 4]), None);
        assert!(!is_steady(&[0.0; 5]), "without I/O");
    }

    #[test]
    fn all_variables_must_be_steady() {
        let falling = [
            300.0, 200.0, 150.0, 120.0, 105.0, 102.0, 101.0, 100.0, 100.0,
        ];
        let constant = [50.0; 9];
        assert_eq!(first_steady(&[&constant]), Some(0));
        assert_eq!(first_steady(&[&falling]), Some(4));
        assert_eq!(first_steady(&[&constant, &falling]), Some(4));
        assert_eq!(first_steady(&[&constant, &falling[..8]]), None);
        assert_eq!(first_steady(&[]), None);
    }

    #[test]
    fn fio_criteria_have_strict_limits() {
        // Four seconds with a mean of 1010 and deviations of 10, 0, 10 and 0.
        let seconds = [1000.0, 1010.0, 1020.0, 1010.0];
        let check = |criterion, limit, expected: f64, is_steady| {
            let window = SecondsWindow::new(&seconds).expect("seconds");
            assert_close(window.value(criterion, limit).expect("a value"), expected);
            assert_eq!(
                window.is_steady(criterion, limit),
                is_steady,
                "{criterion:?} {limit:?}"
            );
        };
        check(Criterion::Deviation, Limit::Absolute(10.0), 10.0, false);
        check(Criterion::Deviation, Limit::Absolute(10.1), 10.0, true);
        let percent = 1000.0 / 1010.0;
        check(Criterion::Deviation, Limit::Percent(1.0), percent, true);
        // (−1.5 · 1000 − 0.5 · 1010 + 0.5 · 1020 + 1.5 · 1010) / 5
        check(Criterion::Slope, Limit::Absolute(4.0), 4.0, false);
        let percent = 400.0 / 1010.0;
        check(Criterion::Slope, Limit::Percent(0.4), percent, true);
        assert_eq!(SecondsWindow::new(&[]), None);
    }

    #[test]
    fn undefined_values_are_not_steady() {
        let zeros = SecondsWindow::new(&[0.0; 3]).expect("seconds");
        for criterion in [Criterion::Deviation, Criterion::Slope] {
            assert_eq!(zeros.value(criterion, Limit::Percent(50.0)), None);
            assert!(!zeros.is_steady(criterion, Limit::Percent(50.0)));
            assert!(zeros.is_steady(criterion, Limit::Absolute(1.0)));
        }
        let single = SecondsWindow::new(&[7.0]).expect("seconds");
        assert!(!single.is_steady(Criterion::Slope, Limit::Absolute(1.0)));
        assert!(single.is_steady(Criterion::Deviation, Limit::Absolute(1.0)));
    }
}
