//! Finds change points in a history: the results at which the level of a metric changed.
//!
//! Uses E-divisive means (Matteson and James, Journal of the American Statistical Association 109,
//! 2014), as modified in Hunter and Apache Otava (Fleming et al., ICPE 2023). Within overlapping
//! windows, the history is divided at the point where the energy distance between the two sides is
//! largest. The test is Student's t-test instead of random permutations, so results are
//! deterministic. Weak points are then removed by merging the adjacent segments, weakest first. As
//! in Otava, the t-test uses population variances.

use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

/// One value before the change, and one after it.
const SHORTEST_WINDOW: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Number of results in a search window, at least 2.
    pub window: usize,
    /// Maximum p-value of a change point.
    pub max_p: f64,
    /// Minimum change relative to the smaller of the two means: 0.02 for 2 %.
    pub min_change: f64,
    /// Minimum number of results between two change points, and before the first and after the last
    /// one. With 1, as in Otava, a single outlier may become two change points.
    pub min_length: usize,
}

impl Default for Parameters {
    /// Otava's defaults.
    fn default() -> Self {
        Self {
            window: 50,
            max_p: 0.001,
            min_change: 0.0,
            min_length: 1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// Index of the first result after the change.
    pub index: usize,
    pub p_value: f64,
    /// Mean of the results from the previous change point (or the start) to this one.
    pub mean_before: f64,
    /// Mean of the results from this change point to the next one (or the end).
    pub mean_after: f64,
}

impl ChangePoint {
    /// Change relative to the smaller of the two means; 0 if both means are 0.
    fn change(&self) -> f64 {
        let relative = |from: f64, to: f64| if from == 0.0 { 0.0 } else { to / from - 1.0 };
        let forward = relative(self.mean_before, self.mean_after).abs();
        forward.max(relative(self.mean_after, self.mean_before).abs())
    }
}

/// Returns the change points of finite values, in order.
///
/// # Panics
/// If the window is shorter than 2.
pub fn find(values: &[f64], parameters: &Parameters) -> Vec<ChangePoint> {
    let Parameters { window, max_p, .. } = *parameters;
    assert!(window >= SHORTEST_WINDOW, "window {window}");
    // As in Otava: first find weak points, then merge them with the required p-value.
    let weak_p = match max_p {
        _ if max_p < 0.05 => max_p * 10.0,
        _ if max_p < 0.5 => max_p * 2.0,
        _ => max_p,
    };
    let mut indexes: Vec<usize> = Vec::new();
    let mut start = 0;
    while start < values.len() {
        let end = values.len().min(start + window);
        let found = divide(&values[start..end], weak_p);
        let last = found.last().map_or(0, |index| start + index);
        indexes.extend(found.iter().map(|index| start + index));
        start = last.max(start + window / 2);
    }
    indexes.sort_unstable();
    indexes.dedup();
    merge(values, indexes, parameters)
}

/// Repeatedly divides the segment with the largest distance, until that division is not
/// significant.
fn divide(values: &[f64], max_p: f64) -> Vec<usize> {
    let distances = Distances::new(values);
    let mut points: Vec<usize> = Vec::new();
    loop {
        let starts = std::iter::once(0).chain(points.iter().copied());
        let ends = points.iter().copied().chain(std::iter::once(values.len()));
        let candidates = starts.zip(ends).filter(|(start, end)| end - start > 1);
        let candidates = candidates.map(|(start, end)| {
            let (index, distance) = distances.most_different(start, end);
            (start, index, end, distance)
        });
        let largest = candidates.reduce(|a, b| if b.3 > a.3 { b } else { a });
        let Some((start, index, end, _)) = largest else {
            return points;
        };
        if t_test(values, start, index, end).p_value > max_p {
            return points;
        }
        let position = points.partition_point(|point| *point < index);
        points.insert(position, index);
    }
}

/// Prefix sums of the distances |x − y| between values, for computing energy distances.
struct Distances {
    /// `sums[j][i]` is the sum of the distances from value j to the first i values.
    sums: Vec<Vec<f64>>,
}

impl Distances {
    fn new(values: &[f64]) -> Self {
        let sums_of = |x: &f64| {
            let mut sum = 0.0;
            let sums = values.iter().map(|y| {
                sum += (x - y).abs();
                sum
            });
            std::iter::once(0.0).chain(sums).collect()
        };
        Self {
            sums: values.iter().map(sums_of).collect(),
        }
    }

    fn between(&self, value: usize, start: usize, end: usize) -> f64 {
        self.sums[value][end] - self.sums[value][start]
    }

    /// Returns the index and the energy distance of the best division, over all ends of the segment
    /// that begins at `start` (formula 5 of Matteson and James).
    fn most_different(&self, start: usize, end: usize) -> (usize, f64) {
        let mut largest = (start + 1, f64::NEG_INFINITY);
        let mut left = 0.0;
        for index in start + 1..end {
            left += self.between(index - 1, start, index - 1);
            let (mut cross, mut right) = (0.0, 0.0);
            for last in index..end {
                cross += self.between(last, start, index);
                right += self.between(last, index, last);
                let (n, m) = ((index - start) as f64, (last + 1 - index) as f64);
                // Mean distance within a segment; 0 for a single value.
                let within = |sum: f64, count: f64| {
                    if count > 1.0 {
                        sum / (count - 1.0)
                    } else {
                        0.0
                    }
                };
                let energy = cross - m * within(left, n) - n * within(right, m);
                let distance = 2.0 * energy / (n + m);
                if distance > largest.1 {
                    largest = (index, distance);
                }
            }
        }
        largest
    }
}

/// Removes points, weakest first, until all remaining points are significant and large enough.
///
/// As in Otava, only the two points after a removed point are tested again, even though the segment
/// before it changes too; otherwise, the results would differ from Otava's. The returned p-values
/// and means are those of the final segments.
fn merge(values: &[f64], indexes: Vec<usize>, parameters: &Parameters) -> Vec<ChangePoint> {
    let test_point = |indexes: &[usize], position: usize| {
        let before = position.checked_sub(1).map_or(0, |before| indexes[before]);
        let after = indexes.get(position + 1).copied();
        t_test(
            values,
            before,
            indexes[position],
            after.unwrap_or(values.len()),
        )
    };
    let test_all = |indexes: &[usize]| -> Vec<ChangePoint> {
        (0..indexes.len())
            .map(|position| test_point(indexes, position))
            .collect()
    };
    let mut indexes = indexes;
    let mut points = test_all(&indexes);
    while let Some(position) = next_to_short_segment(values.len(), &points, parameters.min_length) {
        indexes.remove(position);
        points = test_all(&indexes);
    }
    while let Some(mut weakest) = first_maximum(&points, |point| point.p_value) {
        if points[weakest].p_value < parameters.max_p {
            weakest = first_maximum(&points, |point| -point.change()).unwrap_or(weakest);
            if points[weakest].change() > parameters.min_change {
                break;
            }
        }
        indexes.remove(weakest);
        points.remove(weakest);
        for position in (weakest..points.len()).take(2) {
            points[position] = test_point(&indexes, position);
        }
    }
    test_all(&indexes)
}

/// Returns the weaker of the two points that bound the first segment with too few values.
fn next_to_short_segment(
    length: usize,
    points: &[ChangePoint],
    min_length: usize,
) -> Option<usize> {
    let start = |position: usize| match position {
        0 => 0,
        position => points[position - 1].index,
    };
    let end = |position: usize| points.get(position).map_or(length, |point| point.index);
    let short =
        (0..=points.len()).find(|position| end(*position) - start(*position) < min_length)?;
    let left = short.checked_sub(1);
    let right = (short < points.len()).then_some(short);
    match (left, right) {
        (Some(left), Some(right)) if points[left].p_value > points[right].p_value => Some(left),
        (left, right) => right.or(left),
    }
}

/// Returns the first of the points with the largest value.
fn first_maximum(points: &[ChangePoint], value: impl Fn(&ChangePoint) -> f64) -> Option<usize> {
    let larger = |a: usize, b: usize| {
        if value(&points[b]) > value(&points[a]) {
            b
        } else {
            a
        }
    };
    (0..points.len()).reduce(larger)
}

/// Compares the segments before and after an index with Student's t-test.
fn t_test(values: &[f64], start: usize, index: usize, end: usize) -> ChangePoint {
    let (before, after) = (&values[start..index], &values[index..end]);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (mean_before, mean_after) = (mean(before), mean(after));
    let variance = |part: &[f64], mean: f64| {
        part.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / part.len() as f64
    };
    let (n, m) = (before.len() as f64, after.len() as f64);
    let degrees_of_freedom = n + m - 2.0;
    let p_value = if degrees_of_freedom > 0.0 {
        let squares =
            (n - 1.0) * variance(before, mean_before) + (m - 1.0) * variance(after, mean_after);
        let error = squares / degrees_of_freedom * (1.0 / n + 1.0 / m);
        let t_squared = (mean_before - mean_after).powi(2) / error;
        two_sided(t_squared, degrees_of_freedom)
    } else {
        1.0
    };
    ChangePoint {
        index,
        p_value,
        mean_before,
        mean_after,
    }
}

/// Two-sided p-value of a squared t (Abramowitz and Stegun 26.7.1 and 26.5.27).
pub(crate) fn two_sided(t_squared: f64, degrees_of_freedom: f64) -> f64 {
    if t_squared.is_nan() {
        // There is neither a difference nor a spread.
        return 1.0;
    }
    let x = degrees_of_freedom / (degrees_of_freedom + t_squared);
    beta_reg(degrees_of_freedom / 2.0, 0.5, x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_is_detected_at_its_first_value() {
        let values: Vec<f64> = (0..40_u32)
            .map(|i| f64::from(100 + i % 3 + if i >= 25 { 8 } else { 0 }))
            .collect();
        let points = find(&values, &Parameters::default());
        assert_eq!(points.iter().map(|p| p.index).collect::<Vec<_>>(), [25]);
        assert!((points[0].mean_before - 100.96).abs() < 1e-9);
        assert!(points[0].p_value < 1e-20);
        let large = Parameters {
            min_change: 0.10,
            ..Parameters::default()
        };
        assert!(find(&values, &large).is_empty());
    }

    fn found(values: &[f64], min_length: usize) -> Vec<usize> {
        let parameters = Parameters {
            min_length,
            ..Parameters::default()
        };
        let points = find(values, &parameters);
        points.iter().map(|point| point.index).collect()
    }

    #[test]
    fn min_length_excludes_outliers_and_ends() {
        let noise = |i: u32| f64::from(100 + i * 7 % 3);
        let with = |change: &dyn Fn(u32) -> bool| -> Vec<f64> {
            let value = |i| noise(i) + if change(i) { 30.0 } else { 0.0 };
            (0..30).map(value).collect()
        };
        for (values, expected) in [
            (with(&|i| i == 12), vec![]),
            (with(&|i| i == 29), vec![]),
            (with(&|i| i == 0), vec![]),
            (with(&|i| i >= 28), vec![]),
            (with(&|i| i >= 27), vec![27]),
            (with(&|i| i < 3), vec![3]),
            (with(&|i| i >= 20), vec![20]),
            (with(&|i| (8..20).contains(&i)), vec![8, 20]),
        ] {
            assert_eq!(found(&values, 3), expected, "{values:?}");
        }
        assert_eq!(found(&with(&|i| i == 29), 1), [29], "as in Otava");
    }

    #[test]
    fn constant_and_short_histories_have_no_change_points() {
        for count in 0..60 {
            assert!(find(&vec![5.0; count], &Parameters::default()).is_empty());
        }
        assert!(find(&[1.0, 100.0], &Parameters::default()).is_empty());
    }

    #[test]
    fn search_in_a_thousand_results_is_fast() {
        let values: Vec<f64> = (0..1000_u32).map(|i| f64::from(i * 7919 % 101)).collect();
        let start = std::time::Instant::now();
        find(&values, &Parameters::default());
        assert!(start.elapsed().as_millis() < 200, "{:?}", start.elapsed());
    }
}
