//! Statistics of a metric within one group.

use leadline_protocol::compare::{GroupStatistics, Interval};
use leadline_stats::median;

/// A value is an outlier if it is more than this number of interquartile ranges beyond a quartile
/// (Tukey, Exploratory Data Analysis, 1977).
const FENCE: f64 = 1.5;
/// With fewer values, quartiles cannot identify outliers.
const MIN_FOR_OUTLIERS: usize = 5;

/// `values`: label and value of each run.
pub fn statistics(values: &[(&str, f64)]) -> GroupStatistics {
    let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(smallest), Some(largest)) = (sorted.first(), sorted.last()) else {
        return GroupStatistics::default();
    };
    let estimate = median::interval(&sorted);
    let spread = (largest - smallest) / estimate.value * 100.0;
    GroupStatistics {
        n: sorted.len() as u64,
        median: Some(estimate.value),
        interval: estimate.is_supported().then_some(Interval {
            low: estimate.low,
            high: estimate.high,
        }),
        spread_percent: (sorted.len() > 1 && spread.is_finite()).then_some(spread),
        outliers: outliers(values, &sorted),
    }
}

fn outliers(values: &[(&str, f64)], sorted: &[f64]) -> Vec<String> {
    if sorted.len() < MIN_FOR_OUTLIERS {
        return Vec::new();
    }
    let (lower, upper) = (quantile(sorted, 0.25), quantile(sorted, 0.75));
    let fence = FENCE * (upper - lower);
    let is_outlier = |value: f64| value < lower - fence || value > upper + fence;
    let outliers = values.iter().filter(|(_, value)| is_outlier(*value));
    outliers.map(|(label, _)| (*label).to_owned()).collect()
}

/// Linear interpolation between order statistics (definition 7 of Hyndman and Fan, 1996).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(values: &[f64]) -> GroupStatistics {
        let labels: Vec<String> = (1..=values.len()).map(|n| format!("#{n}")).collect();
        let values: Vec<(&str, f64)> = labels
            .iter()
            .map(String::as_str)
            .zip(values.iter().copied())
            .collect();
        statistics(&values)
    }

    #[test]
    fn intervals_require_six_values() {
        assert_eq!(summary(&[]), GroupStatistics::default());
        let one = summary(&[7.0]);
        assert_eq!(
            (one.n, one.median, one.spread_percent),
            (1, Some(7.0), None)
        );
        let five = summary(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((five.median, five.interval), (Some(3.0), None));
        let six = summary(&[6.0, 2.0, 3.0, 4.0, 5.0, 1.0]);
        let whole = Interval {
            low: 1.0,
            high: 6.0,
        };
        assert_eq!((six.median, six.interval), (Some(3.5), Some(whole)));
    }

    #[test]
    fn outliers_are_listed_and_kept() {
        let with_outlier = summary(&[10.0, 11.0, 10.5, 10.2, 30.0, 10.8]);
        assert_eq!(with_outlier.outliers, ["#5"]);
        assert_eq!(with_outlier.n, 6);
        assert!(summary(&[1.0, 2.0, 3.0, 4.0, 5.0]).outliers.is_empty());
        assert!(summary(&[1.0, 1.0, 1.0, 90.0]).outliers.is_empty());
    }
}
